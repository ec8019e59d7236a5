/* SPDX-License-Identifier: Apache-2.0 */
/* What keys say of frames and of classes: names, ranks, and which of them are alike. */
#include <stdlib.h>

#include "profile/profile_internal.h"

/* ---- names of frames ---- */

struct naming {
    struct idtable names;
    struct hash_map dsos; /* image -> text id */
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

static bool make_place(struct profile *p, struct naming *n, const struct resolve_frame *f,
                       struct profile_place *out) {
    const struct profile_input *in = p->plan.in;
    uint32_t dso = hash_map_get(&n->dsos, f->image);
    if (dso == HASH_ABSENT) {
        const struct model_image *image = f->image == MODEL_NONE ? NULL : model_image(in->model, f->image);
        const char *text = !image ? "[unknown]" : p->plan.o->verbose ? image->name : image->short_name;
        dso = strpool_add(&p->b.texts, text, strlen(text));
        if (f->image == MODEL_NONE)
            p->no_dso = dso;
        if (dso == STRPOOL_NONE || !hash_map_set(&n->dsos, f->image, dso))
            return false;
    }
    *out = (struct profile_place){.dso = dso, .name = PROFILE_NONE};
    if (f->symbol == SYMBOL_NONE)
        return true;
    const struct symbol_table *t = resolve_names_table(in->names, f->image);
    struct profile_name name = {.dso = dso,
                                .start = symbol_table_start(t, f->symbol),
                                .end = symbol_table_end(t, f->symbol),
                                .symbol = {f->image, f->symbol}};
    out->name = intern_name(p, n, &name);
    return out->name != PROFILE_NONE;
}

static bool make_places(struct profile *p) {
    struct naming n = {0};
    size_t count = p->b.frames.list.count;
    bool ok = vec_reserve(&p->places, count);
    bool source = profile_wants_source(p->plan.o), types = profile_wants_types(p->plan.o);
    for (size_t i = 0; ok && i < count; i++) {
        const struct resolve_frame *f = &p->b.frames.list.items[i];
        struct profile_place *place = vec_push(&p->places);
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
    return x->end < y->end ? -1 : x->end > y->end;
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
    if (ok) {
        qsort_r(order, names, sizeof *order, by_address, p);
        for (uint32_t i = 0; i < names; i++)
            p->name_places.items[order[i]] = i;
        for (uint32_t i = 0; i < texts; i++)
            list[i] = strpool_text(&p->b.texts, i);
        ok = profile_rank_texts(list, texts, p->text_ranks.items);
    }
    free(list);
    free(order);
    return ok;
}

bool profile_make_places(struct profile *p) {
    return make_places(p) && profile_grade_frames(p) && profile_find_sizes(p) && profile_frame_lines(p) &&
           rank(p);
}

/* ---- keys ---- */

uint64_t profile_class_value(const struct profile *p, uint32_t klass, enum profile_column_id id) {
    return p->b.class_values.items[(size_t)klass * p->plan.class_count + p->plan.slot_of[id]];
}

bool profile_has_key(const struct profile *p, enum profile_column_id id) {
    for (uint32_t i = 0; i < p->key_count; i++)
        if (p->keys[i] == id)
            return true;
    return false;
}

uint32_t profile_key_frame(const struct profile *p, enum profile_column_id id,
                           const struct profile_row *row) {
    return profile_key_is_frame(id) ? (uint32_t)profile_class_value(p, row->klass, id) : row->frame;
}

/* A symbol is itself; a place without one is its address, in whichever object: perf takes equal ones for one
 * unless there is a column for objects. */
static unsigned symbol_words(const struct profile *p, uint32_t frame, uint64_t *words) {
    const struct profile_place *place = &p->places.items[frame];
    words[0] = place->name;
    if (profile_grade_of(p, frame) == GRADE_STALE) /* which is shown with its object */
        words[0] |= (uint64_t)place->dso << 32;
    words[1] = place->name != PROFILE_NONE ? 0 : profile_own_address(&p->b.frames.list.items[frame]);
    return 2;
}

unsigned profile_key_words(const struct profile *p, enum profile_column_id id, const struct profile_row *row,
                           uint64_t *words) {
    uint32_t frame = id == PROFILE_DSO || id == PROFILE_SYMBOL ? row->frame : profile_key_frame(p, id, row);
    switch (id) {
    case PROFILE_DSO:
    case PROFILE_DSO_FROM:
    case PROFILE_DSO_TO:
        words[0] = p->places.items[frame].dso;
        return 1;
    case PROFILE_SYMBOL:
    case PROFILE_SYMBOL_FROM:
    case PROFILE_SYMBOL_TO:
    case PROFILE_IPC: /* of a function */
        return symbol_words(p, frame, words);
    case PROFILE_SYMBOL_OFFSET:
        symbol_words(p, frame, words);
        words[1] = p->b.frames.list.items[frame].offset;
        return 2;
    case PROFILE_ADDR_FROM:
    case PROFILE_ADDR_TO:
        words[0] = p->places.items[frame].dso;
        words[1] = p->b.frames.list.items[frame].offset;
        return 2;
    case PROFILE_ADDR:
        words[0] = p->b.frames.list.items[frame].address;
        return 1;
    case PROFILE_COMM_NODIGIT: /* told apart without the digits; see keys.c */
        words[0] = profile_class_value(p, row->klass, id) >> 32;
        return 1;
    case PROFILE_DSO_SIZE:
    case PROFILE_SYMBOL_SIZE:
        words[0] = profile_size_of(p, id, frame);
        return 1;
    case PROFILE_SRCLINE:
    case PROFILE_SRCLINE_FROM:
    case PROFILE_SRCLINE_TO:
    case PROFILE_SRCFILE:
        words[0] = profile_source_text(&p->sources.items[frame], id);
        return 1;
    case PROFILE_TYPE:
        words[0] = p->types.items[frame].name;
        return 1;
    case PROFILE_TYPEOFF:
    case PROFILE_TYPECLN:
        words[0] = p->types.items[frame].name;
        words[1] = p->types.items[frame].offset / (id == PROFILE_TYPECLN ? PROFILE_CACHELINE_BYTES : 1);
        return 2;
    case PROFILE_GRADE:
        words[0] = profile_grade_of(p, frame);
        return 1;
    case PROFILE_IDENTITY:
        words[0] = p->bases_of.items[frame].identity;
        return 1;
    case PROFILE_PROVENANCE:
        words[0] = p->bases_of.items[frame].text;
        return 1;
    default:
        words[0] = profile_class_value(p, row->klass, id);
        return profile_key_is_mem(id) ? profile_mem_words(p, id, frame, words[0], words) : 1;
    }
}

/* ---- frames and classes with the same keys ---- */

/* The words of the keys that follow from a frame, or of those that follow from a class. */
static unsigned words_of(const struct profile *p, bool place, uint32_t id, uint64_t *words) {
    struct profile_row row = {.frame = place ? id : 0, .klass = place ? 0 : id};
    unsigned n = 0;
    for (uint32_t i = 0; i < p->key_count; i++)
        if (profile_key_is_place((enum profile_column_id)p->keys[i]) == place)
            n += profile_key_words(p, (enum profile_column_id)p->keys[i], &row, words + n);
    return n;
}

enum { WORDS_MAX = PROFILE_COLUMN_COUNT * PROFILE_KEY_WORDS };

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

static bool make_kinds(struct profile *p) {
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
        if (profile_key_is_place((enum profile_column_id)p->keys[i]) && p->keys[i] != PROFILE_SYMBOL &&
            p->keys[i] != PROFILE_DSO)
            return false;
        symbol |= p->keys[i] == PROFILE_SYMBOL;
    }
    return symbol;
}

/* What keys say of a frame without a name, as symbol_words has it, where there are none but those of names
 * and objects. */
struct nameless {
    uint64_t address;
    uint32_t dso; /* PROFILE_NONE: no key tells it */
    bool stale;
};

static struct nameless nameless_of(const struct profile *p, uint32_t frame, bool by_dso) {
    bool stale = profile_grade_of(p, frame) == GRADE_STALE;
    return (struct nameless){profile_own_address(&p->b.frames.list.items[frame]),
                             by_dso || stale ? p->places.items[frame].dso : PROFILE_NONE, stale};
}

static uint64_t hash_nameless(struct nameless n) {
    return hash_u64(n.address ^ ((uint64_t)n.dso << 1 | n.stale) * 0x9e3779b97f4a7c15u);
}

/* As group_of for these. */
static uint32_t nameless_spot(const struct profile *p, struct idtable *index, const uint32_t *first,
                              uint32_t groups, bool by_dso, uint32_t frame) {
    struct nameless x = nameless_of(p, frame, by_dso);
    uint64_t hash = hash_nameless(x);
    struct idtable_at at = idtable_first(index, hash);
    for (uint32_t group; (group = idtable_next(index, &at)) != IDTABLE_NONE;) {
        struct nameless y = nameless_of(p, first[group], by_dso);
        if (x.address == y.address && x.dso == y.dso && x.stale == y.stale)
            return group;
    }
    return idtable_add(index, hash, groups) ? groups : PROFILE_NONE;
}

static void ask_ahead(const struct profile *p, const struct idtable *index, uint32_t frame, bool by_dso) {
    enum { AHEAD = 16 };
    if (frame + AHEAD < p->places.count && p->places.items[frame + AHEAD].name == PROFILE_NONE)
        idtable_prefetch(index, hash_nameless(nameless_of(p, frame + AHEAD, by_dso)));
}

static bool make_spots(struct profile *p) {
    struct idtable index = {0};
    VEC(uint32_t) first = {0}, by_name = {0};
    size_t count = p->places.count;
    bool ok = vec_reserve(&p->spots, count + 1), named = names_decide(p),
         by_dso = profile_has_key(p, PROFILE_DSO);
    if (ok && named)
        ok = vec_reserve(&first, count + 1) && idtable_reserve(&index, count);
    for (size_t i = 0; ok && named && i < p->list.count; i++) {
        uint32_t *spot = vec_push(&by_name);
        ok = spot != NULL;
        if (ok)
            *spot = PROFILE_NONE;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t name = p->places.items[i].name;
        uint32_t *known = named && name != PROFILE_NONE ? &by_name.items[name] : NULL;
        uint32_t groups = (uint32_t)first.count;
        if (named)
            ask_ahead(p, &index, i, by_dso);
        uint32_t spot = known   ? *known
                        : named ? nameless_spot(p, &index, first.items, groups, by_dso, i)
                                : group_of(p, &index, first.items, groups, true, i);
        if (known && spot == PROFILE_NONE)
            *known = spot = groups;
        *vec_push(&p->spots) = spot;
        ok = spot != PROFILE_NONE;
        uint32_t *member = spot == first.count ? vec_push(&first) : NULL;
        ok = ok && (member || spot < first.count);
        if (member)
            *member = i;
    }
    p->spot_count = (uint32_t)first.count;
    idtable_fini(&index);
    vec_fini(&first);
    vec_fini(&by_name);
    return ok;
}

bool profile_make_spots(struct profile *p) {
    return make_kinds(p) && make_spots(p);
}
