/* SPDX-License-Identifier: Apache-2.0 */
/* From a pile of records to timelines: sort, play, make each owner's entries contiguous. */
#include "base/radix.h"
#include "model/model_internal.h"

static const char where[] = "process and mapping timeline";

/* Sorts by what the keys were set to; most often they ascend already. */
static void sort_keyed(struct radix_item *items, struct radix_item *room, size_t count) {
    size_t at = 1;
    while (at < count && items[at - 1].key <= items[at].key)
        at++;
    if (at < count)
        radix_sort(items, room, count);
}

/* Plays what was applied, sorted by time and, within an instant, by place in the file. False: memory. */
static bool play_sorted(struct model *m) {
    const struct model_event *events = m->pending.items;
    size_t count = m->pending.count;
    struct radix_item *items = count < UINT32_MAX ? malloc((2 * count + 1) * sizeof *items) : NULL;
    if (!items)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct radix_item){events[i].when.order, (uint32_t)i};
    sort_keyed(items, items + count, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = events[items[i].value].when.time_ns;
    sort_keyed(items, items + count, count);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = play_event(m, &events[items[i].value]);
    free(items);
    return ok;
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
    bool ok = play_sorted(m);
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
