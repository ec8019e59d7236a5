/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an ELF file of JIT code that are DWARF. Memory: the writers remember. */
#ifndef SONDE_FORMAT_JITDUMP_JITELF_INTERNAL_H
#define SONDE_FORMAT_JITDUMP_JITELF_INTERNAL_H

#include "base/strpool.h"
#include "format/jitdump/jitelf.h"

struct jitelf_lines {
    struct writer line, info, abbrev, aranges; /* the sections .debug_*; all empty where no lines are known */
};

void jitelf_put_uleb(struct writer *w, uint64_t v);
void jitelf_put_address(struct writer *w, bool wide, uint64_t v);

/* Numbers of the forms of entries in .debug_info. */
enum {
    JITELF_ABBREV_UNIT = 1,
    JITELF_ABBREV_ABSTRACT,  /* name, how it is inlined (1 byte) */
    JITELF_ABBREV_FUNCTION,  /* name, address, size (8 bytes); entries within */
    JITELF_ABBREV_INLINED,   /* where the abstract one is (4 bytes), address, size, file and line of the call;
                                entries within */
    JITELF_ABBREV_SOMEWHERE, /* likewise, without file and line */
};

/* What functions share that inline calls. */
struct jitelf_inliner {
    struct strpool names;  /* of abstract entries */
    VEC(uint32_t) offsets; /* by name: the entry's, in the unit */
    struct strpool *files; /* of the line table */
};
void jitelf_inliner_fini(struct jitelf_inliner *x);

/* Appends the entries of all functions that are told to have inlined calls to `w`, whose first byte is the
 * unit's. */
void jitelf_put_inlines(const struct jitelf_part *p, bool wide, struct jitelf_inliner *x, struct writer *w);

void jitelf_put_lines(const struct jitelf_part *p, bool wide, struct jitelf_lines *out);
bool jitelf_lines_ok(const struct jitelf_lines *lines);

/* The .eh_frame section at that address: the functions' unwind tables, made to speak of where they lie now.
 * Tables of another form are left out. */
void jitelf_put_frame(const struct jitelf_part *p, uint64_t frame_at, struct writer *w);

/* The search table over it. */
void jitelf_put_frame_hdr(const struct writer *frame, uint64_t frame_at, uint64_t hdr_at, struct writer *w);

#endif
