/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's tracers, set up and put back as they were (the kernel's Documentation/trace/ftrace.rst).
 *
 * The trace goes into an instance of our own, "sonde-PID", if the kernel lets the tracer be set there
 * (function_graph since 6.12). Otherwise the shared files are changed and their texts kept, and the empty
 * instance stays as a mark of who did it: the next run that finds the mark of a process that has died cleans
 * up, and says so.
 */
#ifndef SONDE_FTRACE_SETUP_H
#define SONDE_FTRACE_SETUP_H

#include "base/arena.h"
#include "base/vec.h"
#include "os/perf/tracefs.h"

typedef VEC(const char *) ftrace_names;

struct ftrace_options {
    const char *tracer;             /* "function", "function_graph"; NULL: tracepoints only */
    ftrace_names filters, notraces; /* functions or globs: traced only, not traced */
    ftrace_names graph, nograph;    /* graph: only what these call; nograph: nothing that these call */
    ftrace_names events;            /* "SYSTEM/EVENT", enabled */
    const char *cpus;               /* a mask as tracing_cpumask takes it; NULL: all */
    const char *clock;              /* NULL: as it is */
    uint64_t buffer_kb;             /* of each CPU; 0: as it is */
    uint64_t thresh_us, depth;      /* 0: none */
    bool call_graph, irq_info;      /* of function */
    bool args, retval, retval_hex, retaddr, nosleep_time, noirqs, verbose, tail; /* of function_graph */
    bool inherit; /* with processes: their children, too */
};

struct ftrace_kept {
    const char *path, *text; /* the text to write to restore the file */
};

struct ftrace_setup {
    const struct os_tracefs *fs;
    char instance[64];           /* "instances/sonde-PID"; empty: there are no instances */
    char base[64];               /* of the files in use: the instance and a slash, or empty */
    bool functions, tracepoints; /* what is traced */
    VEC(struct ftrace_kept) kept;
    struct arena arena;
};

/* Cleans up what a process that has died left behind, and says so (log_line); makes the instance. `own` is
 * our process. False and *err: there is no tracefs, or no right to it; ftrace_setup_restore is allowed. */
bool ftrace_setup_init(struct ftrace_setup *s, const struct os_tracefs *fs, pid_t own, struct err *err);

/* The error for a file of the function tracer that even root may not write. Returns false. */
bool ftrace_setup_locked(const char *file, struct err *err);

/* Sets everything up, with tracing off. False and *err: what could not be set, and what to do;
 * ftrace_setup_restore undoes the rest. */
bool ftrace_setup_apply(struct ftrace_setup *s, const struct ftrace_options *o, struct err *err);

/* After that: only these threads are traced ("12 13"); NULL: all. */
bool ftrace_setup_pids(struct ftrace_setup *s, const char *pids, struct err *err);

/* Turns tracing on or off. */
bool ftrace_setup_switch(struct ftrace_setup *s, bool on, struct err *err);

/* The path of a file of the tracer in use: "per_cpu/cpu0/trace_pipe_raw"; NULL when memory ran out. Kept with
 * the setup. */
const char *ftrace_setup_path(struct ftrace_setup *s, const char *file);

/* Restores everything; the rings must be closed. False and *err: what could not be restored. To be called in
 * any case. */
bool ftrace_setup_restore(struct ftrace_setup *s, struct err *err);

#endif
