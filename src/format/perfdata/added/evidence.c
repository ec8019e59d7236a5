/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/evidence.h"

#include <xxhash.h>

#include "base/cursor.h"

/* "SndE" and "SndBoxes" as numbers: the byte order shows. */
static const uint32_t TAIL_MAGIC = 0x45646e53;
static const uint64_t BOX_MAGIC = 0x7365786f42646e53;

enum {
    VERSION = 1,
    TAIL_HEADER = 8,
    ITEM_STATE = 1,
    ITEM_BUILD_ID = 2,
    ITEM_COOKIE = 3,
    ITEM_KERNEL = 4,
    ITEM_ID_LATER = 5,
    KERNEL_MAX = 8192,
    STATE_BYTES = 40,
    BUILD_ID_BYTES = 20,
    ENTRY_BYTES = 24,
    FOOTER_BYTES = 32,
    PARTS_MAX = 1024,
};

/* --- tails --- */

static void put_item(uint32_t tag, const void *p, uint32_t size, struct writer *w) {
    writer_u32(w, tag);
    writer_u32(w, size);
    writer_put(w, p, size);
    writer_align(w, 8);
}

void perfdata_evidence_encode(const struct perfdata_evidence *e, struct writer *w) {
    size_t start = w->size;
    writer_u32(w, TAIL_MAGIC);
    writer_u16(w, VERSION);
    writer_u16(w, 0);
    if (e->has_state) {
        writer_u32(w, ITEM_STATE);
        writer_u32(w, STATE_BYTES);
        writer_u64(w, e->state.dev);
        writer_u64(w, e->state.ino);
        writer_u64(w, e->state.size);
        writer_u64(w, (uint64_t)e->state.mtime_ns);
        writer_u64(w, (uint64_t)e->state.ctime_ns);
    }
    if (e->build_id_size)
        put_item(ITEM_BUILD_ID, e->build_id, e->build_id_size, w);
    if (e->has_cookie)
        put_item(ITEM_COOKIE, e->cookie, sizeof e->cookie, w);
    if (e->kernel.size && e->kernel.size <= KERNEL_MAX)
        put_item(ITEM_KERNEL, e->kernel.data, (uint32_t)e->kernel.size, w);
    if (e->id_later)
        put_item(ITEM_ID_LATER, NULL, 0, w);
    writer_patch16(w, start + 6, (uint16_t)(w->size - start));
}

static void read_item(uint32_t tag, struct cursor item, struct perfdata_evidence *out) {
    size_t size = cursor_left(&item);
    if (tag == ITEM_STATE && size >= STATE_BYTES) {
        out->has_state = true;
        out->state.dev = cursor_u64(&item);
        out->state.ino = cursor_u64(&item);
        out->state.size = cursor_u64(&item);
        out->state.mtime_ns = (int64_t)cursor_u64(&item);
        out->state.ctime_ns = (int64_t)cursor_u64(&item);
    } else if (tag == ITEM_BUILD_ID && size && size <= BUILD_ID_BYTES) {
        out->build_id_size = (uint8_t)size;
        memcpy(out->build_id, cursor_take(&item, size), size);
    } else if (tag == ITEM_COOKIE && size == PERFDATA_COOKIE_BYTES) {
        out->has_cookie = true;
        memcpy(out->cookie, cursor_take(&item, size), size);
    } else if (tag == ITEM_KERNEL) {
        out->kernel = cursor_bytes(&item, size);
    } else if (tag == ITEM_ID_LATER) {
        out->id_later = true;
    }
}

bool perfdata_evidence_read(struct bytes b, bool swap, struct perfdata_evidence *out) {
    struct cursor c = cursor_make(b, swap);
    *out = (struct perfdata_evidence){0};
    if (cursor_u32(&c) != TAIL_MAGIC || cursor_u16(&c) < VERSION)
        return false;
    uint16_t size = cursor_u16(&c);
    if (!cursor_ok(&c) || size < TAIL_HEADER || size > b.size)
        return false;
    c = cursor_make((struct bytes){b.data + TAIL_HEADER, size - (size_t)TAIL_HEADER}, swap);
    while (cursor_left(&c) >= 8) {
        uint32_t tag = cursor_u32(&c), length = cursor_u32(&c);
        struct bytes item = cursor_bytes(&c, length);
        if (!cursor_ok(&c))
            return false;
        read_item(tag, cursor_make(item, swap), out);
        cursor_take(&c, (8 - length % 8) % 8);
    }
    return cursor_ok(&c);
}

bool perfdata_evidence_decode(struct bytes area, bool swap, struct perfdata_evidence *out) {
    struct bytes tail = perfdata_evidence_area(area, bytes_text_len(area));
    return tail.size && perfdata_evidence_read(tail, swap, out);
}

