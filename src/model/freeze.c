/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a batch of events into timelines: sorts and plays them, and makes each owner's entries contiguous. */
#include "model/model_internal.h"
#include "os/heap.h"

static const char where[] = "process and mapping timeline";

static bool play(void *ctx, const struct model_event *e) {
    return play_event(ctx, e);
}

/* Reserves tables by the number of events of each kind: a table that grows is copied each time, and the
 * memory that it frees is too small to be reused for it. */
static void make_room(struct model *m) {
    const size_t *kinds = m->pending.kinds;
    size_t execs = kinds[EVENT_COMM_EXEC], forks = kinds[EVENT_FORK] + kinds[EVENT_FORK_EMPTY],
           spaces = m->spaces.count + 1, tasks = m->tasks.count + 1,
           maps = kinds[EVENT_MAP] + kinds[EVENT_MAP_SPACE] + kinds[EVENT_CODE],
           comms = kinds[EVENT_COMM] + execs + forks + kinds[EVENT_EXIT];
    timeline_room(&m->changes, maps + maps / SPACE_LOG_MAX + execs + 2 * forks + kinds[EVENT_EXIT], spaces);
    timeline_room(&m->space_processes, forks + spaces, spaces);
    timeline_room(&m->task_threads, forks + tasks, tasks);
    if (model_needs(m, MODEL_NEED_COMMS))
        timeline_room(&m->task_comms, comms, tasks);
    os_heap_room(&m->processes, forks + spaces);
    os_heap_room(&m->threads, forks + tasks);
}

static int compare_pokes(const void *a, const void *b) {
    const struct model_text_poke *x = a, *y = b;
    return model_when_before(x->when, y->when) ? -1 : model_when_before(y->when, x->when);
}

static int compare_programs(const void *a, const void *b) {
    const struct model_bpf_program *x = a, *y = b;
    return model_when_before(x->when, y->when) ? -1 : model_when_before(y->when, x->when);
}

static bool freeze_timelines(struct model *m) {
    return timeline_freeze(&m->changes) && timeline_freeze(&m->space_processes) &&
           timeline_freeze(&m->task_threads) && timeline_freeze(&m->task_comms) &&
           timeline_freeze(&m->task_namespaces);
}

bool model_freeze(struct model *m, struct err *err) {
    if (m->frozen)
        return true;
    model_settle_ends(m);
    make_room(m);
    if (!pending_play(&m->pending, play, m) || !freeze_timelines(m))
        return err_memory(err, where);
    if (m->pokes.count)
        qsort(m->pokes.items, m->pokes.count, sizeof *m->pokes.items, compare_pokes);
    if (m->programs.count)
        qsort(m->programs.items, m->programs.count, sizeof *m->programs.items, compare_programs);
    mapping_trim(&m->mappings);
    vec_trim(&m->tree.nodes);
    vec_trim(&m->processes);
    vec_trim(&m->threads);
    vec_trim(&m->spaces);
    vec_trim(&m->tasks);
    m->frozen = true;
    return true;
}
