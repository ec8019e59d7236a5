/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF images of either class and byte order over borrowed bytes. Facts: System V gABI, chapters 4 and 5;
 * elf(5); psABI supplements. Numbers (SHT_, SHF_, PT_, ET_, EM_, STT_...) are <elf.h>'s.
 *
 * Nothing is copied or kept but what is said below; every span handed out points into the image and lives as
 * long as it. All functions are safe on any bytes, and take time linear in the image at most.
 */
#ifndef SONDE_OBJECT_ELF_H
#define SONDE_OBJECT_ELF_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cursor.h"
#include "base/err.h"

/* Of an image's own address space: what st_value, sh_addr and p_vaddr are. Not an address in a process. */
typedef uint64_t object_vaddr;

struct object_elf {
    struct bytes file; /* borrowed */
    bool wide;         /* ELFCLASS64 */
    bool swap;         /* the other byte order than this machine's */
    bool big_endian;
    uint16_t type, machine; /* ET_, EM_ */
    uint32_t flags;         /* e_flags */
    object_vaddr entry;
    /* Counts are what e_phnum and e_shnum say (or section 0, when they are too small for it), cut to what
     * lies inside the file: a cut-off file has fewer. */
    uint64_t segments_at, sections_at;
    uint32_t segment_size, section_size;
    uint32_t segment_count, section_count;
    uint32_t names_index; /* the section with the sections' names; 0: none */
};

/* Reads the file header. ERR_BROKEN: not an ELF file, or its header is cut off or contradicts itself. */
bool object_elf_open(struct bytes file, struct object_elf *out, struct err *err);

struct object_segment {
    uint32_t type, flags; /* PT_, PF_ */
    uint64_t offset, file_size, memory_size, align;
    object_vaddr vaddr;
};

/* Program header `index`; false when there is none. */
bool object_elf_segment(const struct object_elf *e, uint32_t index, struct object_segment *out);

struct object_section {
    uint32_t index, type; /* SHT_ */
    uint64_t flags;       /* SHF_ */
    object_vaddr addr;
    uint64_t offset, size, align, entry_size;
    uint32_t link, info;
    struct bytes name; /* without its NUL; empty when there are no names */
};

/* Section header `index` (0 is valid, and of type SHT_NULL); false when there is none. */
bool object_elf_section(const struct object_elf *e, uint32_t index, struct object_section *out);
/* The first section of that name or type; false when there is none. */
bool object_elf_section_named(const struct object_elf *e, const char *name, struct object_section *out);
bool object_elf_section_typed(const struct object_elf *e, uint32_t type, struct object_section *out);

/*
 * A section's content. A compressed one (SHF_COMPRESSED: zlib, zstd; or .zdebug_*) is decompressed into
 * `arena`, any other borrowed from the image. ERR_ABSENT: SHT_NOBITS (as in a separate debug file);
 * ERR_BROKEN: not inside the file, or bad compressed data; ERR_UNSUPPORTED: a compression this build lacks.
 * `arena` may be NULL for sections that are never compressed: a compressed one is ERR_UNSUPPORTED then.
 */
bool object_elf_section_bytes(const struct object_elf *e, const struct object_section *s, struct arena *arena,
                              struct bytes *out, struct err *err);

/* How many bytes object_elf_section_bytes would give: what a compressed section claims, if that can be. False
 * as there. *compressed may be NULL. */
bool object_elf_section_size(const struct object_elf *e, const struct object_section *s, uint64_t *size,
                             bool *compressed, struct err *err);
/* The same as object_elf_section_bytes into memory of the caller's, of exactly that size. */
bool object_elf_section_into(const struct object_elf *e, const struct object_section *s, uint8_t *out,
                             size_t size, struct err *err);

/* --- Symbols ------------------------------------------------------------------------------------------- */

