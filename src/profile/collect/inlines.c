/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts frames of inlined functions into callchains, once all samples were read. Each distinct place is looked
 * up once, all places of an image together; then each distinct segment is made anew:
 *
 *   read       main | outer+0x8 | leaf+0x2b           one frame per offset where there is debugging
 * information expanded   main | outer | mid1 | leaf | step      `mid1` and `step` are inlined:
 * builder.inlined
 *
 * Where graphs show functions, a function's frames become one again. Samples' own frames stay as they are: as
 * in perf, a row is of the function whose code it is.
 */
#include <stdlib.h>

#include "profile/profile_internal.h"

enum { INLINES_MAX = 64 };

/* By frame: what stands for it in callchains. */
enum { AS_IT_IS = UINT32_MAX, WANTED = UINT32_MAX - 1 }; /* else: where its frames are in `list` */

struct inlining {
    struct profile_builder *b;
    struct resolve_lines *lines;
    bool functions;     /* graphs show functions */
    uint32_t *at;       /* by frame */
    VEC(uint32_t) list; /* per entry: how many frames, then the frames, outermost first */
    VEC(uint32_t) wanted;
    VEC(uint8_t) has_lines; /* by image: 0: not asked yet, 1: no, 2: yes */
    struct idtable known;   /* frames of inlined functions, with `functions` */
    struct hash_map names;  /* text ids of their names, by where these lie */
};

/* ---- what to look up ---- */

static bool has_lines(struct inlining *x, uint32_t image) {
    uint8_t *known = &x->has_lines.items[image];
    if (!*known)
        *known = 1 + resolve_names_has_lines(x->b->plan->in->names, image);
    return *known == 2;
}

/* False: out of memory. */
static bool want(struct inlining *x, uint32_t id) {
    const struct resolve_frame *f = &x->b->frames.list.items[id];
    if (x->at[id] != AS_IT_IS || f->image == MODEL_NONE || f->symbol == SYMBOL_NONE ||
        !has_lines(x, f->image))
        return true;
    uint32_t *wanted = vec_push(&x->wanted);
    if (wanted)
        *wanted = id;
    x->at[id] = WANTED;
    return wanted;
}

/* A sample without a callchain is a whole stack of one frame. */
static bool is_alone(const struct profile_builder *b, const struct profile_stack *stack) {
    return b->plan->o->stacks && stack->key.chain.outer == PROFILE_EMPTY_SEGMENT &&
           stack->key.chain.inner == PROFILE_EMPTY_SEGMENT;
}

static bool want_all(struct inlining *x) {
    const struct profile_builder *b = x->b;
    bool ok = true;
    for (size_t i = 0; ok && i < model_image_count(b->plan->in->model); i++)
        ok = vec_push(&x->has_lines);
    for (size_t i = 0; ok && i < b->segments.ids.count; i++)
        ok = want(x, b->segments.ids.items[i]);
    for (size_t i = 0; ok && i < b->stacks.count; i++)
        ok = !is_alone(b, &b->stacks.items[i]) || want(x, b->stacks.items[i].key.frame);
    return ok;
}

static int by_place(const void *a, const void *b, void *ctx) {
    const struct resolve_frame *frames = ctx, *x = &frames[*(const uint32_t *)a],
                               *y = &frames[*(const uint32_t *)b];
    int order = profile_by_number(x->image, y->image);
    return order ? order : profile_by_number(x->offset - x->back, y->offset - y->back);
}

/* Has the places looked up, image by image. */
static bool prepare(struct inlining *x, struct err *err) {
    struct resolve_frame *frames = x->b->frames.list.items;
    size_t n = x->wanted.count;
    uint32_t *order = malloc((n + 1) * sizeof *order);
    uint64_t *offsets = malloc((n + 1) * sizeof *offsets);
    bool ok = order && offsets;
    if (!ok)
        err_memory(err, "inlined functions");
    for (size_t i = 0; ok && i < n; i++)
        order[i] = x->wanted.items[i];
    if (ok && n)
        qsort_r(order, n, sizeof *order, by_place, frames);
    for (size_t i = 0, end; ok && i < n; i = end) {
        uint32_t image = frames[order[i]].image;
        for (end = i; end < n && frames[order[end]].image == image; end++)
            offsets[end] = frames[order[end]].offset - frames[order[end]].back;
        ok = resolve_lines_prepare(x->lines, image, offsets + i, end - i, x->b->plan->in->pool, err);
    }
    free(order);
    free(offsets);
    return ok;
}

/* ---- frames ---- */

