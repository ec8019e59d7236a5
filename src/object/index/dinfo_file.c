/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "base/checked.h"
#include "object/index/dinfo.h"
#include "object/index/dwarf_numbers.h"

/* Debug sections of real files compress to a fifth; a file that says more than this lies. */
enum { GROWTH_MAX = 100, GROWTH_FREE_BYTES = 16 << 20 };

static const char *const names[DINFO_SECTIONS] = {
    [DINFO_INFO] = "debug_info",         [DINFO_ABBREV] = "debug_abbrev",
    [DINFO_LINE] = "debug_line",         [DINFO_STR] = "debug_str",
    [DINFO_LINE_STR] = "debug_line_str", [DINFO_STR_OFFSETS] = "debug_str_offsets",
    [DINFO_ADDR] = "debug_addr",         [DINFO_RANGES] = "debug_ranges",
    [DINFO_RNGLISTS] = "debug_rnglists", [DINFO_CU_INDEX] = "debug_cu_index",
};

static bool is_named(struct bytes name, const char *wanted, bool split) {
    size_t skip = name.size > 1 && name.data[1] == 'z' ? 2 : 1, n = strlen(wanted);
    if (name.size < skip + n || name.data[0] != '.' || memcmp(name.data + skip, wanted, n) != 0)
        return false;
    const char *rest = split && strcmp(wanted, "debug_cu_index") != 0 ? ".dwo" : "";
    return name.size == skip + n + strlen(rest) && memcmp(name.data + skip + n, rest, strlen(rest)) == 0;
}

static unsigned section_of(const struct object_section *s, bool split) {
    unsigned i = 0;
    while (i < DINFO_SECTIONS && !is_named(s->name, names[i], split))
        i++;
    return s->type == SHT_NULL || s->type == SHT_NOBITS ? DINFO_SECTIONS : i;
}

static bool read_sections(const struct object_elf *e, bool split, struct dinfo_file *f, struct err *err) {
    struct object_section s;
    uint64_t sum = 0, size;
    for (uint32_t i = 1; object_elf_section(e, i, &s); i++) {
        unsigned which = section_of(&s, split);
        if (which == DINFO_SECTIONS || f->sections[which].size)
            continue;
        if (!object_elf_section_size(e, &s, &size, NULL, err))
            return false;
        if (!checked_add(sum, size, &sum) || sum / GROWTH_MAX > e->file.size + GROWTH_FREE_BYTES)
            return err_set(err, ERR_BROKEN, "", "debug sections claim an impossible size");
        if (!object_elf_section_bytes(e, &s, &f->arena, &f->sections[which], err))
            return false;
    }
    return f->sections[DINFO_INFO].size || err_set(err, ERR_ABSENT, "", "no debugging information");
}

/* 7.5.1. False: it ends here. */
static bool read_head(struct cursor *c, struct dinfo_head *h) {
    *h = (struct dinfo_head){.at = cursor_pos(c), .type = UT_COMPILE};
    uint64_t length = cursor_u32(c);
    h->offset_size = length == UINT32_MAX ? 8 : 4;
    length = length == UINT32_MAX ? cursor_u64(c) : length;
    uint64_t start = cursor_pos(c);
    if (!cursor_ok(c) || !length)
        return false;
    h->end = length < cursor_left(c) ? start + length : start + cursor_left(c);
    h->version = cursor_u16(c);
    if (h->version >= 5) {
        h->type = cursor_u8(c);
        h->address_size = cursor_u8(c);
    }
    h->abbrevs = h->offset_size == 8 ? cursor_u64(c) : cursor_u32(c);
    if (h->version < 5)
        h->address_size = cursor_u8(c);
    else if (h->type == UT_SKELETON || h->type == UT_SPLIT_COMPILE)
        h->id = cursor_u64(c);
    else if (h->type == UT_TYPE || h->type == UT_SPLIT_TYPE) /* its signature and where the type is */
        cursor_take(c, 8 + (uint64_t)h->offset_size);
    h->dies = cursor_pos(c);
    return cursor_ok(c) && h->dies <= h->end;
}

static bool read_heads(struct dinfo_file *f, struct err *err) {
    struct cursor c = cursor_make(f->sections[DINFO_INFO], f->swap);
    struct dinfo_head h;
    while (cursor_left(&c) && read_head(&c, &h)) {
        c.at = c.start + h.end;
        bool known = h.version >= 2 && h.version <= 5 &&
                     (h.address_size == 8 || h.address_size == 4 || h.address_size == 2);
        struct dinfo_head *kept = known ? vec_push(&f->heads) : NULL;
        if (kept)
            *kept = h;
        else if (known)
            return err_memory(err, "debugging information");
    }
    return true;
}

bool dinfo_file_open(const struct object_elf *e, bool split, struct dinfo_file *out, struct err *err) {
    *out = (struct dinfo_file){.arena = ARENA_INIT, .swap = e->swap};
    if (e->type == ET_REL && !split)
        return err_set(err, ERR_UNSUPPORTED, "", "source lines of relocatable files are not read");
    bool ok = read_sections(e, split, out, err) && read_heads(out, err);
    if (!ok)
        dinfo_file_fini(out);
    return ok;
}

void dinfo_file_fini(struct dinfo_file *f) {
    arena_fini(&f->arena);
    vec_fini(&f->heads);
    *f = (struct dinfo_file){.arena = ARENA_INIT};
}

const struct dinfo_head *dinfo_file_head(const struct dinfo_file *f, uint64_t offset) {
    size_t low = 0, high = f->heads.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (f->heads.items[mid].at <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    const struct dinfo_head *h = low ? &f->heads.items[low - 1] : NULL;
    return h && offset >= h->dies && offset < h->end ? h : NULL;
}
