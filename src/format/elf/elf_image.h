/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes ELF images of either class and byte order: the caller says which sections and segments there are and
 * what is in them, the image is laid out in that order. Layouts: gABI chapters 4 and 5; numbers are
 * <elf.h>'s.
 */
#ifndef SONDE_FORMAT_ELF_ELF_IMAGE_H
#define SONDE_FORMAT_ELF_ELF_IMAGE_H

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"

struct elf_image_section {
    const char *name; /* borrowed until the image is written */
    uint32_t type, link, info;
    uint64_t flags, addr, align, entry_size;
    struct bytes content; /* borrowed until then */
    uint64_t memory_size; /* SHT_NOBITS: its size; else the content's counts */
    uint64_t offset;      /* filled in by elf_image_write */
};

/* A segment is its first to its last section; PT_NOTE and PT_LOAD alike. */
struct elf_image_segment {
    uint32_t type, flags;
    uint64_t vaddr, align;
    uint32_t first, last; /* sections, by index */
};

struct elf_image {
    bool wide, big_endian;
    uint16_t type, machine; /* ET_, EM_ */
    uint32_t flags;
    uint64_t entry;
    VEC(struct elf_image_section) sections; /* [0] is the empty one, made by elf_image_init */
    VEC(struct elf_image_segment) segments;
    bool extended; /* number sections through section 0 however few they are */
    bool failed;   /* memory ran out */
};

void elf_image_init(struct elf_image *m, bool wide, bool big_endian, uint16_t type, uint16_t machine);
void elf_image_fini(struct elf_image *m);

/* The index of the new section; 0, and the image failed, when memory ran out. */
uint32_t elf_image_section(struct elf_image *m, const struct elf_image_section *s);
void elf_image_segment(struct elf_image *m, const struct elf_image_segment *s);

/* Appends the whole image; a section .shstrtab with the names is added at the end. False when memory ran out.
 * `w` must be empty, and of elf_image_writer's byte order. */
bool elf_image_write(struct elf_image *m, struct writer *w);

/* An empty writer of the image's byte order, for contents and for the image. */
struct writer elf_image_writer(const struct elf_image *m);

struct elf_image_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t bind, type, other;
    uint32_t section; /* from SHN_LORESERVE on kept as it is */
};

/* Appends a symbol to a table, its name to a string table (which begins with a NUL: an empty one gets it).
 * Sections are written as 16 bits: with more the caller writes SHN_XINDEX, and SHT_SYMTAB_SHNDX. */
void elf_image_symbol_put(const struct elf_image *m, struct writer *table, struct writer *strings,
                          const struct elf_image_symbol *s);
/* Appends a relocation without its addend, which is a word that follows it in SHT_RELA. */
void elf_image_relocation_put(const struct elf_image *m, struct writer *table, uint64_t offset,
                              uint32_t symbol, uint32_t type);
/* Appends a note, padded to 4 bytes. */
void elf_image_note_put(struct writer *notes, const char *owner, uint32_t type, struct bytes content);
/* A number as wide as the class. */
void elf_image_word_put(const struct elf_image *m, struct writer *w, uint64_t v);

#endif
