/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of entries, as perf prints them.
 *
 * perf's comparison is no order: of two entries with equal shares, if their first samples came from the same
 * thread, the one with the longer callchain comes first (callers before callees), else the next column
 * decides. What comes out then depends on how the entries are sorted: one after the other, in the order of
 * their keys, into a red-black tree. So that is what is done here where call graphs are shown; everything
 * else is simply sorted.
 */
#include <stdlib.h>

#include "base/prefetch.h"
#include "profile/arrange.h"
#include "profile/order_tree.h"
#include "profile/profile_internal.h"

/* An entry as most comparisons see it. */
struct item {
    uint64_t first, second; /* the measures that come first, as far as there are some */
    uint64_t keys;          /* the ranks of all keys behind the measures, if they fit */
    uint64_t place;         /* the address of what has no name */
    uint32_t row, thread, depth;
};

/* What each key adds to a packed number, as pack() does it, but a table at a time: places tell of objects and
 * functions, kinds of all else. */
struct packing {
    bool planned;                /* else row by row */
    uint64_t *of_kind;           /* of the keys that follow from a class */
    int dso_shift, symbol_shift; /* -1: no such key */
};

struct sorter {
    const struct profile *p;
    const struct profile_table *t;
    struct item *items;         /* by row, until they are sorted */
    size_t measures;            /* that come before all keys */
    bool keys_last;             /* behind them come keys only... */
    bool packed;                /* ... and item.keys has them all */
    bool wraps;                 /* see by_nameless; of what is not packed */
    bool depths;                /* see above */
    struct packing packings[2]; /* of keys as they are sorted in the end; as they are told apart */
};

