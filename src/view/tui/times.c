/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_MOST = 26, NAME_LEAST = 12 };

/* ---- what is there ---- */

static int by_period(const void *a, const void *b) {
    const struct tui_lane *x = a, *y = b;
    return x->period != y->period  ? (x->period < y->period ? 1 : -1)
           : x->thread < y->thread ? -1
                                   : x->thread > y->thread;
}

/* Finds the event's moments, which are sorted by event. */
static void find_moments(struct tui_times *t) {
    const struct stacks *s = t->s;
    size_t i = 0, n = s->moments.count;
    while (i < n && s->rows.items[s->moments.items[i].row].event != t->event)
        i++;
    t->first_moment = i;
    while (i < n && s->rows.items[s->moments.items[i].row].event == t->event)
        i++;
    t->moment_count = i - t->first_moment;
    if (!t->moment_count)
        return;
    t->from_ns = s->moments.items[t->first_moment].time_ns;
    t->to_ns = s->moments.items[i - 1].time_ns;
}

static bool list_lanes(struct tui_times *t, const struct tui_filter *filter) {
    uint64_t *periods = calloc(t->s->threads.count + 1, sizeof *periods);
    t->lane_of = malloc((t->s->threads.count + 1) * sizeof *t->lane_of);
    bool ok = periods && t->lane_of;
    for (size_t i = 0; ok && i < t->moment_count; i++) {
        const struct stacks_moment *m = &t->s->moments.items[t->first_moment + i];
        periods[m->thread] += m->period ? m->period : 1;
    }
    for (uint32_t i = 0; ok && i < t->s->threads.count; i++) {
        const char *comm = stacks_str(t->s, t->s->threads.items[i].comm);
        t->lane_of[i] = STACKS_NONE;
        if (!periods[i] || !tui_filter_passes(filter, TUI_BY_THREAD, comm, strlen(comm)))
            continue;
        struct tui_lane *lane = vec_push(&t->lanes);
        ok = lane;
        if (ok)
            *lane = (struct tui_lane){i, periods[i]};
    }
    if (ok && t->lanes.count)
        qsort(t->lanes.items, t->lanes.count, sizeof *t->lanes.items, by_period);
    for (uint32_t i = 0; ok && i < t->lanes.count; i++)
        t->lane_of[t->lanes.items[i].thread] = i;
    free(periods);
    return ok;
}

bool tui_times_open(struct tui_times *t, const struct stacks *s, uint32_t event,
                    const struct tui_filter *filter, struct err *err) {
    struct tui_times was = *t;
    bool same = was.s == s && was.event == event;
    *t = (struct tui_times){.s = s, .event = event};
    find_moments(t);
    bool ok = list_lanes(t, filter);
    t->cursor_ns = t->from_ns;
    if (same) {
        t->cursor_ns = was.cursor_ns;
        t->marked = was.marked;
        t->has_end = was.has_end;
        memcpy(t->mark_ns, was.mark_ns, sizeof t->mark_ns);
        t->at = was.at < t->lanes.count ? was.at : 0;
    }
    tui_times_fini(&was);
    return ok || err_memory(err, "time axis");
}

void tui_times_fini(struct tui_times *t) {
    vec_fini(&t->lanes);
    free(t->lane_of);
    free(t->cells);
    *t = (struct tui_times){0};
}

/* ---- columns ---- */

static uint64_t span(const struct tui_times *t) {
    return t->to_ns - t->from_ns + 1;
}

static int column_of(const struct tui_times *t, uint64_t ns) {
    if (ns <= t->from_ns || t->width < 1)
        return 0;
    uint64_t at = ns - t->from_ns;
    int x = (int)((double)at * t->width / (double)span(t));
    return x < t->width ? x : t->width - 1;
}

/* Returns the first instant of a column, rounded up so that column_of gives it back. */
static uint64_t first_of(const struct tui_times *t, int x) {
    uint64_t ns = t->from_ns + (uint64_t)((double)span(t) * x / (t->width ? t->width : 1));
    while (x > 0 && column_of(t, ns) < x && ns < t->to_ns)
        ns++;
    return ns;
}

static uint64_t last_of(const struct tui_times *t, int x) {
    return x + 1 >= t->width ? t->to_ns : first_of(t, x + 1) - 1;
}

