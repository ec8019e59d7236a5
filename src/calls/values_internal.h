/* SPDX-License-Identifier: Apache-2.0 */
/* What values.c and structs.c share. */
#ifndef SONDE_CALLS_VALUES_INTERNAL_H
#define SONDE_CALLS_VALUES_INTERNAL_H

#include "calls/values.h"

/* What is needed to print one argument, or a member of what it points to. */
struct calls_item {
    const struct calls_values *v;
    const struct calls_call *call;
    const struct calls_table *table;
    const struct calls_row *row;
    unsigned index;
    uint64_t value; /* truncated to the width; signed ones are sign-extended */
    uint8_t set;    /* enum calls_set_id */
    int8_t width;   /* bytes; negative: it is signed */
};

typedef void calls_put_fn(const struct calls_item *x, struct out *o);

/* Prints a value of a kind. */
void calls_put(enum calls_kind kind, const struct calls_item *x, struct out *o);
void calls_put_hex(uint64_t value, struct out *o);
void calls_put_signal(const struct calls_item *x, struct out *o);
/* A socket address; false, and nothing printed, if it has no family. */
bool calls_put_address(const struct calls_item *x, const uint8_t *p, size_t size, struct out *o);

/* What an argument points to, by its kind; the address, if that is not known. */
calls_put_fn calls_put_struct, calls_put_texts, calls_put_vectors, calls_put_message;
/* Whether a command of ioctl(2) writes what its argument points to. */
bool calls_control_writes(uint32_t command);

#endif
