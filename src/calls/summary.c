/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/summary.h"

#include <math.h>
#include <stdlib.h>

#include "calls/values.h"

void calls_summary_fini(struct calls_summary *s) {
    for (size_t i = 0; i < s->groups.count; i++) {
        struct calls_group *g = &s->groups.items[i];
        for (size_t k = 0; k < g->stats.count; k++)
            vec_fini(&g->stats.items[k].errnos);
        vec_fini(&g->stats);
    }
    vec_fini(&s->groups);
    hash_map_fini(&s->by_key);
    hash_map_fini(&s->by_stat);
    strpool_fini(&s->names);
}

struct calls_group *calls_summary_group(struct calls_summary *s, uint64_t key) {
    uint32_t i = hash_map_get(&s->by_key, key);
    if (i != HASH_ABSENT)
        return &s->groups.items[i];
    struct calls_group *g = vec_push(&s->groups);
    if (!g || !hash_map_set(&s->by_key, key, (uint32_t)(s->groups.count - 1)))
        return NULL;
    *g = (struct calls_group){.key = key, .name = STRPOOL_NONE};
    return g;
}

bool calls_summary_name(struct calls_summary *s, uint64_t key, const char *name) {
    struct calls_group *g = calls_summary_group(s, key);
    if (!g)
        return false;
    if (g->name != STRPOOL_NONE && strcmp(strpool_text(&s->names, g->name), name) == 0)
        return true;
    g->name = strpool_add(&s->names, name, strlen(name));
    return g->name != STRPOOL_NONE;
}

struct calls_stat *calls_summary_stat(struct calls_summary *s, struct calls_group *g, int64_t number,
                                      bool compat) {
    /* The map knows hashes only: among stats with the same hash a search finds the right one. */
    uint64_t key = hash_u64(g->key * 2 + compat) ^ (uint64_t)number;
    uint32_t at = hash_map_get(&s->by_stat, key);
    if (at != HASH_ABSENT && at < g->stats.count && g->stats.items[at].number == number &&
        g->stats.items[at].compat == compat)
        return &g->stats.items[at];
    for (size_t i = 0; at != HASH_ABSENT && i < g->stats.count; i++)
        if (g->stats.items[i].number == number && g->stats.items[i].compat == compat)
            return &g->stats.items[i];
    struct calls_stat *t = vec_push(&g->stats);
    if (!t || !hash_map_set(&s->by_stat, key, (uint32_t)(g->stats.count - 1)))
        return NULL;
    t->number = number;
    t->compat = compat;
    return t;
}

bool calls_stat_errno(struct calls_stat *t, uint32_t number, uint64_t count) {
    for (size_t i = 0; i < t->errnos.count; i++)
        if (t->errnos.items[i].number == number) {
            t->errnos.items[i].count += count;
            return true;
        }
    struct calls_errno *e = vec_push(&t->errnos);
    if (e)
        *e = (struct calls_errno){number, count};
    return e;
}

bool calls_summary_add(struct calls_summary *s, uint64_t key, const struct calls_call *call,
                       enum calls_end end) {
    struct calls_group *g = calls_summary_group(s, key);
    struct calls_stat *t = g ? calls_summary_stat(s, g, call->number, call->compat) : NULL;
    uint32_t number;
    if (!t)
        return false;
    t->count++;
    if (calls_values_failed(call, &number)) {
        t->errors++;
        if (!calls_stat_errno(t, number, 1))
            return false;
    }
    if (end != CALLS_RETURNED)
        return true;
    uint64_t ns = call->exit_ns - call->enter_ns;
    t->min_ns = !t->timed || ns < t->min_ns ? ns : t->min_ns;
    t->max_ns = ns > t->max_ns ? ns : t->max_ns;
    t->timed++;
    t->total_ns += ns;
    t->squares += (unsigned __int128)ns * ns;
    return true;
}

static int compare_groups(const void *a, const void *b) {
    const struct calls_group *x = a, *y = b;
    if (x->events != y->events)
        return x->events < y->events ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int compare_stats(const void *a, const void *b) {
    const struct calls_stat *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->compat - y->compat;
}

void calls_summary_sort(struct calls_summary *s) {
    if (s->groups.count)
        qsort(s->groups.items, s->groups.count, sizeof *s->groups.items, compare_groups);
    for (size_t i = 0; i < s->groups.count; i++) {
        struct calls_group *g = &s->groups.items[i];
        if (g->stats.count)
            qsort(g->stats.items, g->stats.count, sizeof *g->stats.items, compare_stats);
    }
}

double calls_stat_deviation(const struct calls_stat *t) {
    if (t->timed < 2 || !t->total_ns)
        return 0;
    /* n * squares - total^2 is exact up to the last division: nothing cancels. */
    double n = (double)t->timed, mean = (double)t->total_ns / n;
    unsigned __int128 square = (unsigned __int128)t->total_ns * t->total_ns;
    unsigned __int128 mean_part = square / t->timed;
    double spread = t->squares > mean_part ? (double)(t->squares - mean_part) : 0;
    return 100.0 * sqrt(spread / (n - 1) / n) / mean;
}
