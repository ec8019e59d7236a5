/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which rows are printed. It is total: the same recording gives the same order on every machine,
 * with any number of threads, and in whatever order the tables were filled.
 *
 *   sums       of the columns that are measures, larger first
 *   depth      with call graphs, where sums are equal: callers before callees
 *   keys       by the columns' values, as each column compares them
 *   image      and offset in it, where all columns are equal: functions of one name, nameless places
 *
 * Each of these gives a row a number, called a *term*. The sort is stable and starts with the least
 * significant term; consecutive terms that fit into 64 bits together share one sort.
 */
#include <stdlib.h>

#include "base/radix.h"
#include "base/threads/prefetch.h"
#include "profile/profile_internal.h"

struct term {
    enum { TERM_MEASURE, TERM_DEPTH, TERM_KEY, TERM_END, TERM_WORD, TERM_IMAGE, TERM_OFFSET } what;
    const struct profile_column *c; /* only of TERM_MEASURE, _KEY, _END, _WORD */
    uint32_t member;                /* TERM_MEASURE: of a group */
    unsigned bits;                  /* its numbers fit into so many */
};

struct sorter {
    const struct profile *p;
    const struct profile_table *t;
    VEC(struct term) terms; /* the most important one first */
    bool failed;            /* memory */
};

/* Returns the number to sort by: where means are shown it is their sum, as in perf. */
static uint64_t measure_in(const struct profile_sums *s, const struct profile_through *children,
                           const uint64_t *latency, const struct profile_column *c) {
    if (!children && c->key->layout & PROFILE_OF_CHILDREN) /* "N/A" */
        return 0;
    return profile_measure(s, children, latency, c);
}

uint32_t profile_sorting_member(const struct profile *p, const struct profile_table *t) {
    int index = p->plan.o->group_sort_index;
    return index > 0 && (uint32_t)index < t->members ? (uint32_t)index : 0;
}

static uint64_t measure(const struct profile *p, const struct profile_table *t, const struct term *term,
                        uint32_t row) {
    size_t at = (size_t)row * t->members + term->member;
    if (term->member)
        return measure_in(&t->joined_self.items[at],
                          t->joined_children.items ? &t->joined_children.items[at] : NULL,
                          t->joined_latency.items ? &t->joined_latency.items[at] : NULL, term->c);
    const struct profile_row *r = &t->rows.items[row];
    return measure_in(&t->self.items[r->self], p->plan.o->children ? &t->through.items[row] : NULL,
                      t->latency.items ? &t->latency.items[row] : NULL, term->c);
}

/* ---- keys ---- */

uint64_t profile_rank_text(const struct profile *p, const uint64_t *words) {
    return p->text_ranks.items[words[0]];
}

/* Returns the rank of a row's value in a key column. Values without a name come last, and are equal here. */
static uint64_t key_rank(const struct profile *p, const struct profile_column *c,
                         const struct profile_row *row) {
    uint64_t words[PROFILE_KEY_WORDS];
    const struct profile_key *key = c->key;
    profile_key_words(p, c, row, words);
    if (key->rank)
        return key->rank(p, words);
    if (key->kind == PROFILE_KEY_TEXT || key->kind == PROFILE_KEY_TEXTS)
        return p->text_ranks.items[words[0]];
    return key->downwards ? UINT64_MAX - words[0] : words[0];
}

/* Ranks branch ends by address, as a signed number: the kernel's come first. */
static uint64_t end_rank(const struct profile *p, const struct profile_column *c,
                         const struct profile_row *row) {
    uint64_t words[PROFILE_KEY_WORDS];
    profile_key_words(p, c, row, words);
    return words[1] ^ 1ull << 63;
}

static uint64_t word_rank(const struct profile *p, const struct profile_column *c,
                          const struct profile_row *row) {
    uint64_t words[PROFILE_KEY_WORDS];
    profile_key_words(p, c, row, words);
    return c->field ? p->text_ranks.items[(uint32_t)words[0]] : words[0];
}

/* Ranks rows by object; but places without a name at one address are one, whichever objects they lie in. */
static uint64_t image_rank(const struct profile *p, const struct profile_row *row) {
    const struct profile_place *place = &p->places.items[row->frame];
    bool one = place->name == PROFILE_NONE && profile_grade_of(p, row->frame) != GRADE_STALE;
    return one ? p->b.texts.entries.count : profile_dso_rank(p, place->dso);
}

