/* SPDX-License-Identifier: Apache-2.0 */
/* One measurement: from events to frozen counts, of a command or of what runs already. */
#ifndef SONDE_COUNT_SESSION_H
#define SONDE_COUNT_SESSION_H

#include "count/counts.h"
#include "count/open/counters.h"
#include "count/options.h"
#include "events/event_parse.h"
#include "os/bpf/bpf.h"
#include "os/perf/perf_event.h"
#include "os/proc/proc.h"

/* What is counted; borrowed. */
struct count_opened {
    const struct count_plan *plan;
    const struct count_counters *counters;
    const struct perf_target *target;
};

struct count_job {
    const struct count_options *options;
    const struct perf_events *events; /* none: only times are measured */
    const bool *optional;             /* beside them: has no row where it is not supported; NULL: none is */
    const uint32_t *pass_of;          /* beside them: counted in that pass only (passes.h); NULL: all are */
    uint32_t pass;
    bool again; /* one of several runs, and not the first, whose messages are not repeated */
    const struct sysfs *sys;
    const struct os_perf *perf;
    const struct os_bpf *bpf;   /* for options->bpf_counters */
    const struct os_proc *proc; /* NULL: control groups are not found */
    /* Given what was counted in each interval (options.interval_ms), valid for that call only; or NULL. */
    void (*interval)(void *ctx, const struct counts *deltas);
    /* Told what changes meanwhile ("Events enabled"); or NULL. */
    void (*note)(void *ctx, const char *text);
    /* For who writes counters down; or NULL. Told of them when they are open, and whenever they have been
     * read: at time_ns since the start, `last`: for the last time. False ends the measurement with *err. */
    bool (*opened)(void *ctx, const struct count_opened *o, struct err *err);
    bool (*read)(void *ctx, const struct count_opened *o, uint64_t time_ns, bool last, struct err *err);
    void *ctx;
};

struct count_result {
    struct counts counts;   /* of the whole measurement */
    struct count_run *kept; /* what `counts` borrows */
    int status; /* the command's exit code, 128 + signal when it was killed; 0 without a command */
    int signal; /* that ended the measurement, or 0 */
};

/*
 * Measures until the command ends, all threads of -p or -t have ended, the time or the number of intervals is
 * over, or a signal (SIGINT, SIGTERM, SIGHUP) comes; that is no error. False and *err when it could not be
 * started; there is nothing to finish then.
 */
bool count_run(const struct count_job *job, struct count_result *result, struct err *err);
void count_result_fini(struct count_result *result);

#endif
