/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/stack_text.h"

static const char *name_of(struct resolve_samples *r, struct resolve_sample_frame *f) {
    const char *name = resolve_sample_name(r, f, NULL);
    if (name)
        return name;
    return resolve_sample_grade(r, f) == GRADE_STALE ? "[stale]" : "[unknown]";
}

static bool is_skipped(const struct stack_text *t, const char *name) {
    for (const char *const *s = t->skip; s && *s; s++)
        if (strcmp(*s, name) == 0)
            return true;
    return false;
}

enum { INLINES_MAX = 64 };

/* The functions at an address. */
static void put_frame(const struct stack_text *t, struct resolve_samples *r, struct resolve_sample_frame *f,
                      const char *name, struct out *o) {
    struct object_inline inlined[INLINES_MAX];
    size_t n = t->no_inlines || !r->lines ? 0 : resolve_sample_inlined(r, f, inlined, INLINES_MAX);
    for (size_t i = 0; i + 1 < n; i++)
        out_printf(o, "%s (inlined) <- ", inlined[i].name);
    out_str(o, name);
}

bool stack_text_put(const struct stack_text *t, uint64_t loc, struct out *o) {
    struct resolve_samples *r = &t->stacks->samples;
    if (!recording_stacks_read(t->stacks, loc))
        return false;
    bool any = false;
    for (size_t i = 0, seen = 0; i < r->frames.count && seen < t->max; i++) {
        struct resolve_sample_frame *f = &r->frames.items[i];
        if (f->kind == RESOLVE_AT_NOTHING)
            continue;
        const char *name = name_of(r, f);
        seen++;
        if (is_skipped(t, name))
            continue;
        out_str(o, any ? " <- " : "");
        put_frame(t, r, f, name, o);
        any = true;
    }
    return true;
}
