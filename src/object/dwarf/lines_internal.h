/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of DWARF by libdw share. */
#ifndef SONDE_OBJECT_LINES_INTERNAL_H
#define SONDE_OBJECT_LINES_INTERNAL_H

#include <elfutils/libdw.h>

#include "base/strpool.h"
#include "base/vec.h"
#include "object/dwarf/dwarf_image.h"
#include "object/dwarf/lines.h"

/* A range of a function's code. */
struct unit_function {
    uint64_t start, end;
    Dwarf_Off die;
};

/* Code of a unit. Ranges may overlap or nest in odd images; the one that begins last is asked first. */
struct unit_range {
    uint64_t start, end; /* end: exclusive */
    uint64_t reach;      /* the furthest end of this and all before: where to stop looking back */
    uint32_t unit;
};

/* A variable at a fixed address. */
struct unit_global {
    uint64_t start, size;
    Dwarf_Off die;
};

struct unit {
    Dwarf_Off die;
    bool no_lines;
    bool functions_known, globals_known;
    VEC(struct unit_function) functions; /* sorted by start; see inlines.c */
    VEC(struct unit_global) globals;     /* likewise; see types.c */
};

struct debug_file {
    struct object_dwarf_image image;
    Elf *elf;
    Dwarf *dwarf;
};

struct object_lines {
    struct debug_file main, alt;
    VEC(struct unit) units;
    VEC(struct unit_range) ranges; /* sorted by start */
    VEC(uint32_t) rangeless;       /* units that do not say what they cover: their lines do */
    struct strpool paths;          /* those that had to be made absolute */
    bool indexed, failed;
    bool cfi_known;
    Dwarf_CFI *cfi; /* .eh_frame's, once types have asked for it; NULL: it has none */
};

/* `file` with the folder of the unit `die` before it if that leads anywhere. Lives as long as `l`. */
const char *object_lines_path(struct object_lines *l, Dwarf_Die *die, const char *file);

/* The units that may cover an address, one after the other; UINT32_MAX at the end. Zeroed at first. */
struct unit_walk {
    size_t at, tries;
    bool begun;
};
uint32_t object_lines_unit(struct object_lines *l, uint64_t addr, struct unit_walk *walk);

/* The function of a unit whose code is at an address. */
bool object_lines_function(struct object_lines *l, struct unit *u, uint64_t addr, Dwarf_Die *out);

/* The next entry on the same level; only forward, though the file may say anything. */
static inline bool object_lines_sibling(Dwarf_Die *die) {
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
        return false;
    *die = next;
    return true;
}

/* --- Types (types.c) --------------------------------------------------------------------------------------
 */

/* The type that an entry refers to: of a variable its own, of a typedef or pointer the one behind it. False:
 * there is none. */
bool object_type_of(Dwarf_Die *die, Dwarf_Die *out);
/* An attribute that is an expression or a list of them, of `die` or of the entry that it is an instance of.
 * False: it has none. */
bool object_type_location(Dwarf_Die *die, unsigned name, Dwarf_Attribute *out);
/* Strips qualifiers and, with `names`, also typedefs. */
bool object_type_peel(Dwarf_Die *type, bool names);
/* In bytes; 0: not known. */
uint64_t object_type_size(Dwarf_Die *type);
/* Appends a type as C writes it, without qualifiers; cut to `room`. `to` holds a text already. */
void object_type_put_name(Dwarf_Die *type, char *to, size_t room);

#endif
