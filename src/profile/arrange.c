/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/arrange.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefetch.h"
#include "base/radix.h"
#include "profile/order_tree.h"

enum { AHEAD = 16 };

/* What an item takes for less than itself or equal: ranks below `end` without those of its hole; or, when the
 * hole lies behind `end`, with them. */
struct view {
    uint32_t end, hole, hole_len;
};

/* Where an item comes by shares. */
struct share {
    uint32_t group; /* the rank of the first one with the same numbers */
    uint32_t note;  /* see make_notes */
};

/* How far the first half is. */
enum stage { STAGE_BEGUN, STAGE_MADE, STAGE_SHARES, STAGE_FAILED };

struct arrange {
    struct arrange_options o;
    uint32_t n;
    pthread_mutex_t lock;
    pthread_cond_t further;
    enum stage stage; /* guarded by the lock */
    /* What the first half hands over: with STAGE_MADE, */
    uint32_t *order; /* the caller's: items as they were made */
    /* and with STAGE_SHARES. */
    struct share *shares; /* by item */
    uint64_t *starts;     /* a bit by rank: here a group begins */
    uint32_t depth_mask;  /* as many bits as the largest depth has */
};

/* One half's means to sort by one number after the other. */
struct sorting {
    const struct arrange *a;
    uint32_t n;
    struct radix_item *sorted;
    uint64_t *starts;  /* a bit by rank: here begin items that no number by which was sorted tells apart */
    uint64_t *earlier; /* the same as it was before the last numbers */
};

static void *room_for(const struct arrange *a, size_t size) {
    return malloc(((size_t)a->n + 1) * size);
}

/* By item; NULL: memory. */
static uint64_t *ask(const struct arrange *a, enum arrange_number which) {
    uint64_t *numbers = room_for(a, sizeof *numbers);
    if (numbers)
        a->o.fill(a->o.ctx, which, numbers);
    return numbers;
}

/* Afterwards sorting_fini, whatever comes of it. */
static bool sorting_init(struct sorting *s, const struct arrange *a) {
    size_t words = ((size_t)a->n + 1) / 64 + 1;
    *s = (struct sorting){.a = a, .n = a->n};
    s->sorted = room_for(a, sizeof *s->sorted);
    s->starts = malloc(words * sizeof *s->starts);
    s->earlier = malloc(words * sizeof *s->earlier);
    return s->sorted && s->starts && s->earlier;
}

static void sorting_fini(struct sorting *s) {
    free(s->sorted);
    free(s->starts);
    free(s->earlier);
}

/* ---- two halves ---- */

static void tell(struct arrange *a, enum stage stage) {
    pthread_mutex_lock(&a->lock);
    a->stage = stage;
    pthread_cond_signal(&a->further);
    pthread_mutex_unlock(&a->lock);
}

/* False: it has failed. */
static bool wait_for(struct arrange *a, enum stage stage) {
    pthread_mutex_lock(&a->lock);
    while (a->stage < stage)
        pthread_cond_wait(&a->further, &a->lock);
    bool ok = a->stage != STAGE_FAILED;
    pthread_mutex_unlock(&a->lock);
    return ok;
}

struct arrange *arrange_new(const struct arrange_options *o, uint32_t *order) {
    struct arrange *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->o = *o;
    a->n = o->n;
    a->order = order;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->further, NULL);
    return a;
}

void arrange_free(struct arrange *a) {
    if (!a)
        return;
    pthread_cond_destroy(&a->further);
    pthread_mutex_destroy(&a->lock);
    free(a->shares);
    free(a->starts);
    free(a);
}

/* ---- by one number after the other ---- */

static void set_start(struct sorting *s, uint32_t rank) {
    s->starts[rank / 64] |= 1ull << rank % 64;
}

static void keep_starts(struct sorting *s) {
    memcpy(s->earlier, s->starts, (((size_t)s->n + 1) / 64 + 1) * sizeof *s->starts);
}

/* The first start behind a rank. */
static uint32_t next_start(const uint64_t *starts, uint32_t rank) {
    size_t at = ++rank / 64;
    uint64_t word = starts[at] & -1ull << rank % 64;
    while (!word)
        word = starts[++at];
    return (uint32_t)(at * 64 + (unsigned)__builtin_ctzll(word));
}

