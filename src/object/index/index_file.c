/* SPDX-License-Identifier: Apache-2.0 */
#include "object/index/index_file.h"

#include <xxhash.h>

#include "base/cursor.h"

static const char magic[8] = "sondeln1";

enum { ORDER = 0x01020304, HEAD_BYTES = sizeof magic + sizeof(uint64_t) };

static uint64_t checksum_of(struct bytes b) {
    return b.size ? XXH3_64bits(b.data, b.size) : 0;
}

/* A table of `count` rows; NULL if it is not all there. */
static const void *table(struct cursor *c, uint64_t count, size_t row_bytes) {
    if (count > cursor_left(c) / row_bytes)
        return NULL;
    struct bytes b = cursor_bytes(c, count * row_bytes);
    cursor_bytes(c, -b.size & 7);
    return cursor_ok(c) ? b.data : NULL;
}

static bool read_head(struct cursor *c, struct bytes key, uint64_t *checksum) {
    struct bytes found = cursor_bytes(c, sizeof magic);
    *checksum = cursor_u64(c);
    if (!found.data || memcmp(found.data, magic, sizeof magic) != 0 || cursor_u32(c) != ORDER)
        return false;
    struct bytes of = cursor_bytes(c, cursor_u32(c));
    cursor_bytes(c, -of.size & 7);
    return cursor_ok(c) && bytes_equal(of, key);
}

static bool units_exist(const struct index_file *f) {
    for (uint32_t i = 0; i < f->range_count; i++)
        if (f->ranges[i].unit >= f->unit_count)
            return false;
    for (uint32_t i = 0; i < f->rangeless_count; i++)
        if (f->rangeless[i] >= f->unit_count)
            return false;
    return true;
}

bool index_file_open(struct bytes file, struct bytes key, struct index_file *out) {
    struct cursor c = cursor_make(file, false);
    uint64_t checksum;
    if (!key.size || (uintptr_t)file.data % 8 || !read_head(&c, key, &checksum))
        return false;
    uint64_t units = cursor_u64(&c), ranges = cursor_u64(&c), rangeless = cursor_u64(&c);
    if (!cursor_ok(&c) || units > UINT32_MAX || ranges > UINT32_MAX || rangeless > UINT32_MAX)
        return false;
    *out = (struct index_file){.bytes = file,
                               .unit_count = (uint32_t)units,
                               .range_count = (uint32_t)ranges,
                               .rangeless_count = (uint32_t)rangeless};
    out->ranges = table(&c, ranges, sizeof *out->ranges);
    out->rangeless = out->ranges ? table(&c, rangeless, sizeof *out->rangeless) : NULL;
    out->units = out->rangeless ? table(&c, units, sizeof *out->units) : NULL;
    if (!out->units)
        return false;
    size_t head = file.size - (size_t)cursor_left(&c);
    return checksum == checksum_of((struct bytes){file.data + HEAD_BYTES, head - HEAD_BYTES}) &&
           units_exist(out);
}

struct bytes index_file_block(const struct index_file *f, uint32_t unit) {
    const struct index_file_unit *u = &f->units[unit];
    if (!u->size || u->at % 8 || u->at > f->bytes.size || u->size > f->bytes.size - u->at)
        return (struct bytes){NULL, 0};
    struct bytes block = {f->bytes.data + u->at, u->size};
    return checksum_of(block) == u->checksum ? block : (struct bytes){NULL, 0};
}

void index_file_encode(const struct index_file_content *c, struct bytes key, struct writer *to) {
    writer_put(to, magic, sizeof magic);
    writer_u64(to, 0);
    writer_u32(to, ORDER);
    writer_u32(to, (uint32_t)key.size);
    writer_bytes_put(to, key);
    writer_align(to, 8);
    writer_u64(to, c->unit_count);
    writer_u64(to, c->range_count);
    writer_u64(to, c->rangeless_count);
    if (c->range_count)
        writer_put(to, c->ranges, c->range_count * sizeof *c->ranges);
    if (c->rangeless_count)
        writer_put(to, c->rangeless, c->rangeless_count * sizeof *c->rangeless);
    writer_align(to, 8);
    uint64_t at = to->size + (uint64_t)c->unit_count * sizeof(struct index_file_unit);
    for (uint32_t i = 0; i < c->unit_count; i++) {
        struct bytes b = c->blocks[i];
        writer_u64(to, b.size ? at : 0);
        writer_u64(to, b.size);
        writer_u64(to, checksum_of(b));
        at += (b.size + 7) & ~(uint64_t)7;
    }
    if (writer_ok(to))
        writer_patch64(to, sizeof magic,
                       checksum_of((struct bytes){to->data + HEAD_BYTES, to->size - HEAD_BYTES}));
}
