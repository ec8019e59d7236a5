/* SPDX-License-Identifier: Apache-2.0 */
/* From distinct (class, place) and callchains to the sorted entries of each event. */
#include <math.h>

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
        const char *text =
            f->image == MODEL_NONE ? "[unknown]" : model_image(in->model, f->image)->short_name;
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
    bool ok = vec_reserve(&p->places, count) && vec_reserve(&p->memo, count);
    bool source = profile_wants_source(p->plan.o);
    for (size_t i = 0; ok && i < count; i++) {
        *vec_push(&p->memo) = (struct profile_row_memo){PROFILE_NONE, PROFILE_NONE};
        const struct resolve_frame *f = &p->b.frames.list.items[i];
        struct profile_place *place = vec_push(&p->places);
        ok = make_place(p, &n, f, place) && (!source || profile_find_source(p, f, place));
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

/* ---- entries ---- */

uint64_t profile_class_value(const struct profile *p, uint32_t klass, enum profile_column_id id) {
    return p->b.class_values.items[(size_t)klass * p->plan.class_count + p->plan.slot_of[id]];
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
    case PROFILE_ADDR:
    case PROFILE_ADDR_FROM:
    case PROFILE_ADDR_TO:
        words[0] = p->b.frames.list.items[frame].address;
        return 1;
    case PROFILE_DSO_SIZE:
    case PROFILE_SYMBOL_SIZE:
        words[0] = profile_size_of(p, id, frame);
        return 1;
    case PROFILE_SRCLINE:
    case PROFILE_SRCLINE_FROM:
    case PROFILE_SRCLINE_TO:
    case PROFILE_SRCFILE:
        words[0] = profile_source_text(&p->places.items[frame], id);
        return 1;
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

static unsigned all_words(const struct profile *p, const struct profile_row *row, uint64_t *words) {
    unsigned n = 0;
    for (uint32_t i = 0; i < p->key_count; i++)
        n += profile_key_words(p, (enum profile_column_id)p->keys[i], row, words + n);
    return n;
}

static uint32_t find_row(struct profile *p, struct profile_table *t, uint32_t klass, uint32_t frame) {
    uint64_t words[PROFILE_COLUMN_COUNT * PROFILE_KEY_WORDS], other[PROFILE_COLUMN_COUNT * PROFILE_KEY_WORDS];
    struct profile_row row = {.first_ns = UINT64_MAX, .klass = klass, .frame = frame};
    unsigned n = all_words(p, &row, words);
    uint64_t hash = hash_bytes(words, n * sizeof *words);
    struct idtable_at at = idtable_first(&t->by_key, hash);
    for (uint32_t id; (id = idtable_next(&t->by_key, &at)) != IDTABLE_NONE;) {
        all_words(p, &t->rows.items[id], other);
        if (!memcmp(words, other, n * sizeof *words))
            return id;
    }
    uint32_t id = (uint32_t)t->rows.count;
    struct profile_row *made = vec_push(&t->rows);
    if (!made || (p->plan.o->children && !vec_push(&t->children)) || !idtable_add(&t->by_key, hash, id))
        return PROFILE_NONE;
    *made = row;
    return id;
}

/* The row of (class, frame) in its event's table, made if need be. PROFILE_NONE: memory. */
static uint32_t row_of(struct profile *p, struct profile_table *t, uint32_t klass, uint32_t frame) {
    struct profile_row_memo *memo = &p->memo.items[frame];
    if (memo->klass != klass || memo->row == PROFILE_NONE)
        *memo = (struct profile_row_memo){klass, find_row(p, t, klass, frame)};
    return memo->row;
}

/* Where a row's own samples are summed; NULL: memory. */
static struct profile_sums *self_of(struct profile_table *t, struct profile_row *row) {
    if (!row->self) {
        if (!t->self.count && !vec_push(&t->self))
            return NULL;
        if (!vec_push(&t->self))
            return NULL;
        row->self = (uint32_t)(t->self.count - 1);
    }
    return &t->self.items[row->self];
}

static void add_mode(struct profile_sums *sums, unsigned cpumode, uint64_t period) {
    switch (cpumode) {
    case PERFDATA_MISC_KERNEL:
        sums->period_sys += period;
        break;
    case PERFDATA_MISC_USER:
        sums->period_us += period;
        break;
    case PERFDATA_MISC_GUEST_KERNEL:
        sums->period_guest_sys += period;
        break;
    case PERFDATA_MISC_GUEST_USER:
        sums->period_guest_us += period;
        break;
    default:
        break;
    }
}

static void add_sums(struct profile_sums *to, const struct profile_base *base,
                     const struct profile_weights *w, unsigned cpumode) {
    to->period += base->period;
    to->samples += base->samples;
    add_mode(to, cpumode, base->period);
    if (w) {
        to->weight1 += w->w[0];
        to->weight2 += w->w[1];
        to->weight3 += w->w[2];
    }
}

static struct profile_table *table_of(struct profile *p, uint32_t klass) {
    return &p->tables.items[p->b.class_values.items[(size_t)klass * p->plan.class_count]];
}

/* The bases' own entries; base_rows[i] is that of base i. */
static bool add_bases(struct profile *p, uint32_t *base_rows) {
    for (size_t i = 0; i < p->b.bases.count; i++) {
        const struct profile_base *base = &p->b.bases.items[i];
        struct profile_table *t = table_of(p, base->klass);
        uint32_t id = row_of(p, t, base->klass, base->frame);
        if (id == PROFILE_NONE)
            return false;
        base_rows[i] = id;
        struct profile_row *row = &t->rows.items[id];
        unsigned cpumode = p->b.frames.list.items[base->frame].cpumode;
        if (base->first_ns < row->first_ns) {
            row->first_ns = base->first_ns;
            row->klass = base->klass;
            row->frame = base->frame;
            row->cpumode = (uint8_t)cpumode;
            row->thread = base->thread;
        }
        const struct profile_weights *w = p->plan.extras ? &p->b.weights.items[i] : NULL;
        struct profile_sums *self = self_of(t, row);
        if (!self)
            return false;
        add_sums(self, base, w, cpumode);
        if (p->plan.o->children)
            add_sums(&t->children.items[id], base, w, cpumode);
    }
    return true;
}

/* ---- callers ---- */

/* Sums of nodes from those of leaves: children have larger ids than their parents. */
static bool sum_nodes(struct profile *p) {
    struct profile_builder *b = &p->b;
    if (!vec_reserve(&p->node_sums, b->nodes.count))
        return false;
    struct profile_node_sums *sums = p->node_sums.items;
    for (size_t i = 0; i < b->nodes.count; i++) {
        *vec_push(&p->node_sums) =
            (struct profile_node_sums){.entry = PROFILE_NONE, .first_leaf = PROFILE_NONE};
        uint32_t parent = b->nodes.items[i].parent;
        sums[i].depth = sums[i].deepest = parent == PROFILE_NONE ? 0 : (uint16_t)(sums[parent].depth + 1);
    }
    const struct profile_leaf *leaves = b->leaves.items;
    for (uint32_t i = 0; i < b->leaves.count; i++) {
        struct profile_node_sums *s = &sums[leaves[i].node];
        s->period += leaves[i].period;
        s->samples += leaves[i].samples;
        if (s->first_leaf == PROFILE_NONE || leaves[i].first_ns < leaves[s->first_leaf].first_ns)
            s->first_leaf = i;
    }
    for (size_t i = b->nodes.count; i-- > 0;) {
        uint32_t parent = b->nodes.items[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        struct profile_node_sums *s = &sums[i], *up = &sums[parent];
        up->period += s->period;
        up->samples += s->samples;
        up->deepest = s->deepest > up->deepest ? s->deepest : up->deepest;
        if (up->first_leaf == PROFILE_NONE ||
            (s->first_leaf != PROFILE_NONE &&
             leaves[s->first_leaf].first_ns < leaves[up->first_leaf].first_ns))
            up->first_leaf = s->first_leaf;
    }
    return true;
}

/* Which entry each node belongs to, and whether it is the outermost of it on its path. */
static bool place_nodes(struct profile *p) {
    const struct profile_chain_node *nodes = p->b.nodes.items;
    struct profile_node_sums *sums = p->node_sums.items;
    VEC(uint32_t) classes = {0};
    bool ok = vec_reserve(&classes, p->b.nodes.count);
    for (size_t i = 0; ok && i < p->b.nodes.count; i++) {
        if (nodes[i].parent == PROFILE_NONE) {
            classes.items[i] = nodes[i].frame;
            continue;
        }
        uint32_t klass = classes.items[i] = classes.items[nodes[i].parent];
        if (!sums[i].samples || /* search.c's own */
            (p->plan.o->hide_unresolved && !profile_name_of(p, nodes[i].frame)))
            continue;
        struct profile_table *t = table_of(p, klass);
        uint32_t entry = row_of(p, t, klass, nodes[i].frame);
        sums[i].table = (uint32_t)(t - p->tables.items);
        ok = entry != PROFILE_NONE;
        sums[i].entry = entry;
        uint32_t up = nodes[i].parent;
        while (up != PROFILE_NONE && sums[up].entry != entry)
            up = nodes[up].parent;
        sums[i].outermost = up == PROFILE_NONE;
    }
    vec_fini(&classes);
    return ok;
}

static void deepen(struct profile_row *row, uint32_t depth) {
    row->depth = depth > row->depth ? (uint16_t)depth : row->depth;
}

/* A sample counts once for its own entry, whatever its chain says: add_callers will add it once more for the
 * outermost node of that entry on its chain, so it is taken out here. */
static void exclude_own(struct profile *p, const uint32_t *base_rows) {
    const struct profile_chain_node *nodes = p->b.nodes.items;
    struct profile_node_sums *sums = p->node_sums.items;
    for (size_t i = 0; i < p->b.leaves.count; i++) {
        const struct profile_leaf *leaf = &p->b.leaves.items[i];
        uint32_t own = base_rows[leaf->base];
        struct profile_row *row = &table_of(p, p->b.bases.items[leaf->base].klass)->rows.items[own];
        deepen(row, sums[leaf->node].depth);
        if (leaf->first_ns == row->first_ns)
            row->thread = leaf->thread;
        for (uint32_t at = leaf->node; at != PROFILE_NONE; at = nodes[at].parent) {
            if (sums[at].entry != own || !sums[at].outermost)
                continue;
            struct profile_sums *children =
                &table_of(p, p->b.bases.items[leaf->base].klass)->children.items[own];
            children->period -= leaf->period;
            children->samples -= leaf->samples;
            break;
        }
    }
}

/*
 * The level perf shows for an entry that a caller made. It starts as the sample's own and becomes the user's
 * with the first frame, in the order of the chain, that lies in any mapping, the kernel's too (observed on
 * 7.2).
 */
static unsigned caller_mode(const struct profile *p, uint32_t node, const struct profile_leaf *leaf) {
    const struct profile_chain_node *nodes = p->b.nodes.items;
    const struct resolve_frame *frames = p->b.frames.list.items;
    bool caller = p->plan.o->chain_order == PROFILE_CALLER;
    uint32_t at = caller ? node : leaf->node, end = caller ? PROFILE_NONE : nodes[node].parent;
    for (; at != end && nodes[at].parent != PROFILE_NONE; at = nodes[at].parent) {
        const struct resolve_frame *f = &frames[nodes[at].frame];
        if (f->image != MODEL_NONE)
            return PERFDATA_MISC_USER;
    }
    return frames[p->b.bases.items[leaf->base].frame].cpumode;
}

static void add_callers(struct profile *p) {
    const struct profile_chain_node *nodes = p->b.nodes.items;
    const struct profile_leaf *leaves = p->b.leaves.items;
    bool caller = p->plan.o->chain_order == PROFILE_CALLER;
    struct profile_table *t = NULL;
    for (uint32_t i = 0; i < p->b.nodes.count; i++) {
        const struct profile_node_sums *s = &p->node_sums.items[i];
        if (nodes[i].parent == PROFILE_NONE || s->entry == PROFILE_NONE || !s->samples)
            continue;
        if (!caller) /* perf takes an entry's innermost frame of a chain then */
            deepen(&p->tables.items[s->table].rows.items[s->entry], s->depth);
        if (!s->outermost)
            continue;
        const struct profile_leaf *leaf = &leaves[s->first_leaf];
        uint32_t klass = p->b.bases.items[leaf->base].klass;
        t = table_of(p, klass);
        struct profile_row *row = &t->rows.items[s->entry];
        t->children.items[s->entry].period += s->period;
        t->children.items[s->entry].samples += s->samples;
        if (caller)
            deepen(row, s->deepest - s->depth + 1u);
        if (leaf->first_ns < row->first_ns) {
            row->first_ns = leaf->first_ns;
            row->thread = leaf->thread;
            row->turn = caller ? s->depth : (uint16_t)(p->node_sums.items[leaf->node].depth - s->depth + 1);
            row->klass = klass;
            row->frame = nodes[i].frame;
            row->cpumode = (uint8_t)caller_mode(p, i, leaf);
        }
    }
}

/* ---- all together ---- */

/* The row is made without the memory of the last ones that is behind row_of. */
uint32_t profile_row_of(struct profile *p, struct profile_table *t, uint32_t klass, uint32_t frame) {
    return find_row(p, t, klass, frame);
}

static void add_counts(struct profile_event *e, const struct profile_tally *tally) {
    e->total.period += tally->period;
    e->total.samples += tally->samples;
    e->read += tally->read;
    e->filtered += tally->filtered;
    e->dropped += tally->dropped;
    e->lost += tally->lost;
}

static bool finish_table(struct profile *p, struct profile_table *t, uint32_t event) {
    struct profile_event *e = &t->event;
    e->event = event;
    e->members = t->members;
    e->name = p->plan.in->events->list.items[event].name;
    e->member_totals = t->totals.items;
    for (uint32_t m = 0; m < t->members; m++) {
        add_counts(e, &p->b.tally.items[event + m]);
        for (unsigned g = 0; m && g < GRADE_COUNT; g++)
            e->grades[g] += p->tables.items[event + m].event.grades[g];
    }
    double limit =
        floor((double)t->totals.items[0].period * p->plan.o->chain_min_percent / 100); /* as perf */
    for (size_t i = 0; i < t->entries.count; i++) {
        struct profile_entry *x = &t->entries.items[i];
        uint64_t period = x->children ? x->children->period : x->self->period;
        x->has_graph = p->plan.o->chain_mode == PROFILE_CHAIN_FRACTAL ||
                       (p->plan.o->chain_mode != PROFILE_CHAIN_NONE && (double)period >= limit);
    }
    e->entries = t->entries.items;
    e->entry_count = e->root_count = (uint32_t)t->entries.count;
    if (p->plan.o->hierarchy && p->key_count) {
        if (!profile_hierarchy(p, t))
            return false;
        e->entries = t->levels.items;
        e->entry_count = (uint32_t)t->levels.count;
        e->root_count = t->root_count;
    }
    return true;
}

/* Sorts and finishes the tables that are shown. */
static bool finish_tables(struct profile *p) {
    if (!profile_group(p))
        return false;
    vec_fini(&p->memo); /* no more rows are made */
    for (size_t i = 0; i < p->tables.count; i++)
        idtable_fini(&p->tables.items[i].by_key);
    for (uint32_t i = 0; i < p->tables.count; i++) {
        struct profile_table *t = &p->tables.items[i];
        if (t->member)
            continue;
        uint32_t *shown = vec_push(&p->shown);
        if (!shown || !profile_sort(p, t) || !finish_table(p, t, i))
            return false;
        *shown = i;
    }
    return true;
}

static void take_keys(struct profile *p) {
    const struct profile_columns *c = p->plan.o->columns;
    for (size_t i = 0; i < c->order.count; i++)
        if (profile_column_is_key(c->order.items[i].id))
            p->keys[p->key_count++] = (uint8_t)c->order.items[i].id;
}

bool profile_freeze(struct profile *p, struct err *err) {
    uint32_t *base_rows = malloc((p->b.bases.count + 1) * sizeof *base_rows);
    bool ok = base_rows != NULL;
    p->no_dso = PROFILE_NONE;
    take_keys(p);
    for (size_t i = 0; ok && i < p->plan.in->events->list.count; i++)
        ok = vec_push(&p->tables) != NULL;
    if (!profile_conserves(p, err)) {
        free(base_rows);
        return false;
    }
    ok = ok && make_places(p) && profile_grade_frames(p) && profile_find_sizes(p) && profile_frame_lines(p) &&
         rank(p) && add_bases(p, base_rows) && (!p->plan.chains || sum_nodes(p)) && profile_count_grades(p);
    if (ok && p->plan.o->children) {
        ok = place_nodes(p);
        if (ok) {
            exclude_own(p, base_rows);
            add_callers(p);
        }
    }
    ok = ok && finish_tables(p);
    if (ok && p->plan.chains && p->plan.o->chain_mode != PROFILE_CHAIN_NONE)
        ok = profile_graph_prepare(p, base_rows);
    free(base_rows);
    return ok || err_memory(err, "profile");
}
