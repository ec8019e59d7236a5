/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sonde trace`: a recording's records, read from a file or as they come, as lines and sums of system calls.
 *
 *   trace_init -> trace_want, trace_take ... -> trace_finish -> trace_fini
 *   trace_file.c   a recording
 *   trace_live.c   record's session with a consumer
 */
#ifndef SONDE_CMD_TRACE_TRACE_H
#define SONDE_CMD_TRACE_TRACE_H

#include "cmd/common/command.h"
#include "cmd/common/event_view.h"
#include "cmd/trace/trace_options.h"
#include "cmd/trace/trace_texts.h"
#include "select/filter.h"
#include "states/call_events.h"
#include "view/trace/trace_summary.h"
#include "view/trace/trace_text.h"

struct trace {
    struct command_env *env;
    const struct trace_options *o;
    struct recording *recording; /* borrowed, as the next two */
    struct trace_select *select;
    const struct model *model;
    struct recording_stacks *stacks; /* to show callchains with; NULL: none are */
    struct out *out;
    struct call_events events;
    struct calls calls;
    struct calls_summary summary;
    struct trace_text text;
    struct filter filter;          /* -p, -t, -C */
    struct filter_ranges not_pids; /* --filter-pids */
    uint64_t printed;              /* lines */
    bool on;                       /* between --switch-on and --switch-off */
    bool done;                     /* --max-events were shown */
    bool failed;                   /* memory, in trace_want */
    bool machine_asked;
    const struct calls_shape
        *shapes;               /* what structs of the traced kernel hold; NULL: what we were built with */
    struct trace_texts *texts; /* of calls that come as tracepoints; NULL: there are none */
    struct trace_files *files; /* what descriptors are; NULL: not known */
};

/* `machine`: the recorded kernel's, as uname(2) has it. False: *err says why; trace_fini is allowed. */
bool trace_init(struct trace *t, struct recording *r, const char *machine, struct err *err);
void trace_fini(struct trace *t);

/* Another recording goes on in the place of the one that was. */
bool trace_follow(struct trace *t, struct recording *r, struct err *err);

/* Whether the record is taken: for order_init. ctx is the struct trace. */
bool trace_want(void *ctx, const struct stream_record *r);
/* Takes a record. False: *err says why, or t->done. */
bool trace_take(void *ctx, const struct stream_record *r, struct err *err);
/* Takes half a call that did not come as a record, with the thread's name. False: out of memory; or t->done.
 */
bool trace_take_half(struct trace *t, const struct calls_event *e, bool enter, struct bytes comm);
/* The end: calls that are still open, sums. False: *err. */
bool trace_finish(struct trace *t, struct err *err);
/* Says on stderr what the lines and sums lack. */
void trace_faults(const struct trace *t);

/* Where lines go: -o, or standard error. False: *err. */
struct trace_sink {
    struct out out;
    struct command_sink sink;
    bool opened, file;
};
bool trace_sink_open(struct trace_sink *s, const char *path, struct err *err);
/* False: not all could be written; said. */
bool trace_sink_close(struct trace_sink *s);

/* The two ways. Return the exit status. */
int trace_file(struct command_env *env, struct trace_options *o);
int trace_live(struct command_env *env, struct trace_options *o, char *const *argv);
int trace_record(struct command_env *env, int argc, char **argv);

/* What a process's descriptors are, from /proc: as it is when it is asked. */
struct trace_files;
struct trace_files *trace_files_new(void);
void trace_files_free(struct trace_files *f);
const char *trace_files_path(void *files, uint32_t pid, int32_t fd);
/* True for system calls that open or close descriptors. They are traced even if they are not shown: otherwise
 * the names of descriptors go stale. */
bool trace_files_need(const char *call);
/* A call ended: descriptors that it changed are forgotten. */
void trace_files_call(struct trace_files *f, const struct calls *c, const struct calls_call *call);

#endif
