/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for events from their attrs, as perf spells them (learned from perf 7.2's evlist).
 *
 * What names a number is the recording alone: its PMU_MAPPINGS, its tracing
 * data. perf also asks the machine it runs on, whose PMU 8 or tracepoint 391
 * may be another one; sonde does not.
 */
#ifndef SONDE_FORMAT_PERFDATA_EVENTS_EVENT_NAME_H
#define SONDE_FORMAT_PERFDATA_EVENTS_EVENT_NAME_H

#include "base/text/out.h"
#include "format/perfdata/header/feature.h"
#include "format/tracefs/tracing_data.h"

/* What a recording knows of names. */
struct perfdata_namer {
    struct arena arena;
    struct perfdata_pmu_mappings pmus;
    struct hash_map pmu_by_type; /* attr.type -> index in pmus */
    struct tracing_data tracing;
    struct bytes *meta_names;   /* simpleperf's META_INFO: names of tracepoints */
    struct hash_map meta_by_id; /* attr.config -> index in meta_names */
};

/*
 * Collects the names in `h` (which must outlive the namer, as must the file's bytes). Damaged parts name
 * nothing. False when memory ran out. Free with perfdata_namer_fini in any case.
 */
bool perfdata_namer_init(struct perfdata_namer *n, const struct perfdata_header *h);
void perfdata_namer_fini(struct perfdata_namer *n);

/* The PMU with this attr.type: the recording's, else for the ABI's own types their fixed name (type 4, which
 * has none, is "cpu"). Empty when nothing is known. Lives as long as the namer's header. */
struct bytes perfdata_namer_pmu(const struct perfdata_namer *n, uint32_t type);

/* The description of tracepoint `id`, or NULL. Lives as long as the namer. */
const struct tracing_event *perfdata_namer_tracepoint(const struct perfdata_namer *n, uint64_t id);

/* True when tracepoint `id` has a name: by its description or, without one, by simpleperf's list of events.
 */
bool perfdata_namer_has_tracepoint(const struct perfdata_namer *n, uint64_t id);
/* Writes "SYSTEM:NAME" of a tracepoint that has a name; else nothing. */
void perfdata_namer_write_tracepoint(const struct perfdata_namer *n, uint64_t id, struct out *out);

/*
 * The name that an attr alone gives: "cycles:u", "LLC-load-misses", "raw 0xc4:pp", "mem:0x1000:rw",
 * "sched:sched_switch", "cpu/instructions/", "unknown event PMU=8 config=0x5"...
 */
void perfdata_event_name_write(const struct perfdata_namer *n, const struct perfdata_attr *attr,
                               struct out *out);

/* Gives every event that still has no name the one its attr gives. A later EVENT_UPDATE replaces it. False
 * when memory ran out. */
bool perfdata_event_name_rest(const struct perfdata_namer *n, struct perfdata_events *events);

#endif