/* Appends a frame made of another one. RESOLVE_NO_FRAME: out of memory. */
static uint32_t append(struct profile_builder *b, const struct resolve_frame *like) {
    const struct resolve_frame copy = *like; /* it may lie in the list */
    uint32_t id = (uint32_t)b->frames.list.count;
    struct resolve_frame *made = id < RESOLVE_NO_FRAME - 1 ? vec_push(&b->frames.list) : NULL;
    if (!made)
        return RESOLVE_NO_FRAME;
    *made = copy;
    return id;
}

/* Notes what is known of a frame that was made. False: out of memory. */
static bool note(struct profile_builder *b, uint32_t id, const struct profile_inlined *what) {
    while (b->inlined.count <= id) {
        struct profile_inlined *made = vec_push(&b->inlined);
        if (!made)
            return false;
        made->name = PROFILE_NONE;
    }
    b->inlined.items[id] = *what;
    return true;
}

/* Returns the frame of the function itself: one for all its places, or one with the line of the call. */
static uint32_t function_frame(struct inlining *x, uint32_t id, const struct object_line *line) {
    struct resolve_frame f = x->b->frames.list.items[id];
    if (x->functions) {
        f.kind = RESOLVE_FUNCTION;
        return resolve_frames_add(&x->b->frames, &f);
    }
    if (!line)
        return id;
    struct profile_inlined what = {PROFILE_NONE, line->line, line->file, true};
    uint32_t made = append(x->b, &f);
    return made != RESOLVE_NO_FRAME && note(x->b, made, &what) ? made : RESOLVE_NO_FRAME;
}

/* Whether a frame is the one of that inlined function in that function. */
static bool is_same(const struct inlining *x, uint32_t id, const struct resolve_frame *f, uint32_t name) {
    const struct resolve_frame *have = &x->b->frames.list.items[id];
    return have->image == f->image && have->symbol == f->symbol && have->cpumode == f->cpumode &&
           x->b->inlined.items[id].name == name;
}

/* Returns the text id of a name, which lives as long as the lines. STRPOOL_NONE: out of memory. */
static uint32_t name_of(struct inlining *x, const char *text) {
    uint32_t id = hash_map_get(&x->names, (uintptr_t)text);
    if (id != HASH_ABSENT)
        return id;
    const char *shown = *text ? text : "[unknown]";
    id = strpool_add(&x->b->texts, shown, strlen(shown));
    return id != STRPOOL_NONE && hash_map_set(&x->names, (uintptr_t)text, id) ? id : STRPOOL_NONE;
}

/* Returns the frame of a function that is inlined at frame `id`. RESOLVE_NO_FRAME: out of memory. */
static uint32_t inlined_frame(struct inlining *x, uint32_t id, const struct object_inline *in) {
    struct resolve_frame f = x->b->frames.list.items[id];
    uint32_t name = name_of(x, in->name);
    struct profile_inlined what = {name, in->line.line, in->line.file, true};
    if (name == STRPOOL_NONE)
        return RESOLVE_NO_FRAME;
    if (x->functions)
        f.kind = RESOLVE_FUNCTION;
    uint64_t hash =
        hash_u64(((uint64_t)f.image << 32 | f.symbol) ^ hash_u64((uint64_t)name << 8 | f.cpumode));
    struct idtable_at at = idtable_first(&x->known, hash);
    for (uint32_t have; x->functions && (have = idtable_next(&x->known, &at)) != IDTABLE_NONE;)
        if (is_same(x, have, &f, name))
            return have;
    uint32_t made = append(x->b, &f);
    if (made == RESOLVE_NO_FRAME || (x->functions && !idtable_add(&x->known, hash, made)))
        return RESOLVE_NO_FRAME;
    return note(x->b, made, &what) ? made : RESOLVE_NO_FRAME;
}

static bool put(struct inlining *x, uint32_t word) {
    uint32_t *at = vec_push(&x->list);
    if (at)
        *at = word;
    return at && word != RESOLVE_NO_FRAME;
}

/* Finds the frames that stand for a wanted one. */
static bool expand_frame(struct inlining *x, uint32_t id) {
    struct object_inline inlined[INLINES_MAX];
    const struct resolve_frame *f = &x->b->frames.list.items[id];
    size_t n = resolve_lines_inlined(x->lines, f->image, f->offset - f->back, inlined, INLINES_MAX);
    x->at[id] = (uint32_t)x->list.count;
    n = n ? n : 1;
    bool ok = put(x, (uint32_t)n) && put(x, function_frame(x, id, n > 1 ? &inlined[n - 1].line : NULL));
    for (size_t i = n - 1; ok && i--;)
        ok = put(x, inlined_frame(x, id, &inlined[i]));
    return ok;
}

