/* SPDX-License-Identifier: Apache-2.0 */
/* What keys tell of frames and group keys: names, ranks, and which of them are equal. */
#include <stdlib.h>

#include "profile/profile_internal.h"

/* ---- names of frames ---- */

struct naming {
    struct idtable names;
    struct hash_map dsos; /* image -> text id */
    uint32_t image, dso;  /* the last; dso: PROFILE_NONE at first */
};

static uint32_t intern_name(struct profile *p, struct naming *n, const struct profile_name *name) {
    uint64_t hash =
        hash_u64(name->start ^ hash_u64(name->end ^ (uint64_t)name->dso << 40 ^ (uintptr_t)name->text));
    struct idtable_at at = idtable_first(&n->names, hash);
    for (uint32_t id; (id = idtable_next(&n->names, &at)) != IDTABLE_NONE;) {
        const struct profile_name *have = &p->list.items[id];
        if (have->dso == name->dso && have->start == name->start && have->end == name->end &&
            have->inlined == name->inlined && (!name->inlined || have->text == name->text))
            return id;
    }
    uint32_t id = (uint32_t)p->list.count;
    struct profile_name *made = vec_push(&p->list);
    if (!made || !idtable_add(&n->names, hash, id))
        return PROFILE_NONE;
    *made = *name;
    if (!name->inlined)
        made->text = resolve_names_text(p->plan.in->names, name->symbol);
    made->text_len = (uint32_t)strlen(made->text);
    return id;
}

/* Returns the text of an image. STRPOOL_NONE: out of memory. */
static uint32_t make_dso(struct profile *p, struct naming *n, uint32_t id) {
    uint32_t dso = hash_map_get(&n->dsos, id);
    if (dso != HASH_ABSENT)
        return dso;
    const struct model_image *image = id == MODEL_NONE ? NULL : model_image(p->plan.in->model, id);
    const char *text = !image ? "[unknown]" : p->plan.o->verbose ? image->name : image->short_name;
    dso = strpool_add(&p->b.texts, text, strlen(text));
    if (id == MODEL_NONE)
        p->no_dso = dso;
    return dso != STRPOOL_NONE && hash_map_set(&n->dsos, id, dso) ? dso : STRPOOL_NONE;
}

/* Sets the name of an inlined function. False: out of memory. */
static bool name_inlined(struct profile *p, uint32_t text, struct profile_name *name) {
    struct out o;
    uint32_t shown = STRPOOL_NONE;
    if (out_init(&o, NULL, NULL)) {
        out_mem(&o, strpool_text(&p->b.texts, text), strpool_len(&p->b.texts, text));
        out_str(&o, PROFILE_INLINED_SUFFIX);
        shown = strpool_add(&p->b.texts, o.buf, o.len);
    }
    out_fini(&o);
    if (shown == STRPOOL_NONE)
        return false;
    name->text = strpool_text(&p->b.texts, shown);
    name->inlined = true;
    return true;
}

/* Makes a frame's place. Frames of an image come in runs. */
static inline bool make_place(struct profile *p, struct naming *n, uint32_t id, struct profile_place *out) {
    const struct resolve_frame *f = &p->b.frames.list.items[id];
    const struct profile_input *in = p->plan.in;
    if (f->image != n->image || n->dso == PROFILE_NONE)
        n->dso = make_dso(p, n, f->image);
    n->image = f->image;
    *out = (struct profile_place){.dso = n->dso, .name = PROFILE_NONE};
    if (n->dso == STRPOOL_NONE)
        return false;
    if (f->symbol == SYMBOL_NONE)
        return true;
    const struct symbol_table *t = resolve_names_table(in->names, f->image);
    struct profile_name name = {.dso = n->dso,
                                .start = symbol_table_start(t, f->symbol),
                                .end = symbol_table_end(t, f->symbol),
                                .symbol = {f->image, f->symbol}};
    if (profile_is_inlined(&p->b, id) && !name_inlined(p, p->b.inlined.items[id].name, &name))
        return false;
    out->name = intern_name(p, n, &name);
    return out->name != PROFILE_NONE;
}

static bool make_places(struct profile *p) {
    struct naming n = {.dso = PROFILE_NONE};
    size_t count = p->b.frames.list.count;
    bool ok = vec_reserve(&p->places, count);
    bool source = p->plan.finds & PROFILE_FINDS_LINES, types = p->plan.finds & PROFILE_FINDS_TYPES,
         sizes = p->plan.finds & PROFILE_FINDS_MAPPING;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct resolve_frame *f = &p->b.frames.list.items[i];
        struct profile_place *place = &p->places.items[p->places.count++];
        ok = make_place(p, &n, i, place) && (!source || profile_find_source(p, i, place)) &&
             (!types || profile_find_type(p, f)) && (!sizes || profile_find_size(p, f));
    }
    idtable_fini(&n.names);
    hash_map_fini(&n.dsos);
    return ok;
}

static int by_address(const void *a, const void *b, void *ctx) {
    const struct profile *p = ctx;
    const struct profile_name *x = &p->list.items[*(const uint32_t *)a],
                              *y = &p->list.items[*(const uint32_t *)b];
    if (x->start != y->start)
        return (int64_t)x->start < (int64_t)y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    uint64_t u = (uint64_t)p->text_ranks.items[x->dso] << 32 | p->name_ranks.items[x - p->list.items],
             v = (uint64_t)p->text_ranks.items[y->dso] << 32 | p->name_ranks.items[y - p->list.items];
    return u < v ? -1 : u > v;
}

