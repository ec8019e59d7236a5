/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/timechart/timechart.h"

enum {
    LEAST = 15,     /* rows, if so many threads ran */
    MOST = 200,     /* of those that ran notably, unless more are asked for */
    NOTABLE = 500,  /* a thread that ran a 500th of the time */
    OPEN_ROWS = 40, /* sections are open as long as there are no more rows */
};

struct candidate {
    uint32_t thread, pid;
    uint64_t run_ns, process_ns; /* process_ns: of the chosen threads of its process */
};

struct candidates {
    VEC(struct candidate) list;
};

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? 1 : a > b ? -1 : 0;
}

static int by_run(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int d = compare_u64(x->run_ns, y->run_ns);
    return d ? d : compare_u64(y->thread, x->thread);
}

static int by_pid(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return compare_u64(y->pid, x->pid);
}

static int by_process(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int d = compare_u64(x->process_ns, y->process_ns);
    if (!d)
        d = compare_u64(y->pid, x->pid);
    return d ? d : by_run(a, b);
}

/* -p: by name, pid or tid. */
static bool is_wanted(const struct timechart_options *o, const struct states *s, uint32_t thread) {
    const struct states_thread *t = states_thread(s, thread);
    const char *name = states_thread_name(s, thread);
    for (size_t i = 0; i < o->processes.count; i++) {
        char *end;
        unsigned long long number = strtoull(o->processes.items[i], &end, 10);
        bool is_number = *o->processes.items[i] && !*end;
        if ((name && strcmp(name, o->processes.items[i]) == 0) ||
            (is_number && (number == t->tid || (t->pid && number == t->pid))))
            return true;
    }
    return !o->processes.count;
}

static bool collect(const struct timechart_options *o, const struct states *s,
                    const struct timechart_totals *totals, struct candidates *c) {
    for (uint32_t i = 0; i < totals->threads.count; i++) {
        const struct states_thread *t = states_thread(s, i);
        const struct timechart_total *total = &totals->threads.items[i];
        if (!t->tid || !(total->run_ns || total->wait_ns || total->block_ns) || !is_wanted(o, s, i))
            continue;
        struct candidate *to = vec_push(&c->list);
        if (!to)
            return false;
        *to = (struct candidate){.thread = i, .pid = t->pid ? t->pid : t->tid, .run_ns = total->run_ns};
    }
    return true;
}

/* How many of those sorted by what they ran are drawn. */
static size_t how_many(const struct timechart_options *o, const struct states *s,
                       const struct candidates *c) {
    size_t least = o->least > 0 ? (size_t)o->least : LEAST, n = 0;
    uint64_t notable = (s->now_ns - s->begin_ns) / NOTABLE;
    size_t most = least > MOST || o->processes.count ? SIZE_MAX : MOST;
    while (n < c->list.count && (n < least || (n < most && c->list.items[n].run_ns >= notable)))
        n++;
    return n;
}

static bool add_group(struct timechart_choice *out, const struct states *s, const struct candidate *c,
                      uint32_t first, uint32_t count, bool folded) {
    char title[128];
    struct timechart_group *g = vec_push(&out->groups);
    const char *name = states_thread_name(s, c->thread);
    if (!g)
        return false;
    if (count == 1 && name)
        snprintf(title, sizeof title, "%s [%" PRIu32 "]", name, c->pid);
    else
        snprintf(title, sizeof title, "%s [%" PRIu32 "], %" PRIu32 " threads", name ? name : "?", c->pid,
                 count);
    *g = (struct timechart_group){.title = strdup(title), .first = first, .count = count, .folded = folded};
    return g->title;
}

static void sum_processes(struct candidates *c, size_t n) {
    qsort(c->list.items, n, sizeof *c->list.items, by_pid);
    for (size_t i = 0; i < n;) {
        uint64_t sum = 0;
        size_t end = i;
        for (; end < n && c->list.items[end].pid == c->list.items[i].pid; end++)
            sum += c->list.items[end].run_ns;
        for (; i < end; i++)
            c->list.items[i].process_ns = sum;
    }
    qsort(c->list.items, n, sizeof *c->list.items, by_process);
}

bool timechart_choose_threads(const struct timechart_options *o, const struct states *s,
                              const struct timechart_totals *totals, struct timechart_choice *out) {
    struct candidates c = {0};
    bool ok = collect(o, s, totals, &c);
    out->of = c.list.count;
    if (c.list.count)
        qsort(c.list.items, c.list.count, sizeof *c.list.items, by_run);
    size_t n = how_many(o, s, &c);
    if (n)
        sum_processes(&c, n);
    for (size_t i = 0; i < n && ok;) {
        size_t end = i;
        while (end < n && c.list.items[end].pid == c.list.items[i].pid)
            end++;
        ok = add_group(out, s, &c.list.items[i], (uint32_t)i, (uint32_t)(end - i), end > OPEN_ROWS);
        for (; i < end && ok; i++) {
            uint32_t *to = vec_push(&out->threads);
            ok = to;
            if (to)
                *to = c.list.items[i].thread;
        }
    }
    vec_fini(&c.list);
    return ok;
}

void timechart_choice_fini(struct timechart_choice *c) {
    for (size_t i = 0; i < c->groups.count; i++)
        free((char *)c->groups.items[i].title);
    vec_fini(&c->groups);
    vec_fini(&c->threads);
}