/* Ranks functions by where they lie, a place without a name by its own address. */
static uint64_t offset_rank(const struct profile *p, const struct profile_row *row) {
    uint32_t name = p->places.items[row->frame].name;
    return name != PROFILE_NONE ? p->name_places.items[name]
                                : profile_own_address(p, &p->b.frames.list.items[row->frame]);
}

/* ---- terms ---- */

static uint64_t number(const struct sorter *s, const struct term *term, uint32_t i) {
    const struct profile_row *row = &s->t->rows.items[i];
    switch (term->what) {
    case TERM_MEASURE:
        return ~measure(s->p, s->t, term, i);
    case TERM_DEPTH: /* callers before callees */
        return s->p->plan.o->chain_order == PROFILE_CALLER ? UINT16_MAX - row->depth : row->depth;
    case TERM_KEY:
        return key_rank(s->p, term->c, row);
    case TERM_END:
        return end_rank(s->p, term->c, row);
    case TERM_WORD:
        return word_rank(s->p, term->c, row);
    case TERM_IMAGE:
        return image_rank(s->p, row);
    case TERM_OFFSET:
        return offset_rank(s->p, row);
    }
    return 0;
}

/* Returns how many bits hold the ranks of a key. */
static unsigned rank_bits(const struct profile *p, const struct profile_column *c) {
    enum profile_column_id id = c->key->id;
    if (id == PROFILE_SYMBOL || id == PROFILE_IPC)
        return profile_bits_of(p->list.count);
    bool text = c->key->kind == PROFILE_KEY_TEXT || c->key->kind == PROFILE_KEY_TEXTS;
    return id == PROFILE_DSO || (text && !c->field) ? profile_bits_of(p->b.texts.entries.count) : 64;
}

static void add_term(struct sorter *s, struct term term) {
    struct term *made = vec_push(&s->terms);
    s->failed |= !made;
    if (made)
        *made = term;
}

/* Where the sorting member's sums are equal the other members' decide, but never the leader's, nor any if
 * --group-sort-idx names no member. */
static void add_measure(struct sorter *s, const struct profile_column *c) {
    const struct profile_options *o = s->p->plan.o;
    bool of_children = c->key->layout & PROFILE_OF_CHILDREN;
    add_term(s, (struct term){TERM_MEASURE, c, profile_sorting_member(s->p, s->t), 64});
    for (uint32_t m = 1; !of_children && o->group_sort_index < (int)s->t->members && m < s->t->members; m++)
        add_term(s, (struct term){TERM_MEASURE, c, m, 64});
    if (of_children && o->children && o->chain_mode != PROFILE_CHAIN_NONE)
        add_term(s, (struct term){TERM_DEPTH, c, 0, 16});
}

static void add_key(struct sorter *s, const struct profile_column *c) {
    if (c->key->id == PROFILE_IPC && profile_has_key(s->p, PROFILE_SYMBOL))
        return; /* whose rank is the same */
    add_term(s, (struct term){TERM_KEY, c, 0, rank_bits(s->p, c)});
    if (c->key->by_address)
        add_term(s, (struct term){TERM_END, c, 0, 64});
}

/* Adds what tells rows of equal keys apart. */
static void add_rest(struct sorter *s) {
    const struct profile *p = s->p;
    bool symbol = false;
    for (uint32_t i = 0; i < p->key_count; i++)
        symbol |= p->keys[i]->key->of_function;
    if (symbol && !profile_has_key(p, PROFILE_DSO))
        add_term(s, (struct term){TERM_IMAGE, NULL, 0, profile_bits_of(p->b.texts.entries.count)});
    if (symbol)
        add_term(s, (struct term){TERM_OFFSET, NULL, 0, 64});
    for (uint32_t i = 0; i < p->key_count; i++)
        if (p->keys[i]->key->word_decides)
            add_term(s, (struct term){TERM_WORD, p->keys[i], 0, 64});
}