/* Ranks names, by text and by address, and all other texts. False: out of memory. */
static bool rank(struct profile *p) {
    uint32_t names = (uint32_t)p->list.count, texts = (uint32_t)p->b.texts.entries.count;
    size_t most = (names > texts ? names : texts) + 1;
    const char **list = malloc(most * sizeof *list);
    uint32_t *order = malloc(most * sizeof *order);
    bool ok = list && order && vec_reserve(&p->name_ranks, names + 1) &&
              vec_reserve(&p->text_ranks, texts + 1) && vec_reserve(&p->name_places, names + 1);
    for (uint32_t i = 0; ok && i < names; i++) {
        list[i] = p->list.items[i].text;
        order[i] = i;
    }
    ok = ok && profile_rank_texts(list, names, p->name_ranks.items);
    for (uint32_t i = 0; ok && i < texts; i++)
        list[i] = strpool_text(&p->b.texts, i);
    ok = ok && profile_rank_texts(list, texts, p->text_ranks.items);
    if (ok)
        qsort_r(order, names, sizeof *order, by_address, p);
    for (uint32_t i = 0; ok && i < names; i++)
        p->name_places.items[order[i]] = i;
    free(list);
    free(order);
    return ok;
}

bool profile_make_places(struct profile *p) {
    return make_places(p) && profile_grade_frames(p) && profile_frame_lines(p) && rank(p);
}

/* ---- keys ---- */

bool profile_has_key(const struct profile *p, enum profile_column_id id) {
    for (uint32_t i = 0; i < p->key_count; i++)
        if (p->keys[i]->key->id == id)
            return true;
    return false;
}

/* ---- frames and group keys with the same keys ---- */

/* Fills in the words of the keys that follow from a frame (`place`), or else those of a group key and its
 * event. */
static unsigned words_of(const struct profile *p, bool place, uint32_t id, uint64_t *words) {
    struct profile_row row = {.frame = place ? id : 0, .group_key = place ? 0 : id};
    unsigned n = 0;
    for (uint32_t i = 0; i < p->key_count; i++)
        if ((p->keys[i]->key->kind == PROFILE_KEY_PLACE) == place)
            n += profile_key_words(p, p->keys[i], &row, words + n);
    if (!place)
        words[n++] = profile_group_key_event(p, id);
    return n;
}

enum { WORDS_MAX = PROFILE_COLUMNS_MAX * PROFILE_KEY_WORDS };

typedef VEC(uint32_t) members;

/* Returns the group of a frame (`place`) or group key: first[group] is its first member. A new group gets the
 * number `groups`. PROFILE_NONE: out of memory. */
static uint32_t group_of(const struct profile *p, struct idtable *index, const uint32_t *first,
                         uint32_t groups, bool place, uint32_t id) {
    uint64_t words[WORDS_MAX + 1], other[WORDS_MAX + 1];
    unsigned n = words_of(p, place, id, words);
    uint64_t hash = hash_bytes(words, n * sizeof *words);
    struct idtable_at at = idtable_first(index, hash);
    for (uint32_t group; (group = idtable_next(index, &at)) != IDTABLE_NONE;) {
        unsigned m = words_of(p, place, first[group], other);
        if (n == m && !memcmp(words, other, n * sizeof *words))
            return group;
    }
    return idtable_add(index, hash, groups) ? groups : PROFILE_NONE;
}

/* Finds the groups of `count` frames or group keys: group[i] of the i-th, `first` as in group_of, which is
 * zeroed. False: out of memory. */
static bool make_groups(const struct profile *p, bool place, size_t count, uint32_t *group, members *first) {
    struct idtable index = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t groups = (uint32_t)first->count;
        group[i] = group_of(p, &index, first->items, groups, place, i);
        uint32_t *member = group[i] == groups ? vec_push(first) : NULL;
        ok = group[i] != PROFILE_NONE && (member || group[i] < groups);
        if (member)
            *member = i;
    }
    idtable_fini(&index);
    return ok;
}

bool profile_make_kinds(struct profile *p) {
    members first = {0};
    size_t count = p->b.group_key_total;
    bool ok = vec_reserve(&p->kinds, count + 1) && make_groups(p, false, count, p->kinds.items, &first) &&
              vec_reserve(&p->kind_list, first.count + 1);
    for (size_t i = 0; ok && i < first.count; i++)
        *vec_push(&p->kind_list) =
            (struct profile_kind){(uint32_t)profile_group_key_event(p, first.items[i]), first.items[i]};
    p->kinds.count = ok ? count : 0;
    vec_fini(&first);
    return ok;
}

bool profile_make_frame_keys(struct profile *p) {
    members first = {0};
    size_t count = p->places.count;
    bool ok =
        vec_reserve(&p->frame_keys, count + 1) && make_groups(p, true, count, p->frame_keys.items, &first);
    for (size_t i = 0; ok && i < count; i++)
        p->frame_keys.items[i] = profile_frame_key_word(p->frame_keys.items[i], &p->b.frames.list.items[i]);
    p->frame_key_count = (uint32_t)first.count;
    p->frame_keys.count = ok ? count : 0;
    vec_fini(&first);
    return ok && p->frame_key_count <= PROFILE_FRAME_KEYS_MAX;
}
