/* SPDX-License-Identifier: Apache-2.0 */
#include "events/event_attr.h"

enum { ATTR_SIZE = 128 /* PERFDATA_ATTR_SIZE_VER7: up to sig_data */ };

void perf_event_attr_size(struct perfdata_attr *a) {
    a->size = a->config4 ? PERFDATA_ATTR_SIZE_NEWEST : a->config3 ? PERFDATA_ATTR_SIZE_NEWEST - 8 : ATTR_SIZE;
    a->known_size = a->size;
}

bool perf_event_attr_modes(struct perfdata_attr *a, const struct perf_event *e, bool all_user,
                           bool all_kernel) {
    bool given = e->modifiers & PERF_EVENT_MODE_GIVEN;
    if (!given && all_user)
        perf_event_attr_set(a, PERFDATA_ATTR_EXCLUDE_KERNEL | PERFDATA_ATTR_EXCLUDE_HV, true);
    if (!given && all_kernel)
        perf_event_attr_set(a, PERFDATA_ATTR_EXCLUDE_USER, true);
    return given || all_user || all_kernel;
}
