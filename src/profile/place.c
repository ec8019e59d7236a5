/* SPDX-License-Identifier: Apache-2.0 */
/* What keys say of frames and of classes: names, ranks, and which of them are alike. */
#include <stdlib.h>

#include "profile/profile_internal.h"

/* ---- names of frames ---- */

struct naming {
    struct idtable names;
    struct hash_map dsos; /* image -> text id */
    uint32_t image, dso;  /* the last; dso: PROFILE_NONE at first */
};

static uint32_t intern_name(struct profile *p, struct naming *n, const struct profile_name *name) {
    uint64_t hash = hash_u64(name->start ^ hash_u64(name->end ^ (uint64_t)name->dso << 40));
    struct idtable_at at = idtable_first(&n->names, hash);
    for (uint32_t id; (id = idtable_next(&n->names, &at)) != IDTABLE_NONE;) {
        const struct profile_name *have = &p->list.items[id];
        if (have->dso == name->dso && have->start == name->start && have->end == name->end)
            return id;
    }
    uint32_t id = (uint32_t)p->list.count;
    struct profile_name *made = vec_push(&p->list);
    if (!made || !idtable_add(&n->names, hash, id))
        return PROFILE_NONE;
    *made = *name;
    made->text = resolve_names_text(p->plan.in->names, name->symbol);
    made->text_len = (uint32_t)strlen(made->text);
    return id;
}

/* STRPOOL_NONE: memory. */
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

/* Frames of an image come in runs. */
static inline bool make_place(struct profile *p, struct naming *n, const struct resolve_frame *f,
                              struct profile_place *out) {
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
    out->name = intern_name(p, n, &name);
    return out->name != PROFILE_NONE;
}

