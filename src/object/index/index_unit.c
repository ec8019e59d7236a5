/* SPDX-License-Identifier: Apache-2.0 */
#include "object/index/index_unit.h"

bool index_unit_open(struct bytes block, struct index_unit *u) {
    struct index_head h;
    if (block.size < sizeof h || (uintptr_t)block.data % 8)
        return false;
    memcpy(&h, block.data, sizeof h);
    uint64_t lines = sizeof h, pieces = lines + (uint64_t)h.lines * sizeof *u->lines,
             instances = pieces + (uint64_t)h.pieces * sizeof *u->pieces,
             texts = instances + (uint64_t)h.instances * sizeof *u->instances;
    if (texts > block.size || h.text_bytes != block.size - texts || !h.text_bytes || block.data[texts] ||
        block.data[block.size - 1])
        return false;
    const void *at = block.data;
    const char *data = at;
    *u = (struct index_unit){.base = h.base,
                             .lines = (const void *)(data + lines),
                             .pieces = (const void *)(data + pieces),
                             .instances = (const void *)(data + instances),
                             .texts = data + texts,
                             .line_count = h.lines,
                             .piece_count = h.pieces,
                             .instance_count = h.instances,
                             .text_bytes = h.text_bytes};
    return true;
}

static const char *text(const struct index_unit *u, uint32_t at) {
    return at < u->text_bytes ? u->texts + at : "";
}

/* How many of `count` rows, which begin with their address, begin at or before one. */
static size_t up_to(const void *rows, size_t count, size_t row_size, uint32_t at) {
    const char *first = rows;
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        uint32_t start;
        memcpy(&start, first + mid * row_size, sizeof start);
        if (start <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool index_unit_line(const struct index_unit *u, uint64_t addr, struct object_line *out) {
    *out = (struct object_line){0};
    if (addr < u->base || addr - u->base > UINT32_MAX)
        return false;
    size_t n = up_to(u->lines, u->line_count, sizeof *u->lines, (uint32_t)(addr - u->base));
    const struct index_line *line = n ? &u->lines[n - 1] : NULL;
    if (!line || !line->file)
        return false;
    *out = (struct object_line){text(u, line->file), line->line};
    return true;
}

size_t index_unit_chain(const struct index_unit *u, uint64_t addr, struct object_inline *out, size_t max) {
    if (addr < u->base || addr - u->base > UINT32_MAX)
        return 0;
    size_t n = up_to(u->pieces, u->piece_count, sizeof *u->pieces, (uint32_t)(addr - u->base));
    uint32_t at = n ? u->pieces[n - 1].instance : INDEX_NONE;
    struct object_line line = {0};
    size_t count = 0;
    for (unsigned depth = 0; at < u->instance_count && count < max && depth < INDEX_DEPTH_MAX; depth++) {
        const struct index_instance *i = &u->instances[at];
        out[count++] = (struct object_inline){text(u, i->name), line};
        line = (struct object_line){i->file ? text(u, i->file) : NULL, i->line};
        at = i->parent;
    }
    return count;
}
