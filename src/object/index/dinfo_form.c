/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "object/index/dinfo.h"
#include "object/index/dwarf_numbers.h"

enum { DEPENDS = UINT32_MAX };

uint32_t dinfo_form_size(uint64_t form, unsigned version, unsigned address_size, unsigned offset_size) {
    switch (form) {
    case FORM_FLAG_PRESENT:
    case FORM_IMPLICIT_CONST:
        return 0;
    case FORM_DATA1:
    case FORM_FLAG:
    case FORM_REF1:
    case FORM_STRX1:
    case FORM_ADDRX1:
        return 1;
    case FORM_DATA2:
    case FORM_REF2:
    case FORM_STRX2:
    case FORM_ADDRX2:
        return 2;
    case FORM_STRX3:
    case FORM_ADDRX3:
        return 3;
    case FORM_DATA4:
    case FORM_REF4:
    case FORM_REF_SUP4:
    case FORM_STRX4:
    case FORM_ADDRX4:
        return 4;
    case FORM_DATA8:
    case FORM_REF8:
    case FORM_REF_SIG8:
    case FORM_REF_SUP8:
        return 8;
    case FORM_DATA16:
        return 16;
    case FORM_ADDR:
        return address_size;
    case FORM_REF_ADDR:
        return version < 3 ? address_size : offset_size;
    case FORM_STRP:
    case FORM_LINE_STRP:
    case FORM_STRP_SUP:
    case FORM_SEC_OFFSET:
    case FORM_GNU_REF_ALT:
    case FORM_GNU_STRP_ALT:
        return offset_size;
    default:
        return DEPENDS;
    }
}

static void skip_text(struct cursor *c) {
    const uint8_t *end = memchr(c->at, 0, cursor_left(c));
    cursor_take(c, end ? (uint64_t)(end - c->at) + 1 : UINT64_MAX);
}

void dinfo_value_skip(const struct dinfo_head *h, struct cursor *c, uint64_t form) {
    if (form == FORM_INDIRECT)
        form = cursor_uleb(c);
    uint32_t size = dinfo_form_size(form, h->version, h->address_size, h->offset_size);
    if (size != DEPENDS) {
        cursor_take(c, size);
        return;
    }
    switch (form) {
    case FORM_BLOCK1:
        cursor_take(c, cursor_u8(c));
        break;
    case FORM_BLOCK2:
        cursor_take(c, cursor_u16(c));
        break;
    case FORM_BLOCK4:
        cursor_take(c, cursor_u32(c));
        break;
    case FORM_BLOCK:
    case FORM_EXPRLOC:
        cursor_take(c, cursor_uleb(c));
        break;
    case FORM_STRING:
        skip_text(c);
        break;
    case FORM_SDATA:
    case FORM_UDATA:
    case FORM_REF_UDATA:
    case FORM_STRX:
    case FORM_ADDRX:
    case FORM_LOCLISTX:
    case FORM_RNGLISTX:
    case FORM_GNU_ADDR_INDEX:
    case FORM_GNU_STR_INDEX:
        cursor_uleb(c);
        break;
    default:
        cursor_take(c, UINT64_MAX);
    }
}

const char *dinfo_text(struct bytes section, uint64_t at) {
    if (at >= section.size || !memchr(section.data + at, 0, section.size - at))
        return NULL;
    return (const char *)section.data + at;
}

static uint64_t number(struct cursor *c, unsigned size) {
    uint64_t v = 0;
    switch (size) {
    case 1:
        return cursor_u8(c);
    case 2:
        return cursor_u16(c);
    case 4:
        return cursor_u32(c);
    case 8:
        return cursor_u64(c);
    case 3: { /* little endian, unless the file is not */
        const uint8_t *p = cursor_take(c, 3);
        bool big = c->swap != BYTES_HOST_BIG;
        for (unsigned i = 0; p && i < 3; i++)
            v |= (uint64_t)p[i] << 8 * (big ? 2 - i : i);
        return v;
    }
    default:
        cursor_take(c, size);
        return 0;
    }
}

static uint64_t address_at(const struct dinfo_unit *u, uint64_t index) {
    struct bytes b = u->main->sections[DINFO_ADDR];
    unsigned size = u->head.address_size;
    uint64_t at;
    if (__builtin_mul_overflow(index, size, &at) || !checked_add(at, u->addr_base, &at) ||
        !checked_range(at, size, b.size))
        return 0;
    struct cursor c = cursor_make((struct bytes){b.data + at, size}, u->file->swap);
    return number(&c, size);
}

static const char *text_at(const struct dinfo_unit *u, uint64_t index) {
    unsigned size = u->head.offset_size;
    uint64_t at;
    if (__builtin_mul_overflow(index, size, &at) || !checked_add(at, u->str_offsets_base, &at) ||
        !checked_range(at, size, u->str_offsets.size))
        return NULL;
    struct cursor c = cursor_make((struct bytes){u->str_offsets.data + at, size}, u->file->swap);
    return dinfo_text(u->file->sections[DINFO_STR], number(&c, size));
}

