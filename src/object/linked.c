/* SPDX-License-Identifier: Apache-2.0 */
#include "object/linked.h"

#include <elf.h>
#include <stdlib.h>

#include "base/writer.h"
#include "object/elf_internal.h"

/* Debug sections compress to a fifth; a file that says more than this lies. */
enum { GROWTH_MAX = 100, GROWTH_FREE_BYTES = 16 << 20, SECTIONS_MAX = 1 << 20, ALIGN_MAX = 1 << 20 };

struct placed {
    struct object_section section;
    uint64_t addr;     /* 0: not loaded */
    uint64_t at, size; /* in the new image; size 0: no bytes */
};

struct linking {
    const struct object_elf *elf;
    struct placed *sections; /* by index */
    uint32_t count;
    uint64_t headers_at, size;
    uint8_t *image;
    struct err *err;
};

static bool broken(struct linking *l, const char *what) {
    return err_set(l->err, ERR_BROKEN, "", "%s", what);
}

static void put(const struct linking *l, uint8_t *to, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        to[l->elf->big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* ---- places ---- */

static bool place(struct linking *l) {
    uint64_t addr = OBJECT_LINKED_START, at = sizeof(Elf64_Ehdr), sum = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct placed *p = &l->sections[i];
        if (!object_elf_section(l->elf, i, &p->section))
            return broken(l, "its sections cannot be read");
        const struct object_section *s = &p->section;
        uint64_t align = s->align && s->align <= ALIGN_MAX ? s->align : 1;
        if (s->flags & SHF_ALLOC) {
            if (s->size > UINT32_MAX)
                return broken(l, "a section claims an impossible size");
            addr = (addr + align - 1) / align * align;
            p->addr = addr;
            addr += s->size;
        }
        if (i == 0 || s->type == SHT_NOBITS || s->type == SHT_NULL)
            continue;
        if (!object_elf_section_size(l->elf, s, &p->size, NULL, l->err))
            return false;
        sum += p->size;
        if (sum / GROWTH_MAX > l->elf->file.size + GROWTH_FREE_BYTES)
            return broken(l, "sections claim an impossible size");
        at = (at + 15) & ~(uint64_t)15;
        p->at = at;
        at += p->size;
    }
    l->headers_at = (at + 15) & ~(uint64_t)15;
    l->size = l->headers_at + (uint64_t)l->count * sizeof(Elf64_Shdr);
    return true;
}

/* ---- the image ---- */

static void put_headers(struct linking *l, struct writer *head, struct writer *rows) {
    const struct object_elf *e = l->elf;
    writer_put(head, e->file.data, EI_NIDENT);
    writer_u16(head, ET_EXEC);
    writer_u16(head, e->machine);
    writer_u32(head, EV_CURRENT);
    writer_u64(head, 0); /* entry */
    writer_u64(head, 0); /* segments */
    writer_u64(head, l->headers_at);
    writer_u32(head, e->flags);
    writer_u16(head, sizeof(Elf64_Ehdr));
    writer_u16(head, 0);
    writer_u16(head, 0);
    writer_u16(head, sizeof(Elf64_Shdr));
    writer_u16(head, l->count < SHN_LORESERVE ? (uint16_t)l->count : 0);
    writer_u16(head, e->names_index < SHN_LORESERVE ? (uint16_t)e->names_index : SHN_XINDEX);
    for (uint32_t i = 0; i < l->count; i++) {
        const struct placed *p = &l->sections[i];
        const struct object_section *s = &p->section;
        /* The name's offset is copied from the old header. */
        uint64_t old = e->sections_at + (uint64_t)i * e->section_size;
        writer_put(rows, e->file.data + old, sizeof(uint32_t));
        writer_u32(rows, s->type);
        writer_u64(rows, s->flags & ~(uint64_t)SHF_COMPRESSED);
        writer_u64(rows, p->addr);
        writer_u64(rows, p->at);
        writer_u64(rows, i == 0 || s->type == SHT_NOBITS ? s->size : p->size);
        writer_u32(rows, s->link);
        writer_u32(rows, s->info);
        writer_u64(rows, s->align);
        writer_u64(rows, s->entry_size);
    }
}

static bool copy(struct linking *l) {
    struct writer head = writer_make(l->elf->swap), rows = writer_make(l->elf->swap);
    put_headers(l, &head, &rows);
    bool ok = writer_ok(&head) && writer_ok(&rows);
    if (ok) {
        memcpy(l->image, head.data, head.size);
        memcpy(l->image + l->headers_at, rows.data, rows.size);
    } else {
        err_memory(l->err, "sections");
    }
    writer_fini(&head);
    writer_fini(&rows);
    for (uint32_t i = 1; ok && i < l->count; i++) {
        const struct placed *p = &l->sections[i];
        if (p->size)
            ok = object_elf_section_into(l->elf, &p->section, l->image + p->at, (size_t)p->size, l->err);
    }
    return ok;
}

/* ---- symbols and relocations ---- */

/* The address of a symbol: false if it lies in no section of the file. */
static bool address_of(const struct linking *l, const struct object_symbol *s, uint64_t *out) {
    if (s->reserved || s->section == SHN_UNDEF || s->section >= l->count)
        return false;
    *out = s->value + l->sections[s->section].addr;
    return true;
}

static void move_symbols(struct linking *l) {
    struct object_symbols walk;
    struct object_symbol s;
    struct object_section table;
    uint64_t value;
    if (!object_elf_section_typed(l->elf, SHT_SYMTAB, &table) ||
        !object_symbols_open(l->elf, SHT_SYMTAB, &walk, NULL))
        return;
    const struct placed *p = &l->sections[table.index];
    while (object_symbols_next(&walk, &s)) {
        uint64_t at = (uint64_t)s.index * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_value);
        if (address_of(l, &s, &value) && at + sizeof value <= p->size)
            put(l, l->image + p->at + at, value, sizeof value);
    }
}

