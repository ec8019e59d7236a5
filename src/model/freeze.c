/* SPDX-License-Identifier: Apache-2.0 */
/* From a pile of records to timelines: sort, play, make each owner's entries contiguous. */
#include "model/model_internal.h"

static const char where[] = "process and mapping timeline";

static bool later(const struct model_event *a, const struct model_event *b) {
    return model_when_before(b->when, a->when);
}

/* Where the ascending run that starts at `at` ends. */
static size_t run_end(const struct model_event *e, size_t at, size_t count) {
    do
        at++;
    while (at < count && !later(&e[at - 1], &e[at]));
    return at;
}

static void merge(const struct model_event *a, size_t na, const struct model_event *b, size_t nb,
                  struct model_event *out) {
    while (na && nb) {
        bool second = later(a, b); /* equal ones stay in file order */
        *out++ = second ? *b++ : *a++;
        nb -= second;
        na -= !second;
    }
    memcpy(out, a, na * sizeof *a);
    memcpy(out + na, b, nb * sizeof *b);
}

/*
 * Merges neighbouring ascending runs until one is left. A recording consists of a few long runs, one for each
 * CPU's buffer in each round, so this touches the events only a few times. False: memory.
 */
static bool sort_events(struct model_event **events, size_t count) {
    struct model_event *from = *events, *to = NULL;
    while (count && run_end(from, 0, count) < count) {
        if (!to && !(to = malloc(count * sizeof *to)))
            return false;
        for (size_t at = 0; at < count;) {
            size_t middle = run_end(from, at, count),
                   end = middle < count ? run_end(from, middle, count) : middle;
            merge(from + at, middle - at, from + middle, end - middle, to + at);
            at = end;
        }
        struct model_event *swap = from;
        from = to;
        to = swap;
    }
    *events = from;
    free(to);
    return true;
}

static int compare_pokes(const void *a, const void *b) {
    const struct model_text_poke *x = a, *y = b;
    return model_when_before(x->when, y->when) ? -1 : model_when_before(y->when, x->when);
}

static int compare_programs(const void *a, const void *b) {
    const struct model_bpf_program *x = a, *y = b;
    return model_when_before(x->when, y->when) ? -1 : model_when_before(y->when, x->when);
}

/* Gives back the room that growing left over. */
#define TRIM(v)                                                                  \
    do {                                                                         \
        void *trimmed = realloc((v).items, ((v).count + 1) * sizeof *(v).items); \
        if (trimmed) {                                                           \
            (v).items = trimmed;                                                 \
            (v).cap = (v).count + 1;                                             \
        }                                                                        \
    } while (0)

static bool freeze_timelines(struct model *m) {
    return timeline_freeze(&m->changes) && timeline_freeze(&m->space_processes) &&
           timeline_freeze(&m->task_threads) && timeline_freeze(&m->task_comms) &&
           timeline_freeze(&m->task_namespaces);
}

bool model_freeze(struct model *m, struct err *err) {
    if (m->frozen)
        return true;
    model_settle_ends(m);
    bool ok = sort_events(&m->pending.items, m->pending.count);
    for (size_t i = 0; ok && i < m->pending.count; i++)
        ok = play_event(m, &m->pending.items[i]);
    vec_fini(&m->pending);
    if (!ok || !freeze_timelines(m))
        return err_memory(err, where);
    if (m->pokes.count)
        qsort(m->pokes.items, m->pokes.count, sizeof *m->pokes.items, compare_pokes);
    if (m->programs.count)
        qsort(m->programs.items, m->programs.count, sizeof *m->programs.items, compare_programs);
    TRIM(m->mappings);
    TRIM(m->tree.nodes);
    TRIM(m->processes);
    TRIM(m->threads);
    TRIM(m->spaces);
    TRIM(m->tasks);
    m->frozen = true;
    return true;
}
