/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/arrange.h"

#include <stdlib.h>
#include <string.h>

#include "base/hot.h"
#include "base/numset.h"
#include "base/prefetch.h"
#include "base/radix.h"
#include "base/stages.h"
#include "profile/alike.h"
#include "profile/deep_tree.h"
#include "profile/order_tree.h"

enum { AHEAD = 16 };

/* What an item takes for less than itself or equal: ranks below `end` without those of its hole; or, when the
 * hole lies behind `end`, with them. */
struct view {
    uint32_t end, hole, hole_len;
};

/* Where an item comes by shares. */
struct share {
    uint32_t group; /* the number of those with the same numbers */
    uint32_t note;  /* see make_notes */
};

static const uint64_t sign = 1ull << 63;

/* How far the first half is. */
enum { STAGE_PLACES = 1, STAGE_MADE, STAGE_SHARES };

struct arrange {
    struct arrange_options o;
    uint32_t n;
    struct stages stages;
    /* What the first half hands over: with STAGE_PLACES, */
    uint64_t *places; /* by item; the sign is flipped: differences are those of signed numbers */
    /* with STAGE_MADE, */
    uint32_t *order; /* the caller's: items as they were made */
    /* and with STAGE_SHARES. */
    struct share *shares; /* by item */
    uint32_t *ends;       /* by group: the rank behind its last one */
    uint32_t depth_mask;  /* as many bits as the largest depth has */
};

/* Items are asked for so many at a time: their numbers stay in the nearest cache. */
enum { BLOCK = 256 };

static void *room_for(const struct arrange *a, size_t size) {
    return malloc(((size_t)a->n + 1) * size);
}

static uint32_t block_at(const struct arrange *a, uint32_t from) {
    return a->n - from < BLOCK ? a->n - from : BLOCK;
}

static void ask(const struct arrange *a, enum arrange_number which, uint32_t from, uint64_t *numbers) {
    a->o.fill(a->o.ctx, which, from, block_at(a, from), numbers);
}

/* ---- two halves ---- */

struct arrange *arrange_new(const struct arrange_options *o, uint32_t *order) {
    struct arrange *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->o = *o;
    a->n = o->n;
    a->order = order;
    stages_init(&a->stages);
    return a;
}

void arrange_free(struct arrange *a) {
    if (!a)
        return;
    stages_fini(&a->stages);
    free(a->places);
    free(a->shares);
    free(a->ends);
    free(a);
}

/* ---- by keys ---- */

/* What the second half makes out of keys. */
struct by_keys {
    uint32_t n;
    uint32_t *ranked;   /* items by rank in the order that most comparisons follow */
    uint64_t *starts;   /* a bit by rank: here begin items that this order does not tell apart */
    uint64_t *holes;    /* likewise: this one's view has a hole */
    struct view *views; /* by rank, of those */
    uint32_t *order;    /* ranks as the trees have them */
    struct order_tree tree;
};

static void set_bit(uint64_t *bits, uint32_t at) {
    bits[at / 64] |= 1ull << at % 64;
}

static bool has_bit(const uint64_t *bits, uint32_t at) {
    return bits[at / 64] >> at % 64 & 1;
}

/* None is set but (ends) that behind the last rank. NULL: memory. */
static uint64_t *new_bits(uint32_t n, bool ends) {
    uint64_t *bits = calloc((size_t)n / 64 + 1, sizeof *bits);
    if (bits && ends)
        set_bit(bits, n);
    return bits;
}

/* The first one that is set behind a rank. */
static uint32_t next_bit(const uint64_t *bits, uint32_t rank) {
    size_t at = ++rank / 64;
    uint64_t word = bits[at] & -1ull << rank % 64;
    while (!word)
        word = bits[++at];
    return (uint32_t)(at * 64 + (unsigned)__builtin_ctzll(word));
}

/* Items while they are sorted: first their keys' numbers, then they lie by keys, and by places in each. */
struct sorting {
    struct alike keys;
    uint32_t *numbers;  /* by item */
    uint32_t *ends;     /* by number: the rank behind its last one */
    uint32_t *in_order; /* numbers */
    struct radix_item *sorted;
};

static void sorting_fini(struct sorting *s) {
    alike_fini(&s->keys);
    free(s->numbers);
    free(s->ends);
    free(s->in_order);
    free(s->sorted);
}

/* Makes room for so many of each number as there are, in the numbers' order: ends[x] is where those of x
 * begin. NULL: memory. */