/* By the keys of s->sorted, what was equal before. False: memory. */
static bool sort_all(struct sorting *s) {
    struct radix_item *room = room_for(s->a, sizeof *room);
    for (uint32_t from = 0, end; room && from < s->n; from = end) {
        end = next_start(s->starts, from);
        if (end - from < 2)
            continue;
        radix_sort(s->sorted + from, room, end - from);
        for (uint32_t i = from + 1; i < end; i++)
            if (s->sorted[i].key != s->sorted[i - 1].key)
                set_start(s, i);
    }
    free(room);
    return room;
}

/* Sorts by a number what those before it left equal, keeping the order of what this one leaves equal. The
 * numbers stay in the keys of s->sorted. There is either room for numbers by item or room to sort. False:
 * memory. */
static bool sort_by(struct sorting *s, enum arrange_number which, uint64_t flip) {
    uint64_t *numbers = ask(s->a, which);
    for (uint32_t i = 0; numbers && i < s->n; i++)
        s->sorted[i].key = numbers[s->sorted[i].value] ^ flip;
    free(numbers);
    return numbers && sort_all(s);
}

/* One number in the place of two: that in the keys of s->sorted, whose largest is known, and what decides
 * where it is equal. *fits: whether there is room for both; else nothing has happened. False: memory. */
static bool append_number(struct sorting *s, uint64_t most, enum arrange_number which, bool *fits) {
    uint64_t *numbers = ask(s->a, which), any = 1;
    for (uint32_t i = 0; numbers && i < s->n; i++)
        any |= numbers[i];
    unsigned free_bits = (unsigned)__builtin_clzll(any), bits = 64 - free_bits;
    *fits = free_bits && !(most >> free_bits);
    for (uint32_t i = 0; numbers && *fits && i < s->n; i++)
        s->sorted[i].key = s->sorted[i].key << bits | numbers[s->sorted[i].value];
    free(numbers);
    return numbers;
}

