/* SPDX-License-Identifier: Apache-2.0 */
/* What counters and recorders add to the attrs of events alike. */
#ifndef SONDE_EVENTS_EVENT_ATTR_H
#define SONDE_EVENTS_EVENT_ATTR_H

#include "events/event_parse.h"

/* One of PERFDATA_ATTR_*, on or off. */
static inline void perf_event_attr_set(struct perfdata_attr *a, uint64_t flag, bool on) {
    a->flags = on ? a->flags | flag : a->flags & ~flag;
}

/* As small as the fields that are used allow: what older kernels and perf 6.1 know, where that will do. */
void perf_event_attr_size(struct perfdata_attr *a);

/* --all-user and --all-kernel, unless the event says itself (`e`) which modes it is about. True: the modes
 * are the user's choice, and are not to be changed. */
bool perf_event_attr_modes(struct perfdata_attr *a, const struct perf_event *e, bool all_user,
                           bool all_kernel);

#endif
