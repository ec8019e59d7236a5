/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "profile/profile.h"

static const struct {
    uint16_t at;   /* in struct profile_sums or... */
    bool children; /* ... profile_through */
    bool mean;
} measures[PROFILE_KEY_FIRST] = {
    [PROFILE_OVERHEAD] = {offsetof(struct profile_sums, period), false, false},
    [PROFILE_OVERHEAD_CHILDREN] = {offsetof(struct profile_through, period), true, false},
    [PROFILE_LATENCY] = {offsetof(struct profile_sums, latency), false, false},
    [PROFILE_LATENCY_CHILDREN] = {0, true, false},
    [PROFILE_OVERHEAD_SYS] = {offsetof(struct profile_sums, period_sys), false, false},
    [PROFILE_OVERHEAD_US] = {offsetof(struct profile_sums, period_us), false, false},
    [PROFILE_OVERHEAD_GUEST_SYS] = {offsetof(struct profile_sums, period_guest_sys), false, false},
    [PROFILE_OVERHEAD_GUEST_US] = {offsetof(struct profile_sums, period_guest_us), false, false},
    [PROFILE_SAMPLE] = {offsetof(struct profile_sums, samples), false, false},
    [PROFILE_PERIOD] = {offsetof(struct profile_sums, period), false, false},
    [PROFILE_WEIGHT1] = {offsetof(struct profile_sums, weight1), false, true},
    [PROFILE_WEIGHT2] = {offsetof(struct profile_sums, weight2), false, true},
    [PROFILE_WEIGHT3] = {offsetof(struct profile_sums, weight3), false, true},
};

bool profile_measure_of_children(enum profile_column_id id) {
    return measures[id].children;
}

bool profile_measure_is_mean(enum profile_column_id id) {
    return measures[id].mean;
}

uint64_t profile_measure(const struct profile_sums *self, const struct profile_through *children,
                         const uint64_t *latency, enum profile_column_id id) {
    const char *from = (const char *)self;
    if (measures[id].children && !children)
        return id == PROFILE_LATENCY_CHILDREN ? self->latency : self->period;
    if (id == PROFILE_LATENCY_CHILDREN)
        return latency ? *latency : 0;
    if (measures[id].children)
        from = (const char *)children;
    return *(const uint64_t *)(const void *)(from + measures[id].at);
}

void profile_sums_add(struct profile_sums *to, const struct profile_sums *more) {
    to->period += more->period;
    to->samples += more->samples;
    to->period_sys += more->period_sys;
    to->period_us += more->period_us;
    to->period_guest_sys += more->period_guest_sys;
    to->period_guest_us += more->period_guest_us;
    to->weight1 += more->weight1;
    to->weight2 += more->weight2;
    to->weight3 += more->weight3;
    to->latency += more->latency;
}