/* As sort_by with both, one after the other. */
static bool sort_by_two(struct sorting *s, enum arrange_number which, uint64_t flip,
                        enum arrange_number then) {
    uint64_t *numbers = ask(s->a, which), low = UINT64_MAX, high = 0;
    bool fits = false;
    for (uint32_t i = 0; numbers && i < s->n; i++) {
        uint64_t x = numbers[i] ^ flip;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    for (uint32_t i = 0; numbers && i < s->n; i++)
        s->sorted[i].key = (numbers[s->sorted[i].value] ^ flip) - low;
    free(numbers);
    if (!numbers || !append_number(s, high - low, then, &fits))
        return false;
    return fits ? sort_all(s) : sort_by(s, which, flip) && sort_by(s, then, 0);
}

/* All items are alike, and as they are numbered. */
static void start_anew(struct sorting *s) {
    memset(s->starts, 0, (((size_t)s->n + 1) / 64 + 1) * sizeof *s->starts);
    set_start(s, 0);
    set_start(s, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        s->sorted[i].value = i;
}

static void list_items(const struct sorting *s, uint32_t *items) {
    for (uint32_t i = 0; i < s->n; i++)
        items[i] = s->sorted[i].value;
}

/* ---- by keys ---- */

static const uint64_t sign = 1ull << 63;

/* What the second half makes out of keys. */
struct by_keys {
    uint32_t n;
    uint32_t *ranked;   /* items by rank in the order that most comparisons follow */
    struct view *views; /* by rank */
    uint32_t *order;    /* ranks as the trees have them */
    struct order_tree tree;
};

/* The views of the items of ranks [from, end), which have equal keys. True if there is a hole. s->sorted has
 * the places in its keys, the sign flipped: differences are those of signed numbers. */
static bool look_around(const struct sorting *s, uint32_t from, uint32_t end, struct view *views) {
    uint32_t low = from, high = from, equal = from;
    bool any = false;
    for (uint32_t i = from; i < end; i++) {
        uint64_t place = s->sorted[i].key;
        while (equal < end && s->sorted[equal].key == place)
            equal++;
        while (place - s->sorted[low].key >= sign)
            low++;
        while (high < end && (s->sorted[high].key < place || s->sorted[high].key - place <= sign))
            high++;
        views[i] =
            low > from ? (struct view){equal, from, low - from} : (struct view){equal, high, end - high};
        any |= views[i].hole_len;
    }
    return any;
}

/* All items' views. True if there is a hole. */
static bool look_at_all(const struct sorting *s, struct view *views) {
    bool any = false;
    for (uint32_t from = 0, end; from < s->n; from = end) {
        end = next_start(s->earlier, from);
        any |= look_around(s, from, end, views);
    }
    return any;
}

/* Sorts by keys, then places; sets *any if there is a hole. False: memory. */
static bool sort_and_look(struct by_keys *k, struct sorting *s, bool *any) {
    start_anew(s);
    if (!sort_by(s, ARRANGE_KEYS, 0))
        return false;
    keep_starts(s);
    if (!sort_by(s, ARRANGE_PLACE, sign))
        return false;
    k->views = room_for(s->a, sizeof *k->views);
    k->ranked = room_for(s->a, sizeof *k->ranked);
    if (!k->views || !k->ranked)
        return false;
    *any = look_at_all(s, k->views);
    list_items(s, k->ranked);
    return true;
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

/* The node of a rank is rank + 1. Before it is attached its `parent` and `note` are the nodes that will be
 * next before and behind it by rank then; 0: none. */
struct placing {
    struct order_tree *t;     /* nodes' notes: strays */
    const struct view *views; /* by rank */
    uint32_t strays[STRAYS_MAX], stray_count;
    struct range below[STRAYS_MAX]; /* what may have its place below a stray */
    uint32_t below_count;
    bool lost; /* too many: everything goes the whole way */
};

/* Finds each node's neighbours from the end: takes the nodes out of a list again, a ring with node 0 at its
 * ends. */
static void find_neighbours(const struct by_keys *k, struct order_tree_node *nodes) {
    for (uint32_t i = 0; i <= k->n; i++) {
        nodes[i].below[0] = i ? i - 1 : k->n;
        nodes[i].below[1] = i < k->n ? i + 1 : 0;
    }
    for (uint32_t i = k->n; i-- > 0;) {
        struct order_tree_node *node = &nodes[k->order[i] + 1];
        uint32_t before = node->below[0], behind = node->below[1];
        node->parent = before & INT32_MAX;
        node->note = behind;
        nodes[before].below[1] = behind;
        nodes[behind].below[0] = before;
    }
}

/* Whether nearly every rank is higher than all before it, as when they come from another tree. Of those that
 * are the neighbours need not be looked for: they come behind the highest. */
static bool climbs(const struct by_keys *k) {
    uint32_t highest = 0, lower = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        lower += k->order[i] < highest;
        highest = k->order[i] > highest ? k->order[i] : highest;
    }
    return lower < k->n / 64;
}

/* What may have its place below a stray: what lies between the nearest nodes above that stand before and
 * behind it. That stays so, whatever is attached, until the stray itself is turned. */
static struct range range_below(const struct placing *p, uint32_t stray) {
    const struct order_tree_node *nodes = p->t->nodes;
    struct range r = {0, UINT32_MAX};
    bool before = false, behind = false;
    for (uint32_t at = stray, up; (up = nodes[at].parent) && !(before && behind); at = up) {
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

static bool meets_stray(struct placing *p, uint32_t node, uint32_t pred, uint32_t succ) {
    if (!p->stray_count)
        return false;
    if (p->lost || p->t->nodes[pred].note || p->t->nodes[succ].note)
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

/* Whether behind a comparison with rank `y` no rank of the view's hole can come: it lies between them. */
static bool is_past_hole(const struct view *v, uint32_t y) {
    return v->hole < v->end ? y >= v->hole + v->hole_len && y < v->end : y >= v->end && y < v->hole;
}

/* The place below which a rank is to be attached. `whole`: nothing is known of its neighbours. */
static uint32_t find_place(struct placing *p, uint32_t rank, bool whole, bool *side) {
    struct order_tree_node *nodes = p->t->nodes;
    const struct view *v = &p->views[rank];
    uint32_t left = 0, right = 0, parent = 0, pred = nodes[rank + 1].parent, succ = nodes[rank + 1].note;
    whole = whole || meets_stray(p, rank + 1, pred, succ);
    bool past = !v->hole_len && !whole;
    for (uint32_t at = p->t->root; at && !past; at = nodes[at].below[*side]) {
        uint32_t y = at - 1;
        parent = at;
        *side = (y < v->end) ^ (y - v->hole < v->hole_len);
        whole |= *side != (y < v->end);
        left = *side ? at : left;
        right = *side ? right : at;
        past = !whole && is_past_hole(v, y);
    }
    nodes[rank + 1].note = 0;
    if (!past) {
        if (!p->lost && is_stray(p, rank + 1, left, right))
            add_stray(p, rank + 1);
        return parent;
    }
    *side = pred && !nodes[pred].below[1];
    return *side ? pred : succ;
}

static void ask_nodes_ahead(const struct by_keys *k, uint32_t i) {
    if (i + 2 * AHEAD >= k->n)
        return;
    const struct order_tree_node *nodes = k->tree.nodes, *node = &nodes[k->order[i + AHEAD] + 1];
    prefetch(&nodes[k->order[i + 2 * AHEAD] + 1]);
    prefetch(&nodes[node->parent]);
    prefetch(&nodes[node->note]);
    prefetch(&k->views[k->order[i + AHEAD]]);
}

/* Puts the ranks in k->order, one after the other, into a tree and takes them out in that of the tree. */
static void through_tree(struct by_keys *k) {
    struct placing p = {.t = &k->tree, .views = k->views};
    struct order_tree_node *nodes = k->tree.nodes;
    uint32_t highest = 0; /* node; 0: none yet */
    bool up = climbs(k);
    order_tree_clear(&k->tree);
    if (!up)
        find_neighbours(k, nodes);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t rank = k->order[i];
        bool side = false, lower = up && rank + 1 < highest;
        if (up) {
            nodes[rank + 1].parent = highest & INT32_MAX;
            nodes[rank + 1].note = 0;
            highest = lower ? highest : rank + 1;
        } else {
            ask_nodes_ahead(k, i);
        }
        uint32_t parent = find_place(&p, rank, lower, &side);
        order_tree_attach(&k->tree, rank + 1, parent, side);
    }
    order_tree_list(&k->tree, k->order);
}

/* From the items as they were made to the order of trees. False: memory. */
static bool through_both_trees(struct by_keys *k, const struct arrange *a) {
    uint32_t *ranks = room_for(a, sizeof *ranks); /* by item */
    for (uint32_t i = 0; ranks && i < k->n; i++)
        ranks[k->ranked[i]] = i;
    for (uint32_t i = 0; ranks && i < k->n; i++)
        k->order[i] = ranks[k->order[i]];
    free(ranks);
    if (!ranks || !order_tree_init(&k->tree, k->n))
        return false;
    through_tree(k);
    through_tree(k);
    return true;
}

/* k->order: ranks as perf's trees have them. */
static bool sort_by_keys(struct by_keys *k, struct arrange *a) {
    struct sorting s;
    bool any = false, ok = sorting_init(&s, a) && sort_and_look(k, &s, &any);
    sorting_fini(&s);
    if (!ok || !wait_for(a, STAGE_MADE))
        return false;
    for (uint32_t i = 0; !any && i < k->n; i++)
        k->order[i] = i;
    ok = !any || through_both_trees(k, a);
    free(k->views);
    k->views = NULL;
    return ok;
}

/* ---- by shares ---- */

/* Rows of one thread with equal first shares. */
struct class {
    uint32_t depth;  /* of the first one */
    uint32_t number; /* 0: all have the same depth */
};

/* Gives each rank its class, in s->sorted[].key << 16 | its depth; the list of them, NULL: memory.
 * s->earlier tells where first shares differ. */
static struct class *find_classes(struct sorting *s, const uint64_t *numbers, uint32_t *count) {
    uint32_t most_thread = 0, from = 0, next = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t thread = (uint32_t)(numbers[i] >> 16) + 1; /* none is UINT32_MAX */
        most_thread = thread > most_thread ? thread : most_thread;
    }
    uint32_t *last_of = malloc(((size_t)most_thread + 1) * sizeof *last_of); /* by thread */
    struct class *classes = room_for(s->a, sizeof *classes);
    for (uint32_t i = 0; last_of && i <= most_thread; i++)
        last_of[i] = UINT32_MAX;
    *count = 0;
    for (uint32_t i = 0; last_of && classes && i < s->n; i++) {
        uint64_t x = numbers[s->sorted[i].value];
        uint32_t *last = &last_of[(uint32_t)(x >> 16) + 1], depth = (uint16_t)x;
        if (i == next) {
            from = *count;
            next = next_start(s->earlier, i);
        }
        if (*last == UINT32_MAX || *last < from) {
            *last = *count;
            classes[(*count)++] = (struct class){depth, 0};
        }
        classes[*last].number |= classes[*last].depth != depth;
        s->sorted[i].key = (uint64_t)*last << 16 | depth;
    }
    free(last_of);
    if (last_of && classes)
        return classes;
    free(classes);
    return NULL;
}

/*
 * A note on each rank, in s->sorted[].key: the number of its class and its depth, so that of two in one class
 * the one with the smaller note comes first; 0 where all in the class have the same depth. Classes are
 * numbered from 1 as far as 32 bits go, which is half a million classes at 4,096 frames.
 */
static bool make_notes(struct sorting *s, uint32_t *depth_mask) {
    uint32_t count, number = 0, mask = 1;
    uint64_t *numbers = ask(s->a, ARRANGE_CHAIN);
    struct class *classes = numbers ? find_classes(s, numbers, &count) : NULL;
    free(numbers);
    if (!classes)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        while (mask < (uint16_t)s->sorted[i].key)
            mask = mask << 1 | 1;
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].number)
            classes[i].number = ++number;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t depth = (uint16_t)s->sorted[i].key, class = classes[s->sorted[i].key >> 16].number;
        s->sorted[i].key = class ? class * (mask + 1) + (s->a->o.shorter ? depth : mask - depth) : 0;
    }
    free(classes);
    *depth_mask = mask;
    return number <= UINT32_MAX / (mask + 1);
}

