/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands share that show what recorded events tell one after the other, and their sums (sched, kwork):
 * one reading of the recording, the output, and stacks where they are asked for.
 *
 *   event_view_open -> event_view_read -> (sums are printed to &v->out) -> event_view_close
 */
#ifndef SONDE_CMD_COMMON_EVENT_VIEW_H
#define SONDE_CMD_COMMON_EVENT_VIEW_H

#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "recording/ordered.h"
#include "recording/stacks_at.h"
#include "recording/tracepoints.h"

/* Zeroed at first; the owner sets what is above the line. */
struct event_view {
    struct command_env *env;
    const char *input;  /* as given; NULL: the usual one */
    const char *output; /* a file; NULL: standard output */
    bool force;
    bool dump;                            /* -D: all records in hex and decoded come first */
    bool other_output;                    /* the owner writes elsewhere: `out` is not opened */
    bool wants_model;                     /* `model` is asked after reading */
    bool wants_groups;                    /* with `symbols`: the model has paths of control groups */
    const struct symbol_options *symbols; /* stacks are shown, named with these; NULL: none. Set to NULL by
                                             event_view_open where none were recorded. */
    bool names_addresses;                 /* `symbols` are wanted where no stacks were recorded, too */
    /* ---- */
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct recording_stacks stacks; /* ready while records are taken, if `symbols` is set */
    bool has_stacks; /* some of the events have callchains; known once it is open, if `symbols` is set */
    struct out out;
    bool has_output;
    bool first_pass; /* it has been read once: all events are known */
};

/* Opens the input and the output. False with *err (none if the user has been told already);
 * event_view_close is needed even then. */
bool event_view_open(struct event_view *v, struct err *err);

/* Reads it: as recording_read_ordered with these functions. */
bool event_view_read(struct event_view *v, order_want_fn *want,
                     bool (*take)(void *ctx, const struct stream_record *r, struct err *err), void *ctx,
                     struct err *err);

/* A tracepoint, or a place where events were lost (`event` NULL). */
struct event_view_item {
    const struct tracepoint *event;
    const struct stream_record *record; /* its time_ns is set */
};

/* Valid during the call. False stops, with *err. */
typedef bool event_view_seen_fn(void *ctx, const struct event_view_item *item, struct err *err);

/* Reads the tracepoints that `t` (from tracepoints_init, updated) describes, and losses, in order. For views
 * with `symbols`, whose events are all known once they are open. False with *err. */
bool event_view_tracepoints(struct event_view *v, struct tracepoints *t, event_view_seen_fn *seen, void *ctx,
                            struct err *err);

/* Warns of events that came after later ones, if there were any. */
void event_view_warn_late(const struct event_view *v, uint64_t events);

/* With `symbols`: the kernel's function at an address, which lives as long as the view; NULL: not known. ctx
 * is the view. */
const char *event_view_function(void *ctx, uint64_t address);

/* Ends the output, and says what went wrong: *err unless `ok`. Returns the exit status. */
int event_view_close(struct event_view *v, bool ok, const struct err *err);

/* The row of -D: `field` is a bool that becomes the view's `dump`. */
#define EVENT_VIEW_DUMP_OPTION(type, field) \
    OPTION_BOOL('D', "dump-raw-trace", type, field, "dump raw trace in ASCII")

/* The rows of options for stacks: `symbols` is a struct symbol_options, max_stack an int. */
#define EVENT_VIEW_SYMBOL_OPTIONS(type, symbols, max_stack)                                          \
    OPTION_STRING('k', "vmlinux", type, symbols.host.vmlinux, "file", "kernel image"),               \
        OPTION_STRING(0, "kallsyms", type, symbols.host.kallsyms, "file", "kallsyms file"),          \
        OPTION_INT(0, "max-stack", type, max_stack, "n", "show at most n functions of a callchain"), \
        OPTION_STRING(0, "symfs", type, symbols.symfs, "directory",                                  \
                      "look for files with symbols below this directory")

#endif
