/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording's events about the kernel's own work, as events of kwork: irq:irq_handler_entry and _exit,
 * irq:softirq_raise, _entry and _exit, workqueue:workqueue_activate_work, _execute_start and _execute_end;
 * and LOST records.
 */
#ifndef SONDE_STATES_KWORK_KWORK_EVENTS_H
#define SONDE_STATES_KWORK_KWORK_EVENTS_H

#include "base/err.h"
#include "recording/tracepoints.h"
#include "states/kwork/kwork.h"
#include "states/print_names.h"

enum { KWORK_VECTORS = 32 };

struct kwork_events {
    struct tracepoints tracepoints;
    struct print_name vectors[KWORK_VECTORS]; /* names of soft interrupts, from an event's format */
    size_t vector_count;
    size_t described; /* how many events were searched for them */
};

void kwork_events_init(struct kwork_events *e, struct stream *stream, const struct perfdata_namer *names);
void kwork_events_fini(struct kwork_events *e);

/* As the functions of sched_events.h with these names. */
bool kwork_events_update(struct kwork_events *e, struct err *err);
bool kwork_events_any(const struct kwork_events *e);
bool kwork_events_want(void *ctx, const struct stream_record *r);
bool kwork_events_apply(struct kwork_events *e, struct kwork *k, const struct stream_record *r,
                        struct err *err);

#endif
