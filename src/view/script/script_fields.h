/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields `script` prints for which kind of event (perf-script(1), -F): the defaults, the user's lists,
 * and what an event's samples have.
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_FIELDS_H
#define SONDE_VIEW_SCRIPT_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "format/perfdata/events/events.h"

/* Fields that code other than their own refers to, as bits of a field mask. All others follow. */
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
enum { SCRIPT_FIELDS_MAX = 60 /* the bits after these have other uses (script_names.h) */ };

#define SCRIPT_BIT(index) (1ull << SCRIPT_##index)

/* Fields that show the instructions between branches. */
#define SCRIPT_BRANCH_CODE (SCRIPT_BIT(BRSTACKINSN) | SCRIPT_BIT(BRSTACKINSNLEN) | SCRIPT_BIT(BRSTACKDISASM))

/* Fields about the evidence for a name. */
#define SCRIPT_EVIDENCE (SCRIPT_BIT(GRADE) | SCRIPT_BIT(IDENTITY) | SCRIPT_BIT(PROVENANCE))

/* Kinds of events that have fields of their own. */
enum script_kind {
    SCRIPT_KIND_HARDWARE,
    SCRIPT_KIND_SOFTWARE,
    SCRIPT_KIND_TRACE,
    SCRIPT_KIND_CACHE,
    SCRIPT_KIND_RAW,
    SCRIPT_KIND_BREAKPOINT,
    SCRIPT_KIND_OTHER, /* of a PMU with a type of its own */
    SCRIPT_KIND_SYNTH, /* made by decoding AUX data */
    SCRIPT_KIND_COUNT,
};

/* Sets of kinds: one bit for each. */
#define SCRIPT_KIND_BIT(name) (1u << SCRIPT_KIND_##name)
enum { SCRIPT_ANY_KIND = (1 << SCRIPT_KIND_COUNT) - 1 };

struct script_json;
struct script_plan;
struct script_print;
struct script_sample;
struct script_start;
struct script_waiting;
/* Functions that print a field to p->out, in the part that all records' lines begin with or the rest of a
 * sample's line; and to JSON. */
typedef void script_start_fn(struct script_print *p, const struct script_plan *plan,
                             const struct script_start *x);
typedef void script_step_fn(struct script_print *p, const struct script_plan *plan,
                            const struct script_waiting *waiting);
typedef void script_json_fn(struct script_json *j, const struct script_sample *x);

/* A field of -F: a row of the table in script_steps.c, which is in the order of printing
 * (docs/HOWTO_ADD_SORT_KEY.md). NULL or 0 is the usual value of each member. */
struct script_field {
    const char *name;
    const char *help;       /* what it is */
    const char *later;      /* set for a field that sonde does not have yet: why, or what to use instead */
    uint8_t id;             /* enum script_field_index */
    uint8_t kinds;          /* kinds of events that can have it; 0: all */
    uint8_t defaults;       /* kinds of events that show it by default */
    uint8_t model;          /* what the model must keep for it (MODEL_NEED_*) */
    uint64_t needs;         /* sample bits; samples must have one of them */
    const char *needs_name; /* their name in perf's messages */
    /* Fields that follow each other with the same function are printed by one call. */
    script_start_fn *start;
    script_step_fn *print;
    script_json_fn *json; /* adds members to the object of a sample that has what the field needs */
};

/* Returns the i-th row; NULL after the last. */
const struct script_field *script_field_at(size_t i);
/* Returns its bit in a field mask; 0: sonde does not have the field yet. */
uint64_t script_field_bit(size_t i);
/* Returns the i-th field that -F accepts; NULL after the last. */
const struct script_field *script_field_listed(size_t i);

struct script_fields {
    uint64_t chosen[SCRIPT_KIND_COUNT]; /* masks of SCRIPT_BIT */
    uint64_t asked[SCRIPT_KIND_COUNT];  /* those named for all kinds: it is an error if an event lacks them */
    bool spoken[SCRIPT_KIND_COUNT];     /* the user has set this kind's fields */
};

/* Returns what the model must keep for all chosen fields: MODEL_NEED_*. */
unsigned script_fields_model(const struct script_fields *f);

/* Sets perf's defaults. */
void script_fields_init(struct script_fields *f);

/*
 * Applies one -F argument: "[kind:]field,field,..." replaces, "[kind:]+field,-field,..." changes. Harmless
 * mistakes (a field that a kind does not have, an earlier list overridden) are logged with log_line. False
 * (ERR_USAGE, or ERR_UNSUPPORTED for a field that sonde does not have yet) leaves f unspecified.
 */
bool script_fields_parse(struct script_fields *f, const char *text, struct err *err);

/* Returns the kind of an event. */
enum script_kind script_kind_of(const struct perfdata_attr *attr);

/*
 * Finds the fields to print of those that this event's samples have. `chains`: show callchains if there are
 * any. False (ERR_ABSENT): the user named a field that its samples do not have.
 */
bool script_fields_of(const struct script_fields *f, const struct perfdata_event *event, bool chains,
                      uint64_t *out, struct err *err);

#endif
