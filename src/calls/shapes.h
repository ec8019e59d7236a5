/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in the structs that arguments point to. Rows of shape_rows.h say what their members mean; where
 * these lie is known for the architecture that sonde was built for, and better from the running kernel's own
 * types, which have members that are newer, too.
 */
#ifndef SONDE_CALLS_SHAPES_H
#define SONDE_CALLS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_shape_id {
    CALLS_SHAPE_NONE,
#define SHAPE(id, ...) CALLS_SHAPE_##id,
#include "calls/shape_rows.h"
#undef SHAPE
    CALLS_SHAPE_COUNT,
};

enum { CALLS_FIELD_BYTES_MAX = 128 };

struct calls_field {
    const char *name;
    uint16_t offset, size; /* bytes; nothing else than 1, 2, 4 and 8 but of texts and structs */
    bool is_signed;
    uint8_t kind;  /* enum calls_kind */
    uint8_t set;   /* enum calls_set_id */
    uint8_t shape; /* enum calls_shape_id; of CALLS_STRUCT */
    bool always;   /* zeros are shown, too */
    bool minor;    /* is shown if all is asked for */
};

struct calls_shape {
    const char *kernel; /* the struct's name in the kernel; NULL: it has none */
    uint16_t size;      /* bytes */
    uint16_t count;
    const struct calls_field *fields;
};

/* By id, of the architecture that we were built for; of size 0 where it is not known. */
extern const struct calls_shape calls_shapes[CALLS_SHAPE_COUNT];

#endif
