/* SPDX-License-Identifier: Apache-2.0 */
/* What variables.c and members.c share. */
#ifndef SONDE_OBJECT_DEBUG_VARIABLES_INTERNAL_H
#define SONDE_OBJECT_DEBUG_VARIABLES_INTERNAL_H

#include "object/debug/debug_internal.h"

/* A variable or a part of it, on the way from one to the other. */
struct debug_part {
    Dwarf_Die type;
    struct object_location location;
    uint64_t skipped; /* bytes of it before the part, where it is in a register */
    uint32_t bit_size, bit_at, bit_storage;
    unsigned address_size, word_size; /* the image's; that of this machine, whose kernel loads pointers */
    bool big_endian, counts_texts;    /* see object_value.counted */
    char text[160];
};

/* Goes to a part. `name`: what the message calls what is left. */
bool debug_part_step(struct debug_part *p, const struct object_debug_step *s, const char *name,
                     struct err *err);
/* Goes from a reference to what it refers to. */
bool debug_part_target(struct debug_part *p, const char *name, struct err *err);
bool debug_is_reference(Dwarf_Die *type);
/* Reduces the location to one place that holds the whole part. False and *err: why there is none. */
bool debug_part_whole(struct debug_part *p, const char *name, struct err *err);
/* From a structure's declaration to its definition, if that is known. */
void debug_find_definition(Dwarf_Die *structure);
/* All elements; 0: not known. */
uint64_t debug_array_count(Dwarf_Die *array);

#endif