/* From groups, and notes in s->sorted[].key, to what is handed over. */
static bool hand_over(struct sorting *s, struct arrange *a) {
    a->shares = room_for(a, sizeof *a->shares);
    for (uint32_t from = 0, end; a->shares && from < s->n; from = end) {
        end = next_start(s->starts, from);
        for (uint32_t i = from; i < end; i++)
            a->shares[s->sorted[i].value] = (struct share){from, (uint32_t)s->sorted[i].key};
    }
    a->starts = s->starts;
    s->starts = NULL;
    return a->shares;
}

/* The order in which the items were made, then their shares. */
static bool first_half(struct arrange *a, struct sorting *s, bool far) {
    start_anew(s);
    if (far && !sort_by_two(s, ARRANGE_MADE, 0, ARRANGE_TURN))
        return false;
    list_items(s, a->order);
    tell(a, STAGE_MADE);
    start_anew(s);
    if (!sort_by(s, ARRANGE_FIRST, UINT64_MAX))
        return false;
    keep_starts(s);
    return sort_by_two(s, ARRANGE_SECOND, UINT64_MAX, ARRANGE_SHOWN) &&
           (!a->o.depths || make_notes(s, &a->depth_mask)) && hand_over(s, a);
}

bool arrange_shares(struct arrange *a, bool far) {
    struct sorting s;
    bool ok = sorting_init(&s, a) && first_half(a, &s, far);
    sorting_fini(&s);
    tell(a, ok ? STAGE_SHARES : STAGE_FAILED);
    return ok;
}

