/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the constants that arguments of system calls are made of: flags, and values that exclude each
 * other. */
#ifndef SONDE_CALLS_SETS_H
#define SONDE_CALLS_SETS_H

#include "base/text/out.h"

struct calls_name {
    uint64_t value;
    const char *name;
};

struct calls_set {
    const char *prefix; /* what the names begin with in C, except for those that begin with `=` here */
    uint64_t chosen;    /* the bits that hold one of several values; all others are flags */
    const struct calls_name *names;
    size_t count;
};

enum calls_set_id {
    CALLS_SET_NONE,
#define SET(id, prefix, chosen, ...) CALLS_SET_##id,
#include "calls/set_rows.h"
#undef SET
    CALLS_SET_COUNT,
};

/* How architectures differ in the values of flags. */
enum calls_flavour {
    CALLS_FLAVOUR_USUAL, /* x86, and most others */
    CALLS_FLAVOUR_ARM,   /* Arm of 32 and 64 bits, PowerPC: O_DIRECTORY and others */
};

/* The set of an id; NULL for CALLS_SET_NONE. */
const struct calls_set *calls_set(enum calls_set_id id, enum calls_flavour flavour);

/* Whether zero is a value with a name. */
bool calls_set_names_zero(const struct calls_set *s);

/* Appends the names of a value's parts, joined by `|`: parts without a name as a hexadecimal number, and 0 if
 * zero has no name. `prefix`: with the names' prefix. */
void calls_set_put(const struct calls_set *s, uint64_t value, bool prefix, struct out *o);

/* Names of single values; NULL: there is none. */
const char *calls_signal_name(uint32_t signal); /* "USR1"; of real-time signals none */
const char *calls_errno_name(uint32_t number);  /* "ENOENT" */
/* What an error means: "No such file or directory"; also of those that stay inside the kernel: *restarts is
 * then set if the call is restarted. */
const char *calls_errno_text(uint32_t number, bool *restarts);

#endif