static int by_number(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

/* Of means, which are shown, the sums count, as in perf. */
static uint64_t measure_in(const struct profile_sums *s, const struct profile_through *children,
                           const uint64_t *latency, enum profile_column_id id) {
    if (!children && profile_measure_of_children(id)) /* "N/A" */
        return 0;
    return profile_measure(s, children, latency, id);
}

uint32_t profile_sorting_member(const struct profile *p, const struct profile_table *t) {
    int index = p->plan.o->group_sort_index;
    return index > 0 && (uint32_t)index < t->members ? (uint32_t)index : 0;
}

static uint64_t measure(const struct profile *p, const struct profile_table *t, enum profile_column_id id,
                        uint32_t row) {
    uint32_t m = profile_sorting_member(p, t);
    size_t at = (size_t)row * t->members + m;
    if (m)
        return measure_in(&t->joined_self.items[at],
                          t->joined_children.items ? &t->joined_children.items[at] : NULL,
                          t->joined_latency.items ? &t->joined_latency.items[at] : NULL, id);
    const struct profile_row *r = &t->rows.items[row];
    return measure_in(&t->self.items[r->self], p->plan.o->children ? &t->through.items[row] : NULL,
                      t->latency.items ? &t->latency.items[row] : NULL, id);
}

/* Where the sums by which is sorted are equal the other members' decide, but never the leader's; nor if there
 * is no such member. */
static int by_members(const struct profile *p, const struct profile_table *t, enum profile_column_id id,
                      uint32_t x, uint32_t y) {
    const struct profile_sums *self = t->joined_self.items;
    const struct profile_through *children = t->joined_children.items;
    const uint64_t *latency = t->joined_latency.items;
    uint32_t end = p->plan.o->group_sort_index < (int)t->members ? t->members : 0;
    for (uint32_t m = 1; m < end; m++) {
        size_t u = (size_t)x * t->members + m, v = (size_t)y * t->members + m;
        int order =
            by_number(measure_in(&self[v], children ? &children[v] : NULL, latency ? &latency[v] : NULL, id),
                      measure_in(&self[u], children ? &children[u] : NULL, latency ? &latency[u] : NULL, id));
        if (order)
            return order;
    }
    return 0;
}

static uint32_t symbol_rank(const struct profile *p, uint32_t frame) {
    uint32_t name = p->places.items[frame].name;
    return name == PROFILE_NONE ? (uint32_t)p->list.count : p->name_ranks.items[name];
}

static uint64_t dso_rank(const struct profile *p, uint64_t dso) {
    return dso == p->no_dso ? p->b.texts.entries.count : p->text_ranks.items[dso];
}

/* IPC is a function's: perf tells its values apart as it does functions. */
static bool is_function(enum profile_column_id id) {
    return id == PROFILE_SYMBOL || id == PROFILE_IPC;
}

/* perf compares what was recorded, byte by byte, and the larger comes first: of a number the lowest byte
 * decides.
 */
static uint64_t field_rank(const struct profile *p, uint32_t text) {
    const char *value = strpool_text(&p->b.texts, text);
    char *end;
    long long number = strtoll(value, &end, 10);
    if (*value && !*end)
        return UINT64_MAX - __builtin_bswap64((uint64_t)number);
    return p->b.texts.entries.count - p->text_ranks.items[text];
}

/* The kernel's lines first; then memory, then files', then what lies in no mapping. */
static uint64_t line_rank(const struct profile *p, const uint64_t *words) {
    uint32_t image = (uint32_t)words[1];
    bool file = image != MODEL_NONE && model_image(p->plan.in->model, image)->ino;
    return words[1] >> 32 << 61 | (uint64_t)(image == MODEL_NONE) << 60 | (uint64_t)file << 59 |
           (words[0] & (UINT64_MAX >> 5));
}

/* From high numbers with a sign down, as far as so many bits tell. */
static uint64_t downwards(uint64_t number, unsigned bits) {
    uint64_t sign = number >> 63, rest = ~number & (UINT64_MAX >> (65 - bits));
    return sign << (bits - 1) | rest;
}

/* The rank of a row's value in a key column; `place`: in the order in which entries are made, where symbols
 * go by their addresses. What has no name comes last; of those all are equal here. */
static uint64_t key_rank(const struct profile *p, enum profile_column_id id, const struct profile_row *row,
                         bool place) {
    uint64_t words[PROFILE_KEY_WORDS];
    const struct profile_place *own = &p->places.items[row->frame];
    if (id == PROFILE_DSO_DADDR) /* backwards, like DSO_FROM below */
        return profile_key_words(p, id, row, words), p->b.texts.entries.count - dso_rank(p, words[0]);
    if (id == PROFILE_DSO) /* the usual ones first */
        return dso_rank(p, own->dso);
    if (is_function(id))
        return own->name == PROFILE_NONE ? p->list.count
               : place                   ? p->name_places.items[own->name]
                                         : p->name_ranks.items[own->name];
    if (id == PROFILE_COMM)
        return p->text_ranks
            .items[p->b.class_values.items[(size_t)row->klass * p->plan.class_count + p->plan.slot_of[id]]];
    profile_key_words(p, id, row, words);
    switch (id) {
    case PROFILE_SYMBOL_FROM:
    case PROFILE_SYMBOL_TO:
        if ((uint32_t)words[0] == PROFILE_NONE)
            return p->list.count;
        return p->name_places.items[words[0]];
    case PROFILE_ADDR_FROM:
    case PROFILE_ADDR_TO:
    case PROFILE_DSO_FROM: /* here perf goes backwards, from what is in no DSO */
    case PROFILE_DSO_TO:
        return p->b.texts.entries.count - dso_rank(p, words[0]);
    case PROFILE_SRCLINE:
    case PROFILE_SRCLINE_FROM:
    case PROFILE_SRCLINE_TO:
    case PROFILE_SRCFILE:
    case PROFILE_PROVENANCE:
        return p->text_ranks.items[words[0]];
    case PROFILE_CYCLES: /* do not decide; entries are made from many down */
        return place ? UINT64_MAX - words[0] : 0;
    case PROFILE_CGROUP_ID: /* more first */
    case PROFILE_WEIGHT:
    case PROFILE_LOCAL_WEIGHT:
    case PROFILE_INS_LAT:
    case PROFILE_LOCAL_INS_LAT:
    case PROFILE_P_STAGE_CYC:
    case PROFILE_LOCAL_P_STAGE_CYC:
    case PROFILE_RETIRE_LAT:
    case PROFILE_LOCAL_RETIRE_LAT:
        return UINT64_MAX - words[0];
    case PROFILE_PID: /* as signed numbers: those of tasks that are gone, -1, come first */
    case PROFILE_TGID:
        return (uint32_t)words[0] ^ 1u << 31;
    case PROFILE_SYMBOL_DADDR:
    case PROFILE_SYMBOL_IADDR:
    case PROFILE_ADDR: /* as signed numbers: the kernel's come first */
        return words[0] ^ 1ull << 63;
    case PROFILE_SYMBOL_OFFSET: /* by name, then from high offsets down, as signed numbers */
        return own->name == PROFILE_NONE
                   ? 1ull << 63 | downwards(words[1], 63)
                   : (uint64_t)symbol_rank(p, row->frame) << 41 | downwards(words[1], 41);
    case PROFILE_DCACHELINE:
        return line_rank(p, words);
    case PROFILE_TYPE: /* from the last name up */
        return p->b.texts.entries.count - p->text_ranks.items[words[0]];
    case PROFILE_TYPEOFF:
    case PROFILE_TYPECLN: /* and from the last byte */
        words[1] = words[1] < UINT32_MAX ? words[1] : UINT32_MAX;
        return (p->b.texts.entries.count - p->text_ranks.items[words[0]]) << 32 | (UINT32_MAX - words[1]);
    case PROFILE_PARENT: /* those without one last */
        if (!strcmp(strpool_text(&p->b.texts, (uint32_t)words[0]), PROFILE_OTHER))
            return p->b.texts.entries.count;
        return p->text_ranks.items[words[0]];
    default:
        if (profile_column_is_field(id))
            return field_rank(p, (uint32_t)(words[0] >> 32));
        return profile_key_is_text(id) ? p->text_ranks.items[words[0]] : words[0];
    }
}

/* Callers before callees, of one thread; see above. */
static int by_depth(const struct sorter *s, const struct item *x, const struct item *y) {
    if (x->thread != y->thread)
        return 0;
    return s->p->plan.o->chain_order == PROFILE_CALLER ? by_number(y->depth, x->depth)
                                                       : by_number(x->depth, y->depth);
}

/* As signed numbers: perf subtracts them. */
static int by_signed(uint64_t x, uint64_t y) {
    return (int64_t)x < (int64_t)y ? -1 : x != y;
}

/* Places without a name: by the sign of the difference, which is no order among numbers that are further
 * apart than 2^63, as what is taken for callers in code without frame pointers is. */
static int by_nameless(const struct sorter *s, const struct item *x, const struct item *y) {
    return s->wraps ? by_signed(x->place - y->place, 0) : by_signed(x->place, y->place);
}

/* Functions without a column for their objects are told apart by them all the same, but not two places
 * without a name; which is no order where there are both. */
static int by_function(const struct sorter *s, enum profile_column_id id, const struct item *x,
                       const struct item *y) {
    const struct profile_row *a = &s->t->rows.items[x->row], *b = &s->t->rows.items[y->row];
    bool nameless = !profile_name_of(s->p, a->frame) && !profile_name_of(s->p, b->frame);
    int order = 0;
    if (nameless && !profile_has_key(s->p, PROFILE_DSO))
        return by_nameless(s, x, y);
    if (!profile_has_key(s->p, PROFILE_DSO))
        order = by_number(key_rank(s->p, PROFILE_DSO, a, true), key_rank(s->p, PROFILE_DSO, b, true));
    return order ? order : by_number(key_rank(s->p, id, a, true), key_rank(s->p, id, b, true));
}

/* Keys about an end of a branch that are told apart by addresses, too. */
static bool is_end(enum profile_column_id id) {
    return id == PROFILE_SYMBOL_FROM || id == PROFILE_SYMBOL_TO || id == PROFILE_ADDR_FROM ||
           id == PROFILE_ADDR_TO;
}

/* Ends of branches without a name. */
static int by_address(const struct profile *p, enum profile_column_id id, const struct profile_row *x,
                      const struct profile_row *y) {
    uint64_t a[PROFILE_KEY_WORDS], b[PROFILE_KEY_WORDS];
    profile_key_words(p, id, x, a);
    profile_key_words(p, id, y, b);
    return by_signed(a[1], b[1]);
}

/* Negative: x comes first. */
static int compare(const struct sorter *s, const struct item *x, const struct item *y) {
    const struct profile_columns *c = s->p->plan.o->columns;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    for (size_t i = 0; i < c->order.count; i++) {
        enum profile_column_id id = c->order.items[i].id;
        int order = 0;
        if (i >= s->measures && s->packed)
            return by_number(x->keys, y->keys);
        if (profile_column_is_key(id))
            order = by_number(key_rank(s->p, id, &s->t->rows.items[x->row], false),
                              key_rank(s->p, id, &s->t->rows.items[y->row], false));
        else if (i == 1 && s->measures > 1)
            order = by_number(y->second, x->second);
        else if (i || !s->measures)
            order = by_number(measure(s->p, s->t, id, y->row), measure(s->p, s->t, id, x->row));
        if (!order && is_end(id))
            order = by_address(s->p, id, &s->t->rows.items[x->row], &s->t->rows.items[y->row]);
        if (id == PROFILE_IPC && !s->p->plan.o->branch) /* where they lie, not what they are called */
            order = by_function(s, id, x, y);
        if (!order && !profile_column_is_key(id) && !profile_measure_of_children(id))
            order = by_members(s->p, s->t, id, x->row, y->row);
        if (!order && s->depths && !profile_column_is_key(id) && profile_measure_of_children(id))
            order = by_depth(s, x, y);
        if (order)
            return order;
    }
    return 0;
}

/* ---- the order of keys, in which entries are made, and go into the tree ---- */

static int by_place(const struct sorter *s, const struct item *x, const struct item *y) {
    for (uint32_t i = 0; i < s->p->key_count; i++) {
        enum profile_column_id id = (enum profile_column_id)s->p->keys[i];
        int order = is_function(id) ? by_function(s, id, x, y)
                                    : by_number(key_rank(s->p, id, &s->t->rows.items[x->row], true),
                                                key_rank(s->p, id, &s->t->rows.items[y->row], true));
        if (!order && is_end(id))
            order = by_address(s->p, id, &s->t->rows.items[x->row], &s->t->rows.items[y->row]);
        if (order)
            return order;
    }
    return by_nameless(s, x, y);
}

/* How many bits hold the ranks of a key; 64: not known. */
static unsigned rank_bits(const struct profile *p, enum profile_column_id id) {
    uint64_t most = is_function(id) ? p->list.count
                    : id == PROFILE_DSO || (profile_key_is_text(id) && !profile_column_is_field(id))
                        ? p->b.texts.entries.count
                        : UINT64_MAX;
    return most == UINT64_MAX ? 64 : 64 - (unsigned)__builtin_clzll(most | 1);
}

/* All keys' ranks in one number; false when they do not fit, which is the same for all rows. */
static bool pack(const struct profile *p, const struct profile_row *row, bool place, uint64_t *out) {
    unsigned bits = 0;
    *out = 0;
    for (uint32_t i = 0; i < p->key_count; i++) {
        enum profile_column_id id = (enum profile_column_id)p->keys[i];
        unsigned more = rank_bits(p, id);
        if (place && (profile_key_is_frame(id) || (is_function(id) && !profile_has_key(p, PROFILE_DSO))))
            return false;
        bits += more;
        if (bits > 63 || (id == PROFILE_IPC && !place))
            return false;
        *out = *out << more | key_rank(p, id, row, place);
    }
    return true;
}

typedef int compare_fn(const struct sorter *s, const struct item *x, const struct item *y);

static int by_packed(const struct sorter *s, const struct item *x, const struct item *y) {
    (void)s;
    if (x->keys != y->keys)
        return x->keys < y->keys ? -1 : 1;
    return by_signed(x->place, y->place);
}

/* As by_packed, with addresses compared as perf does: by the sign of their difference, which is no order
 * among numbers that are further apart than 2^63, as what is taken for callers in code without frame pointers
 * is. */
static int by_packed_wrapping(const struct sorter *s, const struct item *x, const struct item *y) {
    (void)s;
    if (x->keys != y->keys)
        return x->keys < y->keys ? -1 : 1;
    int64_t difference = (int64_t)(x->place - y->place);
    return difference < 0 ? -1 : difference > 0;
}

/* The order in which samples made the entries. */
static int by_making(const struct sorter *s, const struct item *x, const struct item *y) {
    const struct profile_row *a = &s->t->rows.items[x->row], *b = &s->t->rows.items[y->row];
    if (a->member != b->member) /* what the leader has not is added at the end */
        return by_number(a->member, b->member);
    if (a->first_ns != b->first_ns)
        return a->first_ns < b->first_ns ? -1 : 1;
    return by_number(a->turn, b->turn);
}

/* True when some of the items, sorted by by_packed, are that far apart. */
static bool wraps(const struct item *items, uint32_t n) {
    for (uint32_t i = 0, first = 0; i < n; i++) {
        int64_t difference;
        if (items[i].keys != items[first].keys)
            first = i;
        if (__builtin_sub_overflow((int64_t)items[i].place, (int64_t)items[first].place, &difference))
            return true;
    }
    return false;
}

/* As wraps, of items that are not sorted. */
static bool far_apart(const struct item *items, uint32_t n) {
    int64_t low = 0, high = 0, difference;
    for (uint32_t i = 0; i < n; i++) {
        int64_t place = (int64_t)items[i].place;
        low = place < low ? place : low;
        high = place > high ? place : high;
    }
    return __builtin_sub_overflow(high, low, &difference);
}

/* Stable merge sort, bottom up; `room` holds as many. */
static void merge_sort(const struct sorter *s, struct item *items, struct item *room, size_t n,
                       compare_fn *cmp) {
    struct item *from = items, *to = room;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t a = i, a_end = i + width < n ? i + width : n;
            size_t b = a_end, b_end = i + 2 * width < n ? i + 2 * width : n, at = i;
            while (a < a_end && b < b_end)
                to[at++] = cmp(s, &from[b], &from[a]) < 0 ? from[b++] : from[a++];
            memcpy(&to[at], &from[a], (a_end - a) * sizeof *to);
            memcpy(&to[at + a_end - a], &from[b], (b_end - b) * sizeof *to);
        }
        struct item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

/* ---- perf's trees ---- */

/* Puts the items, one after the other, into a tree and takes them out in its order. */
static bool tree_sort(struct sorter *s, struct item *room, uint32_t *order, uint32_t n, compare_fn *cmp) {
    struct order_tree t;
    if (!order_tree_init(&t, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = t.root, parent = 0;
        bool side = false;
        while (at) {
            parent = at;
            side = cmp(s, &s->items[i], &s->items[at - 1]) >= 0;
            at = t.nodes[at].below[side];
        }
        order_tree_attach(&t, i + 1, parent, side);
    }
    order_tree_list(&t, order);
    order_tree_fini(&t);
    for (uint32_t i = 0; i < n; i++)
        room[i] = s->items[order[i]];
    memcpy(s->items, room, n * sizeof *room);
    return true;
}

/* ---- all of a table ---- */

static void find_measures(struct sorter *s) {
    const struct profile_columns *c = s->p->plan.o->columns;
    s->measures = 0;
    while (s->measures < c->order.count && !profile_column_is_key(c->order.items[s->measures].id))
        s->measures++;
    s->keys_last = true;
    for (size_t i = s->measures; i < c->order.count; i++)
        s->keys_last &= profile_column_is_key(c->order.items[i].id);
}

static uint64_t place_of(const struct profile *p, const struct profile_row *row) {
    return profile_name_of(p, row->frame) ? 0 : profile_own_address(p, &p->b.frames.list.items[row->frame]);
}

static void fill_items(struct sorter *s, uint32_t n) {
    const struct profile_columns *c = s->p->plan.o->columns;
    s->packed = s->keys_last;
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_row *row = &s->t->rows.items[i];
        s->items[i] = (struct item){
            .first = s->measures ? measure(s->p, s->t, c->order.items[0].id, i) : 0,
            .second = s->measures > 1 ? measure(s->p, s->t, c->order.items[1].id, i) : 0,
            .place = place_of(s->p, row),
            .row = i,
            .thread = profile_row_thread(s->p, row),
            .depth = row->depth,
        };
        s->packed = s->packed && pack(s->p, row, true, &s->items[i].keys);
    }
}

/* Whether by_place is no order; see by_function. */
static bool is_mixed(const struct sorter *s, uint32_t n) {
    bool named = false, nameless = false;
    if (profile_has_key(s->p, PROFILE_DSO) ||
        (!profile_has_key(s->p, PROFILE_SYMBOL) && !profile_has_key(s->p, PROFILE_IPC)))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        bool name = profile_name_of(s->p, s->t->rows.items[i].frame);
        named |= name;
        nameless |= !name;
    }
    return named && nameless;
}

