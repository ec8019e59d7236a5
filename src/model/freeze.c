/* SPDX-License-Identifier: Apache-2.0 */
/* From a pile of records to timelines: sort, play, make each owner's entries contiguous. */
#include "model/model_internal.h"

static const char where[] = "process and mapping timeline";

static bool play(void *ctx, const struct model_event *e) {
    return play_event(ctx, e);
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
    if (!pending_play(&m->pending, play, m) || !freeze_timelines(m))
        return err_memory(err, where);
    if (m->pokes.count)
        qsort(m->pokes.items, m->pokes.count, sizeof *m->pokes.items, compare_pokes);
    if (m->programs.count)
        qsort(m->programs.items, m->programs.count, sizeof *m->programs.items, compare_programs);
    vec_trim(&m->mappings);
    vec_trim(&m->tree.nodes);
    vec_trim(&m->processes);
    vec_trim(&m->threads);
    vec_trim(&m->spaces);
    vec_trim(&m->tasks);
    m->frozen = true;
    return true;
}