/*
 * k->order: from ranks by keys to ranks by shares, where of those with equal ones the first by keys comes
 * first. They are filled in from the last one: each goes before the one that came last in its group.
 */
static void rank_by_shares(struct by_keys *k, const struct arrange *a, uint32_t *by_rank) {
    for (uint32_t from = 0, end; from < k->n; from = end) {
        end = next_start(a->starts, from);
        by_rank[from] = end;
    }
    for (uint32_t i = k->n; i-- > 0;) {
        if (i >= 2 * AHEAD) {
            prefetch(&a->shares[k->ranked[k->order[i - 2 * AHEAD]]]);
            prefetch(&by_rank[a->shares[k->ranked[k->order[i - AHEAD]]].group]);
        }
        uint32_t item = k->ranked[k->order[i]];
        struct share x = a->shares[item];
        uint32_t rank = --by_rank[x.group];
        by_rank[rank] = item; /* at last in place of where the next one goes */
        k->order[i] = rank;
        if (a->o.depths)
            k->tree.nodes[rank + 1].note = x.note;
    }
}

/* Which side of another node a node goes to: the depths of callchains decide between those in one class. */
static inline bool deep_side(const struct order_tree *t, uint32_t depth_mask, uint32_t other, uint32_t node,
                             uint32_t note) {
    uint32_t other_note = t->nodes[other].note;
    if (__builtin_expect((other_note ^ note) - 1 < depth_mask, 0))
        return other_note < note;
    return other < node;
}

