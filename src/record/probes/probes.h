/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes with arguments that are nowhere written down (record --probe 'FUNC arg'): uprobes of the perf PMU,
 * with programs (bpf/probe.bpf.c) that read the arguments and write samples into the recording's rings. What
 * ends the recorder ends them.
 *
 * In the file such an event is a tracepoint, and its format is in TRACING_DATA, so that every reader prints
 * it as it prints a probe of tracefs. In the kernel it is a bpf-output event for each CPU.
 */
#ifndef SONDE_RECORD_PROBES_PROBES_H
#define SONDE_RECORD_PROBES_PROBES_H

#include "events/target.h"
#include "os/bpf/bpf.h"
#include "record/rings/open.h"

struct record_probes;

struct record_probes_sources {
    const struct os_bpf *bpf;
    const struct os_perf *perf;
    const struct perf_target *target;
    const struct record_opened *opened; /* the events of `plan` */
    const struct record_plan *plan;
    bool inherit, verbose;
};

/* Whether this kernel takes the programs, from us: they are loaded and thrown away. */
bool record_probes_possible(const struct os_bpf *bpf);

/* Whether the plan has such events. */
bool record_probes_wanted(const struct record_plan *plan);

/* Loads the programs and attaches them. What `from` points at is borrowed for the call; the first two for as
 * long as the probes last. NULL: *err says what is missing. */
struct record_probes *record_probes_start(const struct record_probes_sources *from, struct err *err);

/* Logs what was lost. */
void record_probes_tell(const struct record_probes *x);

/* Takes the probes away; NULL is allowed. */
void record_probes_free(struct record_probes *x);

#endif
