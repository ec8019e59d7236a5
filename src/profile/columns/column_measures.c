/* SPDX-License-Identifier: Apache-2.0 */
/* The measures: sums over the samples of a row. */
#include <stddef.h>

#include "profile/profile_internal.h"

enum { PERCENT_WIDTH = 8, LATENCY_WIDTH = 7 /* with children */, COUNT_WIDTH = 12, WEIGHT_WIDTH = 8 };

#define SUM(member) offsetof(struct profile_sums, member)

static const struct profile_key rows[] = {
    {PROFILE_NAMES("overhead", "Overhead", "share of the event's period"), .id = PROFILE_OVERHEAD,
     .layout = PROFILE_PERCENT | PROFILE_SHARE, .width = PERCENT_WIDTH, .sum = SUM(period)},
    {PROFILE_NAMES("latency", "Latency", "share of the time that passed"), .id = PROFILE_LATENCY,
     .need = PROFILE_NEEDS_SWITCHES, .layout = PROFILE_PERCENT | PROFILE_SHARE, .width = PERCENT_WIDTH,
     .finds = PROFILE_FINDS_WEIGHTS, .sum = SUM(latency)},
    {PROFILE_NAMES("overhead_sys", "sys", "share of the period, in the kernel"), .id = PROFILE_OVERHEAD_SYS,
     .layout = PROFILE_PERCENT, .width = PERCENT_WIDTH, .sum = SUM(period_sys)},
    {PROFILE_NAMES("overhead_us", "usr", "share of the period, in user code"), .id = PROFILE_OVERHEAD_US,
     .layout = PROFILE_PERCENT, .width = PERCENT_WIDTH, .sum = SUM(period_us)},
    {PROFILE_NAMES("overhead_guest_sys", "guest sys", "share of the period, in guests' kernels"),
     .layout = PROFILE_PERCENT, .width = PERCENT_WIDTH, .sum = SUM(period_guest_sys)},
    {PROFILE_NAMES("overhead_guest_us", "guest usr", "share of the period, in user code of guests"),
     .layout = PROFILE_PERCENT, .width = PERCENT_WIDTH, .sum = SUM(period_guest_us)},
    {PROFILE_NAMES("overhead_children", "Children", "share of the period, with what was called"),
     .id = PROFILE_OVERHEAD_CHILDREN, .layout = PROFILE_PERCENT | PROFILE_SHARE | PROFILE_OF_CHILDREN,
     .width = PERCENT_WIDTH, .sum = offsetof(struct profile_through, period)},
    {PROFILE_NAMES("latency_children", "Latency", "share of the time that passed, with what was called"),
     .id = PROFILE_LATENCY_CHILDREN, .need = PROFILE_NEEDS_SWITCHES,
     .layout = PROFILE_PERCENT | PROFILE_SHARE | PROFILE_OF_CHILDREN, .width = LATENCY_WIDTH,
     .finds = PROFILE_FINDS_WEIGHTS},
    {PROFILE_NAMES("sample", "Samples", "number of samples"), .id = PROFILE_SAMPLE, .width = COUNT_WIDTH,
     .sum = SUM(samples)},
    {PROFILE_NAMES("period", "Period", "sum of the periods: how often the event happened"),
     .id = PROFILE_PERIOD, .width = COUNT_WIDTH, .sum = SUM(period)},
    {PROFILE_NAMES("weight1", "Weight1", "mean of the samples' weight"), .layout = PROFILE_MEAN,
     .width = WEIGHT_WIDTH, .finds = PROFILE_FINDS_WEIGHTS, .sum = SUM(weight1)},
    {PROFILE_NAMES("weight2", "Weight2", "mean of the second part of the samples' weight"),
     .aliases = (const char *const[]){"ins_lat", NULL}, .layout = PROFILE_MEAN, .width = WEIGHT_WIDTH,
     .finds = PROFILE_FINDS_WEIGHTS, .sum = SUM(weight2)},
    {PROFILE_NAMES("weight3", "Weight3", "mean of the third part of the samples' weight"),
     .aliases = (const char *const[]){"retire_lat", "p_stage_cyc", NULL}, .layout = PROFILE_MEAN,
     .width = WEIGHT_WIDTH, .finds = PROFILE_FINDS_WEIGHTS, .sum = SUM(weight3)},
};

const struct profile_key_list profile_measures = {rows, sizeof rows / sizeof *rows};

uint64_t profile_measure(const struct profile_sums *self, const struct profile_through *children,
                         const uint64_t *latency, const struct profile_column *c) {
    const struct profile_key *key = c->key;
    const char *from = (const char *)self;
    bool through = key->layout & PROFILE_OF_CHILDREN, time = key->id == PROFILE_LATENCY_CHILDREN;
    if (key->add)
        return self->own[c->sum];
    if (through && !children)
        return time ? self->latency : self->period;
    if (time)
        return latency ? *latency : 0;
    if (through)
        from = (const char *)children;
    return *(const uint64_t *)(const void *)(from + key->sum);
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
    for (unsigned i = 0; i < PROFILE_OWN_SUMS; i++)
        to->own[i] += more->own[i];
    to->latency += more->latency;
}