/* Keys whose values may become equal after entries were made: perf puts all into another tree then. */
static bool comes_together_late(const struct profile *p) {
    static const uint8_t keys[] = {PROFILE_COMM,         PROFILE_COMM_NODIGIT, PROFILE_SRCLINE,
                                   PROFILE_SRCLINE_FROM, PROFILE_SRCLINE_TO,   PROFILE_SRCFILE};
    for (size_t i = 0; i < sizeof keys; i++)
        if (profile_has_key(p, (enum profile_column_id)keys[i]))
            return true;
    return false;
}

/* The items in the order of their keys, as perf's trees have it. */
static bool sort_by_keys(struct sorter *s, struct item *room, uint32_t *order, uint32_t n) {
    bool mixed = is_mixed(s, n);
    if (!s->packed)
        merge_sort(s, s->items, room, n, by_making);
    if (!s->packed) {
        s->wraps = far_apart(s->items, n);
        mixed |= s->wraps;
    }
    if (!mixed)
        merge_sort(s, s->items, room, n, s->packed ? by_packed : by_place);
    if (!mixed && (!s->packed || !wraps(s->items, n)))
        return true;
    compare_fn *cmp = mixed ? by_place : by_packed_wrapping;
    if (s->packed)
        merge_sort(s, s->items, room, n, by_making);
    return tree_sort(s, room, order, n, cmp) &&
           (!comes_together_late(s->p) || tree_sort(s, room, order, n, cmp));
}

