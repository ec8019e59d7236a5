/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/kept.h"

#include "base/cursor.h"

enum { EXTENT_BYTES = 16, FIELDS_BYTES = 48, EVIDENCE_HEADER = 8, EVIDENCE_SIZE_AT = 6 };

void perfdata_kept_encode(const struct perfdata_kept *k, const struct perfdata_extent *extents, size_t count,
                          struct writer *w) {
    size_t start = w->size;
    writer_u64(w, 0);
    writer_u32(w, k->kind);
    writer_u32(w, k->pid);
    writer_u32(w, (uint32_t)k->name.size);
    writer_u32(w, (uint32_t)count);
    writer_u64(w, k->file_size);
    writer_u64(w, k->kept_size);
    writer_u64(w, k->packed.size);
    writer_bytes_put(w, k->name);
    writer_u8(w, 0);
    writer_align(w, 8);
    perfdata_evidence_encode(&k->evidence, w);
    for (size_t i = 0; i < count; i++) {
        writer_u64(w, extents[i].offset);
        writer_u64(w, extents[i].size);
    }
    writer_bytes_put(w, k->packed);
    writer_align(w, 8);
    writer_patch64(w, start, w->size - start);
}

struct perfdata_extent perfdata_kept_extent(const struct perfdata_kept *k, bool swap, uint32_t index) {
    struct cursor c =
        cursor_make((struct bytes){k->extents.data + (size_t)index * EXTENT_BYTES, EXTENT_BYTES}, swap);
    uint64_t offset = cursor_u64(&c);
    return (struct perfdata_extent){offset, cursor_u64(&c)};
}

/* Ascending, inside of the file, and together as many as was said. */
static bool extents_fit(const struct perfdata_kept *k, bool swap) {
    uint64_t end = 0, sum = 0;
    for (uint32_t i = 0; i < k->extent_count; i++) {
        struct perfdata_extent x = perfdata_kept_extent(k, swap, i);
        if (x.offset < end || x.offset > k->file_size || x.size > k->file_size - x.offset)
            return false;
        end = x.offset + x.size;
        sum += x.size;
    }
    return sum == k->kept_size;
}

/* The evidence says its own size. */
static struct bytes take_evidence(struct cursor *c, bool swap) {
    struct cursor peek = *c;
    const uint8_t *header = cursor_take(&peek, EVIDENCE_HEADER);
    uint16_t size = header ? bytes_load16(header + EVIDENCE_SIZE_AT, swap) : 0;
    return cursor_bytes(c, size < EVIDENCE_HEADER ? UINT64_MAX : size);
}

bool perfdata_kept_next(struct bytes *rest, bool swap, struct perfdata_kept *out) {
    struct cursor c = cursor_make(*rest, swap);
    uint64_t size = cursor_u64(&c);
    if (!cursor_ok(&c) || size < FIELDS_BYTES || size % 8 || size > rest->size)
        return false;
    c = cursor_make((struct bytes){rest->data + 8, size - 8}, swap);
    *out = (struct perfdata_kept){.kind = cursor_u32(&c), .pid = cursor_u32(&c)};
    uint32_t name = cursor_u32(&c);
    out->extent_count = cursor_u32(&c);
    out->file_size = cursor_u64(&c);
    out->kept_size = cursor_u64(&c);
    uint64_t packed = cursor_u64(&c);
    struct bytes area = cursor_bytes(&c, ((uint64_t)name + 8) & ~7ull);
    struct bytes evidence = take_evidence(&c, swap);
    out->extents = cursor_bytes(&c, (uint64_t)out->extent_count * EXTENT_BYTES);
    out->packed = cursor_bytes(&c, packed);
    if (!cursor_ok(&c) || out->file_size > PERFDATA_KEPT_FILE_MAX || !extents_fit(out, swap))
        return false;
    out->name = (struct bytes){area.data, name};
    perfdata_evidence_read(evidence, swap, &out->evidence);
    *rest = (struct bytes){rest->data + size, (size_t)(rest->size - size)};
    return true;
}
