/* SPDX-License-Identifier: Apache-2.0 */
#include "format/elf/elf_image.h"

#include <elf.h>

void elf_image_init(struct elf_image *m, bool wide, bool big_endian, uint16_t type, uint16_t machine) {
    *m = (struct elf_image){.wide = wide, .big_endian = big_endian, .type = type, .machine = machine};
    m->failed = !vec_push(&m->sections);
}

void elf_image_fini(struct elf_image *m) {
    vec_fini(&m->sections);
    vec_fini(&m->segments);
}

uint32_t elf_image_section(struct elf_image *m, const struct elf_image_section *s) {
    struct elf_image_section *kept = m->failed ? NULL : vec_push(&m->sections);
    if (!kept) {
        m->failed = true;
        return 0;
    }
    *kept = *s;
    return (uint32_t)(m->sections.count - 1);
}

void elf_image_segment(struct elf_image *m, const struct elf_image_segment *s) {
    struct elf_image_segment *kept = vec_push(&m->segments);
    if (kept)
        *kept = *s;
    else
        m->failed = true;
}

struct writer elf_image_writer(const struct elf_image *m) {
    return writer_make(m->big_endian != BYTES_HOST_BIG);
}

void elf_image_word_put(const struct elf_image *m, struct writer *w, uint64_t v) {
    if (m->wide)
        writer_u64(w, v);
    else
        writer_u32(w, (uint32_t)v);
}

/* --- The whole ----------------------------------------------------------------------------------------- */

static bool many_sections(const struct elf_image *m) {
    return m->extended || m->sections.count >= SHN_LORESERVE;
}

