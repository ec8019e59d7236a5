/* SPDX-License-Identifier: Apache-2.0 */
#include "states/kwork/kwork_sums.h"

#include <stdlib.h>

bool kwork_chosen(const struct kwork_choice *c, const struct kwork *k, const struct kwork_run *run) {
    return c->classes[kwork_work(k, run->work)->class] &&
           (!c->cpus || filter_ranges_have(c->cpus, run->cpu)) &&
           (!c->times || time_ranges_contain(c->times, run->since_ns));
}

static void add(struct kwork_sum *s, uint64_t since_ns, uint64_t until_ns) {
    uint64_t ns = until_ns - since_ns;
    if (!s->count || ns > s->max_ns) {
        s->max_ns = ns;
        s->max_since_ns = since_ns;
        s->max_until_ns = until_ns;
    }
    s->count++;
    s->total_ns += ns;
}

static struct kwork_row *row_of(struct kwork_sums *s, uint32_t work) {
    while (s->rows.count <= work) {
        struct kwork_row *row = vec_push(&s->rows);
        if (!row)
            return NULL;
        row->work = (uint32_t)s->rows.count - 1;
    }
    return &s->rows.items[work];
}

bool kwork_sums_take(struct kwork_sums *s, const struct kwork *k, const struct kwork_row *row) {
    if (!s->choice->classes[kwork_work(k, row->work)->class])
        return true;
    struct kwork_row *to = row_of(s, row->work);
    if (to)
        *to = *row;
    return to;
}

bool kwork_sums_add(void *ctx, const struct kwork *k, const struct kwork_run *run) {
    struct kwork_sums *s = ctx;
    if (!kwork_chosen(s->choice, k, run))
        return true;
    struct kwork_row *row = row_of(s, run->work);
    if (!row)
        return false;
    add(&row->run, run->since_ns, run->until_ns);
    if (run->raised)
        add(&row->delay, run->raise_ns, run->since_ns);
    return true;
}

bool kwork_order_parse(const char *text, struct kwork_order *order, struct bytes *bad) {
    static const char *const NAMES[KWORK_KEYS] = {"runtime", "avg", "max", "count"};
    order->count = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ", "), key = 0;
        while (key < KWORK_KEYS && (strlen(NAMES[key]) != n || memcmp(NAMES[key], at, n) != 0))
            key++;
        *bad = (struct bytes){(const uint8_t *)at, n};
        bool wrong = key == KWORK_KEYS || key == (order->delays ? KWORK_RUNTIME : KWORK_AVG);
        if (wrong && n)
            return false;
        bool twice = false;
        for (size_t i = 0; i < order->count; i++)
            twice |= order->keys[i] == key;
        if (n && !twice)
            order->keys[order->count++] = (enum kwork_key)key;
        at += n;
        if (!*at)
            return order->count > 0;
    }
}

struct comparison {
    const struct kwork *k;
    const struct kwork_order *order;
};

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int compare_avg(const struct kwork_sum *a, const struct kwork_sum *b) {
    unsigned __int128 x = (unsigned __int128)a->total_ns * (b->count ? b->count : 1);
    unsigned __int128 y = (unsigned __int128)b->total_ns * (a->count ? a->count : 1);
    return x < y ? -1 : x > y;
}

static int compare_rows(const void *x, const void *y, void *ctx) {
    const struct comparison *c = ctx;
    const struct kwork_row *p = x, *q = y;
    const struct kwork_sum *a = c->order->delays ? &p->delay : &p->run;
    const struct kwork_sum *b = c->order->delays ? &q->delay : &q->run;
    int by = 0;
    for (size_t i = 0; i < c->order->count && !by; i++) {
        enum kwork_key key = c->order->keys[i];
        by = key == KWORK_RUNTIME ? compare_u64(b->total_ns, a->total_ns)
             : key == KWORK_AVG   ? compare_avg(b, a)
             : key == KWORK_MAX   ? compare_u64(b->max_ns, a->max_ns)
                                  : compare_u64(b->count, a->count);
    }
    const struct kwork_work *v = kwork_work(c->k, p->work), *w = kwork_work(c->k, q->work);
    by = by ? by : compare_u64(v->class, w->class);
    by = by ? by : compare_u64(v->id, w->id);
    return by ? by : compare_u64(v->cpu, w->cpu);
}

void kwork_sums_finish(struct kwork_sums *s, const struct kwork *k, const struct kwork_order *order) {
    struct comparison c = {k, order};
    size_t kept = 0;
    for (size_t i = 0; i < s->rows.count; i++)
        if (order->delays ? s->rows.items[i].delay.count : s->rows.items[i].run.count)
            s->rows.items[kept++] = s->rows.items[i];
    s->rows.count = kept;
    if (kept)
        qsort_r(s->rows.items, kept, sizeof *s->rows.items, compare_rows, &c);
}

void kwork_sums_fini(struct kwork_sums *s) {
    vec_fini(&s->rows);
}
