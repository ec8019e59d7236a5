/* SPDX-License-Identifier: Apache-2.0 */
/* Call graphs of frames that are not functions (-g address, -g srcline, rows by address or line): which of
 * them are shown as one, and what follows their names. */
#include "profile/profile_internal.h"

/* Finds the line of a frame as graphs show it: without inlined functions that of the address as recorded. */
static bool find_line(const struct profile *p, uint32_t frame, struct object_line *line) {
    const struct profile_inlined *in = profile_inlined_at(&p->b, frame);
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    if (in && in->placed)
        return profile_frame_source(p, frame, line);
    return p->plan.in->lines && resolve_lines_find(p->plan.in->lines, f->image, f->offset, line);
}

static bool find_lines(struct profile *p) {
    struct object_line line;
    struct out o;
    bool ok = out_init(&o, NULL, NULL) && vec_reserve(&p->frame_lines, p->places.count);
    for (uint32_t i = 0; ok && i < p->places.count; i++) {
        uint32_t *text = vec_push(&p->frame_lines);
        *text = PROFILE_NONE;
        if (p->places.items[i].name == PROFILE_NONE || !find_line(p, i, &line))
            continue;
        o.len = 0;
        out_str(&o, resolve_lines_file(&line, p->plan.o->full_source_path));
        out_char(&o, ':');
        out_dec(&o, line.line, 0);
        *text = strpool_add(&p->b.texts, o.buf, o.len);
        ok = *text != STRPOOL_NONE;
    }
    out_fini(&o);
    return ok;
}

/* Fills in what frames shown as one have in common: without a name the address, as it is shown; else the
 * offset in the image, or the function and its line, if known. What is inlined is in one place with others.
 */
enum { IDENTITY_WORDS = 3 };
static void identity_of(const struct profile *p, uint32_t frame, uint64_t *words) {
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    uint32_t name = p->places.items[frame].name;
    words[2] = name;
    if (name == PROFILE_NONE || p->plan.o->chain_key == PROFILE_BY_ADDRESS) {
        words[0] = 1ull << 32 | f->image;
        words[1] = name == PROFILE_NONE ? f->address : f->offset;
    } else {
        words[0] = name;
        words[1] = p->frame_lines.count ? p->frame_lines.items[frame] : PROFILE_NONE;
    }
}

bool profile_frame_lines(struct profile *p) {
    struct idtable table = {0};
    size_t count = p->places.count;
    bool functions =
        p->plan.o->chain_key == PROFILE_BY_FUNCTION; /* graphs show functions, but rows may show parts */
    if ((functions && p->plan.frame_kind == RESOLVE_FUNCTION) || p->plan.o->chain_mode == PROFILE_CHAIN_NONE)
        return true;
    bool ok = (functions || find_lines(p)) && vec_reserve(&p->frame_groups, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint64_t words[IDENTITY_WORDS], other[IDENTITY_WORDS];
        identity_of(p, i, words);
        uint64_t hash = hash_bytes(words, sizeof words);
        struct idtable_at at = idtable_first(&table, hash);
        uint32_t first = i, id;
        while (first == i && (id = idtable_next(&table, &at)) != IDTABLE_NONE) {
            identity_of(p, id, other);
            if (!memcmp(words, other, sizeof words))
                first = id;
        }
        *vec_push(&p->frame_groups) = first;
        ok = first != i || idtable_add(&table, hash, i);
    }
    idtable_fini(&table);
    return ok;
}

static void put_place(const struct profile *p, uint32_t frame, const struct profile_name *name,
                      struct out *o) {
    uint32_t text = p->frame_lines.items[frame];
    out_char(o, ' ');
    if (text != PROFILE_NONE) {
        out_str(o, strpool_text(&p->b.texts, text));
    } else if (p->plan.o->chain_key == PROFILE_BY_ADDRESS) {
        out_char(o, '+');
        out_dec(o, p->b.frames.list.items[frame].offset - name->start, 0);
    } else {
        out_str(o, "??:0");
    }
}

void profile_put_frame_line(const struct profile *p, uint32_t frame, struct out *o) {
    const struct profile_name *name = profile_name_of(p, frame);
    size_t suffix = name->inlined ? sizeof PROFILE_INLINED_SUFFIX - 1 : 0;
    if (!p->frame_lines.count)
        suffix = 0;
    out_mem(o, name->text, name->text_len - suffix);
    if (p->frame_lines.count)
        put_place(p, frame, name, o);
    if (suffix)
        out_str(o, PROFILE_INLINED_SUFFIX);
}
