/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are not recorded, but say that something has happened (--switch-output-event). */
#ifndef SONDE_RECORD_RINGS_TRIGGER_H
#define SONDE_RECORD_RINGS_TRIGGER_H

#include "record/rings/open.h"

struct record_trigger {
    struct record_plan plan;
    struct record_opened opened; /* rings of a page each, which wake whoever polls them at every sample */
};

/* Opens them for the target of the recording. False and *err when that cannot be; record_trigger_fini is
 * allowed. */
bool record_trigger_open(struct record_trigger *t, const struct os_perf *perf,
                         const struct perf_events *events, const struct perf_target *target,
                         const struct record_options *o, struct err *err);
void record_trigger_fini(struct record_trigger *t);

/* Whether there were samples since the last call. */
bool record_trigger_fired(struct record_trigger *t);

#endif
