/* SPDX-License-Identifier: Apache-2.0 */
#include "object/index/index_build.h"

/* A row while rows are put in order. */
struct row {
    uint64_t address;
    uint32_t file, line;
    uint32_t order; /* ends first, then as the program made them */
    bool end;
};

static int by_address(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->end != y->end)
        return x->end ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static struct row *sorted_rows(const struct index_build *b) {
    size_t n = b->lines.rows.count;
    struct row *rows = calloc(n ? n : 1, sizeof *rows);
    bool sorted = true;
    for (size_t i = 0; rows && i < n; i++) {
        const struct dinfo_line_row *r = &b->lines.rows.items[i];
        rows[i] = (struct row){r->address, r->file, r->line, (uint32_t)i, r->end};
        sorted = sorted && (!i || by_address(&rows[i - 1], &rows[i]) <= 0);
    }
    if (rows && !sorted)
        qsort(rows, n, sizeof *rows, by_address);
    return rows;
}

/* The lowest address that numbers of 32 bits reach all others from; what is below was left out by the linker.
 */
static uint64_t base_of(const struct index_build *b, const struct row *rows, size_t count) {
    uint64_t low = UINT64_MAX, high = 0;
    if (count) {
        low = rows[0].address;
        high = rows[count - 1].address;
    }
    if (b->flat.count) {
        uint64_t first = b->flat.items[0].start, last = b->flat.items[b->flat.count - 1].start;
        low = first < low ? first : low;
        high = last > high ? last : high;
    }
    return low > high ? 0 : high - low < UINT32_MAX ? low : high - UINT32_MAX / 2;
}

/* --- The block ---------------------------------------------------------------------------------------------
 */

struct parts {
    VEC(struct index_line) lines;
    VEC(struct index_piece) pieces;
};

static void put_line(struct index_build *b, struct parts *p, uint32_t at, uint32_t file, uint32_t line) {
    size_t n = p->lines.count;
    const struct index_line *last = n ? &p->lines.items[n - 1] : NULL;
    if (last ? last->file == file && last->line == line : !file)
        return;
    struct index_line *l = vec_push(&p->lines);
    b->failed = b->failed || !l;
    if (l)
        *l = (struct index_line){at, file, file ? line : 0};
}

/* Of the rows of one address the last counts. */
static void put_lines(struct index_build *b, struct parts *p, const struct row *rows, size_t count,
                      uint64_t base) {
    for (size_t i = 0; i < count && !b->failed; i++) {
        const struct row *r = &rows[i];
        if (r->address < base || (i + 1 < count && rows[i + 1].address == r->address))
            continue;
        bool none = r->end || i + 1 == count; /* a program that does not end its last sequence */
        put_line(b, p, (uint32_t)(r->address - base), none ? 0 : index_file(b, r->file), none ? 0 : r->line);
    }
}

static void put_pieces(struct index_build *b, struct parts *p, uint64_t base) {
    for (size_t i = 0; i < b->flat.count && !b->failed; i++) {
        const struct index_flat *f = &b->flat.items[i];
        bool hidden = f->start < base; /* but what is valid at the base begins there */
        if (hidden && i + 1 < b->flat.count && b->flat.items[i + 1].start <= base)
            continue;
        struct index_piece *piece = vec_push(&p->pieces);
        b->failed = !piece;
        if (piece)
            *piece = (struct index_piece){hidden ? 0 : (uint32_t)(f->start - base), f->instance};
    }
}

