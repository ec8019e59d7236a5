/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sonde lock` share. */
#ifndef SONDE_CMD_LOCK_LOCK_H
#define SONDE_CMD_LOCK_LOCK_H

#include "cmd/common/command.h"
#include "cmd/common/event_view.h"
#include "select/filter.h"
#include "states/call_sites.h"
#include "states/lock/lock_table.h"
#include "view/lock/lock_text.h"

/* The options that all verbs have, before or after the verb. */
struct lock_common {
    const char *input, *output;
    bool force, quiet, dump;
    int verbose;
    struct symbol_options symbols;
};

#define LOCK_COMMON_OPTIONS(type, common)                                                          \
    INPUT_OPTION(type, common.input), INPUT_FORCE_OPTION(type, common.force),                      \
        OPTION_BOOL('q', "quiet", type, common.quiet, "no headings, notes and warnings"),          \
        OPTION_COUNT('v', "verbose", type, common.verbose, "show stacks, and more messages"),      \
        OPTION_STRING(0, "vmlinux", type, common.symbols.host.vmlinux, "file", "kernel image"),    \
        OPTION_STRING(0, "kallsyms", type, common.symbols.host.kallsyms, "file", "kallsyms file"), \
        OPTION_STRING(0, "output", type, common.output, "file", "output file name"),               \
        EVENT_VIEW_DUMP_OPTION(type, common.dump)

typedef int lock_verb_fn(struct command_env *env, const struct lock_common *common, int argc, char **argv);
lock_verb_fn lock_contention;
lock_verb_fn lock_info;
lock_verb_fn lock_record;
lock_verb_fn lock_report;
lock_verb_fn lock_script;

/* printf of the id of a control group that has no name any more. */
#define LOCK_GROUP_WITHOUT_NAME "cgroup %llu"

/* Reads a recording's events about locks. Zeroed at first; the owner sets what is above the line. */
struct lock_session {
    struct event_view view;   /* env, input, force, output, symbols */
    bool sites;               /* rows are told apart by where locks were taken, or the filter wants stacks */
    bool contention;          /* lock:contention_begin alone is read, whatever else there is */
    uint32_t types;           /* only locks of these; 0: all */
    const struct filter *who; /* threads that wait; NULL: all */
    /* Only these locks, by address and by name; empty: all. */
    const struct filter_names *locks;
    const struct filter_names *groups; /* only threads in these control groups, or below them; empty: all */
    struct call_sites site;
    struct lock_table table;
    struct lock_table *also; /* another one of the same events, the caller's; NULL: none */
    /* ---- */
    struct locks model;
    struct tracepoints events;
    bool lockdep;
    struct strpool names;         /* of threads and locks */
    struct hash_map thread_names; /* tid -> the latest one */
    struct hash_map lock_names;   /* address -> name; in `names` */
    char room[40];                /* the text of a thread or control group without a name */
    VEC(uint64_t) addresses;      /* those of `locks` that are numbers */
};

bool lock_session_open(struct lock_session *s, struct err *err);
/* Reads all, and sorts its table by `key`. */
bool lock_session_read(struct lock_session *s, enum lock_field key, struct err *err);
/* Says what could not be counted; returns the exit status. */
int lock_session_close(struct lock_session *s, bool ok, const struct err *err);
/* Names for the view. */
struct lock_names lock_session_names(struct lock_session *s);

/* Reads "contended,wait_max" and a key, whose column is shown, too, into `columns`. `allowed`: a bit for each
 * field. False: *err. */
bool lock_fields_parse(const char *fields, const char *key, uint32_t allowed, struct lock_columns *columns,
                       enum lock_field *sort, struct err *err);

#endif
