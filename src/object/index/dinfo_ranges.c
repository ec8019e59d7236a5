/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "object/index/dinfo.h"
#include "object/index/dwarf_numbers.h"

static uint64_t address(const struct dinfo_unit *u, struct cursor *c) {
    struct dinfo_value v;
    dinfo_value_read(u, c, &(struct dinfo_attr){.form = FORM_ADDR}, &v);
    return v.number;
}

static uint64_t indexed(const struct dinfo_unit *u, struct cursor *c) {
    struct dinfo_value v;
    dinfo_value_read(u, c, &(struct dinfo_attr){.form = FORM_ADDRX}, &v);
    return v.number;
}

static uint64_t highest(const struct dinfo_unit *u) {
    return u->head.address_size == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->head.address_size) - 1;
}

/* Where an index of .debug_rnglists leads (7.28). UINT64_MAX: nowhere. */
static uint64_t list_at(const struct dinfo_unit *u, uint64_t index) {
    unsigned size = u->head.offset_size;
    uint64_t at;
    if (__builtin_mul_overflow(index, size, &at) || !checked_add(at, u->rnglists_base, &at) ||
        !checked_range(at, size, u->rnglists.size))
        return UINT64_MAX;
    const uint8_t *p = u->rnglists.data + at;
    uint64_t offset = size == 8 ? bytes_load64(p, u->file->swap) : bytes_load32(p, u->file->swap);
    return checked_add(offset, u->rnglists_base, &at) ? at : UINT64_MAX;
}

void dinfo_ranges_init(struct dinfo_ranges *r, const struct dinfo_unit *u, const struct dinfo_extent *x) {
    *r = (struct dinfo_ranges){.unit = u, .extent = x, .base = u->low_pc};
    if (!x->has_ranges)
        return;
    bool lists = u->head.version >= 5;
    struct bytes b = lists ? u->rnglists : u->main->sections[DINFO_RANGES];
    uint64_t at = lists && x->ranges_are_index                  ? list_at(u, x->ranges)
                  : lists || u->file == u->main                 ? x->ranges
                  : checked_add(x->ranges, u->ranges_base, &at) ? at
                                                                : UINT64_MAX;
    r->listed = true;
    r->done = at >= b.size;
    if (!r->done)
        r->at = cursor_make((struct bytes){b.data + at, b.size - at}, u->file->swap);
}

static bool next_pair(struct dinfo_ranges *r, uint64_t *start, uint64_t *end) { /* DWARF 4, 2.17.3 */
    for (;;) {
        uint64_t a = address(r->unit, &r->at), b = address(r->unit, &r->at);
        if (!cursor_ok(&r->at) || (!a && !b))
            return false;
        if (a != highest(r->unit)) {
            *start = a + r->base;
            *end = b + r->base;
            return true;
        }
        r->base = b;
    }
}

static bool next_listed(struct dinfo_ranges *r, uint64_t *start, uint64_t *end) { /* DWARF 5, 2.17.3 */
    const struct dinfo_unit *u = r->unit;
    struct cursor *c = &r->at;
    while (cursor_ok(c)) {
        switch (cursor_u8(c)) {
        case RLE_BASE_ADDRESSX:
            r->base = indexed(u, c);
            continue;
        case RLE_BASE_ADDRESS:
            r->base = address(u, c);
            continue;
        case RLE_STARTX_ENDX:
            *start = indexed(u, c);
            *end = indexed(u, c);
            break;
        case RLE_STARTX_LENGTH:
            *start = indexed(u, c);
            *end = *start + cursor_uleb(c);
            break;
        case RLE_OFFSET_PAIR:
            *start = r->base + cursor_uleb(c);
            *end = r->base + cursor_uleb(c);
            if (r->base == highest(u)) /* what the linker left out */
                *end = *start;
            break;
        case RLE_START_END:
            *start = address(u, c);
            *end = address(u, c);
            break;
        case RLE_START_LENGTH:
            *start = address(u, c);
            *end = *start + cursor_uleb(c);
            break;
        default: /* the end, or what nobody knows */
            return false;
        }
        return cursor_ok(c);
    }
    return false;
}

static bool next(struct dinfo_ranges *r, uint64_t *start, uint64_t *end) {
    const struct dinfo_extent *x = r->extent;
    if (r->done)
        return false;
    if (r->listed)
        return r->unit->head.version >= 5 ? next_listed(r, start, end) : next_pair(r, start, end);
    r->done = true;
    *start = x->low;
    *end = x->high_is_size ? x->low + x->high : x->high;
    return x->has_low && x->has_high;
}

bool dinfo_ranges_next(struct dinfo_ranges *r, uint64_t *start, uint64_t *end) {
    while (next(r, start, end))
        if (*start < *end && *start < highest(r->unit) - 1)
            return true;
    r->done = true;
    return false;
}