/* Adds up the periods of each lane in each column, for a new width. */
static bool fill_cells(struct tui_times *t, int width) {
    if (t->cells && t->width == width)
        return true;
    free(t->cells);
    t->cells = calloc(t->lanes.count * (size_t)width + 1, sizeof *t->cells);
    t->width = width;
    t->most = 0;
    for (size_t i = 0; t->cells && i < t->moment_count; i++) {
        const struct stacks_moment *m = &t->s->moments.items[t->first_moment + i];
        uint32_t lane = t->lane_of[m->thread];
        if (lane == STACKS_NONE)
            continue;
        uint64_t *cell = &t->cells[(size_t)lane * (size_t)width + (size_t)column_of(t, m->time_ns)];
        *cell += m->period ? m->period : 1;
        t->most = *cell > t->most ? *cell : t->most;
    }
    return t->cells;
}

/* ---- moving ---- */

void tui_times_move(struct tui_times *t, int lanes, int columns) {
    int64_t at = (int64_t)t->at + lanes, last = (int64_t)t->lanes.count - 1;
    t->at = at < 0 || last < 0 ? 0 : (uint32_t)(at > last ? last : at);
    if (!columns)
        return;
    int x = column_of(t, t->cursor_ns) + columns;
    t->cursor_ns = first_of(t, x < 0 ? 0 : x >= t->width ? t->width - 1 : x);
}

void tui_times_mark(struct tui_times *t, int which) {
    int x = column_of(t, t->cursor_ns);
    t->mark_ns[which] = which ? last_of(t, x) : first_of(t, x);
    if (!which) {
        t->marked = true;
        t->has_end &= t->mark_ns[1] > t->mark_ns[0];
    } else {
        if (!t->marked)
            t->mark_ns[0] = t->from_ns;
        t->marked = t->has_end = true;
    }
}

void tui_times_extend(struct tui_times *t, int columns) {
    if (!t->marked) {
        tui_times_mark(t, 0);
        tui_times_mark(t, 1);
    }
    tui_times_move(t, 0, columns);
    int x = column_of(t, t->cursor_ns);
    t->mark_ns[1] = last_of(t, x);
    t->has_end = true;
}

bool tui_times_range(const struct tui_times *t, uint64_t *from_ns, uint64_t *to_ns) {
    if (!t->marked || !t->moment_count)
        return false;
    uint64_t a = t->mark_ns[0], b = t->has_end ? t->mark_ns[1] : t->to_ns;
    if (b < a) { /* extended to the left */
        uint64_t from = first_of(t, column_of(t, b));
        b = last_of(t, column_of(t, a));
        a = from;
    }
    *from_ns = a;
    *to_ns = b;
    return true;
}

bool tui_times_unmark(struct tui_times *t) {
    bool had = t->marked;
    t->marked = t->has_end = false;
    return had;
}

void tui_times_click(struct tui_times *t, int y, int x) {
    int64_t lane = (int64_t)t->top + y;
    if (y < 0 || lane >= (int64_t)t->lanes.count)
        return;
    t->at = (uint32_t)lane;
    if (x >= 0 && x < t->width)
        t->cursor_ns = first_of(t, x);
}

/* ---- drawing ---- */

static int name_width(const struct tui_surface *s) {
    int width = s->cols / 4;
    return width > NAME_MOST ? NAME_MOST : width < NAME_LEAST ? NAME_LEAST : width;
}

static uint32_t block_of(const struct tui_times *t, uint64_t period, bool utf8) {
    static const char ascii[] = " .:-=+*#@";
    unsigned n = period ? (unsigned)(1 + (double)period * 7.999 / (double)t->most) : 0;
    n = n > 8 ? 8 : n;
    return !n ? ' ' : utf8 ? 0x2580 + n : (uint32_t)ascii[n];
}

static void draw_lane(struct tui_times *t, struct tui_surface *s, int y, uint32_t lane, int names,
                      const bool *in_range) {
    const struct stacks_thread *x = &t->s->threads.items[t->lanes.items[lane].thread];
    char tid[16];
    bool at = lane == t->at;
    struct tui_style style = tui_style(at ? TUI_CURSOR : TUI_NORMAL);
    tui_fill(s, y, 0, names - 1, ' ', style);
    snprintf(tid, sizeof tid, "%" PRIu32, x->tid);
    int digits = (int)strlen(tid);
    tui_str(s, y, 0, names - digits - 2, style, stacks_str(t->s, x->comm));
    tui_str(s, y, names - 1 - digits, digits, style, tid);
    const uint64_t *cells = t->cells + (size_t)lane * (size_t)t->width;
    for (int i = 0; i < t->width; i++)
        tui_fill(s, y, names + i, 1, block_of(t, cells[i], s->utf8),
                 tui_style(in_range[i] ? TUI_RANGE : TUI_NORMAL));
}