static uint32_t *count_out(const uint32_t *in_order, uint32_t numbers, const uint32_t *of_item, size_t stride,
                           uint32_t n) {
    uint32_t *ends = calloc((size_t)numbers + 1, sizeof *ends), at = 0;
    for (uint32_t i = 0; ends && i < n; i++)
        ends[of_item[i * stride]]++;
    for (uint32_t i = 0; ends && i < numbers; i++) {
        uint32_t *end = &ends[in_order[i]], count = *end;
        *end = at;
        at += count;
    }
    return ends;
}

/* Numbers. False: memory. */
static bool look_at_keys(struct sorting *s, const struct arrange *a) {
    uint64_t keys[BLOCK];
    s->keys.width = 1;
    s->numbers = room_for(a, sizeof *s->numbers);
    if (!s->numbers)
        return false;
    for (uint32_t from = 0; from < a->n; from += BLOCK) {
        ask(a, ARRANGE_KEYS, from, keys);
        for (uint32_t i = 0, count = block_at(a, from); i < count; i++) {
            uint32_t number = alike_number(&s->keys, &keys[i], 1);
            if (number == ALIKE_NONE)
                return false;
            s->numbers[from + i] = number;
        }
    }
    return true;
}

/* To where their keys come. False: memory. */
static bool spread(struct sorting *s, struct arrange *a) {
    s->in_order = alike_sort(&s->keys);
    s->ends = s->in_order ? count_out(s->in_order, s->keys.count, s->numbers, 1, a->n) : NULL;
    s->sorted = s->ends && stages_wait(&a->stages, STAGE_PLACES) ? room_for(a, sizeof *s->sorted) : NULL;
    for (uint32_t i = 0; s->sorted && i < a->n; i++)
        s->sorted[s->ends[s->numbers[i]]++] = (struct radix_item){a->places[i], i};
    free(s->numbers);
    free(a->places);
    s->numbers = NULL;
    a->places = NULL;
    return s->sorted;
}

/* The views of the items of ranks [from, end), which have equal keys. True if there is a hole. */
static bool look_around(const struct by_keys *k, const struct radix_item *sorted, uint32_t from,
                        uint32_t end) {
    uint32_t low = from, high = from, equal = from;
    bool any = false;
    if (sorted[end - 1].key - sorted[from].key < sign)
        return false;
    for (uint32_t i = from; i < end; i++) {
        uint64_t place = sorted[i].key;
        while (equal < end && sorted[equal].key == place)
            equal++;
        while (place - sorted[low].key >= sign)
            low++;
        while (high < end && (sorted[high].key < place || sorted[high].key - place <= sign))
            high++;
        struct view v =
            low > from ? (struct view){equal, from, low - from} : (struct view){equal, high, end - high};
        if (!v.hole_len)
            continue;
        k->views[i] = v;
        set_bit(k->holes, i);
        any = true;
    }
    return any;
}

/* By place what has equal keys; sets *any if there is a hole. False: memory. */
static bool sort_places(struct by_keys *k, const struct sorting *s, bool *any) {
    uint32_t most = 0;
    for (uint32_t i = 0, from = 0; i < s->keys.count; i++) {
        uint32_t end = s->ends[s->in_order[i]];
        most = end - from > most ? end - from : most;
        from = end;
    }
    struct radix_item *room = malloc(((size_t)most + 1) * sizeof *room), *sorted = s->sorted;
    for (uint32_t i = 0, from = 0, end; room && i < s->keys.count; i++, from = end) {
        end = s->ends[s->in_order[i]];
        radix_sort(sorted + from, room, end - from);
        for (uint32_t j = from; j < end; j++) {
            if (j == from || sorted[j].key != sorted[j - 1].key)
                set_bit(k->starts, j);
            k->ranked[j] = sorted[j].value;
        }
        *any |= look_around(k, sorted, from, end);
    }
    free(room);
    return room;
}

/* Sorts by keys, then places; sets *any if there is a hole. False: memory. */
static bool sort_and_look(struct by_keys *k, struct arrange *a, bool *any) {
    struct sorting s = {.numbers = NULL};
    bool ok = look_at_keys(&s, a) && spread(&s, a);
    k->views = ok ? room_for(a, sizeof *k->views) : NULL;
    k->ranked = ok ? room_for(a, sizeof *k->ranked) : NULL;
    k->starts = new_bits(a->n, true);
    k->holes = new_bits(a->n, false);
    ok = k->views && k->ranked && k->starts && k->holes && sort_places(k, &s, any);
    sorting_fini(&s);
    return ok;
}

