/* SPDX-License-Identifier: Apache-2.0 */
#include "states/timechart/timechart.h"

#include <stdlib.h>

/* ---- first pass ---- */

bool timechart_totals_add(void *ctx, const struct states_interval *i) {
    struct timechart_totals *t = ctx;
    uint64_t ns = i->until_ns - i->since_ns;
    while (t->threads.count <= i->thread)
        if (!vec_push(&t->threads))
            return false;
    struct timechart_total *total = &t->threads.items[i->thread];
    if (i->state == STATES_RUNNING) {
        total->run_ns += ns;
        if (ns > total->longest_ns)
            total->longest_ns = ns;
    } else if (i->state == STATES_RUNNABLE || i->state == STATES_PREEMPTED) {
        total->wait_ns += ns;
    } else if (i->state == STATES_BLOCKED) {
        total->block_ns += ns;
    }
    return true;
}

void timechart_totals_fini(struct timechart_totals *t) {
    vec_fini(&t->threads);
}

/* ---- second pass ---- */

void timechart_init(struct timechart *t, uint64_t begin_ns, uint64_t end_ns, uint32_t columns) {
    uint64_t span = end_ns > begin_ns ? end_ns - begin_ns : 0;
    if (columns > TIMECHART_COLUMNS_MAX)
        columns = TIMECHART_COLUMNS_MAX;
    if (columns > span)
        columns = (uint32_t)span;
    *t = (struct timechart){
        .begin_ns = begin_ns, .end_ns = begin_ns + (span ? span : 1), .columns = columns ? columns : 1};
}

void timechart_fini(struct timechart *t) {
    for (size_t i = 0; i < t->threads.count; i++)
        free(t->threads.items[i].cells);
    for (size_t i = 0; i < t->cpus.count; i++) {
        free(t->cpus.items[i].row.cells);
        free(t->cpus.items[i].power);
    }
    vec_fini(&t->threads);
    vec_fini(&t->cpus);
    hash_map_fini(&t->by_thread);
    hash_map_fini(&t->by_cpu);
}

uint64_t timechart_column_ns(const struct timechart *t, uint32_t column) {
    return t->begin_ns + (uint64_t)((unsigned __int128)(t->end_ns - t->begin_ns) * column / t->columns);
}

/* The column that a time within the span lies in. */
static uint32_t column_of(const struct timechart *t, uint64_t time_ns) {
    uint32_t c =
        (uint32_t)((unsigned __int128)(time_ns - t->begin_ns) * t->columns / (t->end_ns - t->begin_ns));
    if (c >= t->columns)
        c = t->columns - 1;
    /* Bounds are rounded down. */
    while (c + 1 < t->columns && timechart_column_ns(t, c + 1) <= time_ns)
        c++;
    while (c && timechart_column_ns(t, c) > time_ns)
        c--;
    return c;
}

void timechart_spread(const struct timechart *t, uint64_t since, uint64_t until, timechart_column_fn *add,
                      void *to) {
    if (since < t->begin_ns)
        since = t->begin_ns;
    if (until > t->end_ns)
        until = t->end_ns;
    if (since >= until)
        return;
    for (uint32_t c = column_of(t, since); c < t->columns && since < until; c++) {
        uint64_t end = c + 1 < t->columns ? timechart_column_ns(t, c + 1) : t->end_ns;
        uint64_t upto = end < until ? end : until;
        if (upto > since)
            add(to, c, upto - since);
        since = upto > since ? upto : since;
    }
}

static void add_run(void *to, uint32_t c, uint64_t ns) {
    ((struct timechart_cell *)to)[c].run_ns += ns;
}

static void add_wait(void *to, uint32_t c, uint64_t ns) {
    ((struct timechart_cell *)to)[c].wait_ns += ns;
}

static void add_block(void *to, uint32_t c, uint64_t ns) {
    ((struct timechart_cell *)to)[c].block_ns += ns;
}

bool timechart_choose(struct timechart *t, uint32_t thread) {
    struct timechart_row *r = vec_push(&t->threads);
    if (!r)
        return false;
    *r = (struct timechart_row){.what = thread, .cells = calloc(t->columns, sizeof *r->cells)};
    return r->cells && hash_map_set(&t->by_thread, thread, (uint32_t)t->threads.count - 1);
}

