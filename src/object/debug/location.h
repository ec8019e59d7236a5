/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF's location expressions (DWARF 5, 2.5 and 2.6) followed with symbols in place of values: what comes
 * out is not where something is, but how to get there from the registers.
 */
#ifndef SONDE_OBJECT_DEBUG_LOCATION_H
#define SONDE_OBJECT_DEBUG_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { OBJECT_PLACE_HOPS = 8, OBJECT_PLACE_PIECES = 16, OBJECT_NO_REGISTER = -1 };

/*
 * A number that is computed from a register: start with `base` (a register, in DWARF's numbers, or an address
 * of the image, or 0), add add[0]; for each further one load the word there and add add[i].
 */
struct object_chain {
    int base;       /* a register; OBJECT_NO_REGISTER */
    bool linked;    /* no register, but an address of the image: where it was linked to */
    unsigned count; /* of add, at least 1 */
    int64_t add[OBJECT_PLACE_HOPS];
};

enum object_place_kind {
    OBJECT_PLACE_NOWHERE,
    OBJECT_PLACE_REGISTER, /* chain.base has it */
    OBJECT_PLACE_MEMORY,   /* it lies at the address `chain` */
    OBJECT_PLACE_VALUE,    /* it is the number `chain` */
};

struct object_place {
    enum object_place_kind kind;
    struct object_chain chain;
    bool own_frame; /* in memory of the function's own frame, which its prologue makes */
    unsigned width; /* of a VALUE: how many of its low bytes count; 0: all */
};

/* An operation: DW_OP_ and operands. DW_OP_implicit_value: number is the size, number2 the value.
 * DW_OP_entry_value: number is the register, or OBJECT_OP_NONE if it is of anything else. DW_OP_convert:
 * number is the size of the integer type, in bytes, or OBJECT_OP_NONE if it is another type. */
struct object_op {
    uint8_t atom;
    uint64_t number, number2;
};
#define OBJECT_OP_NONE UINT64_MAX

/* What an expression may refer to. */
struct object_location_context {
    const struct object_chain *frame; /* DW_AT_frame_base as an address; NULL: not known */
    const struct object_chain *cfa;   /* NULL: not known */
    bool frame_is_cfa;
    bool at_entry; /* registers have what they had when the function was entered */
    unsigned address_size;
};

/* A part of what is described. A whole one has size 0. */
struct object_piece {
    struct object_place place;
    uint64_t size;   /* bytes */
    const char *why; /* NOWHERE: why */
};
struct object_location {
    struct object_piece pieces[OBJECT_PLACE_PIECES];
    unsigned count;
};

/* Follows an expression. False: `why` says what prevents it (static text): "its value is computed", ... */
bool object_location_follow(const struct object_op *ops, size_t count,
                            const struct object_location_context *context, struct object_location *out,
                            const char **why);

/* Replaces an address by the word that lies there, plus `more`. False: too many hops. */
bool object_chain_load(struct object_chain *c, int64_t more);
/* Adds to the number. False: overflow. */
bool object_chain_add(struct object_chain *c, int64_t more);

#endif