static struct view view_of(const struct by_keys *k, uint32_t rank) {
    return has_bit(k->holes, rank) ? k->views[rank] : (struct view){next_bit(k->starts, rank), 0, 0};
}

/*
 * Where the ranks in a tree's order ascend, an item's place follows from its neighbours by rank: behind the
 * one or before the other, whichever has nothing there. A comparison can lead elsewhere only if it is with a
 * rank in the item's hole, or with a *stray*, an item that went elsewhere because of its own hole. There are
 * few of these: what is to go below one of them, and what meets its hole, goes the whole way.
 */
enum { STRAYS_MAX = 256 };

/* Ranks, both ends included. */
struct range {
    uint32_t from, last;
};

/* The node of a rank is rank + 1. */
struct placing {
    struct order_tree *t; /* nodes' notes: strays */
    const struct by_keys *k;
    struct numset there; /* nodes, but for strays; and 0, before all others */
    uint32_t strays[STRAYS_MAX], stray_count;
    struct range below[STRAYS_MAX]; /* what may have its place below a stray */
    uint32_t below_count;
    bool lost; /* too many: everything goes the whole way */
};

/* What may have its place below a stray: what lies between the nearest nodes above that stand before and
 * behind it. That stays so, whatever is attached, until the stray itself is turned. */
static struct range range_below(const struct placing *p, uint32_t stray) {
    const struct order_tree_node *nodes = p->t->nodes;
    struct range r = {0, UINT32_MAX};
    bool before = false, behind = false;
    for (uint32_t at = stray, up; (up = order_tree_parent(p->t, at)) && !(before && behind); at = up) {
        if (nodes[up].note)
            continue;
        if (nodes[up].below[0] == at && !behind) {
            behind = true;
            r.last = up;
        } else if (nodes[up].below[1] == at && !before) {
            before = true;
            r.from = up;
        }
    }
    return r;
}

static void find_below(struct placing *p) {
    p->t->turned = false;
    p->below_count = 0;
    for (uint32_t i = 0; i < p->stray_count; i++) {
        struct range r = range_below(p, p->strays[i]);
        uint32_t k = 0;
        while (k < p->below_count && (r.from > p->below[k].last || r.last < p->below[k].from))
            k++;
        struct range *have = &p->below[k];
        if (k == p->below_count) {
            *have = r;
            p->below_count++;
        }
        have->from = r.from < have->from ? r.from : have->from;
        have->last = r.last > have->last ? r.last : have->last;
    }
}

static bool meets_stray(struct placing *p, uint32_t node) {
    if (!p->stray_count)
        return false;
    if (p->lost)
        return true;
    if (p->t->turned)
        find_below(p);
    for (uint32_t k = 0; k < p->below_count; k++)
        if (node >= p->below[k].from && node <= p->below[k].last)
            return true;
    return false;
}

/* Whether an item that came to stand between two nodes does not belong there. */
static bool is_stray(const struct placing *p, uint32_t node, uint32_t left, uint32_t right) {
    const struct order_tree_node *nodes = p->t->nodes;
    while (left && nodes[left].note)
        left = order_tree_beside(p->t, left, false);
    while (right && nodes[right].note)
        right = order_tree_beside(p->t, right, true);
    return left > node || (right && right < node);
}

static void add_stray(struct placing *p, uint32_t node) {
    p->t->nodes[node].note = 1;
    p->lost = p->stray_count == STRAYS_MAX;
    if (!p->lost)
        p->strays[p->stray_count++] = node;
    p->t->turned = true; /* what lies below it is to be found */
}

/* Whether comparisons lead to the view's hole before they lead to a rank that lies between it and the item,
 * behind which none of the hole can come. Nothing on the way is a stray. */
static bool meets_hole(const struct placing *p, struct view v) {
    const struct order_tree_node *nodes = p->t->nodes;
    uint32_t from = v.hole < v.end ? v.hole : v.end, /* of all these */
        len = v.hole < v.end ? v.end - v.hole : v.hole + v.hole_len - v.end, at = p->t->root;
    while (at && at - 1 - from >= len)
        at = nodes[at].below[at - 1 < v.end];
    return at && at - 1 - v.hole < v.hole_len;
}

