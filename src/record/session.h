/* SPDX-License-Identifier: Apache-2.0 */
/* A whole recording: from options to a closed file. */
#ifndef SONDE_RECORD_SESSION_H
#define SONDE_RECORD_SESSION_H

#include "base/err.h"
#include "events/event_parse.h"
#include "os/bpf/bpf.h"
#include "os/files/output.h"
#include "os/perf/perf_event.h"
#include "os/proc/proc.h"
#include "record/options.h"
#include "record/write/sink.h"

struct record_progress {
    uint64_t seconds, bytes, samples, lost;
};

/* What a consumer wants. */
struct record_turn {
    int wait_ms; /* when the next turn has to come at the latest; set to the most that a recording waits */
    bool stop;   /* the recording ends */
    bool forget; /* what was noted of mapped files, so that it is not told twice, is forgotten: it grows with
                    them */
};

/*
 * Who takes a recording as it is made, instead of a file: in pipe format, and asked after each turn over the
 * rings. What it does delays the next turn, so the rings have to hold as much.
 */
struct record_consumer {
    void *ctx;
    struct os_output out;
    int fd; /* is waited for, too: a turn comes when it can be read; -1: none */
    /* A turn is over: what is in `out` ends after whole records. False: *err says why. */
    bool (*turn)(void *ctx, const struct record_progress *now, struct record_turn *next, struct err *err);
};

/* Samples that are made by the owner, of the event options->made_event: asked for after each turn over the
 * rings. Appends whole records. Their times lie after those of the turn before. False: *err. */
struct record_made {
    void *ctx;
    bool (*take)(void *ctx, const struct perfdata_event *event, struct writer *w, struct err *err);
};

struct record_job {
    const struct record_options *options;
    struct perf_event_sources *sources;
    struct perf_events *events;              /* NULL: the default event; what does not exist is replaced */
    const struct perf_events *switch_events; /* begin a new file (with switch_output), NULL: none does */
    const struct sysfs *sys;
    const struct os_perf *perf;
    const struct os_bpf *bpf;               /* for options->off_cpu, and arguments of probes */
    const struct os_proc *proc;             /* NULL: mapped files are not looked at */
    char *const *argv;                      /* our own command line, for the header */
    const char *output;                     /* a path, or "-" */
    const struct record_made *made;         /* NULL: no such event */
    const struct record_consumer *consumer; /* NULL: the recording goes to `output` */
    bool dry_run;                           /* open all events, to hear what is allowed, and record nothing */
    /* Told every second or so how it goes; or NULL. */
    void (*progress)(void *ctx, const struct record_progress *now);
    void *progress_ctx;
    const char *cache_folder; /* the build-id cache, to keep in it what was mapped; NULL: no */
    /* Told of files that are finished under a name of their own (switch_output, timestamp_names); or NULL. */
    void (*file_done)(void *ctx, const char *path);
    void *file_done_ctx;
    /* Called when the threads are known and the command has not begun: whatever else is to observe it can
     * start now. May be NULL. False with *err: nothing is recorded. */
    bool (*ready)(void *ctx, const struct perf_target *target, struct err *err);
    void *ready_ctx;
    /* Tells what existed before, into a sink; NULL: nothing is told. */
    record_synth_fn *synth;
    void *synth_ctx;
};

struct record_result {
    bool started; /* there is a file: closing lines make sense */
    int status;   /* the command's exit code, 128 + signal when it was killed; 0 without a command */
    int signal;   /* that ended the recording, or 0 */
    uint64_t wakeups, samples, lost;
    uint64_t filtered;              /* samples that filters of samples left out */
    uint64_t file_bytes, raw_bytes; /* raw: what the compressed data was before; 0 without -z */
};

/*
 * Records until the command ends, all threads of -p or -t have ended, a signal (SIGINT, SIGTERM, SIGHUP)
 * comes, or the file is full. False and *err when it could not be started, or not everything could be
 * written; `result` is filled in both cases. What the user should know goes through log_line.
 */
bool record_run(const struct record_job *job, struct record_result *result, struct err *err);

#endif
