/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "object/index/dinfo.h"
#include "object/index/dwarf_numbers.h"

/* --- Abbreviations ---------------------------------------------------------------------------------------
 */

/* One row (7.5.3), its attributes to a->attrs. False: the end. */
static bool read_abbrev(struct cursor *c, const struct dinfo_head *h, struct dinfo_abbrevs *a,
                        struct dinfo_abbrev *row, bool *failed) {
    *row = (struct dinfo_abbrev){.code = cursor_uleb(c), .fixed = true, .first = (uint32_t)a->attrs.count};
    if (!row->code)
        return false;
    row->tag = (uint16_t)cursor_uleb(c);
    row->children = cursor_u8(c);
    while (cursor_ok(c)) {
        uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
        int64_t constant = form == FORM_IMPLICIT_CONST ? cursor_sleb(c) : 0;
        if (!name && !form)
            break;
        struct dinfo_attr *attr = vec_push(&a->attrs);
        if (!attr) {
            *failed = true;
            return false;
        }
        *attr = (struct dinfo_attr){name > UINT16_MAX ? 0 : (uint16_t)name,
                                    form > UINT16_MAX ? UINT16_MAX : (uint16_t)form, constant};
        uint32_t size = dinfo_form_size(form, h->version, h->address_size, h->offset_size);
        row->fixed = row->fixed && size != UINT32_MAX && row->size < 1u << 20;
        row->size += row->fixed ? size : 0;
    }
    row->count = (uint32_t)a->attrs.count - row->first;
    return cursor_ok(c);
}

static int by_code(const void *a, const void *b) {
    const struct dinfo_abbrev *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static struct cursor abbrevs_of(const struct dinfo_unit *u) {
    uint64_t at = u->head.abbrevs;
    struct bytes b = u->abbrev;
    return cursor_make(at < b.size ? (struct bytes){b.data + at, b.size - at} : (struct bytes){NULL, 0},
                       u->file->swap);
}

bool dinfo_unit_read_abbrevs(struct dinfo_unit *u) {
    struct dinfo_abbrevs *a = &u->abbrevs;
    struct cursor c = abbrevs_of(u);
    struct dinfo_abbrev row;
    bool failed = false, sorted = true;
    if (a->rows.count)
        return true;
    vec_clear(&a->attrs);
    while (read_abbrev(&c, &u->head, a, &row, &failed)) {
        sorted = sorted && (!a->rows.count || a->rows.items[a->rows.count - 1].code < row.code);
        struct dinfo_abbrev *kept = vec_push(&a->rows);
        if (!kept)
            return false;
        *kept = row;
    }
    if (!sorted)
        qsort(a->rows.items, a->rows.count, sizeof *a->rows.items, by_code);
    return !failed && a->rows.count;
}

const struct dinfo_abbrev *dinfo_abbrev_find(const struct dinfo_abbrevs *a, uint64_t code) {
    if (code && code <= a->rows.count && a->rows.items[code - 1].code == code)
        return &a->rows.items[code - 1];
    size_t low = 0, high = a->rows.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (a->rows.items[mid].code < code)
            low = mid + 1;
        else
            high = mid;
    }
    return low < a->rows.count && a->rows.items[low].code == code ? &a->rows.items[low] : NULL;
}

/* --- Units -------------------------------------------------------------------------------------------------
 */

/* Reads one row alone, since units are looked at that nobody asks for. */
static bool first_abbrev(const struct dinfo_unit *u, uint64_t code, struct dinfo_abbrevs *a,
                         struct dinfo_abbrev *row) {
    struct cursor c = abbrevs_of(u);
    bool failed = false;
    while (read_abbrev(&c, &u->head, a, row, &failed)) {
        if (row->code == code)
            return true;
        vec_clear(&a->attrs);
    }
    return false;
}

static void note(struct dinfo_unit *u, uint16_t name, const struct dinfo_value *v) {
    dinfo_extent_add(&u->extent, name, v);
    if (name == AT_NAME && v->kind == DINFO_TEXT)
        u->name = v->text;
    else if (name == AT_COMP_DIR && v->kind == DINFO_TEXT)
        u->folder = v->text;
    else if ((name == AT_DWO_NAME || name == AT_GNU_DWO_NAME) && v->kind == DINFO_TEXT)
        u->dwo_name = v->text;
    else if (name == AT_GNU_DWO_ID && v->kind == DINFO_NUMBER)
        u->dwo_id = v->number;
    else if (name == AT_STMT_LIST && v->kind == DINFO_NUMBER)
        u->line_at = v->number;
}

static void note_base(struct dinfo_unit *u, uint16_t name, const struct dinfo_value *v) {
    if (v->kind != DINFO_NUMBER)
        return;
    if (name == AT_STR_OFFSETS_BASE)
        u->str_offsets_base = v->number;
    else if (name == AT_ADDR_BASE || name == AT_GNU_ADDR_BASE)
        u->addr_base = v->number;
    else if (name == AT_RNGLISTS_BASE)
        u->rnglists_base = v->number;
    else if (name == AT_GNU_RANGES_BASE)
        u->ranges_base = v->number;
}