static bool expand_frames(struct inlining *x) {
    bool ok = true;
    for (size_t i = 0; ok && i < x->wanted.count; i++)
        ok = expand_frame(x, x->wanted.items[i]);
    const struct profile_inlined none = {.name = PROFILE_NONE};
    size_t frames = x->b->frames.list.count;
    return ok && (x->b->inlined.count == frames || !frames || note(x->b, (uint32_t)frames - 1, &none));
}

/* ---- segments and stack samples ---- */

/* Appends what stands for a frame to b->path. False: out of memory. */
static bool go_to(struct inlining *x, uint32_t id) {
    struct profile_builder *b = x->b;
    const uint32_t *frames = x->at[id] == AS_IT_IS ? NULL : &x->list.items[x->at[id]];
    uint32_t n = frames ? *frames++ : 1;
    if (!vec_reserve(&b->path, b->path.count + n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        b->path.items[b->path.count++] = frames ? frames[i] : id;
    return true;
}

/* Makes all segments anew; map[old] is the new one. False: out of memory. */
static bool expand_segments(struct inlining *x, uint32_t *map) {
    struct profile_builder *b = x->b;
    struct profile_segments old = b->segments;
    bool ok = true;
    b->segments = (struct profile_segments){0};
    map[PROFILE_EMPTY_SEGMENT] = PROFILE_EMPTY_SEGMENT;
    for (uint32_t i = 1; ok && i < profile_segments_count(&old); i++) {
        uint32_t n;
        const uint32_t *ids = profile_segments_ids(&old, i, &n);
        vec_clear(&b->path);
        for (uint32_t k = 0; ok && k < n; k++)
            ok = go_to(x, ids[k]);
        map[i] = ok ? profile_segments_add(&b->segments, b->path.items, b->path.count) : PROFILE_NO_SEGMENT;
        ok = map[i] != PROFILE_NO_SEGMENT;
    }
    profile_segments_fini(&old);
    return ok;
}

/* Gives a stack sample its new chain. False: out of memory. */
static bool map_chain(struct inlining *x, const uint32_t *map, struct profile_stack *stack) {
    struct profile_chain *chain = &stack->key.chain;
    if (is_alone(x->b, stack)) {
        vec_clear(&x->b->path);
        if (!go_to(x, stack->key.frame))
            return false;
        chain->outer = profile_segments_add(&x->b->segments, x->b->path.items, x->b->path.count);
        return chain->outer != PROFILE_NO_SEGMENT;
    }
    chain->outer = map[chain->outer];
    chain->inner = map[chain->inner];
    return true;
}

/* Adds all stack samples anew, as some may have become equal. False: out of memory. */
static bool expand_stacks(struct inlining *x, const uint32_t *map) {
    struct profile_builder *b = x->b;
    size_t n = b->stacks.count;
    struct profile_stack *stacks = b->stacks.items;
    struct profile_weights *weights = b->weights.items;
    uint32_t *now = malloc((n + 1) * sizeof *now);
    bool ok = now;
    memset(&b->stacks, 0, sizeof b->stacks);
    memset(&b->weights, 0, sizeof b->weights);
    idtable_fini(&b->stack_index);
    for (size_t i = 0; ok && i < n; i++) {
        ok = map_chain(x, map, &stacks[i]);
        now[i] = ok ? profile_stack_add(b, &stacks[i], b->plan->extras ? &weights[i] : NULL) : PROFILE_NONE;
        ok = now[i] != PROFILE_NONE;
    }
    if (ok)
        profile_moments_renumber(b, now);
    free(stacks);
    free(weights);
    free(now);
    return ok;
}

static bool expand_all(struct inlining *x) {
    uint32_t *map = malloc((profile_segments_count(&x->b->segments) + 1u) * sizeof *map);
    bool ok = map && expand_frames(x) && expand_segments(x, map) && expand_stacks(x, map);
    free(map);
    return ok;
}

bool profile_inlines_expand(struct profile_builder *b, struct err *err) {
    if (!b->plan->inlines)
        return true;
    struct inlining x = {
        .b = b, .lines = b->plan->in->lines, .functions = b->plan->frame_kind == RESOLVE_FUNCTION};
    size_t frames = b->frames.list.count;
    x.at = malloc((frames + 1) * sizeof *x.at);
    for (size_t i = 0; x.at && i < frames; i++)
        x.at[i] = AS_IT_IS;
    bool ok = (x.at && want_all(&x)) || err_memory(err, "inlined functions");
    ok = ok && (!x.wanted.count || (prepare(&x, err) && (expand_all(&x) || err_memory(err, "profile"))));
    free(x.at);
    vec_fini(&x.list);
    vec_fini(&x.wanted);
    vec_fini(&x.has_lines);
    idtable_fini(&x.known);
    hash_map_fini(&x.names);
    return ok;
}