enum { AHEAD = 12 };

static void ask_place_ahead(const struct sorter *s, uint32_t i) {
    if (i + AHEAD < s->t->rows.count)
        prefetch(&s->p->places.items[s->t->rows.items[i + AHEAD].frame]);
}

static void ask_frame_ahead(const struct sorter *s, uint32_t i) {
    if (i + AHEAD < s->t->rows.count)
        profile_frame_prefetch(s->p, s->t->rows.items[i + AHEAD].frame);
}

/* False: there are keys for which rows are to be asked one by one, or memory. */
static bool plan_packing(const struct profile *p, bool place, struct packing *k) {
    unsigned shift = 0;
    *k = (struct packing){.dso_shift = -1, .symbol_shift = -1};
    k->of_kind = calloc(p->kind_list.count + 1, sizeof *k->of_kind);
    for (uint32_t i = p->key_count; k->of_kind && i-- > 0;) {
        enum profile_column_id id = (enum profile_column_id)p->keys[i];
        if (id == PROFILE_DSO)
            k->dso_shift = (int)shift;
        else if (id == PROFILE_SYMBOL)
            k->symbol_shift = (int)shift;
        else if (profile_key_is_place(id))
            return false;
        for (size_t j = 0; !profile_key_is_place(id) && j < p->kind_list.count; j++) {
            struct profile_row row = {.klass = p->kind_list.items[j].klass};
            k->of_kind[j] |= key_rank(p, id, &row, place) << shift;
        }
        shift += rank_bits(p, id);
    }
    return k->of_kind;
}

