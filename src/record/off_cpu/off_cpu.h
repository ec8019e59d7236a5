/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads did not run, and where (record --off-cpu): programs in the kernel add it up
 * (bpf/off_cpu.bpf.c), and here the sums become samples of the event "offcpu-time", whose period is the time
 * in nanoseconds (perf-record(1)).
 *
 * The innermost frame says what the thread waits for (wait_frames.h), then come the kernel's callchain, from
 * where the thread waits outwards (the scheduler's own functions are left out), and the user's. Waits that
 * are too short to get stacks (--off-cpu-min) become one sample for each thread and kind, without callchains.
 * A sample's time is that of the last wait in it, a second or so after the first.
 */
#ifndef SONDE_RECORD_OFF_CPU_OFF_CPU_H
#define SONDE_RECORD_OFF_CPU_OFF_CPU_H

#include "base/writer.h"
#include "events/target.h"
#include "format/perfdata/events/events.h"
#include "os/bpf/bpf.h"
#include "os/perf/perf_event.h"
#include "os/proc/proc.h"
#include "record/options.h"
#include "record/write/sink.h"

struct record_off_cpu;

struct record_off_cpu_sources {
    const struct os_bpf *bpf;
    const struct os_perf *perf; /* for the recording's clock */
    const struct os_proc *proc; /* for where the scheduler's functions lie; NULL: they are not left out */
    const struct record_options *options;
    const struct perf_target *target;
    const char *machine; /* uname(2)'s word for it */
};

/* Loads the programs; nothing is counted yet. What `sources` points at is borrowed. NULL: *err says what is
 * missing. */
struct record_off_cpu *record_off_cpu_start(const struct record_off_cpu_sources *sources, struct err *err);

/* Starts or stops counting. Threads that still wait when it stops have waited until then. False and *err when
 * the kernel refuses. */
bool record_off_cpu_switch(struct record_off_cpu *x, bool on, struct err *err);

/* Whether sums should be taken now: once a second, or sooner where the map fills up. */
bool record_off_cpu_due(struct record_off_cpu *x);

/* Appends what was summed since the last call as samples of `event`, by time, and the names of their wait
 * frames where they are new. False and *err when the kernel's maps cannot be read, or memory ran out. */
bool record_off_cpu_take(struct record_off_cpu *x, const struct perfdata_event *event,
                         const struct record_sink *sink, struct writer *w, struct err *err);

/* Call it when another file begins: names are written again. */
void record_off_cpu_forget(struct record_off_cpu *x);

/* Logs what was counted so far, what was lost, and which map was full. */
void record_off_cpu_tell(struct record_off_cpu *x);

void record_off_cpu_free(struct record_off_cpu *x);

#endif
