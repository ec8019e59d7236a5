/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines out of DWARF (DWARF 5, 6.2: the line number information), by libdw. Costs nothing until it is
 * opened, and then only what was asked for: units are indexed at the first question, a unit's lines are read
 * at the first address in it.
 */
#ifndef SONDE_OBJECT_LINES_H
#define SONDE_OBJECT_LINES_H

#include "object/elf.h"

struct object_lines;

/*
 * `image`: an ELF image with DWARF, of either class and byte order: the one that was mapped or its separate
 * debug file. `alt`: the dwz file that it refers to (object/links.h: object_altlink_read; its build-id
 * checked by the caller), or empty: no file is ever opened here. Both stay the caller's, and must live as
 * long as the result.
 *
 * NULL and *err: ERR_ABSENT: no DWARF in it; ERR_BROKEN: sections outside the file, or impossible sizes;
 * ERR_UNSUPPORTED: a relocatable file (.o, .ko), whose DWARF has no addresses yet, or built without libdw,
 * which the message says.
 */
struct object_lines *object_lines_new(struct bytes image, struct bytes alt, struct err *err);
/* NULL is fine. */
void object_lines_free(struct object_lines *l);

struct object_line {
    const char *file; /* the path as the compiler was given it, made absolute with its working directory if
                         that is known; valid as long as the object_lines */
    uint32_t line;    /* 0: the compiler knew none */
};

/* The line that the code at `addr` (an address of the image; of a return address, less one) was made for.
 * False when no line covers it. One thread at a time per object_lines. */
bool object_lines_find(struct object_lines *l, object_vaddr addr, struct object_line *out);

/* One of the functions that an address is in. */
struct object_inline {
    const char *name; /* as linked (mangled) where that is said, else as in the source; lives as long as the
                         object_lines */
    struct object_line line; /* where in it: of the innermost, the address's line; of others, the call that
                                was inlined. file is NULL when that is not known */
};

/*
 * The functions at `addr`, from the innermost outwards: those whose calls were inlined there, then the one
 * whose code it is (DWARF 5, 3.3.8.2). At most `max`; 1 when nothing is inlined there, 0 when no function is
 * known. As object_lines_find for threads.
 */
size_t object_lines_inlined(struct object_lines *l, object_vaddr addr, struct object_inline *out, size_t max);

/* Whether this build has libdw. */
bool object_lines_supported(void);

#endif