/* Attaches a rank where comparisons lead. */
static void go_down(struct placing *p, uint32_t rank) {
    struct order_tree_node *nodes = p->t->nodes;
    struct view v = view_of(p->k, rank);
    uint32_t left = 0, right = 0, parent = 0;
    bool side = false;
    for (uint32_t at = p->t->root; at; at = nodes[at].below[side]) {
        uint32_t y = at - 1;
        parent = at;
        side = (y < v.end) ^ (y - v.hole < v.hole_len);
        left = side ? at : left;
        right = side ? right : at;
    }
    if (!p->lost && is_stray(p, rank + 1, left, right))
        add_stray(p, rank + 1);
    else
        numset_add(&p->there, rank + 1);
    order_tree_attach(p->t, rank + 1, parent, side);
}

static void put_in_place(struct placing *p, uint32_t rank) {
    struct order_tree_node *nodes = p->t->nodes;
    uint32_t node = rank + 1;
    nodes[node].note = 0;
    if (meets_stray(p, node) || (has_bit(p->k->holes, rank) && meets_hole(p, p->k->views[rank]))) {
        go_down(p, rank);
        return;
    }
    uint32_t before = numset_before(&p->there, node);
    if (before && !nodes[before].below[1]) {
        order_tree_attach(p->t, node, before, true);
    } else {
        uint32_t behind = numset_behind(&p->there, node);
        order_tree_attach(p->t, node, behind == NUMSET_NONE ? 0 : behind, false);
    }
    numset_add(&p->there, node);
}

/* Where strays stand: the node before that is none << 32 | how many of them stand between; by that. */
static void find_strays(const struct placing *p, struct radix_item *strays) {
    struct radix_item room[STRAYS_MAX];
    for (uint32_t i = 0; i < p->stray_count; i++) {
        uint64_t between = 0;
        uint32_t before = order_tree_beside(p->t, p->strays[i], false);
        for (; before && p->t->nodes[before].note; before = order_tree_beside(p->t, before, false))
            between++;
        strays[i] = (struct radix_item){(uint64_t)before << 32 | between, p->strays[i]};
    }
    radix_sort(strays, room, p->stray_count);
}

/* The ranks in the tree's order: those of all but strays ascend. */
static void list_ranks(const struct placing *p, uint32_t *order) {
    struct radix_item strays[STRAYS_MAX];
    uint32_t count = 0, node = 1;
    if (p->lost) {
        order_tree_list(p->t, order);
        return;
    }
    find_strays(p, strays);
    for (uint32_t i = 0; i <= p->stray_count; i++) {
        uint32_t last = i < p->stray_count ? (uint32_t)(strays[i].key >> 32) : p->k->n;
        for (; node <= last; node++)
            if (numset_has(&p->there, node))
                order[count++] = node - 1;
        if (i < p->stray_count)
            order[count++] = strays[i].value - 1;
    }
}

/* Puts the ranks in k->order, one after the other, into a tree and takes them out in that of the tree. False:
 * memory. */
static bool through_tree(struct by_keys *k) {
    struct placing p = {.t = &k->tree, .k = k};
    if (!numset_init(&p.there, k->n + 1))
        return false;
    numset_add(&p.there, 0);
    order_tree_clear(&k->tree);
    for (uint32_t i = 0; i < k->n; i++) {
        if (i + AHEAD < k->n)
            prefetch(&k->tree.nodes[k->order[i + AHEAD] + 1]);
        put_in_place(&p, k->order[i]);
    }
    list_ranks(&p, k->order);
    numset_fini(&p.there);
    return true;
}

/* From the items as they were made to the order of trees. False: memory. */
static bool through_both_trees(struct by_keys *k, const struct arrange *a) {
    uint32_t *ranks = room_for(a, sizeof *ranks); /* by item */
    for (uint32_t i = 0; ranks && i < k->n; i++)
        ranks[k->ranked[i]] = i;
    for (uint32_t i = 0; ranks && i < k->n; i++)
        k->order[i] = ranks[k->order[i]];
    free(ranks);
    return ranks && order_tree_init(&k->tree, k->n) && through_tree(k) && through_tree(k);
}

/* k->order: ranks as perf's trees have them. */
static bool sort_by_keys(struct by_keys *k, struct arrange *a) {
    bool any = false;
    if (!sort_and_look(k, a, &any) || !stages_wait(&a->stages, STAGE_MADE))
        return false;
    for (uint32_t i = 0; !any && i < k->n; i++)
        k->order[i] = i;
    bool ok = !any || through_both_trees(k, a);
    free(k->views);
    k->views = NULL;
    return ok;
}

/* ---- by shares ---- */

