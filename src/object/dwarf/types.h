/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type of what an instruction accesses, out of DWARF, by libdw: of the variables in whose scope it lies
 * (DWARF 5, 3.4) the one is looked for whose location (2.6) says that its value is the pointer in the
 * instruction's base register, or that it lies in memory where the instruction reads or writes. What only
 * following values from instruction to instruction would tell, is not known.
 */
#ifndef SONDE_OBJECT_TYPES_H
#define SONDE_OBJECT_TYPES_H

#include "object/dwarf/lines.h"
#include "object/insn.h"

struct object_type {
    char name[192];  /* as C writes it: "struct node", "PyObject", "char*"; cut where it is longer */
    char field[192]; /* the member at the offset, and its member: "vec.len"; empty: none */
    uint64_t offset; /* bytes from the start of the type; less than its size */
};

/* What the instruction at `addr` (an address of the image) accesses. False when that is not known. One thread
 * at a time per object_lines. */
bool object_types_find(struct object_lines *l, object_vaddr addr, const struct object_access *access,
                       struct object_type *out);

#endif
