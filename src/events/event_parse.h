/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event selections, as -e takes them, to perf_event_attrs: what perf-list(1) and perf-record(1) describe. The
 * attr of an event holds what its text decides and nothing else; everything that is common to a recording
 * (sample_type, inherit, the default frequency, side-band...) is the recorder's to add.
 */
#ifndef SONDE_EVENTS_EVENT_PARSE_H
#define SONDE_EVENTS_EVENT_PARSE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/events/attr.h"
#include "os/sysfs.h"

/*
 * What events can be named by on this machine: PMUs and tracepoints, read when first asked for and kept. Not
 * for use by two threads at once.
 */
struct perf_event_sources;
struct probe_program;

/* `sys` is borrowed until perf_event_sources_free. NULL when memory ran out. */
struct perf_event_sources *perf_event_sources_new(const struct sysfs *sys);
void perf_event_sources_free(struct perf_event_sources *src);

/* --filter may be of samples, from now on. */
void perf_event_sources_filter_samples(struct perf_event_sources *src);

/* --pmu-filter: from now on events are found on PMUs of that name only (borrowed; a glob, too). */
void perf_event_sources_pmu(struct perf_event_sources *src, const char *name);
/* --cputype: what every core has ("cycles") is found only on cores of that type: "core" for cpu_core. False:
 * this machine has no such types of cores. */
bool perf_event_sources_cores(struct perf_event_sources *src, const char *type);

enum perf_event_kind {
    PERF_EVENT_PMU,        /* everything else: hardware, cache, software, raw, a PMU's own */
    PERF_EVENT_TRACEPOINT, /* type 2, config is tracefs' id; name is "sys:event" */
    PERF_EVENT_BREAKPOINT, /* type 5, bp_addr in config1, bp_len in config2 */
    PERF_EVENT_UPROBE,     /* of the uprobe PMU: see probe_path */
    PERF_EVENT_TOOL,       /* duration_time and the like: counted by the tool, cannot be sampled */
};

/* What is not in the attr, of the letters after the colon. */
enum perf_event_modifier {
    PERF_EVENT_SAMPLE_READ = 1,     /* S: read the group's values with the leader's samples */
    PERF_EVENT_WEAK = 2,            /* W: take the group apart when it cannot be scheduled */
    PERF_EVENT_BPF = 4,             /* b: count with BPF (stat) */
    PERF_EVENT_MAX_PRECISE = 8,     /* P: the highest precise_ip that opens; attr has 0 */
    PERF_EVENT_RETIRE_LATENCY = 16, /* R */
    PERF_EVENT_KEEP_GROUP = 32,     /* X: do not regroup by PMU */
    PERF_EVENT_MODE_GIVEN = 64,     /* one of u k h: the recorder must not change exclude_{user,kernel,hv} */
    PERF_EVENT_GUEST_GIVEN = 128,   /* one of G H: nor exclude_{host,guest} */
    PERF_EVENT_PRECISE_GIVEN = 256, /* one p or more, or P */
};

/* Terms between slashes that concern the recorder. A term that was given is in perf_event_terms.given. An
 * option given on the command line outdoes the term (perf-record(1)). */
enum perf_event_term {
    PERF_TERM_PERIOD = 1 << 0,
    PERF_TERM_FREQ = 1 << 1,
    PERF_TERM_TIME = 1 << 2,
    PERF_TERM_CALL_GRAPH = 1 << 3,
    PERF_TERM_STACK_SIZE = 1 << 4,
    PERF_TERM_INHERIT = 1 << 5,
    PERF_TERM_MAX_STACK = 1 << 6,
    PERF_TERM_OVERWRITE = 1 << 7,
    PERF_TERM_PERCORE = 1 << 8,
    PERF_TERM_AUX_OUTPUT = 1 << 9,
    PERF_TERM_AUX_ACTION = 1 << 10,
    PERF_TERM_AUX_SAMPLE_SIZE = 1 << 11,
    PERF_TERM_BRANCH_TYPE = 1 << 12,
    PERF_TERM_DRIVER_CONFIG = 1 << 13,
    PERF_TERM_MAX_EVENTS = 1 << 14,
    PERF_TERM_RATIO_TO_PREV = 1 << 15,
};

struct perf_event_terms {
    uint32_t given; /* enum perf_event_term */
    uint64_t period;
    uint64_t freq_hz;
    bool time, inherit, overwrite, percore, aux_output;
    const char *call_graph;    /* "fp", "dwarf", "lbr" or "no" */
    uint32_t stack_size_bytes; /* as written: not rounded */
    uint16_t max_stack;
    const char *aux_action; /* as written; attr.aux_action has the bits too */
    uint32_t aux_sample_size;
    const char *branch_type;   /* as -j takes it */
    const char *driver_config; /* what stood after '@'s, comma-separated */
    uint32_t max_events;
    double ratio_to_prev;
};

#define PERF_EVENT_SCALE_NONE 1.0