/* Rows of one thread with equal first shares. */
struct class {
    uint16_t depth; /* of the first one */
    bool seen;
    uint32_t number; /* 0: all have the same depth */
};

/* What the first half makes out of shares. */
struct by_shares {
    struct alike groups;  /* by both shares and keys as they are sorted in the end; more comes first */
    struct alike classes; /* by first share and thread */
    uint16_t *depths;     /* by item */
};

static void by_shares_fini(struct by_shares *b) {
    alike_fini(&b->groups);
    alike_fini(&b->classes);
    free(b->depths);
}

/* Each item's group; its class, which takes the place of its note. False: memory. */
static bool find_groups(struct by_shares *b, const struct arrange *a) {
    uint64_t first[BLOCK], second[BLOCK], shown[BLOCK], chain[BLOCK];
    for (uint32_t from = 0; from < a->n; from += BLOCK) {
        ask(a, ARRANGE_FIRST, from, first);
        ask(a, ARRANGE_SECOND, from, second);
        ask(a, ARRANGE_SHOWN, from, shown);
        if (a->o.depths)
            ask(a, ARRANGE_CHAIN, from, chain);
        for (uint32_t i = 0, count = block_at(a, from); i < count; i++) {
            struct share *x = &a->shares[from + i];
            x->group = alike_number(&b->groups, (uint64_t[]){~first[i], ~second[i], shown[i]}, 3);
            if (x->group == ALIKE_NONE)
                return false;
            if (!a->o.depths)
                continue;
            x->note = alike_number(&b->classes, (uint64_t[]){first[i], chain[i] >> 16}, 2);
            b->depths[from + i] = (uint16_t)chain[i];
            if (x->note == ALIKE_NONE)
                return false;
        }
    }
    return true;
}

/* NULL: memory. *mask: as many bits as the largest depth has. */
static struct class *find_classes(const struct by_shares *b, const struct arrange *a, uint32_t *mask) {
    struct class *classes = calloc((size_t)b->classes.count + 1, sizeof *classes);
    *mask = 1;
    for (uint32_t i = 0; classes && i < a->n; i++) {
        struct class *c = &classes[a->shares[i].note];
        uint16_t depth = b->depths[i];
        while (*mask < depth)
            *mask = *mask << 1 | 1;
        if (!c->seen)
            *c = (struct class){.depth = depth, .seen = true};
        c->number |= c->depth != depth;
    }
    return classes;
}

/*
 * A note on each item: the number of its class and its depth, so that of two in one class the one with the
 * smaller note comes first; 0 where all in the class have the same depth. Classes are numbered from 1 as far
 * as 32 bits go, which is half a million classes at 4,096 frames.
 */
static bool make_notes(const struct by_shares *b, struct arrange *a) {
    uint32_t number = 0, mask;
    struct class *classes = find_classes(b, a, &mask);
    if (!classes)
        return false;
    for (uint32_t i = 0; i < b->classes.count; i++)
        if (classes[i].number)
            classes[i].number = ++number;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t depth = b->depths[i], class = classes[a->shares[i].note].number;
        a->shares[i].note = class ? class * (mask + 1) + (a->o.shorter ? depth : mask - depth) : 0;
    }
    free(classes);
    a->depth_mask = mask;
    return number <= UINT32_MAX / (mask + 1);
}

/* How far the groups go, in their order. False: memory. */
static bool end_groups(const struct by_shares *b, struct arrange *a) {
    uint32_t *in_order = alike_sort(&b->groups);
    if (in_order)
        a->ends = count_out(in_order, b->groups.count, &a->shares->group, 2, a->n);
    for (uint32_t i = 0; a->ends && i < b->groups.count; i++)
        a->ends[in_order[i]] = i + 1 < b->groups.count ? a->ends[in_order[i + 1]] : a->n;
    free(in_order);
    return a->ends;
}

static bool find_shares(struct arrange *a) {
    struct by_shares b = {.groups = {.width = 3}, .classes = {.width = 2}};
    a->shares = room_for(a, sizeof *a->shares);
    b.depths = a->o.depths ? room_for(a, sizeof *b.depths) : NULL;
    bool ok = a->shares && (b.depths || !a->o.depths) && find_groups(&b, a) && end_groups(&b, a) &&
              (!a->o.depths || make_notes(&b, a));
    by_shares_fini(&b);
    return ok;
}