static void plan_both_packings(struct sorter *s) {
    for (unsigned place = 0; place < 2; place++)
        s->packings[place].planned = plan_packing(s->p, place, &s->packings[place]);
}

/* The packed keys of some rows. */
static void pack_some(const struct sorter *s, bool place, uint32_t from, uint32_t end, uint64_t *out) {
    const struct profile *p = s->p;
    const struct profile_row *rows = s->t->rows.items;
    const struct packing *k = &s->packings[place];
    const uint32_t *ranks = place ? p->name_places.items : p->name_ranks.items;
    for (uint32_t i = from; i < end; i++) {
        ask_place_ahead(s, i);
        if (!k->planned) {
            pack(p, &rows[i], place, out++);
            continue;
        }
        const struct profile_place *own = &p->places.items[rows[i].frame];
        uint64_t keys = k->of_kind[p->kinds.items[rows[i].klass]];
        if (k->dso_shift >= 0)
            keys |= dso_rank(p, own->dso) << k->dso_shift;
        if (k->symbol_shift >= 0)
            keys |= (uint64_t)(own->name == PROFILE_NONE ? p->list.count : ranks[own->name])
                    << k->symbol_shift;
        *out++ = keys;
    }
}

/* PROFILE_COLUMN_COUNT: no measure. Of tables without members. */
static void fill_measure(const struct sorter *s, enum profile_column_id id, uint32_t from, uint32_t end,
                         uint64_t *out) {
    const struct profile_table *t = s->t;
    bool children = s->p->plan.o->children;
    if (id == PROFILE_OVERHEAD_CHILDREN && children) { /* the usual ones, without asking row by row */
        for (uint32_t i = from; i < end; i++)
            *out++ = t->through.items[i].period;
    } else if (id == PROFILE_OVERHEAD) {
        for (uint32_t i = from; i < end; i++)
            *out++ = t->self.items[t->rows.items[i].self].period;
    } else {
        for (uint32_t i = from; i < end; i++)
            *out++ = id == PROFILE_COLUMN_COUNT ? 0 : measure(s->p, t, id, i);
    }
}

