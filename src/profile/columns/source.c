/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of places, as perf report prints them. */
#include <inttypes.h>
#include <stdio.h>

#include "profile/profile_internal.h"

/* Appends, where no line is known, the function and the offset in it or, without one, the image and the
 * address. */
static void put_no_line(const struct profile *p, uint32_t image, uint64_t offset,
                        const struct profile_place *place, struct out *o) {
    if (place->name != PROFILE_NONE) {
        const struct profile_name *name = &p->list.items[place->name];
        out_str(o, name->text);
        out_char(o, '+');
        out_dec(o, offset - name->start, 0);
        return;
    }
    const struct symbol_table *t = image == MODEL_NONE ? NULL : resolve_names_table(p->plan.in->names, image);
    out_str(o, strpool_text(&p->b.texts, place->dso));
    out_char(o, '[');
    out_hex(o, t ? symbol_table_address(t, offset) : offset, 0);
    out_char(o, ']');
}

static bool find_line(const struct profile *p, uint32_t image, uint64_t offset, struct object_line *line) {
    return p->plan.in->lines && resolve_lines_find(p->plan.in->lines, image, offset, line);
}

bool profile_frame_source(const struct profile *p, uint32_t frame, struct object_line *out) {
    const struct profile_inlined *in = profile_inlined_at(&p->b, frame);
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    if (!in || !in->placed)
        return find_line(p, f->image, f->offset - f->back, out);
    *out = (struct object_line){in->file, in->line};
    return in->file;
}

/* Returns the file of a line, which is appended. */
static const char *put_line(const struct profile *p, const struct object_line *line, struct out *o) {
    const char *file = resolve_lines_file(line, p->plan.o->full_source_path);
    out_printf(o, "%s:%" PRIu32, file, line->line);
    return file;
}

void profile_put_source(const struct profile *p, uint32_t image, uint64_t offset, uint32_t name,
                        struct out *o) {
    struct object_line line;
    if (find_line(p, image, offset, &line))
        put_line(p, &line, o);
    else
        put_no_line(p, image, offset, &(struct profile_place){.name = name}, o);
}

bool profile_find_source(struct profile *p, uint32_t frame, const struct profile_place *place) {
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    struct object_line line;
    struct out o;
    const char *file = "";
    bool ok = out_init(&o, NULL, NULL);
    struct profile_source *source = vec_push(&p->sources);
    if (ok && f->image == MODEL_NONE)
        out_str(&o, "??:0");
    else if (ok && profile_frame_source(p, frame, &line))
        file = put_line(p, &line, &o);
    else if (ok)
        put_no_line(p, f->image, f->offset, place, &o);
    if (ok && source) {
        const char *text = out_text(&o);
        source->line = strpool_add(&p->b.texts, text, strlen(text));
        source->file = strpool_add(&p->b.texts, file, strlen(file));
        ok = source->line != STRPOOL_NONE && source->file != STRPOOL_NONE;
    }
    out_fini(&o);
    return ok && source;
}

/* ---- types of data ---- */

static uint32_t kept(struct profile *p, const char *text) {
    return strpool_add(&p->b.texts, text, strlen(text));
}

bool profile_find_type(struct profile *p, const struct resolve_frame *f) {
    static const char *const words[] = {[RESOLVE_ACCESS_UNKNOWN] = "(unknown)",
                                        [RESOLVE_ACCESS_STACK] = "(stack operation)",
                                        [RESOLVE_ACCESS_CANARY] = "(stack canary)"};
    struct object_type type;
    enum resolve_access access = RESOLVE_ACCESS_UNKNOWN;
    struct profile_type *out = vec_push(&p->types);
    if (!out)
        return false;
    if (p->plan.in->lines && f->image != MODEL_NONE && !f->back && /* callers' are calls, not accesses */
        model_image(p->plan.in->model, f->image)->kind == MODEL_IMAGE_FILE)
        access = resolve_lines_type(p->plan.in->lines, f->image, f->offset, &type);
    *out = (struct profile_type){.name = kept(p, access == RESOLVE_ACCESS_TYPE ? type.name : words[access])};
    if (access == RESOLVE_ACCESS_TYPE) {
        out->known = true;
        out->offset = type.offset;
        out->field = kept(p, *type.field ? type.field : "no field");
    }
    return out->name != STRPOOL_NONE && out->field != STRPOOL_NONE;
}
