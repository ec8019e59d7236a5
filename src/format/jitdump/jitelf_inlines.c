/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inlined calls as DWARF 4 (3.3.8): what lies in what, out of the places of a function at each of which it is
 * told in full.
 *
 *   places   0x00 f   0x10 a,f   0x18 b,a,f   0x20 a,f   0x28 f        innermost first
 *   DIEs     f [0x00, end)  { a [0x10, 0x28)  { b [0x18, 0x20) } }
 */
#include <stdlib.h>

#include "format/jitdump/jitelf_internal.h"

enum { DEPTH_MAX = 64, INFO_MAX_BYTES = 1 << 28 };

/* A place that makes sense, from the function's start. */
struct piece {
    uint64_t from, to;
    uint32_t first, depth;
};

/* Texts are looked up once for each source, however many places refer to it. */
struct source {
    struct bytes name, file;
    uint32_t name_id, file_id; /* STRPOOL_NONE: not asked yet, or no file */
};

struct function {
    struct jitdump_inlines in;
    bool swap, wide;
    uint64_t start;
    VEC(struct source) sources;
    VEC(struct piece) pieces;
};

void jitelf_inliner_fini(struct jitelf_inliner *x) {
    strpool_fini(&x->names);
    vec_fini(&x->offsets);
}

static bool take_sources(struct function *f) {
    struct bytes rest = f->in.source_texts;
    vec_clear(&f->sources);
    for (struct jitdump_source s; f->sources.count < f->in.sources && jitdump_source_next(&rest, &s);) {
        struct source *to = vec_push(&f->sources);
        if (!to)
            return false;
        *to = (struct source){s.name, s.file, STRPOOL_NONE, STRPOOL_NONE};
    }
    return true;
}

static bool is_sound(const struct function *f, const struct jitdump_place *p) {
    if (p->depth > DEPTH_MAX || p->first > f->in.frames || p->depth > f->in.frames - p->first)
        return false;
    for (uint32_t i = 0; i < p->depth; i++)
        if (jitdump_frame(&f->in, f->swap, p->first + i).source >= f->sources.count)
            return false;
    return true;
}

/* Places ascend; what does not, or makes no sense, is left out. */
static bool take_pieces(struct function *f, const struct jitcode_function *of) {
    vec_clear(&f->pieces);
    for (uint32_t i = 0; i < f->in.places; i++) {
        struct jitdump_place p = jitdump_place(&f->in, f->swap, i);
        uint64_t from = p.address - of->address;
        struct piece *last = f->pieces.count ? &f->pieces.items[f->pieces.count - 1] : NULL;
        if (from >= of->code.size || (last && from <= last->from))
            continue;
        if (last && last->to > from)
            last->to = from;
        if (p.depth < 2 || !is_sound(f, &p))
            continue;
        struct piece *to = vec_push(&f->pieces);
        if (!to)
            return false;
        *to = (struct piece){from, of->code.size, p.first, p.depth};
    }
    return true;
}

/* Level 0 is the function itself. */
static struct jitdump_frame frame_of(const struct function *f, const struct piece *p, uint32_t level) {
    return jitdump_frame(&f->in, f->swap, p->first + p->depth - 1 - level);
}

static bool same_call(const struct function *f, const struct piece *a, const struct piece *b,
                      uint32_t level) {
    return a->to == b->from && level < b->depth &&
           frame_of(f, a, level).source == frame_of(f, b, level).source &&
           frame_of(f, a, level - 1).line == frame_of(f, b, level - 1).line;
}

/* False: out of memory. */
static bool take_id(struct strpool *pool, struct bytes text, uint32_t *id) {
    if (*id == STRPOOL_NONE)
        *id = strpool_add(pool, text.size ? (const char *)text.data : "", text.size);
    return *id != STRPOOL_NONE;
}

/* What all inlined calls of a function refer to; kept once for all functions. False: out of memory. */
static bool put_abstract(struct jitelf_inliner *x, const struct function *f, const struct piece *p,
                         struct writer *w) {
    for (uint32_t level = 1; level < p->depth; level++) {
        struct source *s = &f->sources.items[frame_of(f, p, level).source];
        uint32_t *offset;
        if (!take_id(&x->names, s->name, &s->name_id))
            return false;
        if (s->name_id < x->offsets.count)
            continue;
        if (!(offset = vec_push(&x->offsets)))
            return false;
        *offset = (uint32_t)w->size;
        jitelf_put_uleb(w, JITELF_ABBREV_ABSTRACT);
        writer_put(w, strpool_text(&x->names, s->name_id), s->name.size + 1);
        writer_u8(w, 1); /* DW_INL_inlined */
    }
    return true;
}

/* The calls at a level that pieces [first, last) have; all of them have the levels below it in common. */
static void put_calls(struct jitelf_inliner *x, const struct function *f, size_t first, size_t last,
                      uint32_t level, struct writer *w) {
    const struct piece *p = f->pieces.items;
    for (size_t i = first, next; i < last && w->size < INFO_MAX_BYTES; i = next) {
        next = i + 1;
        if (level >= p[i].depth)
            continue;
        while (next < last && same_call(f, &p[next - 1], &p[next], level))
            next++;
        struct jitdump_frame call = frame_of(f, &p[i], level - 1);
        uint32_t id = f->sources.items[frame_of(f, &p[i], level).source].name_id;
        struct source *in = &f->sources.items[call.source];
        if (id >= x->offsets.count || (in->file.size && !take_id(x->files, in->file, &in->file_id))) {
            w->failed = true;
            return;
        }
        jitelf_put_uleb(w, in->file.size ? JITELF_ABBREV_INLINED : JITELF_ABBREV_SOMEWHERE);
        writer_u32(w, x->offsets.items[id]);
        jitelf_put_address(w, f->wide, f->start + p[i].from);
        writer_u64(w, p[next - 1].to - p[i].from);
        if (in->file.size) {
            jitelf_put_uleb(w, in->file_id + 1);
            jitelf_put_uleb(w, call.line);
        }
        put_calls(x, f, i, next, level + 1, w);
        writer_u8(w, 0);
    }
}

static void put_function(struct jitelf_inliner *x, const struct function *f,
                         const struct jitcode_function *of, struct writer *w) {
    for (size_t i = 0; i < f->pieces.count; i++)
        w->failed |= !put_abstract(x, f, &f->pieces.items[i], w);
    jitelf_put_uleb(w, JITELF_ABBREV_FUNCTION);
    writer_put(w, (const char *)of->name.data, of->name.size);
    writer_u8(w, 0);
    jitelf_put_address(w, f->wide, f->start);
    writer_u64(w, of->code.size);
    put_calls(x, f, 0, f->pieces.count, 1, w);
    writer_u8(w, 0);
}

void jitelf_put_inlines(const struct jitelf_part *p, bool wide, struct jitelf_inliner *x, struct writer *w) {
    struct function f = {.swap = p->code->swap, .wide = wide};
    for (size_t i = p->first; i < p->last && !w->failed && w->size < INFO_MAX_BYTES; i++) {
        const struct jitcode_function *of = &p->code->functions.items[i];
        if (!of->inlines.size || !jitdump_inlines_open(of->inlines, f.swap, &f.in))
            continue;
        f.start = jitelf_offset(p, i);
        bool ok = take_sources(&f) && take_pieces(&f, of);
        w->failed |= !ok;
        if (ok && f.pieces.count)
            put_function(x, &f, of, w);
    }
    vec_fini(&f.sources);
    vec_fini(&f.pieces);
}
