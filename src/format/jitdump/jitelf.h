/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A jitdump's functions as an ELF file, as if they had been compiled into one shared object: .text with all
 * of them, each at its offset in the jitcode image (file offset, address and that offset are the same
 * number), a sized symbol for each, lines (DWARF 4), unwind tables and a build-id made of all of it. A dozen
 * sections, however many functions there are: readers give up at 65,280.
 */
#ifndef SONDE_FORMAT_JITDUMP_JITELF_H
#define SONDE_FORMAT_JITDUMP_JITELF_H

#include "format/jitdump/jitcode.h"

enum { JITELF_BUILD_ID_SIZE = 20 };

/* Functions [first, last) of a dump; where first is not 0 they move to the beginning of the file. */
struct jitelf_part {
    const struct jitcode *code;
    size_t first, last;
};

/* Where function `index` of the part lies in its file: offset and address. */
uint64_t jitelf_offset(const struct jitelf_part *p, size_t index);

/* The part that begins with function `first` and is not larger than `max_bytes` of code (but of one function
 * at least). */
struct jitelf_part jitelf_part_from(const struct jitcode *code, size_t first, uint64_t max_bytes);

/* Appends the file to `w`, which must be empty and of jitelf_writer's byte order. False: out of memory. */
bool jitelf_write(const struct jitelf_part *p, struct writer *w, uint8_t build_id[JITELF_BUILD_ID_SIZE],
                  struct err *err);
struct writer jitelf_writer(const struct jitcode *code);

#endif
