/* SPDX-License-Identifier: Apache-2.0 */
/* How well the names of places are known, and how much of a profile is not proved. */
#include <inttypes.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

static struct resolve_symbol symbol_of(const struct resolve_frame *f) {
    return (struct resolve_symbol){f->image, f->symbol};
}

/* ---- where names are from, for the columns that show it ---- */

/* Finds where a name is from: "symtab of /usr/lib/libc.so.6". */
static bool find_basis(struct profile *p, const struct resolve_frame *f, struct profile_basis *basis) {
    struct symbol_provenance from = resolve_provenance_of(p->plan.in->names, MODEL_NONE, symbol_of(f)).symbol;
    struct out o;
    bool ok = out_init(&o, NULL, NULL);
    if (ok) {
        out_str(&o, symbol_list_text(from.list));
        if (from.list != SYMBOL_IN_NONE && from.path) {
            out_str(&o, " of ");
            out_str(&o, from.path);
        }
        const char *text = out_text(&o);
        basis->identity = (uint8_t)from.identity;
        basis->text = strpool_add(&p->b.texts, text, strlen(text));
        ok = basis->text != STRPOOL_NONE;
    }
    out_fini(&o);
    return ok;
}

bool profile_grade_frames(struct profile *p) {
    size_t count = p->b.frames.list.count;
    bool basis = p->plan.finds & PROFILE_FINDS_EVIDENCE;
    if (!vec_reserve(&p->grades, count) || (basis && !vec_reserve(&p->bases_of, count)))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct resolve_frame *f = &p->b.frames.list.items[i];
        p->grades.items[i] = (uint8_t)resolve_grade(p->plan.in->names, symbol_of(f));
        if (basis && !find_basis(p, f, vec_push(&p->bases_of)))
            return false;
    }
    p->grades.count = count;
    return true;
}

/* ---- sums ---- */

/* A chain that only --max-stack cut is still proved. */
uint32_t profile_longest_chain(const struct profile *p, uint32_t event) {
    uint32_t most = resolve_chain_limit(&p->plan.in->events->list.items[event].attr);
    return most <= p->plan.o->max_stack ? most : UINT32_MAX;
}

/* Returns in how many of a stack sample's samples the callchain or stack dump was cut, so that the caller of
 * the outermost frame (*frame) is unknown; 0 as well if that frame is not exact anyway. */
static uint64_t cut_samples(const struct profile *p, size_t i, uint32_t *frame) {
    const struct profile_stack *stack = &p->b.stacks.items[i];
    uint32_t n, depth = profile_chain_length(&p->b, stack->key.chain);
    uint64_t samples = p->plan.unwinds ? p->b.weights.items[i].cut : 0;
    if (depth >= profile_longest_chain(p, profile_group_key_event(p, stack->key.group_key)))
        samples = stack->samples;
    if (!samples || !depth)
        return 0;
    const uint32_t *outermost = profile_segments_ids(&p->b.segments, stack->key.chain.outer, &n);
    *frame = n ? outermost[0] : PROFILE_NONE;
    return n && p->grades.items[*frame] == GRADE_EXACT ? samples : 0;
}

/* ---- quality ---- */

static void count_frame(const struct profile *p, uint32_t frame, uint64_t samples,
                        struct profile_image_grades *by_image) {
    if (profile_is_inlined(&p->b, frame)) /* its function counts */
        return;
    by_image[p->b.frames.list.items[frame].image + 1].frames[p->grades.items[frame]] += samples;
}

