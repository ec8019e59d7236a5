/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people write to say where a probe goes and what it records, as perf-probe(1) has it:
 *
 *   [[GROUP:]EVENT=]FUNC[@SRC][+OFFS|%return|:RLN|;PTN] [ARG ...]     FUNC may be a pattern, or C++'s A::b
 *   [[GROUP:]EVENT=]SRC:ALN [ARG ...]   SRC;PTN [ARG ...]   0xADDRESS [ARG ...]
 *   %[sdt_PROVIDER:]NAME   sdt_PROVIDER:NAME         static markers (DTRACE_PROBE in <sys/sdt.h>)
 *   %[GROUP:]EVENT                                    probes that are kept (cache/cache.h)
 *
 *   ARG: [NAME=]VALUE[:TYPE][@user]   VALUE: var, var->field, var.field, var[3], $params, $vars, or what the
 *   kernel knows itself: %ax, $retval, $stack, $stack2, $comm, $arg1, @SYMBOL, @ADDRESS, +8(%sp), \IMMEDIATE
 *
 * A backslash takes its meaning from the character after it.
 */
#ifndef SONDE_PROBE_SYNTAX_H
#define SONDE_PROBE_SYNTAX_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "object/debug/debug.h"

enum probe_arg_kind {
    PROBE_ARG_VARIABLE, /* name, steps */
    PROBE_ARG_KERNEL,   /* text: as the kernel takes it */
    PROBE_ARG_SYMBOL,   /* @SYMBOL[+-OFFSET]: text is the symbol, number the offset */
    PROBE_ARG_PARAMS,   /* $params */
    PROBE_ARG_VARS,     /* $vars */
};

struct probe_arg {
    enum probe_arg_kind kind;
    const char *name; /* the name for it; NULL: not given */
    const char *text; /* the variable, or the kernel's text */
    int64_t number;
    const char *type; /* NULL: not given */
    bool user;        /* @user */
    VEC(struct object_debug_step) steps;
};

struct probe_spec {
    const char *text;                    /* as given, without arguments */
    const char *args_text;               /* as given, with single spaces; may be empty */
    const char *place;                   /* the end of `text`, without the event's names */
    const char *group, *event;           /* NULL: not given */
    const char *function;                /* NULL: a line of `file`, or `address` */
    const char *file;                    /* NULL: any */
    const char *pattern;                 /* of the text of lines; NULL: none */
    const char *sdt_provider, *sdt_name; /* name NULL: no marker; provider NULL: any */
    const char *cached_group;            /* of %GROUP:NAME; NULL: any. Without provider: it is no marker */
    uint64_t offset, address;
    uint32_t line; /* of the file or, with `function`, from its first one */
    bool has_line, has_address, returns;
    bool glob;  /* `function` is a pattern of fnmatch(3) */
    bool quiet; /* nobody asked for it: what of it is left out is not logged */
    VEC(struct probe_arg) args;
};

/* Parses; texts are in the arena. False and *err (ERR_USAGE: one line, says what was expected; ERR_MEMORY).
 * probe_spec_fini in any case. */
bool probe_spec_parse(const char *text, struct arena *arena, struct probe_spec *out, struct err *err);
void probe_spec_fini(struct probe_spec *s);

/* The argument of --line: FUNC[@SRC][:RLN[+NUM|-RLN2]] or SRC[:ALN[+NUM|-ALN2]]. */
struct probe_lines {
    const char *function, *file; /* one of them may be NULL */
    uint32_t first, last;        /* from the function's line, or of the file; last UINT32_MAX: to the end */
    bool has_first;
};
bool probe_lines_parse(const char *text, struct arena *arena, struct probe_lines *out, struct err *err);

#endif