struct object_symbol {
    uint64_t value; /* object_vaddr; in relocatable files (ET_REL), an offset into section `section` */
    uint64_t size;  /* 0: unknown */
    uint32_t index; /* in its table */
    /* The section it is defined in, with SHT_SYMTAB_SHNDX followed: SHN_UNDEF (0) for an undefined one;
     * `reserved` is set instead for SHN_ABS, SHN_COMMON and others of SHN_LORESERVE and above. */
    uint32_t section;
    uint16_t reserved;
    uint8_t bind, type, other; /* STB_, STT_, st_other */
    struct bytes name;         /* without its NUL */
};

/* A walk over a symbol table. Copy it to walk again from there. */
struct object_symbols {
    struct bytes content;  /* the table, whole entries */
    struct bytes names;    /* its string table */
    struct bytes extended; /* SHT_SYMTAB_SHNDX, or empty */
    uint64_t name_budget;  /* hostile tables whose names overlap end the walk, so that it stays linear */
    uint32_t entry_size;
    uint32_t index, count; /* of entries: the next, and what the section has room for */
    bool wide, swap;
    bool broken; /* the walk ended before the table's end */
};

/*
 * The table of type `type`, SHT_SYMTAB or SHT_DYNSYM. ERR_ABSENT: there is none (a stripped file, or a
 * separate debug file's .dynsym without content).
 */
bool object_symbols_open(const struct object_elf *e, uint32_t type, struct object_symbols *out,
                         struct err *err);
/* The next one (entry 0, always empty, is skipped); false at the end. A name outside the string table is
 * empty.
 */
bool object_symbols_next(struct object_symbols *s, struct object_symbol *out);
/* Entry `index` out of turn; false when there is none. The walk goes on where it was. */
bool object_symbols_at(struct object_symbols *s, uint32_t index, struct object_symbol *out);

/* True for ARM, AArch64, RISC-V (and C-SKY) mapping symbols ($a, $d.1, $x, $t, $xrv64i...), which mark what
 * bytes are and name nothing: ELF for the Arm Architecture 5.5.5, for the 64-bit one 5.5.4, RISC-V psABI
 * "Mapping Symbol". */
bool object_symbol_is_mapping(const struct object_elf *e, const struct object_symbol *s);

/* Bytes from a ppc64 ELFv2 function's symbol (global entry) to its local entry: 64-bit ELFv2 ABI 3.4.1. 0 on
 * other machines. */
uint32_t object_symbol_local_entry(const struct object_elf *e, const struct object_symbol *s);

/* The function descriptors of ppc64 ELFv1 (.opd): a function's symbol names its descriptor, whose first
 * doubleword is the address of the code. */
struct object_opd {
    struct bytes content; /* empty: no such section */
    object_vaddr addr;
    bool swap;
};
/* Nothing to follow on other machines and in ELFv2 images. */
void object_opd_init(const struct object_elf *e, struct object_opd *out);
/* The address of the code if `value` is in .opd, else `value`. */
object_vaddr object_opd_follow(const struct object_opd *opd, object_vaddr value);

/* --- File offsets and addresses ----------------------------------------------------------------------------
 */

struct object_range {
    object_vaddr addr;
    uint64_t offset, size; /* in the file, bytes */
    bool executable;
};

/*
 * Where the image's bytes come to lie: its PT_LOADs, or, when there are none, its allocated sections (none in
 * relocatable files, whose sections have no addresses yet). A separate debug file may have lost the offsets:
 * ask the file that was mapped.
 */
struct object_layout {
    struct object_range *by_addr, *by_offset; /* one allocation, sorted; owned */
    uint32_t count, executable;               /* the first `executable` of by_offset are code */
};

/* False only for want of memory. An image with nothing to load has count 0. */
bool object_layout_init(const struct object_elf *e, struct object_layout *out, struct err *err);
void object_layout_fini(struct object_layout *l);
/* False when no byte of the file is loaded there (.bss, or outside). O(log n). */
bool object_layout_offset(const struct object_layout *l, object_vaddr addr, uint64_t *offset);
/* Of several segments that load that byte the executable one. */
bool object_layout_addr(const struct object_layout *l, uint64_t offset, object_vaddr *addr);

#endif
