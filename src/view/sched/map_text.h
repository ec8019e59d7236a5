/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread every CPU ran, a line for each switch, as text: `sched map`. A thread gets a name of two
 * characters at its first switch, which is explained then, and again when its comm has changed:
 *
 *    *A0  .    7163.000627 secs A0 => migration/0:18
 *
 * If names were chosen, all other threads are "-".
 */
#ifndef SONDE_VIEW_SCHED_MAP_TEXT_H
#define SONDE_VIEW_SCHED_MAP_TEXT_H

#include "base/text/out.h"
#include "select/filter.h"
#include "states/states.h"

enum { MAP_CPUS_MAX = 4096 }; /* CPUs with larger numbers are not shown */

struct map_column {
    uint32_t cpu, thread; /* thread: STATES_NONE: not known */
    bool heard;           /* something ran there */
};

struct map_thread {
    uint32_t number; /* of its short name, from 1 on; 0: it has none yet */
    uint32_t told;   /* the comm that was last shown: id in states.names */
    bool was_told;
};

struct map_text {
    const struct filter_ranges *cpus; /* borrowed; CPUs whose switches are shown; empty: all */
    bool compact;                     /* only CPUs that ran something, in the order of their first switch */
    const struct filter_names
        *names; /* borrowed; names of the threads whose switches are shown; empty: all */
    bool fuzzy; /* part of a thread's name is enough to match */
    const struct filter_ranges *color_cpus, *color_pids; /* borrowed; NULL: no colors */
    struct out *out;
    VEC(struct map_column) columns;
    VEC(struct map_thread) threads; /* by index in states; may be shorter */
    uint32_t numbers;
    bool idle_told;
    uint64_t unshown; /* switches on CPUs whose numbers are too large for a column */
};

/* The sink and the tap of states; ctx is a struct map_text, zeroed but for cpus, compact and out. */
bool map_text_interval(void *ctx, const struct states_interval *i);
bool map_text_event(void *ctx, const struct states *s, const struct states_event *e);
void map_text_fini(struct map_text *m);

#endif
