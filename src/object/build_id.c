/* SPDX-License-Identifier: Apache-2.0 */
#include "object/build_id.h"

#include "base/checked.h"
#include "base/cursor.h"

/* Numbers of elf(5). */
enum {
    CLASS_32 = 1,
    CLASS_64 = 2,
    DATA_LITTLE = 1,
    DATA_BIG = 2,
    SEGMENT_NOTE = 4, /* PT_NOTE */
    SECTION_NOTE = 7, /* SHT_NOTE */
    NOTE_BUILD_ID = 3,
};

struct elf {
    struct bytes file;
    bool wide, swap;
    uint64_t segments_at, sections_at;
    uint64_t budget; /* bytes of notes yet to look at: those of a hostile file may overlap */
    uint16_t segment_size, segment_count, section_size, section_count;
};

bool object_is_elf(struct bytes file) {
    return file.size >= 4 && memcmp(file.data, "\177ELF", 4) == 0;
}

static uint64_t word(struct cursor *c, bool wide) {
    return wide ? cursor_u64(c) : cursor_u32(c);
}

static bool read_header(struct bytes file, struct elf *e) {
    if (!object_is_elf(file) || file.size < 16)
        return false;
    uint8_t class = file.data[4], data = file.data[5];
    if ((class != CLASS_32 && class != CLASS_64) || (data != DATA_LITTLE && data != DATA_BIG))
        return false;
    *e = (struct elf){.file = file,
                      .wide = class == CLASS_64,
                      .swap = (data == DATA_BIG) != BYTES_HOST_BIG,
                      .budget = 4 * (uint64_t)file.size};
    struct cursor c = cursor_make(file, e->swap);
    cursor_take(&c, 16 + 2 + 2 + 4); /* ident, type, machine, version */
    word(&c, e->wide);               /* entry */
    e->segments_at = word(&c, e->wide);
    e->sections_at = word(&c, e->wide);
    cursor_take(&c, 4 + 2); /* flags, size of this header */
    e->segment_size = cursor_u16(&c);
    e->segment_count = cursor_u16(&c);
    e->section_size = cursor_u16(&c);
    e->section_count = cursor_u16(&c);
    return cursor_ok(&c);
}

static size_t pad(size_t n, size_t align) {
    return -n & (align - 1);
}

/* Notes are padded to 4 bytes, in segments aligned to 8 to those. */
static bool find_note(struct bytes notes, bool swap, uint64_t align, struct object_build_id *out) {
    size_t to = align == 8 ? 8 : 4;
    struct cursor c = cursor_make(notes, swap);
    while (cursor_left(&c) >= 12) {
        uint32_t name_size = cursor_u32(&c), size = cursor_u32(&c), type = cursor_u32(&c);
        struct bytes name = cursor_bytes(&c, name_size);
        cursor_take(&c, pad(cursor_pos(&c), to));
        struct bytes content = cursor_bytes(&c, size);
        if (!cursor_ok(&c))
            return false;
        if (type == NOTE_BUILD_ID && name.size == 4 && memcmp(name.data, "GNU", 4) == 0 && content.size &&
            content.size <= OBJECT_BUILD_ID_MAX) {
            out->size = (uint8_t)content.size;
            memcpy(out->bytes, content.data, content.size);
            return true;
        }
        size_t left = cursor_left(&c), skip = pad(cursor_pos(&c), to);
        cursor_take(&c, skip < left ? skip : left);
    }
    return false;
}

bool object_build_id_in_notes(struct bytes notes, struct object_build_id *out) {
    *out = (struct object_build_id){0};
    return find_note(notes, false, 4, out);
}

/* What a segment's or section's header says. */
struct part {
    uint32_t type;
    uint64_t offset, size, align;
};

static struct part segment(struct cursor *c, bool wide) {
    struct part p = {.type = cursor_u32(c)};
    if (wide)
        cursor_u32(c); /* flags */
    p.offset = word(c, wide);
    word(c, wide);
    word(c, wide);
    p.size = word(c, wide);
    word(c, wide);
    if (!wide)
        cursor_u32(c); /* flags */
    p.align = word(c, wide);
    return p;
}

static struct part section(struct cursor *c, bool wide) {
    cursor_u32(c); /* name */
    struct part p = {.type = cursor_u32(c)};
    word(c, wide); /* flags */
    word(c, wide); /* address */
    p.offset = word(c, wide);
    p.size = word(c, wide);
    cursor_take(c, 8); /* link, info */
    p.align = word(c, wide);
    return p;
}

static bool find_in_table(struct elf *e, uint64_t at, uint16_t size, uint16_t count, uint32_t note_type,
                          struct part (*read)(struct cursor *c, bool wide), struct object_build_id *out) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset;
        if (!checked_add(at, (uint64_t)i * size, &offset) || !checked_range(offset, size, e->file.size))
            return false;
        struct cursor c = cursor_make((struct bytes){e->file.data + offset, size}, e->swap);
        struct part p = read(&c, e->wide);
        if (!cursor_ok(&c) || p.type != note_type || !checked_range(p.offset, p.size, e->file.size))
            continue;
        if (p.size > e->budget)
            return false;
        e->budget -= p.size;
        if (find_note((struct bytes){e->file.data + p.offset, (size_t)p.size}, e->swap, p.align, out))
            return true;
    }
    return false;
}

bool object_build_id_read(struct bytes file, struct object_build_id *out) {
    *out = (struct object_build_id){0};
    struct elf e;
    if (!read_header(file, &e))
        return false;
    return find_in_table(&e, e.segments_at, e.segment_size, e.segment_count, SEGMENT_NOTE, segment, out) ||
           find_in_table(&e, e.sections_at, e.section_size, e.section_count, SECTION_NOTE, section, out);
}