/* Counts frames by grade into by_image[image + 1]. False: out of memory. */
static bool each_frame(const struct profile *p, struct profile_image_grades *by_image) {
    const struct profile_builder *b = &p->b;
    uint32_t segments = profile_segments_count(&b->segments), n;
    uint64_t *samples = calloc(segments + 1u, sizeof *samples);
    for (size_t i = 0; samples && i < b->stacks.count; i++) {
        const struct profile_stack *stack = &b->stacks.items[i];
        samples[stack->key.chain.outer] += stack->samples;
        samples[stack->key.chain.inner] += stack->samples;
        uint32_t frame;
        uint64_t cut = cut_samples(p, i, &frame);
        if (stack->key.chain.outer == PROFILE_EMPTY_SEGMENT)
            count_frame(p, stack->key.frame, stack->samples, by_image);
        if (cut)
            profile_lower_grade(by_image[b->frames.list.items[frame].image + 1].frames, cut);
    }
    for (uint32_t i = 0; samples && i < segments; i++) {
        const uint32_t *frames = profile_segments_ids(&b->segments, i, &n);
        for (uint32_t k = 0; k < n; k++)
            count_frame(p, frames[k], samples[i], by_image);
    }
    free(samples);
    return samples;
}

static uint64_t all_frames(const struct profile_image_grades *g) {
    uint64_t all = 0;
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        all += g->frames[i];
    return all;
}

static int most_first(const void *x, const void *y) {
    const struct profile_image_grades *a = x, *b = y;
    uint64_t m = all_frames(a), n = all_frames(b);
    return m != n ? (m < n) - (m > n) : (a->image > b->image) - (a->image < b->image);
}

static void judge_chains(const struct profile *p, struct profile_quality *q) {
    const struct profile_builder *b = &p->b;
    for (size_t i = 0; i < b->stacks.count; i++) {
        const struct profile_stack *stack = &b->stacks.items[i];
        uint32_t depth = profile_chain_length(b, stack->key.chain), n;
        const uint32_t *outermost = profile_segments_ids(&b->segments, stack->key.chain.outer, &n);
        q->chains += depth ? stack->samples : 0;
        q->truncated += depth >= profile_longest_chain(p, profile_group_key_event(p, stack->key.group_key))
                            ? stack->samples
                            : 0;
        q->lost_callers += n && b->frames.list.items[outermost[0]].image == MODEL_NONE ? stack->samples : 0;
    }
}

bool profile_quality_find(const struct profile *p, struct profile_quality *out, struct err *err) {
    uint32_t images = model_image_count(p->plan.in->model);
    struct profile_image_grades *all = calloc((size_t)images + 1, sizeof *all);
    if (!all || !vec_reserve(&out->images, (size_t)images + 1) || !each_frame(p, all)) {
        free(all);
        return err_memory(err, "grades");
    }
    for (uint32_t i = 0; i <= images; i++) {
        all[i].image = i - 1; /* MODEL_NONE is the number before the first */
        if (all_frames(&all[i]))
            *vec_push(&out->images) = all[i];
    }
    free(all);
    qsort(out->images.items, out->images.count, sizeof *out->images.items, most_first);
    for (size_t i = 0; i < p->b.stacks.count; i++)
        out->samples += p->b.stacks.items[i].samples;
    if (p->plan.chains)
        judge_chains(p, out);
    return true;
}

void profile_quality_fini(struct profile_quality *q) {
    vec_fini(&q->images);
}

/* ---- conservation ---- */

bool profile_conserves(const struct profile *p, struct err *err) {
    const struct profile_builder *b = &p->b;
    uint64_t read = 0, left = 0, kept = 0;
    if (p->plan.o->branch) /* there rows count branches */
        return true;
    for (size_t i = 0; i < b->tally.count; i++) {
        read += b->tally.items[i].read;
        left += b->tally.items[i].filtered + b->tally.items[i].dropped;
    }
    for (size_t i = 0; i < b->stacks.count; i++)
        kept += b->stacks.items[i].samples;
    if (kept + left == read)
        return true;
    return err_set(err, ERR_BROKEN, NULL,
                   "the profile does not add up: of %" PRIu64 " samples %" PRIu64 " are in it, and %" PRIu64
                   " were left out. This is a mistake of sonde's",
                   read, kept, left);
}
