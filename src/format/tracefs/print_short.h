/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtraceevent prints a signed field of one or two bytes by "%d" as if it had no sign (-3 becomes 65533),
 * where the kernel, whose C widens it, prints -3. With "%hhd" and "%hd" it prints what the kernel does.
 */
#ifndef SONDE_FORMAT_TRACEFS_PRINT_SHORT_H
#define SONDE_FORMAT_TRACEFS_PRINT_SHORT_H

#include "format/tracefs/tracing_data.h"

/* Where it is in a print format; set up by print_short_init, all else borrowed. */
struct print_short {
    struct bytes print;
    const struct tracing_field *fields;
    size_t field_count;
    size_t next, end;     /* what is left of the text in quotes */
    size_t argument;      /* the next one */
    size_t at;            /* found: the letter of a conversion */
    const char *modifier; /* found: what has to be put before the letter, "h" or "hh" */
};

void print_short_init(struct print_short *s, struct bytes print, const struct tracing_field *fields,
                      size_t field_count);
/* The next conversion that prints such a field, and nothing else, by %d or %i. False: there are no more. */
bool print_short_next(struct print_short *s);

#endif
