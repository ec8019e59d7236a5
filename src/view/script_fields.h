/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields `script` prints for which kind of event (perf-script(1), -F):
 * the defaults, the user's lists, and what an event's samples can give.
 */
#ifndef SONDE_VIEW_SCRIPT_FIELDS_H
#define SONDE_VIEW_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "format/perfdata/events.h"

/* Bits of a field mask, in the order of the table in script_fields.c. */
enum script_field_index {
    SCRIPT_COMM,
    SCRIPT_TID,
    SCRIPT_PID,
    SCRIPT_TIME,
    SCRIPT_CPU,
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
    SCRIPT_IREGS,
    SCRIPT_UREGS,
    SCRIPT_BRSTACK,
    SCRIPT_BRSTACKSYM,
    SCRIPT_BRSTACKOFF,
    SCRIPT_FLAGS,
    SCRIPT_DATA_SRC,
    SCRIPT_WEIGHT,
    SCRIPT_BPF_OUTPUT,
    SCRIPT_SYNTH,
    SCRIPT_PHYS_ADDR,
    SCRIPT_MISC,
    SCRIPT_TOD,
    SCRIPT_DATA_PAGE_SIZE,
    SCRIPT_CODE_PAGE_SIZE,
    SCRIPT_INS_LAT,
    SCRIPT_RETIRE_LAT,
    SCRIPT_MACHINE_PID,
    SCRIPT_VCPU,
    SCRIPT_CGROUP,
    SCRIPT_INSN,
    SCRIPT_INSNLEN,
    SCRIPT_BRSTACKINSN,
    SCRIPT_BRSTACKINSNLEN,
    SCRIPT_BRSTACKDISASM,
    SCRIPT_CALLINDENT,
    SCRIPT_IPC,
    SCRIPT_METRIC,
    SCRIPT_GRADE, /* these three are sonde's own: symbol/grade.h */
    SCRIPT_IDENTITY,
    SCRIPT_PROVENANCE,
    SCRIPT_FIELD_COUNT,
};

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

/* The name of the i-th field that -F takes; NULL after the last. */
const char *script_fields_name(size_t i);

struct script_fields {
    uint64_t chosen[SCRIPT_KIND_COUNT]; /* masks of SCRIPT_BIT */
    uint64_t asked[SCRIPT_KIND_COUNT];  /* of those: named for all kinds, so that an event without them is an
                                           error */
    bool spoken[SCRIPT_KIND_COUNT];     /* the user said something about this kind */
};

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
