/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_blocks.h"

#include "view/report/report_cell.h"

/* Columns have perf's fixed widths. */
static const struct {
    const char *title;
    unsigned width;
} columns[] = {
    {"Sampled Cycles%", 15}, {"Sampled Cycles", 14},        {"Avg Cycles%", 11},
    {"Avg Cycles", 10},      {"[Program Block Range]", 70}, {"Shared Object", 20},
};
enum { SHARE, CYCLES, AVERAGE_SHARE, AVERAGE, RANGE, OBJECT, COLUMNS };

static void print_titles(const struct report_blocks_options *o, struct out *out) {
    out_str(out, "# ");
    for (int i = 0; i < COLUMNS; i++) {
        if (i)
            out_str(out, o->separator ? o->separator : "  ");
        out_right(out, columns[i].title, strlen(columns[i].title), o->separator ? 0 : columns[i].width);
    }
    out_char(out, '\n');
    if (o->separator)
        return;
    out_str(out, "# ");
    for (int i = 0; i < COLUMNS; i++) {
        out_str(out, i ? "  " : "");
        out_fill(out, '.', columns[i].width);
    }
    out_str(out, "\n#\n");
}

/* Prints "999", "65.5K", "1.0M"; with a separator, for programs, all digits. */
static void print_cycles(uint64_t n, const struct report_blocks_options *o, unsigned width, struct out *out) {
    static const char units[] = "KMGT";
    double scaled = (double)n / 1000;
    unsigned unit = 0;
    if (o->separator || n < 1000) {
        out_dec(out, n, o->separator ? 0 : width);
        return;
    }
    while (scaled >= 1000 && unit + 2 < sizeof units) {
        scaled /= 1000;
        unit++;
    }
    out_printf(out, "%*.1f%c", (int)width - 1, scaled, units[unit]);
}

static void print_share(uint64_t part, uint64_t whole, unsigned width, const struct report_blocks_options *o,
                        struct out *out) {
    report_print_percent(report_percent(part, whole), o->separator ? 0 : width, o->color, out);
}

static void print_block(const struct profile *p, const struct profile_blocks *all,
                        const struct profile_block *b, const struct report_blocks_options *o,
                        struct out *text, struct out *out) {
    const char *gap = o->separator ? o->separator : "  ", *object = profile_block_object(p, b);
    text->len = 0;
    profile_block_range(p, b, text);
    out_str(out, o->separator ? "" : "  ");
    print_share(b->cycles, all->cycles, columns[SHARE].width, o, out);
    out_str(out, gap);
    print_cycles(b->cycles, o, columns[CYCLES].width, out);
    out_str(out, gap);
    print_share(b->cycles / b->count, all->averages, columns[AVERAGE_SHARE].width, o, out);
    out_str(out, gap);
    print_cycles(b->cycles / b->count, o, columns[AVERAGE].width, out);
    out_str(out, gap);
    out_right(out, text->buf, text->len, o->separator ? 0 : columns[RANGE].width);
    out_str(out, gap);
    out_right(out, object, strlen(object), o->separator ? 0 : columns[OBJECT].width);
    out_char(out, '\n');
}

bool report_blocks_print(const struct profile *p, const struct profile_event *e,
                         const struct report_blocks_options *o, struct out *out, struct err *err) {
    struct profile_blocks blocks;
    struct out text;
    if (!out_init(&text, NULL, NULL))
        return err_memory(err, "basic blocks");
    bool ok = profile_blocks_find(p, e, &blocks, err);
    if (ok) /* perf prints the titles with -q, too */
        print_titles(o, out);
    for (size_t i = 0; ok && i < blocks.list.count && !out->failed; i++)
        if (report_percent(blocks.list.items[i].cycles, blocks.cycles) >= o->percent_limit)
            print_block(p, &blocks, &blocks.list.items[i], o, &text, out);
    profile_blocks_fini(&blocks);
    out_fini(&text);
    return ok;
}
