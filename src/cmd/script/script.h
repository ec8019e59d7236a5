/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the script command share: its options, its state, the passes over the records. */
#ifndef SONDE_CMD_SCRIPT_SCRIPT_H
#define SONDE_CMD_SCRIPT_SCRIPT_H

#include "cmd/common/command.h"
#include "cmd/script/script_choice.h"
#include "format/perfdata/readings.h"
#include "recording/naming.h"
#include "recording/recording.h"
#include "select/filter.h"
#include "select/time_range.h"
#include "view/script/script_json.h"
#include "view/script/script_print.h"
#include "view/script/script_record.h"

struct script_options {
    const char *input;
    bool force;
    int verbose;
    struct option_list fields; /* -F */
    bool ns, reltime, deltatime, latency, hide_chains, no_merge;
    int max_stack, max_blocks;
    const char *time, *cpus, *pids, *tids, *comms;
    const char *switch_on, *switch_off;
    bool show_switches;
    bool header, header_only, header_full;
    bool dump, dump_unsorted;
    bool show[16]; /* by the bit of enum script_show */
    struct symbol_options symbols;
    const char *jitdump_dir; /* --jitdump-dir */
    bool demangle;
    const char *chosen_symbols, *chosen_dsos, *stop; /* -S, --dsos, --stop-bt */
    uint64_t range_bytes;                            /* --addr-range */
    bool json, per_event;
    const char *script;              /* -s */
    bool as_report;                  /* `report` before its name */
    bool is_named;                   /* the script is given by its name, not with -s */
    const char *generate;            /* -g */
    bool list_scripts, list_filters; /* -l, --list-dlfilters */
    const char *dlfilter;
    struct option_list dlargs;
    char **arguments; /* after the options: of the script; ended by NULL */
    bool full_paths;  /* --full-source-path */
    bool grades, strict;
    bool inlines;      /* --inline */
    bool kernel_path;  /* --show-kernel-path */
    bool debug_mode;   /* -d */
    bool ignored_flag; /* for options that change nothing */
    const char *ignored_text;
    const char *absent; /* an option of perf's that sonde does not have yet */
};

static inline bool script_is_dump(const struct script_options *o) {
    return o->dump || o->dump_unsorted;
}

/* --per-event-dump: what goes to one event's file. */
struct script_file {
    struct out out;
    struct command_sink sink;
    char *path;
    uint64_t samples;
};

/* Everything while it runs. */
struct script {
    const struct script_options *o;
    struct command_env *env;
    struct recording recording;
    struct model *model;
    struct out out;
    bool out_open;
    struct script_print print;
    struct recording_names naming;
    struct script_guests guests;
    struct readings readings; /* totals of group reads */
    unsigned show;            /* enum script_show */
    struct time_ranges times;
    struct filter filter;
    struct script_choice choice;
    struct filter_names stop;
    struct script_dlfilter *dlfilter; /* NULL: none */
    struct script_json json;
    bool as_json;
    VEC(struct script_file) files; /* --per-event-dump: by event */
    uint32_t on_event, off_event;  /* --switch-on, --switch-off; PERFDATA_NO_EVENT: none */
    bool on;                       /* samples are shown at present */
    struct recording_span span;    /* of the samples; a pipe's is not known */
    uint64_t round_locs[3];        /* streaming: where the last rounds ended, the latest last */
    bool round_ended;
    uint64_t last_ns, misordered; /* of samples: the latest time so far, those that were before it */
    bool failed;                  /* memory ran out where it could not be said */
    struct err failure;           /* why a file of --per-event-dump could not be written */
    /* Those that wait in `print`, and after them the one at hand: it is needed no longer when none wait. */
    struct perfdata_sample samples[SCRIPT_QUEUE_MAX];
    bool waits; /* samples may wait: nothing changes between them */
};

/* ---- script_read.c ---- */

/* For recording_first_pass: notes what is needed of records ahead of their turn. `ctx` is the struct script.
 */
recording_seen_fn script_see_record;

/* Prints everything that is asked for, in the order of time. */
bool script_read(struct script *s, struct err *err);

/* ---- script_files.c ---- */

/* The sink of an event's own file, made at its first sample: INPUT.EVENT.dump. NULL with *err. */
struct out *script_files_of(struct script *s, uint32_t event, struct err *err);

/* Writes what is left and says what was written. False when that failed. */
bool script_files_close(struct script *s, struct err *err);

#endif
