/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/timechart/timechart.h"

enum {
    LEAST = 15,     /* rows, if there are so many threads */
    MOST = 200,     /* of those that are worth it, unless more are asked for */
    OPEN_ROWS = 40, /* sections are open as long as there are no more rows */
};

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? 1 : a > b ? -1 : 0;
}

static int by_weight(const void *a, const void *b) {
    const struct timechart_candidate *x = a, *y = b;
    int d = compare_u64(x->weight, y->weight);
    return d ? d : compare_u64(y->thread, x->thread);
}

static int by_pid(const void *a, const void *b) {
    const struct timechart_candidate *x = a, *y = b;
    return compare_u64(y->pid, x->pid);
}

static int by_process(const void *a, const void *b) {
    const struct timechart_candidate *x = a, *y = b;
    int d = compare_u64(x->process_weight, y->process_weight);
    if (!d)
        d = compare_u64(y->pid, x->pid);
    return d ? d : by_weight(a, b);
}

/* -p: by name, pid or tid. */
static bool is_wanted(const struct timechart_options *o, const struct timechart_candidate *t) {
    for (size_t i = 0; i < o->processes.count; i++) {
        char *end;
        unsigned long long number = strtoull(o->processes.items[i], &end, 10);
        bool is_number = *o->processes.items[i] && !*end;
        if ((t->name && strcmp(t->name, o->processes.items[i]) == 0) ||
            (is_number && (number == t->tid || (t->pid && number == t->pid))))
            return true;
    }
    return !o->processes.count;
}

bool timechart_choice_offer(struct timechart_choice *c, const struct timechart_options *o,
                            const struct timechart_candidate *t) {
    if (!is_wanted(o, t))
        return true;
    struct timechart_candidate *to = vec_push(&c->candidates);
    if (!to)
        return false;
    *to = *t;
    to->pid = t->pid ? t->pid : t->tid;
    return true;
}

/* How many of those sorted by weight are drawn. */
static size_t how_many(const struct timechart_choice *c, const struct timechart_options *o,
                       uint64_t notable) {
    size_t least = o->least > 0 ? (size_t)o->least : LEAST, n = 0;
    size_t most = least > MOST || o->processes.count ? SIZE_MAX : MOST;
    while (n < c->candidates.count && (n < least || (n < most && c->candidates.items[n].weight >= notable)))
        n++;
    return n;
}

static bool add_group(struct timechart_choice *out, const struct timechart_candidate *c, uint32_t first,
                      uint32_t count, bool folded) {
    char title[128];
    struct timechart_group *g = vec_push(&out->groups);
    if (!g)
        return false;
    if (count == 1 && c->name)
        snprintf(title, sizeof title, "%s [%" PRIu32 "]", c->name, c->pid);
    else
        snprintf(title, sizeof title, "%s [%" PRIu32 "], %" PRIu32 " threads", c->name ? c->name : "?",
                 c->pid, count);
    *g = (struct timechart_group){.title = strdup(title), .first = first, .count = count, .folded = folded};
    return g->title;
}

static void sum_processes(struct timechart_candidate *list, size_t n) {
    qsort(list, n, sizeof *list, by_pid);
    for (size_t i = 0; i < n;) {
        uint64_t sum = 0;
        size_t end = i;
        for (; end < n && list[end].pid == list[i].pid; end++)
            sum += list[end].weight;
        for (; i < end; i++)
            list[i].process_weight = sum;
    }
    qsort(list, n, sizeof *list, by_process);
}

bool timechart_choice_make(struct timechart_choice *c, const struct timechart_options *o, uint64_t least) {
    struct timechart_candidate *list = c->candidates.items;
    bool ok = true;
    c->of = c->candidates.count;
    if (c->of)
        qsort(list, c->of, sizeof *list, by_weight);
    size_t n = how_many(c, o, least);
    if (n)
        sum_processes(list, n);
    for (size_t i = 0; i < n && ok;) {
        size_t end = i;
        while (end < n && list[end].pid == list[i].pid)
            end++;
        ok = add_group(c, &list[i], (uint32_t)i, (uint32_t)(end - i), end > OPEN_ROWS);
        for (; i < end && ok; i++) {
            uint32_t *to = vec_push(&c->threads);
            ok = to;
            if (to)
                *to = list[i].thread;
        }
    }
    return ok;
}

void timechart_choice_fini(struct timechart_choice *c) {
    for (size_t i = 0; i < c->groups.count; i++)
        free((char *)c->groups.items[i].title);
    vec_fini(&c->candidates);
    vec_fini(&c->groups);
    vec_fini(&c->threads);
}