struct perf_event {
    /*
     * type, config to config4 (bp_addr, bp_len), bp_type, exclude_*, precise_ip, pinned, exclusive,
     * aux_output, aux_action. sample_period is 1 for tracepoints and breakpoints (their default, unless -c or
     * -F says otherwise), else 0; the terms period and freq are in `terms`. size and known_size are
     * PERFDATA_ATTR_SIZE_NEWEST.
     */
    struct perfdata_attr attr;
    enum perf_event_kind kind;
    uint32_t modifiers;   /* enum perf_event_modifier */
    const char *name;     /* as perf stores it: modifiers included, "cycles:u", "sched:sched_switch" */
    const char *pmu;      /* name in sysfs, "tracepoint" or "breakpoint"; never NULL */
    uint32_t leader;      /* index into perf_events.items of the group's first event; its own when alone */
    uint32_t members;     /* of a leader: events in its group, itself included; 1 when alone; else 0 */
    const char *group;    /* of a leader: the group's name (name{a,b}), or NULL */
    const char *filter;   /* --filter's text, or NULL */
    bool filters_samples; /* it is not the kernel's: conditions on samples, separated by commas */
    const char *cgroup;   /* -G's name of a control group; empty or NULL: all tasks */
    const char *cpus; /* the CPUs to open it on ("0,18"), from the PMU's cpumask or the term cpu; NULL: any */
    const char *unit; /* "Joules", or NULL */
    double scale;     /* a count times scale is in `unit`; PERF_EVENT_SCALE_NONE without one */
    bool per_pkg, snapshot;
    uint8_t max_precise;    /* where to begin with PERF_EVENT_MAX_PRECISE */
    const char *probe_path; /* of an uprobe, else NULL: the file; config1 must point at it when it is opened,
                             * and is 0 here; the offset is in config2 */
    const struct probe_program *program; /* of an uprobe whose arguments are fetched by a BPF program
                                          * (probe/program.h); else NULL */
    struct perf_event_terms terms;
};

struct perf_events {
    VEC(struct perf_event) items;
    struct arena arena; /* owns every text */
    size_t last;        /* first event of the last -e: what --filter applies to is items[last ...] */
};

#define PERF_EVENTS_INIT ((struct perf_events){0})
void perf_events_fini(struct perf_events *events);

/* Bounds on what one text may say. */
enum { PERF_EVENTS_TEXT_MAX = 1 << 20, PERF_EVENTS_MAX = 1 << 16 };

/*
 * Appends the events of `text` (one -e) to `out`. On failure `out` is as it was, and *err (code ERR_USAGE for
 * what is wrong with the text, ERR_ABSENT for an event that this machine lacks, ERR_PERMISSION for tracefs
 * that may not be read) says what and, where there is one, the nearest name.
 * *at, when at is not NULL, is the byte offset in `text` that the error is about.
 */
bool perf_events_parse(struct perf_event_sources *src, const char *text, struct perf_events *out, size_t *at,
                       struct err *err);

/* `--pfm-events TEXT`: the same with libpfm4's names, between commas and in braces. ERR_UNSUPPORTED, naming
 * the package that is missing, when it was not there at configure time. */
bool perf_events_parse_pfm(struct perf_event_sources *src, const char *text, struct perf_events *out,
                           size_t *at, struct err *err);

/*
 * `--filter TEXT`: keeps it for the tracepoints and address filters of the last -e, joined to an older one
 * with && in parentheses. Where there are none among them, and filters of samples are allowed, the last -e's
 * get such a one, joined with a comma; what it says is not looked at here. False (ERR_USAGE) when there is no
 * event before it, when none of the last -e's can take a filter, or when quotes or parentheses are not
 * balanced.
 */
bool perf_events_filter(struct perf_event_sources *src, const char *text, struct perf_events *events,
                        struct err *err);

/* -G "a,,b": the first name for the first event and so on; a single one for all that have none yet. ERR_USAGE
 * when there are more names than events. */
bool perf_events_cgroups(struct perf_events *events, const char *text, struct err *err);

/* --exclude-perf: keeps `pid` itself out of the tracepoints of the last -e ("common_pid != PID"). */
bool perf_events_exclude_pid(struct perf_events *events, uint32_t pid, struct err *err);

/* The event of a recording without -e: "cycles:P". When it cannot be opened perf takes "task-clock:ppp" for
 * tasks ("cpu-clock:ppp" in older releases). */
enum perf_event_default { PERF_EVENT_CYCLES, PERF_EVENT_TASK_CLOCK, PERF_EVENT_CPU_CLOCK };
bool perf_events_default(struct perf_event_sources *src, enum perf_event_default which,
                         struct perf_events *out, struct err *err);

/*
 * Two lines that show where in `text` an error is, as perf prints it:
 *     event syntax error: 'cycles,instrctions'
 *                                 \___ MESSAGE
 * Long texts are cut around the position.
 */
struct out;
void perf_events_mark(const char *text, size_t at, const char *message, struct out *o);

#endif