/* --- boxes --- */

void perfdata_box_encode(const struct perfdata_part *parts, size_t count, struct writer *w) {
    size_t start = w->size;
    if (!count)
        return;
    for (size_t i = 0; i < count; i++) {
        writer_bytes_put(w, parts[i].content);
        writer_align(w, 8);
    }
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        writer_u32(w, parts[i].tag);
        writer_u32(w, 0);
        writer_u64(w, at);
        writer_u64(w, parts[i].content.size);
        at += (parts[i].content.size + 7) & ~(size_t)7;
    }
    writer_u32(w, VERSION);
    writer_u32(w, (uint32_t)count);
    writer_u64(w, w->size - 8 - start + FOOTER_BYTES);
    if (writer_ok(w))
        writer_u64(w, XXH3_64bits(w->data + start, w->size - start));
    writer_u64(w, BOX_MAGIC);
}

struct footer {
    uint32_t version, count;
    uint64_t size, checksum;
};

static bool read_footer(struct bytes b, bool swap, struct footer *f) {
    if (b.size < FOOTER_BYTES)
        return false;
    struct cursor c = cursor_make((struct bytes){b.data + b.size - FOOTER_BYTES, FOOTER_BYTES}, swap);
    f->version = cursor_u32(&c);
    f->count = cursor_u32(&c);
    f->size = cursor_u64(&c);
    f->checksum = cursor_u64(&c);
    return cursor_u64(&c) == BOX_MAGIC && f->version >= VERSION && f->count <= PARTS_MAX &&
           f->size <= b.size && f->size >= FOOTER_BYTES + (uint64_t)f->count * ENTRY_BYTES;
}

uint64_t perfdata_box_size(struct bytes before, bool swap) {
    struct footer f;
    if (!read_footer(before, swap, &f))
        return 0;
    const uint8_t *box = before.data + before.size - f.size;
    return XXH3_64bits(box, f.size - 16) == f.checksum ? f.size : 0;
}

bool perfdata_box_part(struct bytes box, bool swap, uint32_t index, struct perfdata_part *out) {
    struct footer f;
    if (!read_footer(box, swap, &f) || index >= f.count)
        return false;
    uint64_t parts = box.size - FOOTER_BYTES - (uint64_t)f.count * ENTRY_BYTES;
    struct cursor c =
        cursor_make((struct bytes){box.data + parts + (uint64_t)index * ENTRY_BYTES, ENTRY_BYTES}, swap);
    *out = (struct perfdata_part){.tag = cursor_u32(&c)};
    cursor_u32(&c);
    uint64_t offset = cursor_u64(&c), size = cursor_u64(&c);
    if (offset > parts || size > parts - offset)
        return false;
    out->content = (struct bytes){box.data + offset, (size_t)size};
    return true;
}

size_t perfdata_box_replace(uint8_t *box, size_t size, uint32_t tag, struct bytes content) {
    struct perfdata_part p;
    for (uint32_t i = 0; perfdata_box_part((struct bytes){box, size}, false, i, &p); i++) {
        if (p.tag != tag || p.content.size != content.size)
            continue;
        size_t at = (size_t)(p.content.data - box);
        memcpy(box + at, content.data, content.size);
        uint64_t checksum = XXH3_64bits(box, size - 16);
        memcpy(box + size - 16, &checksum, sizeof checksum);
        return at;
    }
    return size;
}

/* --- images --- */

void perfdata_image_evidence_encode(struct bytes name, const struct perfdata_evidence *e, struct writer *w) {
    size_t start = w->size;
    writer_u32(w, 0);
    writer_u32(w, (uint32_t)name.size);
    writer_bytes_put(w, name);
    writer_u8(w, 0);
    writer_align(w, 8);
    perfdata_evidence_encode(e, w);
    writer_patch32(w, start, (uint32_t)(w->size - start));
}

bool perfdata_image_evidence_next(struct bytes *rest, bool swap, struct bytes *name,
                                  struct perfdata_evidence *out) {
    struct cursor c = cursor_make(*rest, swap);
    uint32_t size = cursor_u32(&c), length = cursor_u32(&c);
    if (!cursor_ok(&c) || size < 16 || size % 8 || size > rest->size || length > size - 16)
        return false;
    struct bytes area = {rest->data + 8, size - (size_t)8};
    *name = (struct bytes){area.data, length};
    *rest = (struct bytes){rest->data + size, rest->size - size};
    size_t at = ((size_t)length + 8) & ~(size_t)7;
    return at < area.size &&
           perfdata_evidence_read((struct bytes){area.data + at, area.size - at}, swap, out);
}