/* Labels of the axis: seconds since the first sample. */
static void draw_axis(struct tui_times *t, struct tui_surface *s, int y, int names) {
    enum { LABEL = 12 };
    double seconds = (double)span(t) / 1e9;
    int decimals = seconds < 0.01 ? 6 : seconds < 10 ? 3 : 1;
    for (int x = 0; x + LABEL <= t->width; x += LABEL + 4) {
        char label[32];
        snprintf(label, sizeof label, "%s%.*f s", s->utf8 ? "\xe2\x94\x82" : "|", decimals,
                 seconds * x / t->width);
        tui_str(s, y, names + x, t->width - x, tui_style(TUI_NORMAL), label);
    }
    int cursor = names + column_of(t, t->cursor_ns);
    tui_fill(s, y, cursor, 1, s->utf8 ? 0x25bc : 'V', tui_style(TUI_CURSOR));
}

static void draw_title(struct tui_times *t, struct tui_surface *s, int y) {
    char line[320];
    const struct stacks_event *e = &t->s->events.items[t->event];
    snprintf(line, sizeof line, "Threads over time: '%.100s', %zu thread%s, %.3f s from %.6f",
             stacks_str(t->s, e->name), t->lanes.count, t->lanes.count == 1 ? "" : "s", (double)span(t) / 1e9,
             (double)t->from_ns / 1e9);
    tui_fill(s, y, 0, s->cols, ' ', tui_style(TUI_HEAD));
    tui_str(s, y, 0, s->cols, tui_style(TUI_HEAD), line);
}

static void draw_status(struct tui_times *t, struct tui_surface *s, int y, const struct tui_filter *filter) {
    char line[240];
    uint64_t a, b;
    int x = column_of(t, t->cursor_ns);
    int n = snprintf(line, sizeof line, "at %.6f", (double)t->cursor_ns / 1e9);
    if (t->lanes.count)
        n += snprintf(line + n, sizeof line - (size_t)n, ": %.1f%% of the fullest",
                      t->most ? 100.0 * (double)t->cells[(size_t)t->at * (size_t)t->width + (size_t)x] /
                                    (double)t->most
                              : 0.0);
    if (tui_times_range(t, &a, &b))
        n += snprintf(line + n, sizeof line - (size_t)n, "; range %.6f-%.6f (%.3f ms), ENTER applies it",
                      (double)a / 1e9, (double)b / 1e9, (double)(b - a) / 1e6);
    else if (filter->ranged)
        snprintf(line + n, sizeof line - (size_t)n, "; all screens show %.6f-%.6f, ESC shows all",
                 (double)filter->from_ns / 1e9, (double)filter->to_ns / 1e9);
    else
        snprintf(line + n, sizeof line - (size_t)n, "; [ and ] mark a range");
    tui_str(s, y, 0, s->cols, (struct tui_style){TUI_NORMAL, TUI_BOLD}, line);
}

void tui_times_draw(struct tui_times *t, struct tui_surface *s, int y, int below,
                    const struct tui_filter *filter) {
    int names = name_width(s), lines = s->rows - y - TUI_TIMES_HEAD - below - 1;
    draw_title(t, s, y);
    if (!t->moment_count || !t->lanes.count) {
        tui_str(s, y + 2, 1, s->cols - 1, tui_style(TUI_NORMAL),
                t->moment_count ? "nothing is left: ESC takes the last filter away"
                                : "the samples have no times (record has them unless -T is negated)");
        return;
    }
    t->height = lines > 0 ? lines : 0;
    t->columns_at = names;
    bool *in_range = calloc((size_t)s->cols + 1, sizeof *in_range);
    if (!in_range || !fill_cells(t, s->cols - names - 1 > 1 ? s->cols - names - 1 : 1)) {
        free(in_range);
        return;
    }
    uint64_t a = filter->from_ns, b = filter->to_ns;
    bool ranged = tui_times_range(t, &a, &b) || filter->ranged;
    for (int i = 0; ranged && i < t->width; i++)
        in_range[i] = last_of(t, i) >= a && first_of(t, i) <= b;
    draw_axis(t, s, y + 1, names);
    if ((int)t->at < t->top)
        t->top = (int)t->at;
    if ((int)t->at >= t->top + t->height)
        t->top = (int)t->at - t->height + 1;
    for (int i = 0; i < t->height && t->top + i < (int)t->lanes.count; i++)
        draw_lane(t, s, y + TUI_TIMES_HEAD + i, (uint32_t)(t->top + i), names, in_range);
    if ((int)t->lanes.count > t->height)
        tui_scrollbar(s, y + TUI_TIMES_HEAD, t->height, (double)t->at / (double)(t->lanes.count - 1));
    draw_status(t, s, s->rows - below - 1, filter);
    free(in_range);
}
