/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/events/attr.h"

#include "base/cursor.h"

/* Bitfields count from the least significant bit on little-endian machines, from the most significant one on
 * big-endian machines (the C ABIs of Linux), so their words need more than a byte swap. */
enum kind { WORD, BITS };

struct field {
    uint16_t member; /* offset in struct perfdata_attr */
    uint8_t width;   /* bytes */
    uint8_t kind;
};

#define FIELD(name, how) \
    { __builtin_offsetof(struct perfdata_attr, name), sizeof((struct perfdata_attr *)0)->name, how }

/* In file order and without gaps: a field's offset is the sum of the widths before it. */
static const struct field FIELDS[] = {
    FIELD(type, WORD),
    FIELD(size, WORD),
    FIELD(config, WORD),
    FIELD(sample_period, WORD),
    FIELD(sample_type, WORD),
    FIELD(read_format, WORD),
    FIELD(flags, BITS),
    FIELD(wakeup, WORD),
    FIELD(bp_type, WORD),
    FIELD(config1, WORD),
    FIELD(config2, WORD),
    FIELD(branch_sample_type, WORD),
    FIELD(sample_regs_user, WORD),
    FIELD(sample_stack_user, WORD),
    FIELD(clockid, WORD),
    FIELD(sample_regs_intr, WORD),
    FIELD(aux_watermark, WORD),
    FIELD(sample_max_stack, WORD),
    FIELD(reserved_2, WORD),
    FIELD(aux_sample_size, WORD),
    FIELD(aux_action, BITS),
    FIELD(sig_data, WORD),
    FIELD(config3, WORD),
    FIELD(config4, WORD),
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

static uint64_t reverse64(uint64_t v) {
    v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(v);
}

/* precise_ip is the one field wider than a bit: mirroring the word turns its two bits round, too. */
static uint64_t turn_precise_ip(uint64_t v) {
    uint64_t low = 1ull << PERFDATA_ATTR_PRECISE_IP_SHIFT, high = low << 1;
    return (v & ~(low | high)) | (v & low) << 1 | (v & high) >> 1;
}

static uint64_t bits_from_big(uint64_t v, unsigned width) {
    return width == 8 ? turn_precise_ip(reverse64(v)) : reverse64(v) >> 32;
}

static uint64_t bits_to_big(uint64_t v, unsigned width) {
    return width == 8 ? reverse64(turn_precise_ip(v)) : reverse64(v) >> 32;
}

static void set_member(struct perfdata_attr *a, const struct field *f, uint64_t v) {
    uint8_t *p = (uint8_t *)a + f->member;
    uint32_t v32 = (uint32_t)v;
    uint16_t v16 = (uint16_t)v;
    memcpy(p, f->width == 8 ? (void *)&v : f->width == 4 ? (void *)&v32 : (void *)&v16, f->width);
}

static uint64_t member(const struct perfdata_attr *a, const struct field *f) {
    const uint8_t *p = (const uint8_t *)a + f->member;
    return f->width == 8   ? bytes_load64(p, false)
           : f->width == 4 ? bytes_load32(p, false)
                           : bytes_load16(p, false);
}

bool perfdata_attr_decode(struct bytes b, bool swap, struct perfdata_attr *out) {
    *out = (struct perfdata_attr){0};
    if (b.size < PERFDATA_ATTR_SIZE_MIN)
        return false;
    uint64_t limit = bytes_load32(b.data + 4, swap);
    if (limit < PERFDATA_ATTR_SIZE_MIN)
        limit = PERFDATA_ATTR_SIZE_MIN;
    struct cursor c = cursor_make((struct bytes){b.data, limit < b.size ? limit : b.size}, swap);
    for (int i = 0; i < FIELD_COUNT && cursor_left(&c) >= FIELDS[i].width; i++) {
        const struct field *f = &FIELDS[i];
        uint64_t v = f->width == 8 ? cursor_u64(&c) : f->width == 4 ? cursor_u32(&c) : cursor_u16(&c);
        if (f->kind == BITS && swap != BYTES_HOST_BIG)
            v = bits_from_big(v, f->width);
        set_member(out, f, v);
    }
    out->known_size = (uint32_t)cursor_pos(&c);
    out->tail = (struct bytes){b.data + out->known_size, b.size - out->known_size};
    return true;
}

void perfdata_attr_encode(const struct perfdata_attr *attr, struct writer *w) {
    uint32_t at = 0;
    for (int i = 0; i < FIELD_COUNT && at + FIELDS[i].width <= attr->known_size; i++) {
        const struct field *f = &FIELDS[i];
        uint64_t v = member(attr, f);
        if (f->kind == BITS && w->swap != BYTES_HOST_BIG)
            v = bits_to_big(v, f->width);
        if (f->width == 8)
            writer_u64(w, v);
        else if (f->width == 4)
            writer_u32(w, (uint32_t)v);
        else
            writer_u16(w, (uint16_t)v);
        at += f->width;
    }
    writer_bytes_put(w, attr->tail);
}