static bool make_places(struct profile *p) {
    struct naming n = {.dso = PROFILE_NONE};
    size_t count = p->b.frames.list.count;
    bool ok = vec_reserve(&p->places, count);
    bool source = p->plan.finds & PROFILE_FINDS_LINES, types = p->plan.finds & PROFILE_FINDS_TYPES;
    for (size_t i = 0; ok && i < count; i++) {
        const struct resolve_frame *f = &p->b.frames.list.items[i];
        struct profile_place *place = &p->places.items[p->places.count++];
        ok = make_place(p, &n, f, place) && (!source || profile_find_source(p, f, place)) &&
             (!types || profile_find_type(p, f));
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

/* Ranks of names, by text and by address, and of all other texts. */
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
    return make_places(p) && profile_grade_frames(p) && profile_find_sizes(p) && profile_frame_lines(p) &&
           rank(p);
}

/* ---- keys ---- */

bool profile_has_key(const struct profile *p, enum profile_column_id id) {
    for (uint32_t i = 0; i < p->key_count; i++)
        if (p->keys[i]->key->id == id)
            return true;
    return false;
}

/* ---- frames and classes with the same keys ---- */

/* The words of the keys that follow from a frame, or of those that follow from a class. */
static unsigned words_of(const struct profile *p, bool place, uint32_t id, uint64_t *words) {
    struct profile_row row = {.frame = place ? id : 0, .klass = place ? 0 : id};
    unsigned n = 0;
    for (uint32_t i = 0; i < p->key_count; i++)
        if ((p->keys[i]->key->kind == PROFILE_KEY_PLACE) == place)
            n += profile_key_words(p, p->keys[i], &row, words + n);
    return n;
}

enum { WORDS_MAX = PROFILE_COLUMNS_MAX * PROFILE_KEY_WORDS };

/* Finds the group of a frame or class: first[group] is one of its members. `add`: one word more. A new
 * group's number is that of the groups. PROFILE_NONE: memory. */
static uint32_t group_of(const struct profile *p, struct idtable *index, const uint32_t *first,
                         uint32_t groups, bool place, uint32_t id) {
    uint64_t words[WORDS_MAX + 1], other[WORDS_MAX + 1];
    unsigned n = words_of(p, place, id, words);
    if (!place)
        words[n++] = profile_class_event(p, id);
    uint64_t hash = hash_bytes(words, n * sizeof *words);
    struct idtable_at at = idtable_first(index, hash);
    for (uint32_t group; (group = idtable_next(index, &at)) != IDTABLE_NONE;) {
        unsigned m = words_of(p, place, first[group], other);
        if (!place)
            other[m++] = profile_class_event(p, first[group]);
        if (n == m && !memcmp(words, other, n * sizeof *words))
            return group;
    }
    return idtable_add(index, hash, groups) ? groups : PROFILE_NONE;
}

bool profile_make_kinds(struct profile *p) {
    struct idtable index = {0};
    VEC(uint32_t) first = {0};
    bool ok = vec_reserve(&p->kinds, p->b.class_total + 1u);
    for (uint32_t i = 0; ok && i < p->b.class_total; i++) {
        uint32_t kind = group_of(p, &index, first.items, (uint32_t)first.count, false, i);
        *vec_push(&p->kinds) = kind;
        if (kind != first.count) {
            ok = kind != PROFILE_NONE;
            continue;
        }
        uint32_t *member = vec_push(&first);
        struct profile_kind *made = vec_push(&p->kind_list);
        ok = member && made;
        if (ok) {
            *member = i;
            *made = (struct profile_kind){(uint32_t)profile_class_event(p, i), i};
        }
    }
    idtable_fini(&index);
    vec_fini(&first);
    return ok;
}

/* Whether a name says all that keys say of a frame. */
static bool names_decide(const struct profile *p) {
    bool symbol = false;
    for (uint32_t i = 0; i < p->key_count; i++) {
        const struct profile_key *key = p->keys[i]->key;
        if (key->kind == PROFILE_KEY_PLACE && key->id != PROFILE_SYMBOL && key->id != PROFILE_DSO)
            return false;
        symbol |= key->id == PROFILE_SYMBOL;
    }
    return symbol;
}

/*
 * Where there are no keys but those of names and objects, a frame without a name is told apart by what
 * symbol_words says, and by its object (the family): two of a family are alike if their own addresses are
 * equal. Frames of one image, kind and level are distinct by these already, so only what belongs to a family
 * of several such is looked for in an index.
 */
struct family {
    uint32_t first, count; /* a frame of it; how many there are */
    bool mixed;
};

struct spotter {
    struct profile *p;
    bool by_dso;
    struct family *families; /* by number */
    uint32_t *by_name;       /* the spots of names; PROFILE_NONE: none yet */
    struct idtable index;    /* of frames in mixed families */
};

static inline uint32_t family_of(const struct spotter *s, uint32_t frame) {
    bool stale = profile_grade_of(s->p, frame) == GRADE_STALE;
    return (s->by_dso || stale ? s->p->places.items[frame].dso + 1 : 0) << 1 | stale;
}

/* Whether two frames without names that are not the same one have different own addresses. */
static inline bool is_akin(const struct resolve_frame *a, const struct resolve_frame *b) {
    bool by_line = a->kind == RESOLVE_ADDRESS || a->kind == RESOLVE_OFFSET;
    return a->image == b->image && a->kind == b->kind && a->cpumode == b->cpumode &&
           (a->back == b->back || !by_line);
}

/* Finds the families of all frames without names. False: memory. */
static bool find_families(struct spotter *s) {
    const struct profile *p = s->p;
    size_t families = (p->b.texts.entries.count + 1) * 2, mixed = 0;
    s->families = calloc(families, sizeof *s->families);
    for (uint32_t i = 0; s->families && i < p->places.count; i++) {
        if (p->places.items[i].name != PROFILE_NONE)
            continue;
        struct family *family = &s->families[family_of(s, i)];
        if (!family->count++)
            family->first = i;
        else if (!family->mixed)
            family->mixed = !is_akin(&p->b.frames.list.items[i], &p->b.frames.list.items[family->first]);
    }
    for (size_t i = 0; s->families && i < families; i++)
        mixed += s->families[i].mixed ? s->families[i].count : 0;
    return s->families && (!mixed || idtable_reserve(&s->index, mixed));
}

static inline uint64_t hash_nameless(const struct spotter *s, uint32_t family, uint32_t frame) {
    uint64_t address = profile_own_address(s->p, &s->p->b.frames.list.items[frame]);
    return hash_u64(address ^ (uint64_t)family * HASH_ODD);
}

/* The spot of a frame of a mixed family; `next` is that of a new one. PROFILE_NONE: memory. */
static uint32_t mixed_spot(struct spotter *s, uint32_t family, uint32_t frame, uint32_t next) {
    const struct resolve_frame *frames = s->p->b.frames.list.items;
    uint64_t hash = hash_nameless(s, family, frame), address = profile_own_address(s->p, &frames[frame]);
    struct idtable_at at = idtable_first(&s->index, hash);
    for (uint32_t other; (other = idtable_next(&s->index, &at)) != IDTABLE_NONE;)
        if (profile_own_address(s->p, &frames[other]) == address && family_of(s, other) == family)
            return profile_spot_of(s->p, other);
    return idtable_add(&s->index, hash, frame) ? next : PROFILE_NONE;
}

static void ask_ahead(const struct spotter *s, uint32_t frame) {
    enum { AHEAD = 16 };
    if (frame + AHEAD >= s->p->places.count || s->p->places.items[frame + AHEAD].name != PROFILE_NONE)
        return;
    uint32_t family = family_of(s, frame + AHEAD);
    if (s->families[family].mixed)
        idtable_prefetch(&s->index, hash_nameless(s, family, frame + AHEAD));
}

static inline void put_spot(struct profile *p, uint32_t frame, uint32_t spot) {
    p->spots.items[frame] = profile_spot_word(spot, &p->b.frames.list.items[frame]);
}

/* Where a name says all. p->spots has room. */
static bool make_named_spots(struct profile *p) {
    struct spotter s = {.p = p, .by_dso = profile_has_key(p, PROFILE_DSO)};
    size_t names = p->list.count * sizeof *s.by_name;
    s.by_name = malloc(names + 1);
    bool ok = s.by_name && find_families(&s);
    if (ok && names)
        memset(s.by_name, 0xff, names); /* PROFILE_NONE */
    uint32_t next = 0;
    for (uint32_t i = 0; ok && i < p->places.count; i++) {
        ask_ahead(&s, i);
        uint32_t name = p->places.items[i].name, spot = next;
        if (name != PROFILE_NONE) {
            spot = s.by_name[name] != PROFILE_NONE ? s.by_name[name] : next;
            s.by_name[name] = spot;
        } else {
            uint32_t family = family_of(&s, i);
            if (s.families[family].mixed)
                spot = mixed_spot(&s, family, i, next);
        }
        put_spot(p, i, spot);
        next += spot == next;
        ok = spot != PROFILE_NONE;
    }
    p->spot_count = next;
    idtable_fini(&s.index);
    free(s.by_name);
    free(s.families);
    return ok;
}

/* Where other keys tell frames apart. p->spots has room. */
static bool make_other_spots(struct profile *p) {
    struct idtable index = {0};
    VEC(uint32_t) first = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->places.count; i++) {
        uint32_t spot = group_of(p, &index, first.items, (uint32_t)first.count, true, i);
        put_spot(p, i, spot);
        ok = spot != PROFILE_NONE;
        uint32_t *member = spot == first.count ? vec_push(&first) : NULL;
        ok = ok && (member || spot < first.count);
        if (member)
            *member = i;
    }
    p->spot_count = (uint32_t)first.count;
    idtable_fini(&index);
    vec_fini(&first);
    return ok;
}

bool profile_make_spots(struct profile *p) {
    bool ok = vec_reserve(&p->spots, p->places.count + 1) &&
              (names_decide(p) ? make_named_spots(p) : make_other_spots(p));
    p->spots.count = ok ? p->places.count : 0;
    return ok && p->spot_count <= PROFILE_SPOTS_MAX;
}
