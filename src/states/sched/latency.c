/* SPDX-License-Identifier: Apache-2.0 */
#include "states/sched/latency.h"

#include <stdlib.h>

bool latency_add(void *ctx, const struct states_interval *i) {
    struct latency *l = ctx;
    while (l->rows.count <= i->thread) {
        struct latency_row *row = vec_push(&l->rows);
        if (!row)
            return false;
        *row = (struct latency_row){.thread = (uint32_t)l->rows.count - 1, .threads = 1};
    }
    struct latency_row *row = &l->rows.items[i->thread];
    if (l->cpus && l->cpus->list.count && (i->cpu == STATES_NONE || !filter_ranges_have(l->cpus, i->cpu)))
        return true;
    uint64_t ns = i->until_ns - i->since_ns;
    if (i->state == STATES_RUNNING)
        row->run_ns += ns;
    if (i->state != STATES_RUNNABLE && i->state != STATES_PREEMPTED)
        return true;
    if (i->next != STATES_RUNNING) {
        row->open++;
        return true;
    }
    row->delays++;
    row->delay_ns += ns;
    if (!row->max_until_ns || ns > row->max_ns) {
        row->max_ns = ns;
        row->max_since_ns = i->since_ns;
        row->max_until_ns = i->until_ns;
    }
    return true;
}

bool latency_order_parse(const char *text, struct latency_order *order, struct bytes *bad) {
    static const char *const NAMES[LATENCY_KEYS] = {"runtime", "switch", "avg", "max"};
    *order = (struct latency_order){.count = 0};
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ", ");
        size_t key = 0;
        while (key < LATENCY_KEYS && (strlen(NAMES[key]) != n || memcmp(NAMES[key], at, n) != 0))
            key++;
        *bad = (struct bytes){(const uint8_t *)at, n};
        if (key == LATENCY_KEYS && n)
            return false;
        bool twice = false;
        for (size_t i = 0; i < order->count; i++)
            twice |= order->keys[i] == key;
        if (n && !twice)
            order->keys[order->count++] = (enum latency_key)key;
        at += n;
        if (!*at)
            break;
    }
    return order->count > 0;
}

/* ---- rows ---- */

struct comparison {
    const struct states *states;
    const struct latency_order *order;
};

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static const char *row_name(const struct states *s, const struct latency_row *r) {
    const char *name = states_thread_name(s, r->thread);
    return name ? name : "";
}

static int by_name(const void *x, const void *y, void *ctx) {
    const struct latency_row *a = x, *b = y;
    const struct comparison *c = ctx;
    int by = strcmp(row_name(c->states, a), row_name(c->states, b));
    by = by ? by
            : compare_u64(states_thread(c->states, a->thread)->tid, states_thread(c->states, b->thread)->tid);
    return by ? by : compare_u64(a->thread, b->thread);
}

/* Compares averages as fractions, without rounding errors. */
static int compare_avg(const struct latency_row *a, const struct latency_row *b) {
    unsigned __int128 x = (unsigned __int128)a->delay_ns * (b->delays ? b->delays : 1);
    unsigned __int128 y = (unsigned __int128)b->delay_ns * (a->delays ? a->delays : 1);
    return x < y ? -1 : x > y;
}

static int by_keys(const void *x, const void *y, void *ctx) {
    const struct latency_row *a = x, *b = y;
    const struct comparison *c = ctx;
    for (size_t i = 0; i < c->order->count; i++) {
        int by = 0;
        switch (c->order->keys[i]) {
        case LATENCY_RUNTIME:
            by = compare_u64(a->run_ns, b->run_ns);
            break;
        case LATENCY_SWITCH:
            by = compare_u64(a->delays, b->delays);
            break;
        case LATENCY_AVG:
            by = compare_avg(a, b);
            break;
        case LATENCY_MAX:
        case LATENCY_KEYS:
            by = compare_u64(a->max_ns, b->max_ns);
            break;
        }
        if (by)
            return -by;
    }
    return by_name(a, b, ctx);
}

static void merge_into(struct latency_row *to, const struct latency_row *from) {
    to->threads += from->threads;
    to->run_ns += from->run_ns;
    to->delays += from->delays;
    to->delay_ns += from->delay_ns;
    to->open += from->open;
    bool earlier = from->max_ns == to->max_ns && from->max_since_ns < to->max_since_ns;
    if (from->max_until_ns && (!to->max_until_ns || from->max_ns > to->max_ns || earlier)) {
        to->max_ns = from->max_ns;
        to->max_since_ns = from->max_since_ns;
        to->max_until_ns = from->max_until_ns;
    }
}

bool latency_finish(struct latency *l, const struct states *s, bool merge,
                    const struct latency_order *order) {
    struct comparison c = {s, order};
    bool told = s->tells_ran && (!l->cpus || !l->cpus->list.count);
    size_t kept = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        struct latency_row *r = &l->rows.items[i];
        if (told)
            r->run_ns = states_thread(s, r->thread)->ran_ns;
        if (states_thread(s, r->thread)->tid && (r->run_ns || r->delays || r->open))
            l->rows.items[kept++] = *r;
    }
    l->rows.count = kept;
    if (!kept)
        return true;
    qsort_r(l->rows.items, kept, sizeof *l->rows.items, by_name, &c);
    if (merge) {
        size_t to = 0;
        for (size_t i = 1; i < kept; i++) {
            const struct latency_row *r = &l->rows.items[i];
            bool same = strcmp(row_name(s, &l->rows.items[to]), row_name(s, r)) == 0;
            if (same && states_thread_name(s, r->thread))
                merge_into(&l->rows.items[to], r);
            else
                l->rows.items[++to] = *r;
        }
        l->rows.count = to + 1;
    }
    qsort_r(l->rows.items, l->rows.count, sizeof *l->rows.items, by_keys, &c);
    return true;
}

void latency_fini(struct latency *l) {
    vec_fini(&l->rows);
}
