/* SPDX-License-Identifier: Apache-2.0 */
/* Counter values per thread (report -T): recordings made with `record -s` have them in READ records. */
#ifndef SONDE_VIEW_REPORT_REPORT_THREADS_H
#define SONDE_VIEW_REPORT_REPORT_THREADS_H

#include "base/hash.h"
#include "base/text/out.h"
#include "base/vec.h"
#include "format/perfdata/events/events.h"

struct report_thread {
    uint32_t pid, tid;
};

struct report_thread_event {
    uint32_t event;
    unsigned digits; /* of its longest value */
};

/* Zeroed at first. Threads and events are in the order of their first values. */
struct report_threads {
    VEC(struct report_thread) threads;
    VEC(struct report_thread_event) events;
    VEC(uint64_t) values;
    struct hash_map by_thread, by_event, by_value; /* pid and tid, event, both -> index of these */
};

/* Adds a value to the sum of its thread and event. False: out of memory. */
bool report_threads_add(struct report_threads *t, uint32_t pid, uint32_t tid, uint32_t event, uint64_t value);
void report_threads_fini(struct report_threads *t);
/* Prints a row per thread and a column per event; `raw`: a row per value. */
void report_threads_print(const struct report_threads *t, const struct perfdata_events *events, bool raw,
                          struct out *out);

#endif
