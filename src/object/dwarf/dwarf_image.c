/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_image.h"

#include <elf.h>
#include <stdlib.h>

#include "base/vec.h"
#include "base/writer.h"
#include "object/elf_internal.h"

/* Debug sections of real files compress to a fifth; a file that says more than this lies. */
enum { GROWTH_MAX = 100, GROWTH_FREE_BYTES = 16 << 20 };

struct part {
    struct object_section section;
    uint64_t at, size; /* in the new image */
    uint32_t name;     /* in its names */
};

struct plan {
    const struct object_elf *elf;
    VEC(struct part) parts;
    struct writer names;
    uint64_t names_at, sections_at, size;
    bool alt, copy; /* keep the reference to the dwz file; the image as it is will not do */
};

static bool starts(struct bytes name, const char *with) {
    return name.size >= strlen(with) && memcmp(name.data, with, strlen(with)) == 0;
}

static bool is_link(const struct object_section *s) {
    return starts(s->name, ".gnu_debugaltlink");
}

static bool is_debug(const struct object_section *s) {
    return s->type != SHT_NOBITS && s->type != SHT_NULL &&
           (starts(s->name, ".debug_") || starts(s->name, ".zdebug_") || is_link(s));
}

static uint64_t align(uint64_t at) {
    return (at + 15) & ~(uint64_t)15;
}

/* The sections' places; false also when they are not to be believed. */
static bool plan_parts(struct plan *p, struct err *err) {
    struct object_section s;
    uint64_t at = align(p->elf->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)), sum = 0;
    writer_u8(&p->names, 0);
    for (uint32_t i = 1; object_elf_section(p->elf, i, &s); i++) {
        uint64_t size;
        bool compressed;
        if (is_link(&s) && !p->alt)
            p->copy = true;
        if (!is_debug(&s) || (is_link(&s) && !p->alt))
            continue;
        if (!object_elf_section_size(p->elf, &s, &size, &compressed, err))
            return false;
        sum += size;
        if (sum / GROWTH_MAX > p->elf->file.size + GROWTH_FREE_BYTES)
            return err_set(err, ERR_BROKEN, "", "debug sections claim an impossible size");
        struct part *part = p->parts.count < UINT16_MAX / 2 ? vec_push(&p->parts) : NULL;
        if (!part)
            return err_memory(err, "debug sections");
        *part = (struct part){s, at, size, (uint32_t)p->names.size};
        p->copy = p->copy || compressed;
        at = align(at + size);
        bool z = starts(s.name, ".z"); /* .zdebug_info becomes .debug_info */
        writer_u8(&p->names, '.');
        writer_put(&p->names, s.name.data + 1 + z, s.name.size - 1 - z);
        writer_u8(&p->names, 0);
    }
    p->names_at = at;
    p->sections_at = align(at + p->names.size);
    p->size =
        p->sections_at + (p->parts.count + 2) * (p->elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    return writer_ok(&p->names) || err_memory(err, "debug sections");
}

static void word(const struct plan *p, struct writer *w, uint64_t v) {
    if (p->elf->wide)
        writer_u64(w, v);
    else
        writer_u32(w, (uint32_t)v);
}

/* The file header: that of the image but for its tables. */
static void put_header(const struct plan *p, struct writer *w) {
    writer_put(w, p->elf->file.data, EI_NIDENT);
    writer_u16(w, p->elf->type);
    writer_u16(w, p->elf->machine);
    writer_u32(w, EV_CURRENT);
    word(p, w, p->elf->entry);
    word(p, w, 0);
    word(p, w, p->sections_at);
    writer_u32(w, p->elf->flags);
    writer_u16(w, p->elf->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    writer_u16(w, 0);
    writer_u16(w, 0);
    writer_u16(w, p->elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    writer_u16(w, (uint16_t)(p->parts.count + 2));
    writer_u16(w, (uint16_t)(p->parts.count + 1));
}

static void put_section(const struct plan *p, struct writer *w, uint32_t name, uint32_t type, uint64_t at,
                        uint64_t size) {
    writer_u32(w, name);
    writer_u32(w, type);
    word(p, w, 0);
    word(p, w, 0);
    word(p, w, at);
    word(p, w, size);
    writer_u32(w, 0);
    writer_u32(w, 0);
    word(p, w, type != SHT_NULL);
    word(p, w, 0);
}

/* Zeroed `image` of p->size bytes becomes the whole. */
static bool build(const struct plan *p, uint8_t *image, struct err *err) {
    struct writer header = writer_make(p->elf->swap), sections = writer_make(p->elf->swap);
    put_header(p, &header);
    put_section(p, &sections, 0, SHT_NULL, 0, 0);
    for (size_t i = 0; i < p->parts.count; i++)
        put_section(p, &sections, p->parts.items[i].name, SHT_PROGBITS, p->parts.items[i].at,
                    p->parts.items[i].size);
    put_section(p, &sections, 0, SHT_STRTAB, p->names_at, p->names.size);
    bool ok = writer_ok(&header) && writer_ok(&sections);
    if (ok) {
        memcpy(image, header.data, header.size);
        memcpy(image + p->names_at, p->names.data, p->names.size);
        memcpy(image + p->sections_at, sections.data, sections.size);
    } else {
        err_memory(err, "debug sections");
    }
    for (size_t i = 0; ok && i < p->parts.count; i++)
        ok = object_elf_section_into(p->elf, &p->parts.items[i].section, image + p->parts.items[i].at,
                                     (size_t)p->parts.items[i].size, err);
    writer_fini(&header);
    writer_fini(&sections);
    return ok;
}

bool object_dwarf_image_init(const struct object_elf *e, bool alt, struct object_dwarf_image *out,
                             struct err *err) {
    struct plan p = {.elf = e, .alt = alt, .names = writer_make(false)};
    *out = (struct object_dwarf_image){e->file, NULL};
    bool ok = plan_parts(&p, err);
    if (ok && !p.parts.count)
        ok = err_set(err, ERR_ABSENT, "", "no debugging information");
    if (ok && p.copy) {
        out->own = calloc(1, (size_t)p.size);
        out->bytes = (struct bytes){out->own, (size_t)p.size};
        ok = out->own ? build(&p, out->own, err) : err_memory(err, "debug sections");
    }
    vec_fini(&p.parts);
    writer_fini(&p.names);
    if (!ok)
        object_dwarf_image_fini(out);
    return ok;
}

void object_dwarf_image_fini(struct object_dwarf_image *d) {
    free(d->own);
    *d = (struct object_dwarf_image){{NULL, 0}, NULL};
}