static void put_header(const struct elf_image *m, struct writer *w, uint64_t segments_at,
                       uint64_t sections_at) {
    const uint8_t ident[EI_NIDENT] = {0x7f,
                                      'E',
                                      'L',
                                      'F',
                                      m->wide ? ELFCLASS64 : ELFCLASS32,
                                      m->big_endian ? ELFDATA2MSB : ELFDATA2LSB,
                                      EV_CURRENT};
    size_t count = m->sections.count;
    writer_put(w, ident, sizeof ident);
    writer_u16(w, m->type);
    writer_u16(w, m->machine);
    writer_u32(w, EV_CURRENT);
    elf_image_word_put(m, w, m->entry);
    elf_image_word_put(m, w, m->segments.count ? segments_at : 0);
    elf_image_word_put(m, w, sections_at);
    writer_u32(w, m->flags);
    writer_u16(w, m->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    writer_u16(w, m->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    writer_u16(w, (uint16_t)m->segments.count);
    writer_u16(w, m->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    writer_u16(w, many_sections(m) ? 0 : (uint16_t)count);
    writer_u16(w, many_sections(m) ? SHN_XINDEX : (uint16_t)(count - 1));
}

static uint64_t size_of(const struct elf_image_section *s) {
    return s->type == SHT_NOBITS ? s->memory_size : s->content.size;
}

static void put_segment(const struct elf_image *m, struct writer *w, const struct elf_image_segment *s) {
    const struct elf_image_section *first = &m->sections.items[s->first], *last = &m->sections.items[s->last];
    uint64_t file_end = last->offset + last->content.size;
    uint64_t memory_end = last->addr + size_of(last);
    writer_u32(w, s->type);
    if (m->wide)
        writer_u32(w, s->flags);
    elf_image_word_put(m, w, first->offset);
    elf_image_word_put(m, w, s->vaddr);
    elf_image_word_put(m, w, s->vaddr);
    elf_image_word_put(m, w, file_end - first->offset);
    elf_image_word_put(m, w, memory_end - first->addr);
    if (!m->wide)
        writer_u32(w, s->flags);
    elf_image_word_put(m, w, s->align);
}

static void put_section(const struct elf_image *m, struct writer *w, const struct elf_image_section *s,
                        uint32_t name) {
    bool zero = s == m->sections.items, many = zero && many_sections(m);
    writer_u32(w, name);
    writer_u32(w, s->type);
    elf_image_word_put(m, w, s->flags);
    elf_image_word_put(m, w, s->addr);
    elf_image_word_put(m, w, s->offset);
    elf_image_word_put(m, w, many ? m->sections.count : size_of(s));
    writer_u32(w, many ? (uint32_t)m->sections.count - 1 : s->link);
    writer_u32(w, s->info);
    elf_image_word_put(m, w, s->align);
    elf_image_word_put(m, w, s->entry_size);
}

static void put_names(const struct elf_image *m, struct writer *names) {
    for (size_t i = 0; i < m->sections.count; i++) {
        const char *name = m->sections.items[i].name;
        writer_put(names, name ? name : "", (name ? strlen(name) : 0) + 1);
    }
}

/* Headers, contents in order, then the section headers; file offsets are known before anything is written. */
bool elf_image_write(struct elf_image *m, struct writer *w) {
    struct writer names = elf_image_writer(m);
    uint32_t last = elf_image_section(
        m, &(struct elf_image_section){.name = ".shstrtab", .type = SHT_STRTAB, .align = 1});
    put_names(m, &names);
    if (m->failed || !writer_ok(&names)) {
        writer_fini(&names);
        return false;
    }
    m->sections.items[last].content = writer_bytes(&names);
    uint64_t segments_at = m->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    uint64_t at = segments_at + m->segments.count * (m->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    for (size_t i = 1; i < m->sections.count; i++) {
        struct elf_image_section *s = &m->sections.items[i];
        uint64_t align = s->align ? s->align : 1;
        s->offset = at = (at + align - 1) / align * align;
        at += s->content.size;
    }
    at = (at + 7) / 8 * 8;
    put_header(m, w, segments_at, at);
    for (size_t i = 0; i < m->segments.count; i++)
        put_segment(m, w, &m->segments.items[i]);
    for (size_t i = 1; i < m->sections.count && writer_ok(w); i++) {
        writer_zero(w, m->sections.items[i].offset - w->size);
        writer_bytes_put(w, m->sections.items[i].content);
    }
    writer_align(w, 8);
    uint32_t name = 0;
    for (size_t i = 0; i < m->sections.count; i++) {
        put_section(m, w, &m->sections.items[i], name);
        name += (m->sections.items[i].name ? (uint32_t)strlen(m->sections.items[i].name) : 0) + 1;
    }
    writer_fini(&names);
    return writer_ok(w);
}

/* --- Contents ------------------------------------------------------------------------------------------ */

void elf_image_symbol_put(const struct elf_image *m, struct writer *table, struct writer *strings,
                          const struct elf_image_symbol *s) {
    if (!strings->size)
        writer_u8(strings, 0);
    if (!table->size) /* entry 0 */
        writer_zero(table, m->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
    writer_u32(table, s->name && *s->name ? (uint32_t)strings->size : 0);
    if (s->name && *s->name)
        writer_put(strings, s->name, strlen(s->name) + 1);
    if (!m->wide) {
        writer_u32(table, (uint32_t)s->value);
        writer_u32(table, (uint32_t)s->size);
    }
    writer_u8(table, (uint8_t)(s->bind << 4 | (s->type & 15)));
    writer_u8(table, s->other);
    writer_u16(table, (uint16_t)s->section);
    if (m->wide) {
        writer_u64(table, s->value);
        writer_u64(table, s->size);
    }
}

void elf_image_relocation_put(const struct elf_image *m, struct writer *table, uint64_t offset,
                              uint32_t symbol, uint32_t type) {
    elf_image_word_put(m, table, offset);
    elf_image_word_put(m, table, m->wide ? ELF64_R_INFO((uint64_t)symbol, type) : ELF32_R_INFO(symbol, type));
}

void elf_image_note_put(struct writer *notes, const char *owner, uint32_t type, struct bytes content) {
    writer_u32(notes, (uint32_t)strlen(owner) + 1);
    writer_u32(notes, (uint32_t)content.size);
    writer_u32(notes, type);
    writer_put(notes, owner, strlen(owner) + 1);
    writer_align(notes, 4);
    writer_bytes_put(notes, content);
    writer_align(notes, 4);
}
