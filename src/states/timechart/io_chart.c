/* SPDX-License-Identifier: Apache-2.0 */
#include "states/timechart/io_chart.h"

#include <stdlib.h>

enum { AGAIN = -11 /* -EAGAIN */ };

void io_chart_init(struct io_chart *c) {
    *c = (struct io_chart){0};
}

void io_chart_fini(struct io_chart *c) {
    for (size_t i = 0; i < c->rows.count; i++)
        free(c->rows.items[i].cells);
    vec_fini(&c->rows);
    vec_fini(&c->threads);
    hash_map_fini(&c->by_tid);
    hash_map_fini(&c->rows_by_tid);
    hash_map_fini(&c->seen);
    timechart_fini(&c->span);
}

/* ---- when a call was ---- */

struct times {
    uint64_t since_ns, until_ns;
};

/* False: it is not known. `first`: the thread had no call before. */
static bool find_bounds(const struct io_chart *c, const struct calls *calls, const struct calls_call *call,
                        enum calls_end end, bool first, struct times *t) {
    *t = (struct times){call->enter_ns, call->exit_ns};
    if (end == CALLS_ENTER_UNSEEN) {
        t->since_ns = c->begin_ns;
        return first && !calls->faults.losses;
    }
    if (end == CALLS_RETURNED)
        return true;
    t->until_ns = c->end_ns;
    return c->ending && calls_thread((struct calls *)calls, call->tid)->losses == calls->faults.losses;
}

static bool find_times(const struct io_chart *c, const struct calls *calls, const struct calls_call *call,
                       enum calls_end end, bool first, struct times *t) {
    if (!find_bounds(c, calls, call, end, first, t))
        return false;
    if (t->since_ns > t->until_ns)
        t->since_ns = t->until_ns;
    return true;
}

/* ---- first pass ---- */

static struct io_thread *need_thread(struct io_chart *c, const struct calls_call *call) {
    uint32_t i = hash_map_get(&c->by_tid, call->tid);
    if (i == HASH_ABSENT) {
        struct io_thread *t = vec_push(&c->threads);
        i = (uint32_t)c->threads.count - 1;
        if (!t || !hash_map_set(&c->by_tid, call->tid, i))
            return NULL;
        *t = (struct io_thread){.tid = call->tid};
    }
    if (call->pid)
        c->threads.items[i].pid = call->pid;
    return &c->threads.items[i];
}

static bool add_thread(struct io_chart *c, const struct calls_call *call, const struct io_call *what,
                       const struct times *times) {
    struct io_thread *t = need_thread(c, call);
    if (!t)
        return false;
    uint64_t bytes = call->has_exit && call->result > 0 && what->counts ? (uint64_t)call->result : 0;
    t->calls++;
    t->failed += call->has_exit && call->result < 0;
    t->in_bytes += what->does & (IO_READS | IO_RECEIVES) ? bytes : 0;
    t->out_bytes += what->does & (IO_WRITES | IO_SENDS) ? bytes : 0;
    for (unsigned kind = 0; kind < IO_KINDS; kind++)
        if (what->does & 1u << kind)
            t->ns[kind] += times->until_ns - times->since_ns;
    return true;
}

uint64_t io_thread_moved_ns(const struct io_thread *t) {
    uint64_t ns = 0;
    for (unsigned kind = 0; kind < IO_KINDS; kind++)
        ns += 1u << kind == IO_POLLS ? 0 : t->ns[kind];
    return ns;
}

/* ---- second pass ---- */

void io_chart_draw(struct io_chart *c, uint32_t columns) {
    timechart_init(&c->span, c->begin_ns, c->end_ns, columns);
    c->drawing = true;
    c->ending = false;
    hash_map_fini(&c->seen);
    c->seen = (struct hash_map){0};
}

bool io_chart_choose(struct io_chart *c, uint32_t tid) {
    struct io_row *r = vec_push(&c->rows);
    if (!r)
        return false;
    *r = (struct io_row){.tid = tid, .cells = calloc(c->span.columns, sizeof *r->cells)};
    return r->cells && hash_map_set(&c->rows_by_tid, tid, (uint32_t)c->rows.count - 1);
}

struct add_to {
    struct io_cell *cells;
    unsigned kind;
};

static void add_ns(void *to, uint32_t column, uint64_t ns) {
    const struct add_to *x = to;
    x->cells[column].ns[x->kind] += ns;
}

static void add_failed(void *to, uint32_t column, uint64_t ns) {
    const struct add_to *x = to;
    (void)ns;
    x->cells[column].failed += x->cells[column].failed < UINT32_MAX;
}

/* Of one kind nothing is drawn twice: a call that was made longer ends where the next one begins. */
static void draw_kind(const struct io_chart *c, struct io_row *row, unsigned kind, struct times t) {
    struct add_to to = {row->cells, kind};
    uint64_t drawn = row->drawn_ns[kind];
    if (t.until_ns - t.since_ns < c->least_ns)
        t.until_ns = t.since_ns + c->least_ns < t.since_ns ? UINT64_MAX : t.since_ns + c->least_ns;
    if (drawn && (t.since_ns < drawn || t.since_ns - drawn < c->merge_ns))
        t.since_ns = drawn;
    if (t.until_ns <= t.since_ns)
        return;
    timechart_spread(&c->span, t.since_ns, t.until_ns, add_ns, &to);
    row->drawn_ns[kind] = t.until_ns;
}

static void draw_call(struct io_chart *c, const struct calls_call *call, const struct io_call *what,
                      const struct times *times) {
    uint32_t i = hash_map_get(&c->rows_by_tid, call->tid);
    struct io_row *row = i == HASH_ABSENT ? NULL : &c->rows.items[i];
    for (unsigned kind = 0; row && kind < IO_KINDS; kind++)
        if (what->does & 1u << kind)
            draw_kind(c, row, kind, *times);
    if (row && call->has_exit && call->result < 0) {
        struct add_to to = {row->cells, 0};
        uint64_t at = times->until_ns > c->span.begin_ns ? times->until_ns - 1 : times->until_ns;
        timechart_spread(&c->span, at, at + 1, add_failed, &to);
    }
}

bool io_chart_call(void *ctx, struct calls *calls, const struct calls_call *call, enum calls_end end) {
    struct io_chart *c = ctx;
    const struct io_call *what = io_call((size_t)call->number);
    struct times times;
    bool first = hash_map_get(&c->seen, call->tid) == HASH_ABSENT;
    if (first && !hash_map_set(&c->seen, call->tid, 1))
        return false;
    if (!what || (c->skip_again && call->has_exit && call->result == AGAIN))
        return true;
    if (!find_times(c, calls, call, end, first, &times)) {
        c->unknown += !c->drawing;
        return true;
    }
    if (c->drawing)
        draw_call(c, call, what, &times);
    return c->drawing || add_thread(c, call, what, &times);
}