static void fill_numbers(const void *ctx, enum arrange_number which, uint32_t from, uint32_t count,
                         uint64_t *out) {
    const struct sorter *s = ctx;
    const struct profile *p = s->p;
    const struct profile_columns *c = p->plan.o->columns;
    const struct profile_row *rows = s->t->rows.items;
    uint32_t end = from + count, n = (uint32_t)s->t->rows.count;
    switch (which) {
    case ARRANGE_FIRST:
    case ARRANGE_SECOND: {
        uint32_t column = which == ARRANGE_SECOND;
        fill_measure(s, column < s->measures ? c->order.items[column].id : PROFILE_COLUMN_COUNT, from, end,
                     out);
        break;
    }
    case ARRANGE_KEYS:
    case ARRANGE_SHOWN:
        pack_some(s, which == ARRANGE_KEYS, from, end, out);
        break;
    case ARRANGE_PLACE:
        for (uint32_t i = from; i < end; i++) {
            ask_frame_ahead(s, i);
            *out++ = place_of(p, &rows[i]);
        }
        break;
    case ARRANGE_MADE:
        for (uint32_t i = from; i < end; i++)
            *out++ = rows[i].first_ns;
        break;
    case ARRANGE_TURN:
        for (uint32_t i = from; i < end; i++)
            *out++ = rows[i].turn;
        break;
    case ARRANGE_CHAIN:
        for (uint32_t i = from; i < end; i++) {
            if (i + AHEAD < n)
                prefetch(&p->b.leaves.items[rows[i + AHEAD].first_leaf]);
            *out++ = (uint64_t)profile_row_thread(p, &rows[i]) << 16 | rows[i].depth;
        }
        break;
    }
}