/* Texts become offsets, and everything lies in one block. */
static bool assemble(struct index_build *b, struct parts *p, uint64_t base, struct bytes *out) {
    size_t texts = b->texts.entries.count, text_bytes = 0;
    uint32_t *at = calloc(texts ? texts : 1, sizeof *at);
    for (size_t i = 0; at && i < texts; i++) {
        at[i] = (uint32_t)text_bytes;
        text_bytes += b->texts.entries.items[i].len + 1;
    }
    size_t lines = p->lines.count * sizeof *p->lines.items,
           pieces = p->pieces.count * sizeof *p->pieces.items,
           instances = b->instances.count * sizeof *b->instances.items;
    struct index_head h = {base, (uint32_t)p->lines.count, (uint32_t)p->pieces.count,
                           (uint32_t)b->instances.count, (uint32_t)text_bytes};
    size_t size = sizeof h + lines + pieces + instances + text_bytes;
    char *block = at ? malloc(size) : NULL, *w = block;
    for (size_t i = 0; block && i < p->lines.count; i++)
        p->lines.items[i].file = at[p->lines.items[i].file];
    for (size_t i = 0; block && i < b->instances.count; i++) {
        struct index_instance *n = &b->instances.items[i];
        n->name = at[n->name];
        n->file = at[n->file];
    }
    const struct bytes parts[] = {{(const uint8_t *)&h, sizeof h},
                                  {(const uint8_t *)p->lines.items, lines},
                                  {(const uint8_t *)p->pieces.items, pieces},
                                  {(const uint8_t *)b->instances.items, instances}};
    for (size_t i = 0; block && i < sizeof parts / sizeof *parts; i++)
        if (parts[i].size)
            w = (char *)memcpy(w, parts[i].data, parts[i].size) + parts[i].size;
    for (size_t i = 0; block && i < texts; i++)
        w = (char *)memcpy(w, b->texts.entries.items[i].text, b->texts.entries.items[i].len + 1) +
            b->texts.entries.items[i].len + 1;
    free(at);
    *out = (struct bytes){(uint8_t *)block, block ? size : 0};
    return block;
}

static void fini(struct index_build *b) {
    dinfo_lines_fini(&b->lines);
    vec_fini(&b->instances);
    vec_fini(&b->functions);
    vec_fini(&b->inlined);
    vec_fini(&b->flat);
    vec_fini(&b->file_texts);
    strpool_fini(&b->texts);
    hash_map_fini(&b->names);
    for (size_t i = 0; i < INDEX_FOREIGN; i++)
        dinfo_unit_fini(&b->foreign[i]);
}

static void init(struct index_build *b, struct dinfo_unit *u, const struct dinfo_unit *of_lines) {
    const struct bytes *sections = u->file->sections;
    size_t info = u->head.end - u->head.at;
    *b = (struct index_build){.unit = u};
    /* What it takes to write a range or a text bounds how many there can be, unless they overlap. */
    b->ranges_left = info + u->rnglists.size + u->main->sections[DINFO_RANGES].size;
    b->text_most = UINT32_MAX / 4;
    if (b->text_most > info + sections[DINFO_STR].size + of_lines->line.size * 16 + 65536)
        b->text_most = info + sections[DINFO_STR].size + of_lines->line.size * 16 + 65536;
    if (u->alt)
        b->text_most += u->alt->sections[DINFO_STR].size;
    b->failed = strpool_add(&b->texts, "", 0) != 0 || !dinfo_lines_read(of_lines, &b->lines);
    b->text_bytes = 1;
    size_t files = b->failed ? 0 : b->lines.files.count;
    b->failed = b->failed || !vec_reserve(&b->file_texts, files);
    for (; !b->failed && b->file_texts.count < files; b->file_texts.count++)
        b->file_texts.items[b->file_texts.count] = INDEX_NONE;
}

bool index_unit_make(struct dinfo_unit *u, const struct dinfo_unit *of_lines, struct bytes *out) {
    struct index_build b;
    struct parts p = {0};
    init(&b, u, of_lines);
    if (!b.failed && dinfo_unit_read_abbrevs(u)) {
        index_walk(&b);
        index_flatten(&b);
    }
    struct row *rows = b.failed ? NULL : sorted_rows(&b);
    if (rows) {
        uint64_t base = base_of(&b, rows, b.lines.rows.count);
        put_lines(&b, &p, rows, b.lines.rows.count, base);
        put_pieces(&b, &p, base);
        free(rows);
        b.failed = b.failed || !assemble(&b, &p, base, out);
    } else {
        b.failed = true;
    }
    vec_fini(&p.lines);
    vec_fini(&p.pieces);
    fini(&b);
    return !b.failed;
}