/* The bases come first, since other attributes need them whatever their order is. */
static bool read_first(struct dinfo_unit *u) {
    struct bytes info = u->file->sections[DINFO_INFO];
    struct cursor c =
        cursor_make((struct bytes){info.data + u->head.dies, u->head.end - u->head.dies}, u->file->swap);
    struct dinfo_abbrev row;
    uint64_t code = cursor_uleb(&c);
    vec_clear(&u->abbrevs.attrs);
    if (!first_abbrev(u, code, &u->abbrevs, &row))
        return false;
    u->tag = row.tag;
    for (int pass = 0; pass < 2; pass++) {
        struct cursor at = c;
        struct dinfo_value v;
        for (uint32_t i = 0; i < row.count && cursor_ok(&at); i++) {
            const struct dinfo_attr *a = &u->abbrevs.attrs.items[row.first + i];
            dinfo_value_read(u, &at, a, &v);
            if (pass)
                note(u, a->name, &v);
            else
                note_base(u, a->name, &v);
        }
    }
    return true;
}

bool dinfo_unit_open(const struct dinfo_file *f, const struct dinfo_file *alt, const struct dinfo_head *head,
                     const struct dinfo_unit *skeleton, struct dinfo_unit *u) {
    *u = (struct dinfo_unit){.file = f,
                             .alt = alt,
                             .main = skeleton ? skeleton->main : f,
                             .abbrev = f->sections[DINFO_ABBREV],
                             .str_offsets = f->sections[DINFO_STR_OFFSETS],
                             .rnglists = f->sections[DINFO_RNGLISTS],
                             .line = f->sections[DINFO_LINE],
                             .head = *head,
                             .line_at = UINT64_MAX,
                             .dwo_id = head->id};
    unsigned table_head =
        head->offset_size == 8 ? 16 : 8; /* of .debug_str_offsets, 7.26, and .debug_addr, 7.27 */
    if (head->version >= 5) {
        u->str_offsets_base = u->addr_base = table_head;
        u->rnglists_base = head->offset_size == 8 ? 20 : 12; /* 7.28 */
    }
    if (skeleton) {
        dinfo_unit_slice(u);
        u->addr_base = skeleton->addr_base;
        u->ranges_base = skeleton->ranges_base;
    }
    if (!read_first(u))
        return false;
    if (!skeleton) {
        u->low_pc = u->extent.has_low ? u->extent.low : 0;
        return true;
    }
    u->low_pc = skeleton->low_pc;
    u->folder = u->folder ? u->folder : skeleton->folder;
    u->line_at = skeleton->line_at; /* what a split unit has is for types alone (7.3.2.2) */
    u->line = skeleton->line;
    return true;
}

void dinfo_unit_fini(struct dinfo_unit *u) {
    vec_fini(&u->abbrevs.rows);
    vec_fini(&u->abbrevs.attrs);
}

/* --- .dwp --------------------------------------------------------------------------------------------------
 */

static struct bytes part_of(struct bytes section, uint64_t at, uint64_t size) {
    return checked_range(at, size, section.size) ? (struct bytes){section.data + at, size}
                                                 : (struct bytes){NULL, 0};
}

/* The columns of one row of .debug_cu_index: which section it is, where and how long the unit's part of it
 * is. */
static void slice(struct dinfo_unit *u, struct cursor kinds, struct cursor offsets, struct cursor sizes,
                  uint32_t columns, bool old) {
    for (uint32_t i = 0; i < columns; i++) {
        uint32_t kind = cursor_u32(&kinds);
        uint64_t at = cursor_u32(&offsets), size = cursor_u32(&sizes);
        if (kind == SECT_ABBREV)
            u->abbrev = part_of(u->abbrev, at, size);
        else if (kind == SECT_STR_OFFSETS)
            u->str_offsets = part_of(u->str_offsets, at, size);
        else if (kind == SECT_RNGLISTS && !old)
            u->rnglists = part_of(u->rnglists, at, size);
    }
}

/* Where the unit of a row begins in .debug_info. */
static uint64_t info_of(struct cursor kinds, struct cursor offsets, uint32_t columns) {
    for (uint32_t i = 0; i < columns; i++) {
        uint64_t at = cursor_u32(&offsets);
        if (cursor_u32(&kinds) == SECT_INFO)
            return at;
    }
    return UINT64_MAX;
}

void dinfo_unit_slice(struct dinfo_unit *u) {
    struct bytes b = u->file->sections[DINFO_CU_INDEX];
    struct cursor c = cursor_make(b, u->file->swap);
    uint32_t version = cursor_u32(&c);
    bool old = version == 2;
    if (!old && version >> 16 != 5 && (version & UINT16_MAX) != 5) /* 5 is a half-word, followed by padding */
        return;
    uint64_t columns = cursor_u32(&c), units = cursor_u32(&c), slots = cursor_u32(&c);
    uint64_t rows = 16 + slots * 12, sizes = rows + 4 * columns * (1 + units);
    if (!columns || columns > 16 || sizes > b.size || 4 * columns * units > b.size - sizes)
        return;
    struct cursor kinds = cursor_make(part_of(b, rows, 4 * columns), u->file->swap);
    for (uint64_t i = 0; i < units; i++) {
        struct cursor at = cursor_make(part_of(b, rows + 4 * columns * (1 + i), 4 * columns), u->file->swap);
        if (info_of(kinds, at, (uint32_t)columns) == u->head.at) {
            slice(u, kinds, at, cursor_make(part_of(b, sizes + 4 * columns * i, 4 * columns), u->file->swap),
                  (uint32_t)columns, old);
            return;
        }
    }
}
