/* SPDX-License-Identifier: Apache-2.0 */
#include "object/sdt.h"

enum { NOTE_SDT = 3 };

bool object_sdts_open(const struct object_elf *e, struct object_sdts *out) {
    struct object_section s;
    struct bytes notes;
    if (!object_elf_section_named(e, ".note.stapsdt", &s) ||
        !object_elf_section_bytes(e, &s, NULL, &notes, NULL))
        return false;
    *out = (struct object_sdts){cursor_make(notes, e->swap), e->wide, 0};
    if (object_elf_section_named(e, ".stapsdt.base", &s))
        out->base = s.addr;
    return true;
}

/* Notes are padded to 4 bytes; at the end padding may be missing. */
static void align(struct cursor *c) {
    size_t skip = -cursor_pos(c) & 3, left = cursor_left(c);
    cursor_take(c, skip < left ? skip : left);
}

/* A text with its NUL. */
static bool text(struct cursor *c, struct bytes *out) {
    struct bytes rest = {c->at, cursor_left(c)};
    out->data = rest.data;
    out->size = bytes_text_len(rest);
    return out->size && out->size < rest.size && cursor_take(c, out->size + 1);
}

bool object_sdts_next(struct object_sdts *s, struct object_sdt *out) {
    struct cursor *c = &s->notes;
    while (cursor_left(c) >= 12) {
        uint32_t owner_size = cursor_u32(c), size = cursor_u32(c), type = cursor_u32(c);
        struct bytes owner = cursor_bytes(c, owner_size);
        align(c);
        struct cursor content = cursor_make(cursor_bytes(c, size), c->swap);
        align(c);
        if (!cursor_ok(c))
            return false;
        if (type != NOTE_SDT || owner.size != 8 || memcmp(owner.data, "stapsdt", 8) != 0)
            continue;
        out->place = s->wide ? cursor_u64(&content) : cursor_u32(&content);
        object_vaddr base = s->wide ? cursor_u64(&content) : cursor_u32(&content);
        out->semaphore = s->wide ? cursor_u64(&content) : cursor_u32(&content);
        if (s->base && base) { /* the file was moved after it was linked (prelink) */
            out->place += s->base - base;
            out->semaphore += out->semaphore ? s->base - base : 0;
        }
        if (!cursor_ok(&content) || !text(&content, &out->provider) || !text(&content, &out->name))
            continue;
        struct bytes rest = cursor_rest(&content);
        out->args = (struct bytes){rest.data, bytes_text_len(rest)};
        return true;
    }
    return false;
}