/*
 * On its way down a row waits for each node to tell the next. But rows that stand near each other by rank go
 * nearly the same way: so the last way to each part of the ranks is kept, and the processor goes on with the
 * node that was next then while it finds out whether it still is. Every comparison is made all the same:
 * nothing else follows from these ways.
 */
enum { WAYS = 32, WAY_MAX = 2 * 32 }; /* no node is deeper than twice the logarithm of how many there are */

struct ways {
    uint32_t nodes[WAYS][WAY_MAX]; /* by part, behind the root */
    unsigned shift;                /* from a rank to its part */
};

/* The place below which a node is to be attached. */
static uint32_t find_deep_place(const struct order_tree *t, uint32_t depth_mask, uint32_t *way, uint32_t node,
                                bool *side) {
    uint32_t at = t->root, parent = 0, note = t->nodes[node].note, k = 0;
    for (; at; k++) {
        uint32_t last = way[k], guess = last;
        __asm__("" : "+r"(guess)); /* or the compiler takes what is found instead, as the two are equal */
        parent = at;
        *side = deep_side(t, depth_mask, at, node, note);
        at = t->nodes[at].below[*side];
        if (at != last)
            break;
        at = guess;
    }
    for (; at; k++) {
        way[k] = parent = at;
        *side = deep_side(t, depth_mask, at, node, note);
        at = t->nodes[at].below[*side];
    }
    return parent;
}

/* As through_tree; the nodes have their notes. */
static void through_deep_tree(struct by_keys *k, uint32_t depth_mask) {
    struct order_tree *t = &k->tree;
    struct ways ways = {.shift = 0};
    order_tree_clear(t);
    while (k->n >> ways.shift >= WAYS)
        ways.shift++;
    for (uint32_t i = 0; i < k->n; i++) {
        if (i + AHEAD < k->n)
            prefetch(&t->nodes[k->order[i + AHEAD] + 1]);
        bool side = false;
        uint32_t rank = k->order[i],
                 parent = find_deep_place(t, depth_mask, ways.nodes[rank >> ways.shift], rank + 1, &side);
        order_tree_attach(t, rank + 1, parent, side);
    }
    order_tree_list(t, k->order);
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
        through_deep_tree(k, a->depth_mask);
    for (uint32_t i = 0; i < k->n; i++)
        k->order[i] = by_rank[a->o.depths ? k->order[i] : i];
    free(by_rank);
    return true;
}

bool arrange_items(struct arrange *a) {
    struct by_keys k = {.n = a->n, .order = a->order};
    bool ok = sort_by_keys(&k, a) && wait_for(a, STAGE_SHARES) && sort_by_shares(&k, a);
    free(k.ranked);
    free(k.views);
    order_tree_fini(&k.tree);
    return ok;
}
