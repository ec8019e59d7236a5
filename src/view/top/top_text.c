/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/top_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text/plural.h"
#include "base/text/utf8.h"

static double percent(uint64_t part, uint64_t of) {
    return of ? 100.0 * (double)part / (double)of : 0;
}

static void put_whose(const struct top_source *s, struct out *out) {
    if (s->pids)
        out_printf(out, " (target_pid: %s", s->pids);
    else if (s->tids)
        out_printf(out, " (target_tid: %s", s->tids);
    else if (s->user)
        out_printf(out, " (uid: %s", s->user);
    else
        out_str(out, " (all");
    if (s->cpus)
        out_printf(out, ", CPU%s: %s", strpbrk(s->cpus, ",-") ? "s" : "", s->cpus);
    else if (!s->pids && !s->tids)
        out_printf(out, ", %u CPU%s", s->cpu_count, plural(s->cpu_count));
    out_char(out, ')');
}

void top_text_cut(const struct top_counts *c, char *text, size_t size) {
    *text = '\0';
    if (c->stacks_cut)
        snprintf(text, size, "%" PRIu64 " of %" PRIu64 " stack%s cut: too many to unwind", c->stacks_cut,
                 c->stacks, plural(c->stacks));
}

void top_text_counts(const struct top_counts *c, const struct top_source *s, struct out *out) {
    char cut[80];
    double rate = c->seconds > 0 ? (double)c->samples / c->seconds : 0;
    out_printf(out,
               "   PerfTop:%8.0f irqs/sec  kernel:%4.1f%%  exact: %4.1f%% lost: %" PRIu64 "/%" PRIu64
               " drop: 0/0 [",
               rate, percent(c->kernel, c->samples), percent(c->exact, c->samples), c->lost, c->lost_ever);
    if (s->period)
        out_printf(out, "%" PRIu64 " ", s->period);
    else if (s->freq_hz)
        out_printf(out, "%" PRIu64 "Hz ", s->freq_hz);
    out_printf(out, "%s], ", s->event);
    put_whose(s, out);
    out_printf(out, ", sonde: %.1f%% of a CPU", 100 * c->own);
    top_text_cut(c, cut, sizeof cut);
    if (*cut)
        out_printf(out, ", %s", cut);
}

/* How many bytes of a line fit. */
static size_t fitting(const char *line, size_t n, unsigned cols) {
    size_t at = 0;
    unsigned used = 0;
    if (!cols)
        return n;
    while (at < n) {
        size_t size = 1;
        while (at + size < n && ((unsigned char)line[at + size] & 0xc0) == 0x80)
            size++;
        if (++used > cols)
            break;
        at += size;
    }
    return at;
}

/* Appends the profile's lines up to the most, each cut; of several events each table has a line without text
 * before it. */
static void put_lines(const struct out *body, unsigned most, unsigned cols, struct out *out) {
    const char *at = body->buf, *end = at + body->len;
    unsigned blank = 0, put = 0;
    while (at < end && put < most) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = stop ? (size_t)(stop - at) : (size_t)(end - at);
        if (n && blank && put) {
            out_char(out, '\n');
            put++;
        }
        blank = n ? 0 : blank + 1;
        if (n && put < most) {
            out_char(out, '\n');
            out_mem(out, at, fitting(at, n, cols));
            put++;
        }
        at += n + 1;
    }
}

/* The line about the counts, in as many lines as it needs: broken after commas. Returns how many. */
static unsigned put_counts(const struct out *line, unsigned cols, struct out *out) {
    const char *at = line->buf;
    size_t left = line->len;
    unsigned lines = 1;
    while (cols && left > cols) {
        size_t n = cols;
        while (n && at[n - 1] != ' ')
            n--;
        n = n ? n : cols;
        out_mem(out, at, n);
        out_char(out, '\n');
        at += n;
        left -= n;
        lines++;
    }
    out_mem(out, at, left);
    return lines;
}

bool top_text_screen(const struct out *body, const struct top_counts *c, const struct top_source *s,
                     const struct top_screen *screen, struct out *out, struct err *err) {
    enum { RULE = 79, HEAD = 2 };
    struct out head;
    if (!out_init(&head, NULL, NULL))
        return err_memory(err, "screen");
    top_text_counts(c, s, &head);
    unsigned used = put_counts(&head, screen->cols, out) + HEAD;
    out_char(out, '\n');
    for (unsigned i = 1; i < (screen->cols ? screen->cols : RULE + 1); i++)
        out_char(out, '-');
    out_char(out, '\n');
    unsigned room = screen->rows > used ? screen->rows - used : 1;
    unsigned most = screen->entries && (screen->entries < room || !screen->rows) ? screen->entries
                    : screen->rows                                               ? room
                                                                                 : UINT32_MAX;
    put_lines(body, most, screen->cols, out);
    out_fini(&head);
    return true;
}

bool top_text_print(const struct profile *p, const struct report_text_options *o, const struct top_counts *c,
                    const struct top_source *s, const struct top_screen *screen, struct out *out,
                    struct err *err) {
    struct report_text_options text = *o;
    struct out body;
    if (!out_init(&body, NULL, NULL))
        return err_memory(err, "screen");
    text.quiet = true;
    bool ok = report_text_print(p, &text, &body, err) && top_text_screen(&body, c, s, screen, out, err);
    out_fini(&body);
    return ok;
}
