/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many records of each type a recording has: the text of `report --stats` and of the end of `report -D`,
 * as perf 7.2 prints it, and all sums as JSON.
 */
#ifndef SONDE_VIEW_LISTS_STATS_H
#define SONDE_VIEW_LISTS_STATS_H

#include "base/hash.h"
#include "base/text/out.h"
#include "format/perfdata/readings.h"
#include "stream/stream.h"

enum { STATS_TYPES = 128 }; /* types below this are counted by number, others in a list */

struct stats_type {
    uint32_t type;
    bool legacy; /* stream_record.legacy */
    uint64_t count;
};

struct stats_event {
    uint64_t samples;      /* as perf counts them: see readings.h */
    uint64_t lost_samples; /* LOST_SAMPLES records */
};

struct stats {
    bool detailed;     /* decode the samples, for the members after the line "detailed only" */
    bool samples_only; /* print only samples for an event, as perf does at the end of a dump */
    uint64_t total, by_type[STATS_TYPES];
    VEC(struct stats_type) others;  /* in order of appearance */
    struct hash_map other_at;       /* index in `others`, by type and legacy */
    VEC(struct stats_event) events; /* by index of event */
    struct readings readings;
    /* detailed only */
    uint64_t period_sum; /* of the samples with a period */
    uint64_t callchain_entries, branch_entries;
    uint64_t user_stack_samples, raw_samples, guest_samples;
    uint64_t first_time_ns, last_time_ns; /* of the samples; first > last: none has a time */
};

void stats_init(struct stats *t, bool detailed);
void stats_fini(struct stats *t);

/* Counts one record. Returns NULL, or a static text that says why it cannot be decoded; it is not counted
 * then. *ok: false if memory ran out. */
const char *stats_add(struct stats *t, const struct perfdata_events *events, const struct stream_record *r,
                      bool *ok);

/* Counts everything from the stream's position on. Records that cannot be decoded are reported to the stream.
 * False and *err: out of memory, or reading failed; what was read before is counted. */
bool stats_read(struct stats *t, struct stream *s, struct err *err);

/*
 * Prints the final counts ("Aggregated stats:"): the types that perf 7.2 counts, in its words, then the
 * samples of each event that has any; and separately, if there are any, what perf ignores: other types,
 * samples of unknown ids, bad records and skipped bytes.
 */
void stats_print(const struct stats *t, struct stream *s, struct out *out);

/* Writes all sums (of detailed statistics) as one object on one line. */
void stats_print_json(const struct stats *t, struct stream *s, struct out *out);

#endif
