/* SPDX-License-Identifier: Apache-2.0 */
/* Places that a program's author marked for tracers (DTRACE_PROBE of <sys/sdt.h>): notes of the owner
 * "stapsdt" in the section .note.stapsdt, as <sys/sdt.h> lays them out. */
#ifndef SONDE_OBJECT_SDT_H
#define SONDE_OBJECT_SDT_H

#include "object/elf.h"

struct object_sdts {
    struct cursor notes;
    bool wide;
    object_vaddr base; /* where .stapsdt.base is; 0: there is none */
};

/* False when there are none. */
bool object_sdts_open(const struct object_elf *e, struct object_sdts *out);

struct object_sdt {
    struct bytes provider, name; /* without NUL, never empty */
    object_vaddr place;
    object_vaddr semaphore; /* a counter of 16 bits, raised while somebody traces the place; 0: none */
    struct bytes args;      /* as SystemTap has them: "-4@%edi 8@-16(%rbp)"; may be empty */
};
/* The next one in the file's order; false at the end, or where the notes are damaged. One name may come
 * several times: a function that was inlined. */
bool object_sdts_next(struct object_sdts *s, struct object_sdt *out);

#endif