static void put_ref(struct dinfo_value *out, enum dinfo_kind kind, uint64_t base, uint64_t offset) {
    *out = (struct dinfo_value){.kind = checked_add(base, offset, &offset) ? kind : DINFO_NOTHING,
                                .number = offset};
}

/* Forms whose size is known. */
static void convert(const struct dinfo_unit *u, uint64_t form, uint64_t v, struct dinfo_value *out) {
    static const struct bytes none = {NULL, 0};
    *out = (struct dinfo_value){.kind = DINFO_NUMBER, .number = v};
    switch (form) {
    case FORM_ADDR:
        out->kind = DINFO_ADDRESS;
        break;
    case FORM_ADDRX:
    case FORM_ADDRX1:
    case FORM_ADDRX2:
    case FORM_ADDRX3:
    case FORM_ADDRX4:
    case FORM_GNU_ADDR_INDEX:
        *out = (struct dinfo_value){.kind = DINFO_ADDRESS, .number = address_at(u, v)};
        break;
    case FORM_REF1:
    case FORM_REF2:
    case FORM_REF4:
    case FORM_REF8:
    case FORM_REF_UDATA:
        put_ref(out, DINFO_REF, u->head.at, v);
        break;
    case FORM_REF_ADDR:
        put_ref(out, DINFO_REF, 0, v);
        break;
    case FORM_REF_SUP4:
    case FORM_REF_SUP8:
    case FORM_GNU_REF_ALT:
        put_ref(out, DINFO_REF_ALT, 0, v);
        break;
    case FORM_STRP:
        *out = (struct dinfo_value){.kind = DINFO_TEXT, .text = dinfo_text(u->file->sections[DINFO_STR], v)};
        break;
    case FORM_LINE_STRP:
        *out = (struct dinfo_value){.kind = DINFO_TEXT,
                                    .text = dinfo_text(u->file->sections[DINFO_LINE_STR], v)};
        break;
    case FORM_STRP_SUP:
    case FORM_GNU_STRP_ALT:
        *out = (struct dinfo_value){.kind = DINFO_TEXT,
                                    .text = dinfo_text(u->alt ? u->alt->sections[DINFO_STR] : none, v)};
        break;
    case FORM_STRX:
    case FORM_STRX1:
    case FORM_STRX2:
    case FORM_STRX3:
    case FORM_STRX4:
    case FORM_GNU_STR_INDEX:
        *out = (struct dinfo_value){.kind = DINFO_TEXT, .text = text_at(u, v)};
        break;
    case FORM_LOCLISTX:
    case FORM_RNGLISTX:
        out->kind = DINFO_LIST;
        break;
    case FORM_DATA16:
    case FORM_REF_SIG8:
        out->kind = DINFO_NOTHING;
        break;
    default:
        break;
    }
}

void dinfo_value_read(const struct dinfo_unit *u, struct cursor *c, const struct dinfo_attr *a,
                      struct dinfo_value *out) {
    uint64_t form = a->form;
    *out = (struct dinfo_value){0};
    if (form == FORM_INDIRECT)
        form = cursor_uleb(c);
    if (form == FORM_IMPLICIT_CONST) {
        *out = (struct dinfo_value){.kind = DINFO_NUMBER, .number = (uint64_t)a->constant};
        return;
    }
    uint32_t size = dinfo_form_size(form, u->head.version, u->head.address_size, u->head.offset_size);
    if (size != DEPENDS) {
        convert(u, form, number(c, size), out);
        return;
    }
    switch (form) {
    case FORM_STRING:
        *out = (struct dinfo_value){.kind = DINFO_TEXT, .text = (const char *)c->at};
        skip_text(c);
        break;
    case FORM_SDATA:
        *out = (struct dinfo_value){.kind = DINFO_NUMBER, .number = (uint64_t)cursor_sleb(c)};
        break;
    case FORM_UDATA:
    case FORM_REF_UDATA:
    case FORM_STRX:
    case FORM_ADDRX:
    case FORM_LOCLISTX:
    case FORM_RNGLISTX:
    case FORM_GNU_ADDR_INDEX:
    case FORM_GNU_STR_INDEX:
        convert(u, form, cursor_uleb(c), out);
        break;
    default:
        dinfo_value_skip(&u->head, c, form);
    }
    if (!cursor_ok(c))
        *out = (struct dinfo_value){0};
}

void dinfo_extent_add(struct dinfo_extent *x, uint16_t name, const struct dinfo_value *v) {
    if (name == AT_LOW_PC && v->kind == DINFO_ADDRESS) {
        x->low = v->number;
        x->has_low = true;
    } else if (name == AT_HIGH_PC && (v->kind == DINFO_ADDRESS || v->kind == DINFO_NUMBER)) {
        x->high = v->number;
        x->has_high = true;
        x->high_is_size = v->kind == DINFO_NUMBER;
    } else if (name == AT_RANGES && (v->kind == DINFO_NUMBER || v->kind == DINFO_LIST)) {
        x->ranges = v->number;
        x->has_ranges = true;
        x->ranges_are_index = v->kind == DINFO_LIST;
    }
}
