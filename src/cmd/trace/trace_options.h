/* SPDX-License-Identifier: Apache-2.0 */
/* What the user requested of `trace`. */
#ifndef SONDE_CMD_TRACE_TRACE_OPTIONS_H
#define SONDE_CMD_TRACE_TRACE_OPTIONS_H

#include "calls/table.h"
#include "cmd/common/options/event_options.h"
#include "cmd/common/options/perfconfig.h"
#include "record/options.h"
#include "view/trace/trace_summary.h"

enum trace_faults { TRACE_NO_FAULTS, TRACE_MAJOR = 1, TRACE_MINOR = 2 };

struct trace_options {
    struct record_options record; /* first: rows for all of this are rows for it */
    const char *input, *output, *user, *delay;
    bool force, no_inherit;
    event_choices selected; /* -e, --filter, -G */
    const char *filter_pids;
    bool summary, with_summary, errno_summary, bpf_summary, json;
    const char *mode;
    uint64_t most_rows, most_events;
    bool failure, full_time, no_comm, cpu, no_syscalls, sched, tool_stats, library_print;
    bool print_sample, kernel_graph, no_files, comm_given, syscalls_given;
    double least_ms;
    int faults; /* enum trace_faults */
    const char *switch_on, *switch_off;
    bool show_switches;
    int max_stack, min_stack;
    const char *callgraph;
    int verbose;
    uint64_t ignored;
    bool flag_ignored;

    /* Made of the above. */
    char user_number[16];
    struct trace_summary_options table;
    bool any_summary;
};

void trace_options_init(struct trace_options *o);
void trace_options_fini(struct trace_options *o);
extern const struct option trace_option_rows[];

/* Checks what single options could not, and fills in what follows. False: *err says why. */
bool trace_options_settle(struct trace_options *o, const struct perfconfig *config, struct err *err);

/* What -e asks for: names of system calls, and events. */
struct trace_select {
    VEC(char *) calls, events; /* owned; globs of calls, whole texts of events */
    bool all_but;              /* calls: all but these */
    bool syscalls;             /* system calls are shown at all */
};

/* Sorts what -e names into calls, which one of the tables has (NULL: no table), and events. False: *err. */
bool trace_select_parse(struct trace_select *s, const struct trace_options *o,
                        const struct calls_table *table, const struct calls_table *compat, struct err *err);
void trace_select_fini(struct trace_select *s);
/* Whether a call of that name is to be shown; NULL: it has none. */
bool trace_select_call(const struct trace_select *s, const char *name);
/* Whether an event of a recording is to be shown. */
bool trace_select_event(const struct trace_select *s, const char *name);

#endif
