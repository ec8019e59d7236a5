/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the attrs of events that counting and recording share. */
#ifndef SONDE_EVENTS_EVENT_ATTR_H
#define SONDE_EVENTS_EVENT_ATTR_H

#include "events/event_parse.h"

/* Sets or clears one of PERFDATA_ATTR_*. */
static inline void perf_event_attr_set(struct perfdata_attr *a, uint64_t flag, bool on) {
    a->flags = on ? a->flags | flag : a->flags & ~flag;
}

/* Makes attr.size as small as the fields in use allow, so that older kernels and perf 6.1 accept it where
 * possible. */
void perf_event_attr_size(struct perfdata_attr *a);

/* --all-user and --all-kernel, unless the event `e` itself names its modes. True: the user chose the modes,
 * and they must not be changed. */
bool perf_event_attr_modes(struct perfdata_attr *a, const struct perf_event *e, bool all_user,
                           bool all_kernel);

#endif
