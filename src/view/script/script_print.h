/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints one line (or, with a callchain, one block) of text per sample, as perf script does. The plan of an
 * event's lines is made once, as a short list of functions; per sample only those run, and print directly
 * into the sink.
 *
 *   comm tid [cpu] time: period event: flags trace addr data_src weight cgroup ip sym (dso) iregs ...
 *   `------ start -----'               (see script_record.c for lines that have only a start)
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_PRINT_H
#define SONDE_VIEW_SCRIPT_SCRIPT_PRINT_H

#include "base/text/out.h"
#include "base/vec.h"
#include "format/perfdata/events/events.h"
#include "model/model.h"
#include "resolve/sample.h"
#include "view/dump/dump_regs.h"
#include "view/script/script_fields.h"
#include "view/script/script_frames.h"
#include "view/script/script_names.h"

enum { SCRIPT_NAME_STEP = 32 /* bytes that are copied at once */ };

/* What is printed for one event. */
struct script_plan {
    uint64_t fields;                            /* SCRIPT_BIT mask; 0: the event is not shown */
    script_start_fn *starts[SCRIPT_FIELDS_MAX]; /* print the start of every line */
    script_step_fn *steps[SCRIPT_FIELDS_MAX];   /* print the rest of a sample's line */
    uint8_t start_count, count;
    bool chain;       /* prints the callchain in place of the address */
    bool branch_pair; /* "ip => addr": branches sampled one by one */
    const char *name; /* "   cycles: ", in SCRIPT_NAME_STEP bytes or more of the printer's arena */
    uint32_t name_len;
};

struct script_print_options {
    struct script_fields fields;
    bool chains;                    /* callchains are shown (not -G) */
    bool latency;                   /* -L */
    bool ns;                        /* --ns */
    bool reltime;                   /* --reltime */
    bool deltatime;                 /* --deltatime */
    unsigned max_stack, max_blocks; /* max_blocks 0: all */
    const char *const *stop;        /* --stop-bt: functions that end a callchain; borrowed */
    size_t stop_count;
};

/* Prints the fields of a tracepoint's raw data; the owner (cmd/) knows the formats. */
typedef void script_trace_fn(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *s,
                             struct out *out);

/* Guest machines of `perf inject --guest-data`, by their samples' ids (ID_INDEX). */
struct script_guest {
    uint32_t machine_pid, vcpu;
};
struct script_guests {
    struct hash_map by_id; /* event id -> index in list */
    VEC(struct script_guest) list;
};

/* One decoded sample, its mode and its time. */
struct script_sample {
    const struct perfdata_sample *s;
    uint32_t event;
    uint16_t misc;
    struct model_when when;
};

/* Samples are printed many at a time. */
enum { SCRIPT_QUEUE_MAX = 32 };
/* Indices in script_frames. */
struct script_asked {
    size_t run, frame;
};
/* A sample that waits to be printed; its callchain's runs end at run_end. */
struct script_waiting {
    struct script_sample x;
    struct script_asked asked;
    size_t run_end;
};

struct script_print {
    struct out *out; /* borrowed, as are all pointers to const below */
    const struct perfdata_events *events;
    const struct model *model;
    struct script_print_options options;
    const struct dump_regs *regs;
    script_trace_fn *trace; /* NULL: no formats */
    void *trace_ctx;
    const struct script_guests *guests; /* NULL: none */
    bool has_clock;                     /* for the field tod */
    int64_t clock_offset_ns;            /* wall clock time minus sample time */

    struct arena arena;
    VEC(struct script_plan) plans; /* by event index */
    size_t planned_events;
    uint64_t first_ns, previous_ns; /* for reltime and deltatime; 0: none yet */
    unsigned data_src_width;        /* the longest data_src text so far: perf pads to it */
    uint64_t second;                /* the second whose digits are in second_text */
    char second_text[24];
    uint8_t second_len;
    struct script_comm *comms; /* of recently printed threads; NULL: none yet */
    struct object_insns_kept insns;
    struct script_names names;      /* the caller sets its `names` (of functions) */
    struct resolve_samples samples; /* frames; the caller sets the source of chains (chain.o) */
    struct script_frames frames;
    struct script_waiting queue[SCRIPT_QUEUE_MAX];
    unsigned queued;
};

/* Prepares `p`; the caller sets the borrowed fields afterwards. False: out of memory. */
bool script_print_init(struct script_print *p, struct out *out, const struct perfdata_events *events,
                       const struct model *model, const struct script_print_options *options);
void script_print_fini(struct script_print *p);

/*
 * Returns the plan of an event. Plans are made for all events at once, and again after events were added or
 * renamed (script_print_replan). NULL and *err: the user asked for a field that an event lacks, or memory.
 */
const struct script_plan *script_print_plan(struct script_print *p, uint32_t event, struct err *err);
void script_print_replan(struct script_print *p);

/* Finds what is mapped where the sample was taken. False, and no image: nothing is. */
bool script_print_locate(struct script_print *p, const struct script_sample *x, struct model_hit *hit);

/* Finds what is mapped at an address in the sample, whose space is not known: tries the sample's own first,
 * then the others. */
bool script_print_locate_address(struct script_print *p, const struct script_sample *x, uint64_t address,
                                 struct model_hit *hit);

/* Returns the instruction at the sample's address, from a file that is proved to be the one that ran; empty
 * if it is not known (no such file, another machine's code, the kernel's). Valid as long as the symbol store.
 */
struct bytes script_print_insn(struct script_print *p, const struct script_sample *x);
/* True if sample.addr is the address of code or data that the event is about: page faults. */
bool script_print_addr_named(const struct perfdata_attr *attr);

/* Prints a sample. Its plan must exist. */
void script_print_sample(struct script_print *p, const struct script_sample *x);
/* Prints it together with others: when there are enough, or when script_print_flush is called. Until then all
 * that `x` points to must stay valid, and the model may not change. */
void script_print_later(struct script_print *p, const struct script_sample *x);
void script_print_flush(struct script_print *p);

/* Adds the guests of an ID_INDEX. False: out of memory. */
bool script_guests_add(struct script_guests *g, const struct perfdata_id_index *index);
void script_guests_fini(struct script_guests *g);

/* The thread, time and mode of a line, for samples and other records. */
struct script_start {
    uint32_t comm_pid, comm_tid; /* the thread whose comm is printed */
    uint32_t pid, tid, cpu;
    uint16_t misc;
    uint32_t type; /* of the record */
    uint64_t time_ns;
    uint64_t id; /* the event's, 0: not recorded; for the guest */
    struct model_when when;
};
void script_print_start(struct script_print *p, const struct script_plan *plan, const struct script_start *x);
/* Prints the start of the sample's line. Its plan must exist. */
void script_print_sample_start(struct script_print *p, const struct script_sample *x);

#endif