/* What a relocation of data does. */
struct effect {
    unsigned bytes; /* 0: nothing */
    bool relative;  /* to its own place */
};

/* x86-64 psABI, 4.4.1; ELF for the Arm 64-bit Architecture, 5.7.5; s390x ELF ABI supplement, "Relocation".
 * False: not known. */
static bool effect_of(uint16_t machine, uint32_t type, struct effect *out) {
    static const struct {
        uint16_t machine;
        uint32_t type;
        struct effect effect;
    } ROWS[] = {
        {EM_X86_64, R_X86_64_NONE, {0, false}},
        {EM_X86_64, R_X86_64_64, {8, false}},
        {EM_X86_64, R_X86_64_32, {4, false}},
        {EM_X86_64, R_X86_64_32S, {4, false}},
        {EM_X86_64, R_X86_64_PC32, {4, true}},
        {EM_X86_64, R_X86_64_PC64, {8, true}},
        {EM_X86_64, R_X86_64_PLT32, {4, true}},
        {EM_X86_64, R_X86_64_DTPOFF64, {0, false}},
        {EM_X86_64, R_X86_64_DTPOFF32, {0, false}},
        {EM_AARCH64, R_AARCH64_NONE, {0, false}},
        {EM_AARCH64, R_AARCH64_ABS64, {8, false}},
        {EM_AARCH64, R_AARCH64_ABS32, {4, false}},
        {EM_AARCH64, R_AARCH64_PREL64, {8, true}},
        {EM_AARCH64, R_AARCH64_PREL32, {4, true}},
        {EM_S390, R_390_NONE, {0, false}},
        {EM_S390, R_390_64, {8, false}},
        {EM_S390, R_390_32, {4, false}},
        {EM_S390, R_390_PC32, {4, true}},
        {EM_S390, R_390_PC64, {8, true}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].machine == machine && ROWS[i].type == type) {
            *out = ROWS[i].effect;
            return true;
        }
    return false;
}

static bool apply(struct linking *l, const struct placed *target, struct object_symbols *symbols,
                  struct cursor *c) {
    struct object_symbol s;
    struct effect effect;
    uint64_t at = cursor_u64(c), info = cursor_u64(c), addend = cursor_u64(c), base = 0;
    if (!effect_of(l->elf->machine, (uint32_t)info, &effect))
        return err_set(l->err, ERR_UNSUPPORTED, "", "it has relocations of an unknown kind (%u)",
                       (unsigned)info);
    if (!effect.bytes)
        return true;
    if (at > target->size || target->size - at < effect.bytes)
        return broken(l, "a relocation is outside of its section");
    /* Symbols of other files, which weak references may leave behind, have no address: 0. */
    if (object_symbols_at(symbols, (uint32_t)(info >> 32), &s))
        address_of(l, &s, &base);
    put(l, l->image + target->at + at, base + addend - (effect.relative ? target->addr + at : 0),
        effect.bytes);
    return true;
}

static bool is_wanted(const struct object_section *s) {
    return (s->name.size >= 7 && memcmp(s->name.data, ".debug_", 7) == 0) ||
           (s->name.size == 9 && memcmp(s->name.data, ".eh_frame", 9) == 0);
}

static bool relocate(struct linking *l) {
    struct object_symbols symbols;
    if (!object_symbols_open(l->elf, SHT_SYMTAB, &symbols, NULL))
        return true; /* stripped */
    for (uint32_t i = 1; i < l->count; i++) {
        const struct placed *p = &l->sections[i];
        if (p->section.type != SHT_RELA || p->section.info >= l->count)
            continue;
        const struct placed *target = &l->sections[p->section.info];
        if (!target->size || !is_wanted(&target->section))
            continue;
        struct cursor c = cursor_make((struct bytes){l->image + p->at, (size_t)p->size}, l->elf->swap);
        while (cursor_left(&c) >= sizeof(Elf64_Rela))
            if (!apply(l, target, &symbols, &c))
                return false;
    }
    return true;
}

bool object_linked_new(struct bytes file, struct bytes *out, struct err *err) {
    struct object_elf e;
    struct linking l = {.elf = &e, .err = err};
    *out = (struct bytes){NULL, 0};
    if (!object_elf_open(file, &e, err))
        return false;
    if (e.type != ET_REL || !e.wide || e.section_size < sizeof(Elf64_Shdr))
        return err_set(err, ERR_UNSUPPORTED, "", "is no relocatable file of 64 bits");
    l.count = e.section_count;
    if (l.count == 0 || l.count > SECTIONS_MAX)
        return broken(&l, "its sections are not to be found");
    l.sections = calloc((size_t)l.count + 1, sizeof *l.sections);
    bool ok = l.sections ? place(&l) : err_memory(err, "sections");
    if (ok) {
        l.image = calloc(1, (size_t)l.size);
        ok = l.image ? copy(&l) : err_memory(err, "sections");
    }
    if (ok)
        move_symbols(&l);
    ok = ok && relocate(&l);
    free(l.sections);
    if (ok)
        *out = (struct bytes){l.image, (size_t)l.size};
    else
        free(l.image);
    return ok;
}
