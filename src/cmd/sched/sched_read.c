/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sched/sched.h"

struct reading {
    struct sched_events events;
    struct states *states;
    bool failed; /* memory */
};

/* In a pipe events are described before the first of their samples, not from the beginning. */
static bool want(void *ctx, const struct stream_record *r) {
    struct reading *x = ctx;
    bool fresh = r->raw.type == PERFDATA_RECORD_SAMPLE &&
                 r->event < x->events.tracepoints.events->list.count && r->event >= x->events.letters.count;
    if (fresh && !sched_events_update(&x->events, &(struct err){0}))
        x->failed = true;
    return sched_events_want(&x->events, r);
}

static bool take(void *ctx, const struct stream_record *r, struct err *err) {
    struct reading *x = ctx;
    if (x->failed)
        return err_memory(err, "events of the scheduler");
    return sched_events_apply(&x->events, x->states, r, err);
}

static bool read_events(struct event_view *v, struct reading *x, struct err *err) {
    bool pipe = stream_is_pipe(v->recording.stream) && !v->symbols;
    if (!pipe && !sched_events_update(&x->events, err))
        return false;
    if ((pipe || sched_events_any(&x->events)) && !event_view_read(v, want, take, x, err))
        return false;
    if (!sched_events_any(&x->events))
        return err_set(err, ERR_ABSENT, stream_path(v->recording.stream),
                       "nothing about scheduling was recorded: use 'sonde sched record'");
    return states_finish(x->states) || err_memory(err, "states of threads");
}

bool sched_read(struct event_view *v, struct states *states, struct err *err) {
    struct reading x = {.states = states};
    sched_events_init(&x.events, v->recording.stream, &v->recording.namer);
    bool ok = read_events(v, &x, err);
    sched_events_fini(&x.events);
    if (ok)
        event_view_warn_late(v, states->faults.backwards);
    return ok;
}

struct event_view sched_view(struct command_env *env, const struct sched_common *common) {
    return (struct event_view){
        .env = env, .input = common->input, .force = common->force, .dump = common->dump};
}
