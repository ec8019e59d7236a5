/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf.h"

#include <elf.h>

#include "base/checked.h"
#include "base/threads/prefetch.h"
#include "object/compressed.h"
#include "object/elf_internal.h"

static bool read_header(struct object_elf *e, uint32_t *names_index) {
    struct cursor c = cursor_make(e->file, e->swap);
    cursor_take(&c, EI_NIDENT);
    e->type = cursor_u16(&c);
    e->machine = cursor_u16(&c);
    cursor_u32(&c); /* version */
    e->entry = object_elf_word(&c, e->wide);
    e->segments_at = object_elf_word(&c, e->wide);
    e->sections_at = object_elf_word(&c, e->wide);
    e->flags = cursor_u32(&c);
    cursor_u16(&c); /* size of this header */
    e->segment_size = cursor_u16(&c);
    e->segment_count = cursor_u16(&c);
    e->section_size = cursor_u16(&c);
    e->section_count = cursor_u16(&c);
    *names_index = cursor_u16(&c);
    return cursor_ok(&c);
}

/* How many of `count` entries lie inside the file. */
static uint32_t count_inside(const struct object_elf *e, uint64_t at, uint32_t size, uint64_t count) {
    if (!at || at >= e->file.size || !size)
        return 0;
    uint64_t room = (e->file.size - at) / size;
    uint64_t n = count < room ? count : room;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Numbers too large for the file header are in section header 0 (gABI: e_shnum in sh_size, e_shstrndx in
 * sh_link, e_phnum in sh_info). */
static void read_extended(struct object_elf *e, uint32_t *names_index) {
    bool many_sections = e->section_count == 0 && e->sections_at;
    bool many_segments = e->segment_count == PN_XNUM;
    uint64_t sections = e->section_count;
    uint32_t segments = e->segment_count;
    e->section_count = count_inside(e, e->sections_at, e->section_size, 1);
    struct object_section zero;
    bool found = object_elf_section(e, 0, &zero);
    if (found && many_sections)
        sections = zero.size;
    if (found && many_segments && zero.info)
        segments = zero.info;
    if (found && *names_index == SHN_XINDEX)
        *names_index = zero.link;
    e->section_count = count_inside(e, e->sections_at, e->section_size, sections);
    e->segment_count = count_inside(e, e->segments_at, e->segment_size, segments);
}

bool object_elf_open(struct bytes file, struct object_elf *out, struct err *err) {
    *out = (struct object_elf){.file = file};
    if (file.size < EI_NIDENT || memcmp(file.data, ELFMAG, SELFMAG) != 0)
        return err_set(err, ERR_BROKEN, "", "not an ELF file");
    uint8_t class = file.data[EI_CLASS], data = file.data[EI_DATA];
    if ((class != ELFCLASS32 && class != ELFCLASS64) || (data != ELFDATA2LSB && data != ELFDATA2MSB))
        return err_set(err, ERR_BROKEN, "", "an ELF file of no known class or byte order");
    out->wide = class == ELFCLASS64;
    out->big_endian = data == ELFDATA2MSB;
    out->swap = out->big_endian != BYTES_HOST_BIG;
    uint32_t names_index;
    if (!read_header(out, &names_index))
        return err_set(err, ERR_BROKEN, "", "the ELF header is cut off");
    uint32_t section = out->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    uint32_t segment = out->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    if ((out->sections_at && out->section_count && out->section_size < section) ||
        (out->segments_at && out->segment_count && out->segment_size < segment))
        return err_set(err, ERR_BROKEN, "", "the ELF header's table entries are too small");
    read_extended(out, &names_index);
    out->names_index = names_index < out->section_count ? names_index : 0;
    return true;
}

static bool table_entry(const struct object_elf *e, uint64_t at, uint32_t size, uint64_t index,
                        struct cursor *out) {
    uint64_t offset;
    if (!checked_add(at, index * size, &offset) || !checked_range(offset, size, e->file.size))
        return false;
    *out = cursor_make((struct bytes){e->file.data + offset, size}, e->swap);
    return true;
}

bool object_elf_segment(const struct object_elf *e, uint32_t index, struct object_segment *out) {
    struct cursor c;
    *out = (struct object_segment){0};
    if (index >= e->segment_count || !table_entry(e, e->segments_at, e->segment_size, index, &c))
        return false;
    out->type = cursor_u32(&c);
    if (e->wide)
        out->flags = cursor_u32(&c);
    out->offset = object_elf_word(&c, e->wide);
    out->vaddr = object_elf_word(&c, e->wide);
    object_elf_word(&c, e->wide); /* physical address */
    out->file_size = object_elf_word(&c, e->wide);
    out->memory_size = object_elf_word(&c, e->wide);
    if (!e->wide)
        out->flags = cursor_u32(&c);
    out->align = object_elf_word(&c, e->wide);
    return cursor_ok(&c);
}

/* Everything but the name; the offset of the name into *name. */
static bool read_section(const struct object_elf *e, uint32_t index, struct object_section *out,
                         uint32_t *name) {
    struct cursor c;
    *out = (struct object_section){.index = index};
    if (index >= e->section_count || !table_entry(e, e->sections_at, e->section_size, index, &c))
        return false;
    *name = cursor_u32(&c);
    out->type = cursor_u32(&c);
    out->flags = object_elf_word(&c, e->wide);
    out->addr = object_elf_word(&c, e->wide);
    out->offset = object_elf_word(&c, e->wide);
    out->size = object_elf_word(&c, e->wide);
    out->link = cursor_u32(&c);
    out->info = cursor_u32(&c);
    out->align = object_elf_word(&c, e->wide);
    out->entry_size = object_elf_word(&c, e->wide);
    return cursor_ok(&c);
}

/* The text at `offset` of a string table, at most `max` bytes long; empty when it is not there or does not
 * end. */
static struct bytes text_at(struct bytes table, uint64_t offset, size_t max) {
    if (offset >= table.size)
        return (struct bytes){NULL, 0};
    size_t left = table.size - offset, room = left < max ? left : max;
    const uint8_t *text = table.data + offset, *end = memchr(text, 0, room);
    return end ? (struct bytes){text, (size_t)(end - text)} : (struct bytes){NULL, 0};
}

enum {
    SECTION_NAME_MAX = 4096
}; /* bounds the walk over a hostile file's sections; real names have less than 300 */

static bool raw_bytes(const struct object_elf *e, const struct object_section *s, struct bytes *out) {
    *out = (struct bytes){NULL, 0};
    if (s->type == SHT_NOBITS || s->type == SHT_NULL || !checked_range(s->offset, s->size, e->file.size))
        return false;
    *out = (struct bytes){e->file.data + s->offset, (size_t)s->size};
    return true;
}

bool object_elf_section(const struct object_elf *e, uint32_t index, struct object_section *out) {
    uint32_t name, unused;
    if (!read_section(e, index, out, &name))
        return false;
    struct object_section names;
    struct bytes table;
    if (e->names_index && read_section(e, e->names_index, &names, &unused) && raw_bytes(e, &names, &table))
        out->name = text_at(table, name, SECTION_NAME_MAX);
    return true;
}

bool object_elf_section_named(const struct object_elf *e, const char *name, struct object_section *out) {
    struct bytes want = {(const uint8_t *)name, strlen(name)};
    for (uint32_t i = 1; i < e->section_count; i++)
        if (object_elf_section(e, i, out) && bytes_equal(out->name, want))
            return true;
    *out = (struct object_section){0};
    return false;
}

bool object_elf_section_typed(const struct object_elf *e, uint32_t type, struct object_section *out) {
    for (uint32_t i = 1; i < e->section_count; i++)
        if (object_elf_section(e, i, out) && out->type == type)
            return true;
    *out = (struct object_section){0};
    return false;
}

/* A section's content as it lies in the file. */
struct content {
    struct bytes raw; /* after the compression's header, if there is one */
    enum object_compression kind;
    uint64_t size; /* decompressed */
};

/* Elf32_Chdr {type, size, align}, Elf64_Chdr {type, reserved, size, align}; before the gABI had it, .zdebug_*
 * sections began with "ZLIB" and the size as eight big-endian bytes (binutils, gas
 * --compress-debug-sections). */
static bool read_compression(const struct object_elf *e, bool gnu, struct content *out, struct err *err) {
    struct cursor c = cursor_make(out->raw, gnu ? !BYTES_HOST_BIG : e->swap);
    uint32_t type = ELFCOMPRESS_ZLIB;
    if (gnu) {
        cursor_u32(&c);
    } else {
        type = cursor_u32(&c);
        if (e->wide)
            cursor_u32(&c);
    }
    out->size = gnu ? cursor_u64(&c) : object_elf_word(&c, e->wide);
    if (!gnu)
        object_elf_word(&c, e->wide);
    out->raw = cursor_rest(&c);
    if (!cursor_ok(&c))
        return err_set(err, ERR_BROKEN, "", "a compressed section is cut off");
    if (type != ELFCOMPRESS_ZLIB && type != 2 /* ELFCOMPRESS_ZSTD, gABI 2022; not in every <elf.h> */)
        return err_set(err, ERR_UNSUPPORTED, "", "a section is compressed in an unknown way (%u)", type);
    out->kind = type == ELFCOMPRESS_ZLIB ? OBJECT_ZLIB : OBJECT_ZSTD;
    if (!object_decompressed_size_sane(out->raw.size, out->size))
        return err_set(err, ERR_BROKEN, "", "a compressed section claims an impossible size");
    return true;
}

static bool read_content(const struct object_elf *e, const struct object_section *s, struct content *out,
                         struct err *err) {
    *out = (struct content){{NULL, 0}, OBJECT_PLAIN, 0};
    if (s->type == SHT_NOBITS || s->type == SHT_NULL)
        return err_set(err, ERR_ABSENT, "", "the section has no content in this file");
    if (!raw_bytes(e, s, &out->raw))
        return err_set(err, ERR_BROKEN, "", "a section lies outside the file");
    bool gnu = s->name.size > 7 && memcmp(s->name.data, ".zdebug", 7) == 0 && out->raw.size >= 12 &&
               memcmp(out->raw.data, "ZLIB", 4) == 0;
    out->size = out->raw.size;
    return (!gnu && !(s->flags & SHF_COMPRESSED)) || read_compression(e, gnu, out, err);
}

bool object_elf_section_bytes(const struct object_elf *e, const struct object_section *s, struct arena *arena,
                              struct bytes *out, struct err *err) {
    struct content c;
    *out = (struct bytes){NULL, 0};
    if (!read_content(e, s, &c, err))
        return false;
    if (c.kind == OBJECT_PLAIN) {
        *out = c.raw;
        return true;
    }
    if (!arena)
        return err_set(err, ERR_UNSUPPORTED, "", "a section is compressed that should not be");
    return object_decompress_sized(c.kind, c.raw, c.size, arena, out, err);
}

bool object_elf_section_size(const struct object_elf *e, const struct object_section *s, uint64_t *size,
                             bool *compressed, struct err *err) {
    struct content c;
    bool ok = read_content(e, s, &c, err);
    *size = ok ? c.size : 0;
    if (compressed)
        *compressed = c.kind != OBJECT_PLAIN;
    return ok;
}

bool object_elf_section_into(const struct object_elf *e, const struct object_section *s, uint8_t *out,
                             size_t size, struct err *err) {
    struct content c;
    if (!read_content(e, s, &c, err))
        return false;
    if (c.size != size)
        return err_set(err, ERR_BROKEN, "", "a section has another size than expected");
    if (c.kind != OBJECT_PLAIN)
        return object_decompress_into(c.kind, c.raw, out, size, err);
    if (size)
        memcpy(out, c.raw.data, size);
    return true;
}

/* --- Symbols ------------------------------------------------------------------------------------------- */

/* The SHT_SYMTAB_SHNDX section of a symbol table: the one that links to it. */
static struct bytes extended_indexes(const struct object_elf *e, uint32_t table) {
    struct bytes content = {NULL, 0};
    struct object_section s;
    uint32_t name;
    for (uint32_t i = 1; i < e->section_count; i++)
        if (read_section(e, i, &s, &name) && s.type == SHT_SYMTAB_SHNDX && s.link == table &&
            raw_bytes(e, &s, &content))
            break;
    return content;
}

bool object_symbols_open(const struct object_elf *e, uint32_t type, struct object_symbols *out,
                         struct err *err) {
    *out = (struct object_symbols){.wide = e->wide, .swap = e->swap, .index = 1};
    struct object_section s, strings;
    struct bytes content;
    if (!object_elf_section_typed(e, type, &s))
        return err_set(err, ERR_ABSENT, "", "no symbol table");
    if (!object_elf_section_bytes(e, &s, NULL, &content, err))
        return false;
    uint32_t entry = e->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    if (s.entry_size && s.entry_size < entry)
        return err_set(err, ERR_BROKEN, "", "the symbol table's entries are too small");
    if (s.entry_size > content.size)
        content.size = 0;
    out->entry_size = s.entry_size && content.size ? (uint32_t)s.entry_size : entry;
    uint64_t count = content.size / out->entry_size;
    out->count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    out->content = content;
    if (object_elf_section(e, s.link, &strings) && strings.type == SHT_STRTAB)
        object_elf_section_bytes(e, &strings, NULL, &out->names, NULL);
    out->extended = extended_indexes(e, s.index);
    /* Names may share bytes (a suffix, or the same static function in many files), so their sum may exceed
     * the table; no real one comes near this. */
    out->name_budget = out->names.size * 4 + count * 1024;
    return true;
}

/* `p` holds a whole entry. */
static void read_symbol(const struct object_symbols *s, const uint8_t *p, struct object_symbol *out,
                        uint32_t *name, uint8_t *info) {
    *name = bytes_load32(p, s->swap);
    if (s->wide) {
        *info = p[offsetof(Elf64_Sym, st_info)];
        out->other = p[offsetof(Elf64_Sym, st_other)];
        out->section = bytes_load16(p + offsetof(Elf64_Sym, st_shndx), s->swap);
        out->value = bytes_load64(p + offsetof(Elf64_Sym, st_value), s->swap);
        out->size = bytes_load64(p + offsetof(Elf64_Sym, st_size), s->swap);
    } else {
        *info = p[offsetof(Elf32_Sym, st_info)];
        out->other = p[offsetof(Elf32_Sym, st_other)];
        out->section = bytes_load16(p + offsetof(Elf32_Sym, st_shndx), s->swap);
        out->value = bytes_load32(p + offsetof(Elf32_Sym, st_value), s->swap);
        out->size = bytes_load32(p + offsetof(Elf32_Sym, st_size), s->swap);
    }
}

static const uint8_t *symbol_entry(const struct object_symbols *s, uint32_t index) {
    return s->content.data + (size_t)index * s->entry_size;
}

/* Names lie anywhere: the one of an entry further on is on its way when that is read. */
static void expect_name(const struct object_symbols *s, uint32_t index) {
    enum { AHEAD = 16 };
    uint32_t name = s->count - index > AHEAD ? bytes_load32(symbol_entry(s, index + AHEAD), s->swap) : 0;
    if (name && name < s->names.size)
        prefetch(s->names.data + name);
}

bool object_symbols_at(struct object_symbols *s, uint32_t index, struct object_symbol *out) {
    *out = (struct object_symbol){.index = index};
    if (index >= s->count || s->broken)
        return false;
    uint32_t name;
    uint8_t info;
    expect_name(s, index);
    read_symbol(s, symbol_entry(s, index), out, &name, &info);
    out->bind = info >> 4;
    out->type = info & 15;
    if (out->section == SHN_XINDEX && s->extended.size / 4 > index) {
        out->section = bytes_load32(s->extended.data + (size_t)index * 4, s->swap);
    } else if (out->section >= SHN_LORESERVE) {
        out->reserved = (uint16_t)out->section;
        out->section = 0;
    }
    if (name) {
        out->name = text_at(s->names, name, SIZE_MAX);
        /* What is not terminated is the table's last bytes, looked at in vain. */
        uint64_t cost = out->name.data ? out->name.size : name < s->names.size ? s->names.size - name : 0;
        s->broken = cost > s->name_budget;
        s->name_budget -= s->broken ? 0 : cost;
    }
    return !s->broken;
}

bool object_symbols_next(struct object_symbols *s, struct object_symbol *out) {
    return object_symbols_at(s, s->index, out) && s->index++;
}

/* True for $, one of `letters`, and then nothing or a dot. */
static bool is_mapping_name(struct bytes name, const char *letters) {
    return name.size >= 2 && name.data[0] == '$' && name.data[1] && strchr(letters, name.data[1]) &&
           (name.size == 2 || name.data[2] == '.');
}

bool object_symbol_is_mapping(const struct object_elf *e, const struct object_symbol *s) {
    switch (e->machine) {
    case EM_ARM:
        return is_mapping_name(s->name, "atd");
    case EM_AARCH64:
        return is_mapping_name(s->name, "xd");
    case EM_CSKY:
        return is_mapping_name(s->name, "td");
    case EM_RISCV: /* $x may be followed by the instruction set: $xrv64gc */
        return is_mapping_name(s->name, "xd") || (s->name.size > 4 && memcmp(s->name.data, "$xrv", 4) == 0);
    default:
        return false;
    }
}

uint32_t object_symbol_local_entry(const struct object_elf *e, const struct object_symbol *s) {
    if (e->machine != EM_PPC64 || (e->flags & EF_PPC64_ABI) != 2)
        return 0;
    uint32_t code = s->other >> 5; /* 0, 1: the same entry; 7: reserved */
    return code < 2 || code == 7 ? 0 : 1u << code;
}

void object_opd_init(const struct object_elf *e, struct object_opd *out) {
    *out = (struct object_opd){.swap = e->swap};
    struct object_section s;
    if (e->machine != EM_PPC64 || !e->wide || (e->flags & EF_PPC64_ABI) == 2 || e->type == ET_REL ||
        !object_elf_section_named(e, ".opd", &s) ||
        !object_elf_section_bytes(e, &s, NULL, &out->content, NULL))
        return;
    out->addr = s.addr;
}

object_vaddr object_opd_follow(const struct object_opd *opd, object_vaddr value) {
    uint64_t offset = value - opd->addr;
    if (value < opd->addr || !checked_range(offset, 8, opd->content.size))
        return value;
    return bytes_load64(opd->content.data + offset, opd->swap);
}