/* Where the general way would come down to comparing numbers: see arrange.h. */
static bool by_numbers(const struct sorter *s, uint32_t n) {
    const struct profile *p = s->p;
    uint64_t keys;
    return n && s->keys_last && s->measures >= 1 && s->measures <= 2 && s->t->members <= 1 &&
           !is_mixed(s, n) &&
           (!s->depths || p->plan.o->columns->order.items[0].id == PROFILE_OVERHEAD_CHILDREN) &&
           pack(p, &s->t->rows.items[0], true, &keys) && pack(p, &s->t->rows.items[0], false, &keys);
}

static bool sort_rows(struct sorter *s, uint32_t *order, uint32_t n) {
    s->items = malloc(((size_t)n + 1) * sizeof *s->items);
    struct item *room = malloc(((size_t)n + 1) * sizeof *room);
    bool ok = s->items && room;
    if (ok)
        fill_items(s, n);
    ok = ok && sort_by_keys(s, room, order, n);
    s->packed = s->keys_last;
    for (uint32_t i = 0; ok && s->packed && i < n; i++)
        s->packed = pack(s->p, &s->t->rows.items[s->items[i].row], false, &s->items[i].keys);
    if (ok && (s->depths || (s->wraps && profile_has_key(s->p, PROFILE_IPC))))
        ok = tree_sort(s, room, order, n, compare);
    else if (ok)
        merge_sort(s, s->items, room, n, compare);
    for (uint32_t i = 0; ok && i < n; i++)
        order[i] = s->items[i].row;
    free(room);
    free(s->items);
    return ok;
}

