/* SPDX-License-Identifier: Apache-2.0 */
/* What cfi.c (tables) and cfi_row.c (programs) share. */
#ifndef SONDE_OBJECT_CFI_INTERNAL_H
#define SONDE_OBJECT_CFI_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "object/dwarf/cfi.h"

/* DW_EH_PE_: how a pointer is written (LSB Core 5.0, 10.5.1): a format, what it counts from, and whether it
 * is the address of the pointer only. */
enum {
    CFI_PE_ABSPTR = 0x00,
    CFI_PE_ULEB = 0x01,
    CFI_PE_UDATA2 = 0x02,
    CFI_PE_UDATA4 = 0x03,
    CFI_PE_UDATA8 = 0x04,
    CFI_PE_SIGNED = 0x08,
    CFI_PE_SLEB = 0x09,
    CFI_PE_SDATA2 = 0x0a,
    CFI_PE_SDATA4 = 0x0b,
    CFI_PE_SDATA8 = 0x0c,
    CFI_PE_FORMAT = 0x0f,
    CFI_PE_PCREL = 0x10,
    CFI_PE_TEXTREL = 0x20,
    CFI_PE_DATAREL = 0x30,
    CFI_PE_FUNCREL = 0x40,
    CFI_PE_BASE = 0x70,
    CFI_PE_INDIRECT = 0x80,
    CFI_PE_OMIT = 0xff,
};

struct cfi_section {
    struct bytes content; /* empty: there is none */
    object_vaddr addr;
    bool debug; /* .debug_frame, whose CIEs are named by offset in the section */
};

/* An FDE of a section without a search table. */
struct cfi_entry {
    object_vaddr start, end;
    uint64_t at; /* in its section */
};

struct cfi_index {
    VEC(struct cfi_entry) list; /* sorted by start */
};

struct object_cfi {
    bool wide, swap;
    uint16_t machine;
    struct cfi_section eh, debug;
    object_vaddr text, data;   /* what TEXTREL and DATAREL count from */
    struct cfi_index eh_index; /* used without a search table */
    struct cfi_index debug_index;
    /* .eh_frame_hdr's search table: pairs of start and FDE's address, as signed numbers that count from the
     * header. */
    struct bytes search;
    object_vaddr search_base;
    unsigned search_word; /* 4 or 8 bytes */
    struct arena arena;   /* decompressed sections */
};

/* Reads a pointer; `at` is the address of c's first byte, `function` what FUNCREL counts from. An omitted or
 * indirect one fails. */
object_vaddr object_cfi_pointer(const struct object_cfi *t, struct cursor *c, unsigned encoding,
                                object_vaddr at, object_vaddr function);

#endif
