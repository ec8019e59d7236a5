/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_OBJECT_DEBUG_DEBUG_INTERNAL_H
#define SONDE_OBJECT_DEBUG_DEBUG_INTERNAL_H

#include <dwarf.h>

#include "base/hash.h"
#include "object/debug/debug.h"
#include "object/dwarf/lines_internal.h"

/* Bounds for hostile trees; compilers stay far below. */
enum { DEBUG_DEPTH_MAX = 128, DEBUG_SCOPES_MAX = 128 };

struct debug_instance {
    Dwarf_Die die, function, unit; /* `function`: the concrete one whose code it is */
    uint64_t entry, function_entry, body;
    uint64_t settled; /* the first instruction after the prologue, whatever has been stored there */
};

struct object_debug {
    struct object_lines *lines;
    const struct object_cfi *cfi;
    struct bytes info, text, abbrev, offsets; /* .debug_info, .debug_str, .debug_abbrev, .debug_str_offsets */
    uint16_t machine;                         /* EM_ */
    void (*rest)(void *ctx);                  /* NULL: nothing rests */
    void *rest_ctx;
    const char *missing; /* object_debug_missing */
    bool swap, crosses;  /* entries may refer to other units' */
    VEC(struct debug_instance) instances;
};

/* The text of an attribute of `die`, or of the entry that it is an instance of. NULL: none. */
const char *debug_text(Dwarf_Die *die, unsigned attribute);
const char *debug_linkage(Dwarf_Die *die);
/* The file that declares what an entry is of, absolute where possible; NULL: not known. (libdw's own function
 * ends the process where a unit has no table of files.) */
const char *debug_decl_file(struct object_debug *d, Dwarf_Die *die);
/* Whether an attribute is a list of locations, by ranges of addresses. */
bool debug_is_list(Dwarf_Attribute *a);
/* The first instruction of an entry with code. False: it has none. */
bool debug_entry(Dwarf_Die *die, uint64_t *addr);
/* The unit whose entries are `unit`'s: itself, or its split one. */
Dwarf_Die debug_split(struct object_debug *d, Dwarf_Die unit);
/* Makes an instance known. False: out of memory. */
bool debug_note(struct object_debug *d, const struct debug_instance *i, struct object_instance *out);

#endif