struct profile_sorting {
    struct sorter s;
    struct profile_table *t;
    struct arrange *numbers; /* NULL: the general way */
};

void profile_sorting_free(struct profile_sorting *x) {
    if (!x)
        return;
    arrange_free(x->numbers);
    free(x->s.packings[0].of_kind);
    free(x->s.packings[1].of_kind);
    free(x);
}

struct profile_sorting *profile_sorting_new(const struct profile *p, struct profile_table *t) {
    struct profile_sorting *x = calloc(1, sizeof *x);
    uint32_t n = (uint32_t)t->rows.count;
    bool ok = x && vec_reserve(&t->order, (size_t)n + 1);
    if (ok) {
        x->s = (struct sorter){
            .p = p, .t = t, .depths = p->plan.o->children && p->plan.o->chain_mode != PROFILE_CHAIN_NONE};
        x->t = t;
        find_measures(&x->s);
    }
    if (ok && by_numbers(&x->s, n)) {
        struct arrange_options o = {.n = n,
                                    .fill = fill_numbers,
                                    .ctx = &x->s,
                                    .depths = x->s.depths,
                                    .shorter = p->plan.o->chain_order != PROFILE_CALLER};
        plan_both_packings(&x->s);
        x->numbers = arrange_new(&o, t->order.items);
        ok = x->numbers;
    }
    if (ok)
        return x;
    profile_sorting_free(x);
    return NULL;
}

bool profile_sort_first(struct profile_sorting *x) {
    return x->numbers ? arrange_shares(x->numbers)
                      : sort_rows(&x->s, x->t->order.items, (uint32_t)x->t->rows.count);
}

bool profile_sort_second(struct profile_sorting *x) {
    bool ok = !x->numbers || arrange_items(x->numbers);
    x->t->order.count = ok ? x->t->rows.count : 0;
    return ok;
}

int profile_key_compare(const struct profile *p, enum profile_column_id id, const struct profile_row *x,
                        const struct profile_row *y) {
    int order = by_number(key_rank(p, id, x, false), key_rank(p, id, y, false));
    if (order)
        return order;
    if (is_end(id))
        return by_address(p, id, x, y);
    const struct resolve_frame *frames = p->b.frames.list.items;
    uint64_t u = profile_own_address(p, &frames[x->frame]), v = profile_own_address(p, &frames[y->frame]);
    return by_signed(u, v);
}