/* The CPU's row; NULL with *ok: there is no room for another one. */
static struct timechart_cpu *find_cpu(struct timechart *t, uint32_t cpu, bool *ok) {
    uint32_t i = hash_map_get(&t->by_cpu, cpu);
    *ok = true;
    if (i != HASH_ABSENT)
        return &t->cpus.items[i];
    if (t->cpus.count >= TIMECHART_CPUS_MAX) {
        t->cut = true;
        return NULL;
    }
    struct timechart_cpu *c = vec_push(&t->cpus);
    if (c)
        *c = (struct timechart_cpu){.row = {.what = cpu, .cells = calloc(t->columns, sizeof *c->row.cells)},
                                    .idle = UINT32_MAX};
    *ok = c && c->row.cells && hash_map_set(&t->by_cpu, cpu, (uint32_t)t->cpus.count - 1);
    return *ok ? c : NULL;
}

static timechart_column_fn *adds(enum states_state s) {
    switch (s) {
    case STATES_RUNNING:
        return add_run;
    case STATES_RUNNABLE:
    case STATES_PREEMPTED:
        return add_wait;
    case STATES_BLOCKED:
        return add_block;
    default:
        return NULL;
    }
}

bool timechart_add(void *ctx, const struct states_interval *i) {
    struct timechart *t = ctx;
    timechart_column_fn *add = adds(i->state);
    uint32_t row = hash_map_get(&t->by_thread, i->thread);
    if (!add)
        return true;
    if (row != HASH_ABSENT)
        timechart_spread(t, i->since_ns, i->until_ns, add, t->threads.items[row].cells);
    return true;
}

/* ---- CPUs ---- */

struct idle_to {
    struct timechart_power *power;
    uint32_t state;
    double khz;
};

static void add_idle(void *to, uint32_t c, uint64_t ns) {
    const struct idle_to *i = to;
    uint32_t deep = i->state < TIMECHART_IDLE_STATES ? i->state : TIMECHART_IDLE_STATES - 1;
    i->power[c].idle_ns[deep] += ns;
}

static void add_speed(void *to, uint32_t c, uint64_t ns) {
    const struct idle_to *i = to;
    i->power[c].known_ns += ns;
    i->power[c].speed += i->khz * (double)ns;
}

static bool has_power(struct timechart *t, struct timechart_cpu *c) {
    t->has_power = true;
    if (!c->power)
        c->power = calloc(t->columns, sizeof *c->power);
    return c->power;
}

static void end_idle(struct timechart *t, struct timechart_cpu *c, uint64_t time_ns) {
    struct idle_to to = {.power = c->power, .state = c->idle};
    if (c->idle < TIMECHART_AWAKE && c->power)
        timechart_spread(t, c->idle_since_ns, time_ns, add_idle, &to);
}

static void end_speed(struct timechart *t, struct timechart_cpu *c, uint64_t time_ns) {
    struct idle_to to = {.power = c->power, .khz = c->khz};
    if (c->khz && c->power)
        timechart_spread(t, c->speed_since_ns, time_ns, add_speed, &to);
}

bool timechart_idle(struct timechart *t, uint64_t time_ns, uint32_t cpu, uint32_t state) {
    bool ok;
    struct timechart_cpu *c = find_cpu(t, cpu, &ok);
    if (!c || !has_power(t, c))
        return ok && !c;
    end_idle(t, c, time_ns);
    c->idle = state;
    c->idle_since_ns = time_ns;
    return true;
}

bool timechart_speed(struct timechart *t, uint64_t time_ns, uint32_t cpu, uint32_t khz) {
    bool ok;
    struct timechart_cpu *c = find_cpu(t, cpu, &ok);
    if (!c || !has_power(t, c))
        return ok && !c;
    end_speed(t, c, time_ns);
    c->khz = khz;
    c->speed_since_ns = time_ns;
    if (khz > t->max_khz)
        t->max_khz = khz;
    return true;
}

bool timechart_busy(struct timechart *t, uint64_t since_ns, uint64_t until_ns, uint32_t cpu) {
    bool ok;
    struct timechart_cpu *c = find_cpu(t, cpu, &ok);
    if (c)
        timechart_spread(t, since_ns, until_ns, add_run, c->row.cells);
    return ok;
}

static int by_number(const void *a, const void *b) {
    const struct timechart_cpu *x = a, *y = b;
    return x->row.what < y->row.what ? -1 : x->row.what > y->row.what;
}

void timechart_finish(struct timechart *t) {
    for (size_t i = 0; i < t->cpus.count; i++) {
        end_idle(t, &t->cpus.items[i], t->end_ns);
        end_speed(t, &t->cpus.items[i], t->end_ns);
    }
    if (t->cpus.count)
        qsort(t->cpus.items, t->cpus.count, sizeof *t->cpus.items, by_number);
}
