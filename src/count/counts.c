/* SPDX-License-Identifier: Apache-2.0 */
#include "count/counts.h"

#include <math.h>

void counts_fini(struct counts *c) {
    vec_fini(&c->keys);
    free(c->cells);
    arena_fini(&c->arena);
    *c = (struct counts){0};
}

/* A further key in the mean, all of its cells empty. */
static bool add_key(struct count_average *a, const struct count_key *key) {
    struct counts *m = &a->mean;
    size_t had = a->cells, cells = (m->keys.count + 1) * m->event_count;
    char *copy = arena_strndup(&m->arena, key->text, strlen(key->text));
    void *grown[] = {realloc(m->cells, (cells + 1) * sizeof *m->cells),
                     realloc(a->squares, (cells + 1) * sizeof *a->squares),
                     realloc(a->runs, (cells + 1) * sizeof *a->runs)};
    m->cells = grown[0] ? grown[0] : m->cells;
    a->squares = grown[1] ? grown[1] : a->squares;
    a->runs = grown[2] ? grown[2] : a->runs;
    struct count_key *k = copy && grown[0] && grown[1] && grown[2] ? vec_push(&m->keys) : NULL;
    if (!k)
        return false;
    *k = (struct count_key){.text = copy, .core = key->core};
    for (size_t i = had; i < cells; i++) {
        m->cells[i] = (struct count_cell){0};
        a->squares[i] = 0;
        a->runs[i] = 0;
    }
    a->cells = cells;
    return true;
}

static size_t find_key(const struct counts *c, const char *text, size_t hint) {
    if (hint < c->keys.count && strcmp(c->keys.items[hint].text, text) == 0)
        return hint;
    for (size_t i = 0; i < c->keys.count; i++)
        if (strcmp(c->keys.items[i].text, text) == 0)
            return i;
    return SIZE_MAX;
}

/* Welford's way: the mean and the sum of squared differences from it, one value after the other. */
static void add_cell(struct count_average *a, size_t at, const struct count_cell *c) {
    struct count_cell *m = &a->mean.cells[at];
    if (c->state == COUNT_NONE)
        return;
    if (m->state == COUNT_NONE || c->state == COUNT_COUNTED)
        m->state = c->state;
    m->counters = c->counters;
    double n = ++a->runs[at], before = c->value - m->value;
    m->value += before / n;
    a->squares[at] += before * (c->value - m->value);
    m->enabled_ns += (c->enabled_ns - m->enabled_ns) / n;
    m->running_ns += (c->running_ns - m->running_ns) / n;
}

bool count_average_add(struct count_average *a, const struct counts *run) {
    struct counts *m = &a->mean;
    double *elapsed = vec_push(&a->elapsed_ns);
    if (!elapsed)
        return false;
    *elapsed = run->elapsed_ns;
    double n = (double)a->elapsed_ns.count;
    m->level = run->level;
    m->events = m->events ? m->events : run->events;
    m->event_count = run->event_count;
    m->cpus = run->cpus;
    m->elapsed_ns += (run->elapsed_ns - m->elapsed_ns) / n;
    m->time_ns = m->elapsed_ns;
    m->user_ns += (run->user_ns - m->user_ns) / n;
    m->system_ns += (run->system_ns - m->system_ns) / n;
    for (size_t k = 0; k < run->keys.count; k++) {
        size_t at = find_key(m, run->keys.items[k].text, k);
        if (at == SIZE_MAX) {
            at = m->keys.count;
            if (!add_key(a, &run->keys.items[k]))
                return false;
        }
        for (size_t e = 0; e < run->event_count; e++)
            add_cell(a, at * run->event_count + e, counts_cell(run, k, e));
    }
    return true;
}

void count_average_finish(struct count_average *a) {
    for (size_t i = 0; i < a->cells; i++) {
        struct count_cell *m = &a->mean.cells[i];
        double n = a->runs[i];
        double deviation = n > 1 ? sqrt(a->squares[i] / (n - 1) / n) : 0;
        m->spread = m->value != 0 ? 100 * deviation / m->value : 0;
    }
}

void count_average_fini(struct count_average *a) {
    counts_fini(&a->mean);
    free(a->squares);
    free(a->runs);
    vec_fini(&a->elapsed_ns);
    *a = (struct count_average){0};
}

double count_mean(const double *x, size_t n, double *deviation) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double before = x[i] - mean;
        mean += before / (double)(i + 1);
        squares += before * (x[i] - mean);
    }
    *deviation = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
    return mean;
}
