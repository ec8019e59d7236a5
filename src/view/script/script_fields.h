/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields `script` prints for which kind of event (perf-script(1), -F):
 * the defaults, the user's lists, and what an event's samples can give.
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_FIELDS_H
#define SONDE_VIEW_SCRIPT_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "format/perfdata/events/events.h"

/* Fields that other code than their own speaks of: bits of a field mask. Those of all others follow. */
enum script_field_index {
    SCRIPT_FIELD, /* no bit */
    SCRIPT_COMM,
    SCRIPT_TID,
    SCRIPT_PID,
    SCRIPT_EVENT,
    SCRIPT_TRACE,
    SCRIPT_IP,
    SCRIPT_SYM,
    SCRIPT_DSO,
    SCRIPT_DSOFF,
    SCRIPT_ADDR,
    SCRIPT_SYMOFF,
    SCRIPT_SRCLINE,
    SCRIPT_PERIOD,
    SCRIPT_BRSTACK,
    SCRIPT_BRSTACKSYM,
    SCRIPT_BPF_OUTPUT,
    SCRIPT_MISC,
    SCRIPT_TOD,
    SCRIPT_MACHINE_PID,
    SCRIPT_VCPU,
    SCRIPT_INSN,
    SCRIPT_INSNLEN,
    SCRIPT_BRSTACKINSN,
    SCRIPT_BRSTACKINSNLEN,
    SCRIPT_BRSTACKDISASM,
    SCRIPT_METRIC,
    SCRIPT_GRADE, /* these three are sonde's own: symbol/grade.h */
    SCRIPT_IDENTITY,
    SCRIPT_PROVENANCE,
    SCRIPT_FIELD_NAMED,
};
enum { SCRIPT_FIELDS_MAX = 60 /* after these bits are others (script_names.h) */ };

#define SCRIPT_BIT(index) (1ull << SCRIPT_##index)

/* Fields that show the instructions between branches. */
#define SCRIPT_BRANCH_CODE (SCRIPT_BIT(BRSTACKINSN) | SCRIPT_BIT(BRSTACKINSNLEN) | SCRIPT_BIT(BRSTACKDISASM))

/* Fields that say how sure a name is. */
#define SCRIPT_EVIDENCE (SCRIPT_BIT(GRADE) | SCRIPT_BIT(IDENTITY) | SCRIPT_BIT(PROVENANCE))

/* Kinds of events that have fields of their own. */
enum script_kind {
    SCRIPT_KIND_HARDWARE,
    SCRIPT_KIND_SOFTWARE,
    SCRIPT_KIND_TRACE,
    SCRIPT_KIND_CACHE,
    SCRIPT_KIND_RAW,
    SCRIPT_KIND_BREAKPOINT,
    SCRIPT_KIND_OTHER, /* a PMU's own type */
    SCRIPT_KIND_SYNTH, /* made by decoding AUX data */
    SCRIPT_KIND_COUNT,
};

/* Sets of kinds: a bit for each. */
#define SCRIPT_KIND_BIT(name) (1u << SCRIPT_KIND_##name)
enum { SCRIPT_ANY_KIND = (1 << SCRIPT_KIND_COUNT) - 1 };

struct script_json;
struct script_plan;
struct script_print;
struct script_sample;
struct script_start;
struct script_waiting;
/* Print to p->out: at the start of the line of any record, and after that of a sample; and to JSON. */
typedef void script_start_fn(struct script_print *p, const struct script_plan *plan,
                             const struct script_start *x);
typedef void script_step_fn(struct script_print *p, const struct script_plan *plan,
                            const struct script_waiting *waiting);
typedef void script_json_fn(struct script_json *j, const struct script_sample *x);

/* A field of -F: all that is known of it, in one row of the table in script_steps.c, which is in the order of
 * printing (docs/HOWTO_ADD_SORT_KEY.md). What is NULL or 0 is as for most. */
struct script_field {
    const char *name;
    const char *help;       /* what it is */
    const char *later;      /* it is not there yet: why, or what else there is */
    uint8_t id;             /* enum script_field_index */
    uint8_t kinds;          /* of events that can have it; 0: all */
    uint8_t defaults;       /* of events that show it unless told otherwise */
    uint8_t model;          /* what the model must know for it (MODEL_NEED_*) */
    uint64_t needs;         /* sample bits, one of which samples must have */
    const char *needs_name; /* as perf's messages call them */
    /* Fields that follow each other with the same function are printed by one call. */
    script_start_fn *start;
    script_step_fn *print;
    script_json_fn *json; /* members of a sample's object; of samples that have what it needs */
};

/* The i-th row; NULL after the last. */
const struct script_field *script_field_at(size_t i);
/* Its bit in a field mask; 0 of one that is not there yet. */
uint64_t script_field_bit(size_t i);
/* The i-th that -F takes; NULL after the last. */
const struct script_field *script_field_listed(size_t i);

struct script_fields {
    uint64_t chosen[SCRIPT_KIND_COUNT]; /* masks of SCRIPT_BIT */
    uint64_t asked[SCRIPT_KIND_COUNT];  /* of those: named for all kinds, so that an event without them is an
                                           error */
    bool spoken[SCRIPT_KIND_COUNT];     /* the user said something about this kind */
};

/* What the model must know for all that is chosen: MODEL_NEED_*. */
unsigned script_fields_model(const struct script_fields *f);

/* perf's defaults. */
void script_fields_init(struct script_fields *f);

/*
 * Applies one -F argument: "[kind:]field,field,..." replaces, "[kind:]+field,-field,..." changes. What is
 * odd but harmless (a field that a kind has not, an earlier list overridden) goes to log_line. False
 * (ERR_USAGE, or ERR_UNSUPPORTED for a field that sonde does not have yet) leaves f unspecified.
 */
bool script_fields_parse(struct script_fields *f, const char *text, struct err *err);

/* The kind of an event. */
enum script_kind script_kind_of(const struct perfdata_attr *attr);

/*
 * The fields that this event's samples can and shall print. `chains`: callchains are to be shown where there
 * are any. False (ERR_ABSENT) when the user named a field that its samples do not have.
 */
bool script_fields_of(const struct script_fields *f, const struct perfdata_event *event, bool chains,
                      uint64_t *out, struct err *err);

#endif
