/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records go that are made rather than received: what existed before the recording began. The seam
 * between the recording engine and synthesis.
 */
#ifndef SONDE_RECORD_WRITE_SINK_H
#define SONDE_RECORD_WRITE_SINK_H

#include "base/err.h"
#include "events/target.h"
#include "format/perfdata/added/kernel_facts.h"
#include "format/perfdata/events/events.h"
#include "record/options.h"
#include "record/write/mapped_build_ids.h"

struct record_sink {
    /* Takes whole encoded records; false and *err when the file could not. Not for two threads at once. */
    bool (*put)(void *ctx, struct bytes records, struct err *err);
    void *ctx;
    const struct perfdata_plan *plan; /* for the sample_id that records of this recording end in */
    /* To put there: all zero as perf does it, time 0 meaning "before the start". */
    struct perfdata_sample_id id;
    uint64_t event_id;                          /* of the event that carries the side-band; 0: none */
    struct perfdata_kernel_facts *kernel_facts; /* filled with what tells this kernel; NULL: not wanted */
    struct record_bpf *bpf;                     /* for what the header says of BPF programs; NULL: not kept */
    struct record_build_ids *build_ids;         /* for what no record tells (the kernel's); NULL: not kept */
};

struct record_synth_request {
    const struct record_options *options;
    const struct perf_target *target; /* whose state; threads -1: of everything */
    const struct sysfs *sys;
    int32_t self;                         /* our own pid */
    bool kernel;                          /* some event counts in the kernel */
    bool root;                            /* we act as root */
    const struct record_modules *modules; /* that are loaded; NULL: to be found out */
};

typedef bool record_synth_fn(void *ctx, const struct record_synth_request *r, const struct record_sink *sink,
                             struct err *err);

/* Encodes one kernel record with the sink's sample_id into `w`. */
void record_sink_encode(const struct record_sink *sink, struct perfdata_record *rec, struct writer *w);

#endif
