/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tracefs/ring_page.h"

#include "base/cursor.h"
#include "format/tracefs/tracing_data.h"

enum {
    TIME_SIZE = 8,
    USED_BITS = 20,
    TYPE_BITS = 5,
    DELTA_BITS = 27,
    DATA_MAX = 28, /* the last type_len that stands for data */
    PADDING = 29,
    TIME_EXTEND = 30,
    TIME_STAMP = 31,
    WORD = 4,
};
#define MISSED        (1ull << 31)
#define MISSED_STORED (1ull << 30)

/* Times have 59 bits there; the upper ones stay. */
#define TIME_UPPER (~0ull << (DELTA_BITS + 32))

static bool is_big_endian(void) {
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

bool ring_page_layout_parse(struct bytes header_page, bool big_endian, struct ring_page_layout *out) {
    struct tracing_field f;
    unsigned seen = 0;
    *out = (struct ring_page_layout){.big_endian = big_endian};
    while (tracing_field_next(&header_page, &f)) {
        bool time = bytes_equal(f.name, (struct bytes){(const uint8_t *)"timestamp", 9});
        bool commit = bytes_equal(f.name, (struct bytes){(const uint8_t *)"commit", 6});
        bool data = bytes_equal(f.name, (struct bytes){(const uint8_t *)"data", 4});
        if (time && f.offset == 0 && f.size == TIME_SIZE)
            seen |= 1;
        if (commit && (f.size == 4 || f.size == 8)) {
            out->commit_offset = f.offset;
            out->commit_size = f.size;
            seen |= 2;
        }
        if (data) {
            out->data_offset = f.offset;
            seen |= 4;
        }
    }
    return seen == 7;
}

bool ring_page_open(struct ring_page *p, const struct ring_page_layout *layout, struct bytes page) {
    bool swap = layout->big_endian != is_big_endian();
    struct cursor c = cursor_make(page, swap);
    *p = (struct ring_page){.swap = swap, .big_endian = layout->big_endian};
    p->time = cursor_u64(&c);
    c = cursor_make(page, swap);
    cursor_take(&c, layout->commit_offset);
    uint64_t commit = layout->commit_size == WORD ? cursor_u32(&c) : cursor_u64(&c);
    bool ok = cursor_ok(&c);
    c = cursor_make(page, swap);
    cursor_take(&c, layout->data_offset);
    p->data = cursor_bytes(&c, commit & ((1u << USED_BITS) - 1));
    if (commit & MISSED) {
        uint64_t n =
            commit & MISSED_STORED ? layout->commit_size == WORD ? cursor_u32(&c) : cursor_u64(&c) : 0;
        p->missed = cursor_ok(&c) && n ? n : UINT64_MAX;
        return ok && p->data.data;
    }
    return ok && cursor_ok(&c);
}

static bool broken(struct ring_page *p) {
    p->broken = true;
    p->at = p->data.size;
    return false;
}

bool ring_page_next(struct ring_page *p, struct ring_page_record *out) {
    while (p->data.size - p->at >= WORD) {
        struct cursor c = cursor_make((struct bytes){p->data.data + p->at, p->data.size - p->at}, p->swap);
        uint32_t head = cursor_u32(&c);
        uint32_t type = p->big_endian ? head >> DELTA_BITS : head & ((1u << TYPE_BITS) - 1);
        uint64_t delta = p->big_endian ? head & ((1u << DELTA_BITS) - 1) : head >> TYPE_BITS;
        if (type == PADDING && !delta)
            break;
        uint64_t size = type && type <= DATA_MAX ? (uint64_t)type * WORD : 0;
        uint32_t more = size ? 0 : cursor_u32(&c);
        if (type == TIME_STAMP)
            p->time = (p->time & TIME_UPPER) | ((uint64_t)more << DELTA_BITS) | delta;
        else
            p->time += delta + (type == TIME_EXTEND ? (uint64_t)more << DELTA_BITS : 0);
        if (!size && (type == 0 || type == PADDING))
            size = more >= WORD ? more - WORD : UINT64_MAX;
        struct bytes data = cursor_bytes(&c, size);
        if (!cursor_ok(&c))
            return broken(p);
        p->at += cursor_pos(&c);
        p->at = p->at + (WORD - p->at % WORD) % WORD;
        p->at = p->at < p->data.size ? p->at : p->data.size;
        if (type <= DATA_MAX) {
            *out = (struct ring_page_record){p->time, data};
            return true;
        }
    }
    p->at = p->data.size;
    return false;
}
