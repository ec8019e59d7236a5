/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an ELF file of JIT code that are DWARF. Memory: the writers remember. */
#ifndef SONDE_FORMAT_JITDUMP_JITELF_INTERNAL_H
#define SONDE_FORMAT_JITDUMP_JITELF_INTERNAL_H

#include "format/jitdump/jitelf.h"

struct jitelf_lines {
    struct writer line, info, abbrev, aranges; /* the sections .debug_*; all empty where no lines are known */
};

void jitelf_put_lines(const struct jitelf_part *p, bool wide, struct jitelf_lines *out);
bool jitelf_lines_ok(const struct jitelf_lines *lines);

/* The .eh_frame section at that address: the functions' unwind tables, made to speak of where they lie now.
 * Tables of another form are left out. */
void jitelf_put_frame(const struct jitelf_part *p, uint64_t frame_at, struct writer *w);

/* The search table over it. */
void jitelf_put_frame_hdr(const struct writer *frame, uint64_t frame_at, uint64_t hdr_at, struct writer *w);

#endif
