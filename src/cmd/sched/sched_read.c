/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "cmd/sched/sched.h"
#include "stream/stream_order.h"

static bool read_events(struct recording *r, struct sched_events *events, struct states *states,
                        struct err *err) {
    struct order order;
    struct stream_record rec;
    enum stream_status status = STREAM_FAILED;
    bool ok = sched_events_update(events, err);
    if (ok && !sched_events_any(events))
        return err_set(err, ERR_ABSENT, stream_path(r->stream),
                       "nothing about scheduling was recorded: use 'sonde sched record'");
    order_init(&order, r->stream, sched_events_want, events, false);
    while (ok && (status = order_next(&order, &rec, err)) == STREAM_RECORD)
        ok = sched_events_apply(events, states, &rec, err);
    order_fini(&order);
    if (!ok || status != STREAM_END)
        return false;
    return states_finish(states) || err_memory(err, "states of threads");
}

bool sched_read(struct recording *r, const struct sched_common *common, struct model *m,
                struct states *states, struct err *err) {
    struct sched_events events = {0};
    if (!input_open(r, input_path(common->input), common->force, err) ||
        !input_first_pass(r, m, NULL, NULL, NULL, err))
        return false;
    sched_events_init(&events, r->stream, &r->namer);
    bool ok = read_events(r, &events, states, err);
    sched_events_fini(&events);
    if (ok && states->faults.backwards)
        log_line(LOG_WARN, "%s: %llu events come too late: they count as of the event before them",
                 stream_path(r->stream), (unsigned long long)states->faults.backwards);
    return ok;
}
