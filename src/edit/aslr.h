/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject --aslr: a copy in which no address tells where anything lay. Each mapping moves to a place of its
 * own, and all addresses in it with it, so that profiles stay what they are:
 *
 *   0x200000             |-- map 1 --|  page  |-- map 2 --| ...     processes', in the order of their records
 *   0x600000000000       callers and places where nothing was mapped, one number each
 *   0x700000000000       memory that was accessed where nothing was mapped, page by page
 *   0xffff800010000000   |-- kernel --|  |-- module --| ...         likewise the kernel's, with the others at
 *   0xffffb00000000000   ... and 0xffffc00000000000
 *
 * Equal input gives equal output. Addresses below 64 KiB, and the kernel's fixed pages in user space, stay:
 * they are the same everywhere. Registers become 0. What may hold addresses that cannot be told from other
 * data is left out, and counted.
 */
#ifndef SONDE_EDIT_ASLR_H
#define SONDE_EDIT_ASLR_H

#include "edit/copy.h"
#include "model/model.h"

struct edit_aslr;

/* Makes the editor. `m`, complete and frozen, is borrowed like `in` and `first`, which sees each record
 * before it moves and may put others without addresses in front of it (NULL: none). NULL: out of memory. */
struct edit_aslr *edit_aslr_new(const struct model *m, struct stream *in, const struct copy_editor *first,
                                struct err *err);
void edit_aslr_free(struct edit_aslr *a); /* NULL is allowed */

/* Returns the editor, which is borrowed. The stream must unpack compressed records. */
const struct copy_editor *edit_aslr_editor(struct edit_aslr *a);

/* What was left out, and which addresses stay. */
struct edit_aslr_counts {
    uint64_t stacks, physical, raw,
        traces;          /* samples with copies of stacks, physical addresses, raw data, AUX data */
    uint64_t unreadable; /* malformed records, and records of unknown types */
    uint64_t others;     /* other records that cannot go without addresses: kernel code that
                            changed, AUX data, places of modules' sections */
    uint64_t kept_files; /* in the trailer: jitdumps, perf maps, lists of kernel symbols */
    uint64_t jit; /* addresses in memory without a file, where a JIT's code was: its names go by address */
    uint32_t breakpoints; /* events with an address in their name and attr, which stays */
};
struct edit_aslr_counts edit_aslr_counts(const struct edit_aslr *a);

#endif