static bool find_terms(struct sorter *s) {
    const struct profile_columns *c = s->p->plan.o->columns;
    for (size_t i = 0; i < c->order.count; i++) {
        if (profile_column_is_key(&c->order.items[i]))
            add_key(s, &c->order.items[i]);
        else
            add_measure(s, &c->order.items[i]);
    }
    add_rest(s);
    return !s->failed;
}

/* ---- rows ---- */

/* Fills in, by row, the numbers of the terms [from, end), which fit into 64 bits together. */
static void fill(const struct sorter *s, size_t from, size_t end, uint64_t *numbers, uint32_t n) {
    enum { AHEAD = 12 };
    const struct profile_row *rows = s->t->rows.items;
    memset(numbers, 0, n * sizeof *numbers);
    for (const struct term *term = &s->terms.items[from]; term < &s->terms.items[end]; term++) {
        bool place = term->what == TERM_KEY || term->what == TERM_IMAGE, frame = term->what == TERM_OFFSET;
        for (uint32_t i = 0; i < n; i++) {
            if (place && i + AHEAD < n)
                prefetch(&s->p->places.items[rows[i + AHEAD].frame]);
            else if (frame && i + AHEAD < n)
                profile_frame_prefetch(s->p, rows[i + AHEAD].frame);
            numbers[i] = (term->bits < 64 ? numbers[i] << term->bits : 0) | number(s, term, i);
        }
    }
}

/* Sorts by the last terms first: sorting is stable. */
static void sort_rows(const struct sorter *s, struct radix_item *items, struct radix_item *room,
                      uint64_t *numbers, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        items[i].value = i;
    for (size_t from, end = s->terms.count; end > 0; end = from) {
        unsigned bits = s->terms.items[from = end - 1].bits;
        while (from > 0 && bits + s->terms.items[from - 1].bits <= 64)
            bits += s->terms.items[--from].bits;
        fill(s, from, end, numbers, n);
        for (uint32_t i = 0; i < n; i++)
            items[i].key = numbers[items[i].value];
        radix_sort(items, room, n);
    }
}

bool profile_sort(const struct profile *p, struct profile_table *t) {
    struct sorter s = {.p = p, .t = t};
    uint32_t n = (uint32_t)t->rows.count;
    struct radix_item *items = malloc((n + 1) * sizeof *items), *room = malloc((n + 1) * sizeof *room);
    uint64_t *numbers = malloc((n + 1) * sizeof *numbers);
    bool ok = items && room && numbers && find_terms(&s) && vec_reserve(&t->order, (size_t)n + 1);
    if (ok)
        sort_rows(&s, items, room, numbers, n);
    for (uint32_t i = 0; ok && i < n; i++)
        t->order.items[t->order.count++] = items[i].value;
    vec_fini(&s.terms);
    free(items);
    free(room);
    free(numbers);
    return ok;
}

int profile_image_compare(const struct profile *p, uint32_t x, uint32_t y) {
    if (x == y || x == MODEL_NONE || y == MODEL_NONE)
        return profile_by_number(x, y);
    const struct model_image *a = model_image(p->plan.in->model, x), *b = model_image(p->plan.in->model, y);
    int order = strcmp(a->name, b->name);
    order = order ? order : memcmp(a->build_id, b->build_id, sizeof a->build_id);
    order =
        order ? order : profile_by_number((uint64_t)a->maj << 32 | a->min, (uint64_t)b->maj << 32 | b->min);
    order = order ? order : profile_by_number(a->ino, b->ino);
    order = order ? order : profile_by_number(a->ino_generation, b->ino_generation);
    order = order ? order : profile_by_number(a->pid, b->pid);
    return order ? order : profile_by_number(a->first_ns, b->first_ns);
}

int profile_key_compare(const struct profile *p, const struct profile_column *c, const struct profile_row *x,
                        const struct profile_row *y) {
    const struct profile_key *key = c->key;
    int order = profile_by_number(key_rank(p, c, x), key_rank(p, c, y));
    if (!order && key->by_address)
        order = profile_by_number(end_rank(p, c, x), end_rank(p, c, y));
    if (!order && key->word_decides)
        order = profile_by_number(word_rank(p, c, x), word_rank(p, c, y));
    if (!order && key->of_function)
        order = profile_by_number(image_rank(p, x), image_rank(p, y));
    return order || !key->of_function ? order : profile_by_number(offset_rank(p, x), offset_rank(p, y));
}
