/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks are those of profile/table/blocks.c: a function, and where in it the block begins and ends. The same
 * block of two sides is one that begins and ends at the same places of one row's function. As in perf, a row
 * is shown if each side that has it has blocks of it.
 */
#include "profile/compare/blocks.h"

#include <math.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

/* A function of a side, and a row that it is in. */
struct place {
    uint32_t name, row;
};

struct finding {
    const struct compare *c;
    const struct compare_side *sides;
    struct compare_blocks *out;
    VEC(struct place) places;         /* of the current side, by name */
    VEC(struct compare_block) bases;  /* the base's, by place; see add_side */
    struct profile_blocks base, side; /* what the profiles say */
    VEC(bool) has;                    /* [row * sides + side]: there are blocks */
    struct out text;
};

static int by_name(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Lists the functions of a side with their rows, each once. False: out of memory. */
static bool find_places(struct finding *x, uint32_t side) {
    const struct compare_side *s = &x->sides[side];
    const struct profile *p = s->profile;
    size_t kept = 0;
    x->places.count = 0;
    for (uint32_t i = 0; i < s->event->root_count; i++) {
        struct profile_entry e = profile_entry_at(p, s->event, i);
        uint32_t frame = p->tables.items[s->event->event].rows.items[e.key].frame;
        struct place place = {p->places.items[frame].name, x->c->row_of[side][i]};
        struct place *made = place.name == PROFILE_NONE ? NULL : vec_push(&x->places);
        if (made)
            *made = place;
        else if (place.name != PROFILE_NONE)
            return false;
    }
    if (x->places.count)
        qsort(x->places.items, x->places.count, sizeof *x->places.items, by_name);
    for (size_t i = 0; i < x->places.count; i++)
        if (!i || by_name(&x->places.items[kept - 1], &x->places.items[i]) != 0)
            x->places.items[kept++] = x->places.items[i];
    x->places.count = kept;
    return true;
}

static size_t first_place(const struct finding *x, uint32_t name) {
    size_t low = 0, high = x->places.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->places.items[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_place(const struct compare_block *x, const struct compare_block *y) {
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int bases_by_place(const void *a, const void *b) {
    return by_place(a, b);
}

/* Returns the base's block at the same place; NULL: it has none. */
static const struct compare_block *base_of(const struct finding *x, const struct compare_block *block) {
    return !x->bases.count
               ? NULL
               : bsearch(block, x->bases.items, x->bases.count, sizeof *x->bases.items, bases_by_place);
}

static void compare_values(const struct profile_block_values *base, const struct profile_block_values *now,
                           struct compare_block *out) {
    double sum = 0, squares = 0;
    out->pairs = base->count < now->count ? base->count : now->count;
    for (uint32_t i = 0; i < out->pairs; i++) {
        int difference = now->cycles[i] - base->cycles[i];
        out->differences[i] = (uint32_t)abs(difference);
        sum += out->differences[i];
    }
    double mean = out->pairs ? sum / out->pairs : 0;
    for (uint32_t i = 0; i < out->pairs; i++)
        squares += ((double)out->differences[i] - mean) * ((double)out->differences[i] - mean);
    if (out->pairs > 1 && mean > 0)
        out->variation = sqrt(squares / (out->pairs - 1) / out->pairs) / mean * 100;
}

/* Adds a block of a side that is not the base. False: out of memory. */
static bool add_block(struct finding *x, const struct compare_block *like, const struct profile_block *b) {
    const struct profile *p = x->sides[like->side].profile;
    struct compare_block *made = vec_push(&x->out->list);
    if (!made)
        return false;
    *made = *like;
    made->variation = -1;
    const struct compare_block *base = base_of(x, made);
    made->difference = base ? made->difference - base->difference : 0;
    /* the base's `pairs` is the number of its values */
    if (base && x->base.values.count && x->side.values.count)
        compare_values(&x->base.values.items[base->pairs], &x->side.values.items[b->values], made);
    x->text.len = 0;
    profile_block_range(p, b, &x->text);
    made->range = arena_strndup(&x->out->arena, out_text(&x->text), x->text.len);
    return made->range && !x->text.failed;
}

/* Adds the blocks of a side. False and *err: out of memory. */
static bool add_side(struct finding *x, uint32_t side, struct err *err) {
    struct profile_blocks *all = side ? &x->side : &x->base;
    if (!profile_blocks_find(x->sides[side].profile, x->sides[side].event, all, err))
        return false;
    bool ok = find_places(x, side);
    for (size_t i = 0; ok && i < all->list.count; i++) {
        const struct profile_block *b = &all->list.items[i];
        for (size_t k = first_place(x, b->name);
             ok && k < x->places.count && x->places.items[k].name == b->name; k++) {
            struct compare_block block = {.start = b->start,
                                          .end = b->end,
                                          .row = x->places.items[k].row,
                                          .side = side,
                                          .difference = (int64_t)(b->cycles / b->count),
                                          .pairs = side ? 0 : b->values};
            x->has.items[(size_t)block.row * x->c->sides + side] = true;
            struct compare_block *base = side ? NULL : vec_push(&x->bases);
            if (base)
                *base = block;
            ok = side ? add_block(x, &block, b) : base != NULL;
        }
    }
    if (!side && x->bases.count)
        qsort(x->bases.items, x->bases.count, sizeof *x->bases.items, bases_by_place);
    return ok || err_memory(err, "basic blocks");
}

static int in_order(const void *a, const void *b) {
    const struct compare_block *x = a, *y = b;
    int64_t p = x->difference < 0 ? -x->difference : x->difference,
            q = y->difference < 0 ? -y->difference : y->difference;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    if (p != q)
        return p > q ? -1 : 1;
    return by_place(x, y);
}

/* Whether a row is shown, as perf has it. */
static bool is_shown(const struct finding *x, uint32_t row) {
    bool any = false, all = true;
    for (uint32_t s = 0; s < x->c->sides; s++) {
        bool has = x->has.items[(size_t)row * x->c->sides + s];
        any |= has;
        all &= has || !compare_cell_at(x->c, row, s)->there;
    }
    return any && all;
}

static bool put_in_order(struct finding *x) {
    struct compare_blocks *out = x->out;
    if (out->list.count)
        qsort(out->list.items, out->list.count, sizeof *out->list.items, in_order);
    size_t at = 0;
    for (uint32_t row = 0; row <= x->c->rows.count; row++) {
        size_t *start = vec_push(&out->starts);
        bool *shown = start ? vec_push(&out->shown) : NULL;
        if (!shown)
            return false;
        while (at < out->list.count && out->list.items[at].row < row)
            at++;
        *start = at;
        *shown = row < x->c->rows.count && is_shown(x, row);
    }
    return true;
}

bool compare_blocks_find(const struct compare *c, const struct compare_side *sides,
                         struct compare_blocks *out, struct err *err) {
    struct finding x = {.c = c, .sides = sides, .out = out};
    size_t cells = c->rows.count * c->sides;
    bool ok =
        (out_init(&x.text, NULL, NULL) && vec_reserve(&x.has, cells + 1)) || err_memory(err, "basic blocks");
    for (; ok && x.has.count < cells; x.has.count++)
        x.has.items[x.has.count] = false;
    for (uint32_t s = 0; ok && s < c->sides; s++) {
        if (sides[s].event)
            ok = add_side(&x, s, err);
        if (s)
            profile_blocks_fini(&x.side);
    }
    ok = ok && (put_in_order(&x) || err_memory(err, "basic blocks"));
    profile_blocks_fini(&x.base);
    vec_fini(&x.places);
    vec_fini(&x.bases);
    vec_fini(&x.has);
    out_fini(&x.text);
    return ok;
}

void compare_blocks_fini(struct compare_blocks *b) {
    vec_fini(&b->list);
    vec_fini(&b->starts);
    vec_fini(&b->shown);
    arena_fini(&b->arena);
}
