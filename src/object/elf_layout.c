/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>

#include "base/checked.h"
#include "object/elf.h"

static bool segment_range(const struct object_elf *e, uint32_t index, struct object_range *out) {
    struct object_segment s;
    if (!object_elf_segment(e, index, &s) || s.type != PT_LOAD || !s.file_size)
        return false;
    *out = (struct object_range){s.vaddr, s.offset, s.file_size, s.flags & PF_X};
    return true;
}

static bool section_range(const struct object_elf *e, uint32_t index, struct object_range *out) {
    struct object_section s;
    if (!object_elf_section(e, index, &s) || !(s.flags & SHF_ALLOC) || s.type == SHT_NOBITS || !s.size)
        return false;
    *out = (struct object_range){s.addr, s.offset, s.size, s.flags & SHF_EXECINSTR};
    return true;
}

/* Counts when `into` is NULL. What goes beyond the file or the address space is left out. */
static uint32_t collect(const struct object_elf *e, bool segments, struct object_range *into) {
    uint32_t count = 0, all = segments ? e->segment_count : e->section_count;
    for (uint32_t i = 0; i < all; i++) {
        struct object_range r;
        uint64_t end;
        if (!(segments ? segment_range(e, i, &r) : section_range(e, i, &r)) || r.offset >= e->file.size ||
            !checked_add(r.addr, r.size, &end))
            continue;
        if (r.size > e->file.size - r.offset)
            r.size = e->file.size - r.offset;
        if (into)
            into[count] = r;
        count++;
    }
    return count;
}

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_addr(const void *a, const void *b) {
    const struct object_range *x = a, *y = b;
    int order = compare(x->addr, y->addr);
    return order ? order : compare(x->offset, y->offset);
}

/* Executable ones first: the same bytes may be loaded twice (a file's first page, as text and as relro data).
 */
static int by_offset(const void *a, const void *b) {
    const struct object_range *x = a, *y = b;
    int order = (int)y->executable - (int)x->executable;
    if (!order)
        order = compare(x->offset, y->offset);
    return order ? order : compare(x->addr, y->addr);
}

bool object_layout_init(const struct object_elf *e, struct object_layout *out, struct err *err) {
    *out = (struct object_layout){0};
    uint32_t count = collect(e, true, NULL);
    bool segments = count > 0;
    if (!segments && e->type != ET_REL)
        count = collect(e, false, NULL);
    if (!count)
        return true;
    out->by_addr = calloc((size_t)count * 2, sizeof *out->by_addr);
    if (!out->by_addr)
        return err_memory(err, "the layout of an ELF image");
    out->by_offset = out->by_addr + count;
    out->count = count;
    collect(e, segments, out->by_addr);
    qsort(out->by_addr, count, sizeof *out->by_addr, by_addr);
    memcpy(out->by_offset, out->by_addr, count * sizeof *out->by_addr);
    qsort(out->by_offset, count, sizeof *out->by_offset, by_offset);
    while (out->executable < count && out->by_offset[out->executable].executable)
        out->executable++;
    return true;
}

void object_layout_fini(struct object_layout *l) {
    free(l->by_addr);
    *l = (struct object_layout){0};
}

/* How many of `count` sorted ranges begin at or before `at`. */
static uint32_t begin_before(const struct object_range *ranges, uint32_t count, uint64_t at, bool offsets) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if ((offsets ? ranges[mid].offset : ranges[mid].addr) <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool object_layout_offset(const struct object_layout *l, object_vaddr addr, uint64_t *offset) {
    uint32_t n = begin_before(l->by_addr, l->count, addr, false);
    if (!n || addr - l->by_addr[n - 1].addr >= l->by_addr[n - 1].size)
        return false;
    *offset = l->by_addr[n - 1].offset + (addr - l->by_addr[n - 1].addr);
    return true;
}

static bool addr_in(const struct object_range *ranges, uint32_t count, uint64_t offset, object_vaddr *addr) {
    uint32_t n = begin_before(ranges, count, offset, true);
    if (!n || offset - ranges[n - 1].offset >= ranges[n - 1].size)
        return false;
    *addr = ranges[n - 1].addr + (offset - ranges[n - 1].offset);
    return true;
}

bool object_layout_addr(const struct object_layout *l, uint64_t offset, object_vaddr *addr) {
    uint32_t code = l->executable;
    if (!l->count) /* NULL + 0 is undefined (C17 6.5.6) */
        return false;
    return addr_in(l->by_offset, code, offset, addr) ||
           addr_in(l->by_offset + code, l->count - code, offset, addr);
}
