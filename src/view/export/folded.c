/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: "comm;outermost;...;innermost weight", in the order of the texts, as stackcollapse-perf.pl
 * makes them of perf script's output. */
#include <stdlib.h>

#include "view/export/export.h"
#include "view/export/visible_text.h"

/* Whether a text is not what it looks like, or long: see visible_text.h. */
static bool is_odd(const char *text) {
    size_t n = 0;
    for (; text[n]; n++)
        if ((unsigned char)text[n] < ' ' || (unsigned char)text[n] >= 0x7f)
            return true;
    return n > VISIBLE_MAX;
}

static void put_name(const char *name, struct out *out) {
    /* Go's methods keep their parentheses: "main.(*T).run". */
    const char *go = strstr(name, ".(");
    bool keeps = go && strstr(go, ").");
    for (const char *at = name; *at; at++) {
        if (*at == '(' && !keeps && strncmp(at, "(anonymous namespace)", 21) != 0)
            return;
        if (*at != '"' && *at != '\'')
            out_char(out, (unsigned char)*at < ' ' ? ' ' : *at == ';' ? ':' : *at);
    }
}

void export_put_folded_name(const char *name, struct out *out) {
    struct out shown;
    if (!is_odd(name)) {
        put_name(name, out);
        return;
    }
    if (out_init(&shown, NULL, NULL))
        visible_plain(name, &shown);
    out->failed |= shown.failed;
    if (!shown.failed)
        put_name(out_text(&shown), out);
    out_fini(&shown);
}

static void put_comm(const char *comm, struct out *out) {
    size_t from = out->len;
    visible_plain(comm, out);
    for (; from < out->len; from++)
        if (out->buf[from] == ' ' || out->buf[from] == ';')
            out->buf[from] = '_';
}

static void put_stack(const struct stacks *s, uint32_t node, struct out *out) {
    const struct stacks_node *n = &s->nodes.items[node];
    if (n->caller != STACKS_NONE)
        put_stack(s, n->caller, out);
    out_char(out, ';');
    export_put_folded_name(stacks_frame_name(s, &s->frames.items[n->frame]), out);
}

/* A line: its text in `texts`, and its weight. */
struct line {
    const char *text;
    size_t at;
    uint64_t weight, base; /* base: in the other recording */
};

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Makes a line of each row of the event; their texts are in `texts`. */
static struct line *make_lines(const struct stacks *s, const struct export_options *o, struct out *texts,
                               size_t *count) {
    struct line *lines = malloc((s->rows.count + 1) * sizeof *lines);
    *count = 0;
    for (size_t i = 0; lines && i < s->rows.count; i++) {
        const struct stacks_row *row = &s->rows.items[i];
        bool base = o->compares && row->event == o->base_event;
        if (row->event != o->event && !base)
            continue;
        uint64_t weight = export_weight(o, row->samples, row->period);
        lines[*count] =
            (struct line){.at = texts->len, .weight = base ? 0 : weight, .base = base ? weight : 0};
        put_comm(stacks_str(s, row->comm), texts);
        put_stack(s, row->node, texts);
        out_char(texts, '\0');
        ++*count;
    }
    for (size_t i = 0; lines && i < *count; i++)
        lines[i].text = texts->buf + lines[i].at;
    return lines;
}

bool export_folded(const struct stacks *s, const struct export_options *o, struct out *out, struct err *err) {
    struct out texts;
    size_t n = 0;
    struct line *lines = out_init(&texts, NULL, NULL) ? make_lines(s, o, &texts, &n) : NULL;
    bool ok = lines && !texts.failed;
    if (ok)
        qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0, next; ok && i < n; i = next) {
        uint64_t weight = 0, base = 0;
        for (next = i; next < n && !strcmp(lines[next].text, lines[i].text); next++) {
            weight += lines[next].weight;
            base += lines[next].base;
        }
        out_str(out, lines[i].text);
        out_char(out, ' ');
        if (o->compares) { /* as difffolded.pl writes it */
            out_dec(out, base, 0);
            out_char(out, ' ');
        }
        out_dec(out, weight, 0);
        out_char(out, '\n');
    }
    free(lines);
    out_fini(&texts);
    return ok || err_memory(err, "folded stacks");
}