/* The order in which the items were made. False: memory. */
static bool find_made(const struct arrange *a) {
    uint64_t differs = 0, one = 0, made[BLOCK], turns[BLOCK];
    struct radix_item *items = room_for(a, sizeof *items), *room = room_for(a, sizeof *room);
    bool ok = items && room;
    for (uint32_t from = 0; ok && from < a->n; from += BLOCK) {
        ask(a, ARRANGE_MADE, from, made);
        ask(a, ARRANGE_TURN, from, turns);
        one = from ? one : made[0];
        for (uint32_t i = 0, count = block_at(a, from); i < count; i++) {
            differs |= made[i] ^ one;
            items[from + i] = (struct radix_item){made[i] << 16 | turns[i], from + i};
        }
    }
    bool fits = !(differs >> 48); /* with turns: the same is lost of all */
    for (uint32_t i = 0; ok && !fits && i < a->n; i++)
        items[i].key &= UINT16_MAX;
    if (ok)
        radix_sort(items, room, a->n);
    for (uint32_t i = 0; ok && !fits && i < a->n; i++) {
        a->o.fill(a->o.ctx, ARRANGE_MADE, items[i].value, 1, made);
        items[i].key = made[0];
    }
    if (ok && !fits)
        radix_sort(items, room, a->n);
    for (uint32_t i = 0; ok && i < a->n; i++)
        a->order[i] = items[i].value;
    free(items);
    free(room);
    return ok;
}

/* Addresses are compared by the sign of their difference. That is an order as long as they are within 2^62 of
 * zero; of the others nothing is known. */
static bool is_far(uint64_t place) {
    return (place + (1ull << 62)) >> 63;
}

/* Sets *far if some place is. False: memory. */
static bool find_places(struct arrange *a, bool *far) {
    a->places = room_for(a, sizeof *a->places);
    for (uint32_t from = 0; a->places && from < a->n; from += BLOCK) {
        ask(a, ARRANGE_PLACE, from, &a->places[from]);
        for (uint32_t i = from; i < from + block_at(a, from); i++) {
            *far |= is_far(a->places[i]);
            a->places[i] ^= sign;
        }
    }
    return a->places;
}

HOT bool arrange_shares(struct arrange *a) {
    bool far = false, ok = find_places(a, &far);
    if (ok)
        stages_tell(&a->stages, STAGE_PLACES);
    for (uint32_t i = 0; !far && i < a->n; i++)
        a->order[i] = i;
    ok = ok && (!far || find_made(a));
    if (ok)
        stages_tell(&a->stages, STAGE_MADE);
    ok = ok && find_shares(a);
    if (ok)
        stages_tell(&a->stages, STAGE_SHARES);
    else
        stages_fail(&a->stages);
    return ok;
}

/*
 * k->order: from ranks by keys to ranks by shares, where of those with equal ones the first by keys comes
 * first. They are filled in from the last one: each goes before the one that came last in its group.
 */
HOT static void rank_by_shares(struct by_keys *k, struct arrange *a, uint32_t *by_rank) {
    for (uint32_t i = k->n; i-- > 0;) {
        if (i >= AHEAD)
            prefetch(&a->shares[k->ranked[k->order[i - AHEAD]]]);
        uint32_t item = k->ranked[k->order[i]];
        struct share x = a->shares[item];
        uint32_t rank = --a->ends[x.group];
        by_rank[rank] = item;
        k->order[i] = rank;
        if (a->o.depths)
            k->tree.nodes[rank + 1].note = x.note;
    }
}

/* a->order: from ranks by keys to items by shares. False: memory. */
static bool sort_by_shares(struct by_keys *k, struct arrange *a) {
    uint32_t *by_rank = room_for(a, sizeof *by_rank);
    if (!by_rank || (a->o.depths && !k->tree.nodes && !order_tree_init(&k->tree, k->n))) {
        free(by_rank);
        return false;
    }
    rank_by_shares(k, a, by_rank);
    free(a->shares);
    a->shares = NULL;
    if (a->o.depths)
        deep_tree_sort(&k->tree, a->depth_mask, k->order, k->n);
    for (uint32_t i = 0; i < k->n; i++)
        k->order[i] = by_rank[a->o.depths ? k->order[i] : i];
    free(by_rank);
    return true;
}

HOT bool arrange_items(struct arrange *a) {
    struct by_keys k = {.n = a->n, .order = a->order};
    bool ok = sort_by_keys(&k, a) && stages_wait(&a->stages, STAGE_SHARES) && sort_by_shares(&k, a);
    free(k.ranked);
    free(k.starts);
    free(k.holes);
    free(k.views);
    order_tree_fini(&k.tree);
    return ok;
}
