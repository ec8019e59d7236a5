/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/arrange.h"

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

_Static_assert(sizeof(struct view) <= sizeof(struct radix_item), "views take the room of sorting");

struct arranger {
    const struct arrange_options *o;
    uint32_t n;
    uint32_t *order;   /* items, or while they go through trees their ranks in... */
    uint32_t *ranked;  /* ... the order that most comparisons follow: items by rank */
    uint64_t *numbers; /* by item */
    struct radix_item *sorted, *room;
    uint64_t *starts;   /* a bit by rank: here begin items that no number by which was sorted tells apart */
    uint64_t *earlier;  /* the same as it was before the last numbers */
    struct view *views; /* by rank */
};

static void ask(struct arranger *a, enum arrange_number which) {
    a->o->fill(a->o->ctx, which, a->numbers);
}

static bool get_room(struct arranger *a) {
    size_t n = (size_t)a->n + 1, words = n / 64 + 1;
    a->numbers = malloc(n * sizeof *a->numbers);
    a->sorted = malloc(n * sizeof *a->sorted);
    a->room = malloc(n * sizeof *a->room);
    a->starts = malloc(words * sizeof *a->starts);
    a->earlier = malloc(words * sizeof *a->earlier);
    return a->numbers && a->sorted && a->room && a->starts && a->earlier;
}

/* Trees and sorting are not at the same time. */
static void give_back_room(struct arranger *a) {
    free(a->numbers);
    free(a->sorted);
    free(a->room);
    free(a->starts);
    free(a->earlier);
    a->numbers = a->starts = a->earlier = NULL;
    a->sorted = a->room = NULL;
}

/* ---- by one number after the other ---- */

static void set_start(struct arranger *a, uint32_t rank) {
    a->starts[rank / 64] |= 1ull << rank % 64;
}

/* All are alike again, in the order in which they are. */
static void forget_starts(struct arranger *a) {
    memset(a->starts, 0, ((size_t)a->n / 64 + 1) * sizeof *a->starts);
    set_start(a, 0);
    set_start(a, a->n);
}

static void keep_starts(struct arranger *a) {
    memcpy(a->earlier, a->starts, ((size_t)a->n / 64 + 1) * sizeof *a->starts);
}

/* The first start behind a rank. */
static uint32_t next_start(const uint64_t *starts, uint32_t rank) {
    size_t at = ++rank / 64;
    uint64_t word = starts[at] & -1ull << rank % 64;
    while (!word)
        word = starts[++at];
    return (uint32_t)(at * 64 + (unsigned)__builtin_ctzll(word));
}

/* Sorts by a number what those before it left equal, keeping the order of what this one leaves equal. The
 * numbers stay in the keys of a->sorted. */
static void sort_by(struct arranger *a, enum arrange_number which, uint64_t flip) {
    ask(a, which);
    for (uint32_t i = 0; i < a->n; i++)
        a->sorted[i].key = a->numbers[a->sorted[i].value] ^ flip;
    for (uint32_t from = 0, end; from < a->n; from = end) {
        end = next_start(a->starts, from);
        if (end - from < 2)
            continue;
        radix_sort(a->sorted + from, a->room, end - from);
        for (uint32_t i = from + 1; i < end; i++)
            if (a->sorted[i].key != a->sorted[i - 1].key)
                set_start(a, i);
    }
}

static void start_from(struct arranger *a, const uint32_t *order) {
    for (uint32_t i = 0; i < a->n; i++)
        a->sorted[i].value = order ? order[i] : i;
    forget_starts(a);
}

static void take_order(struct arranger *a) {
    for (uint32_t i = 0; i < a->n; i++)
        a->order[i] = a->sorted[i].value;
}

/* From items to their ranks in the order of a->sorted, which stays in a->ranked. False: memory. */
static bool to_ranks(struct arranger *a) {
    free(a->numbers); /* what is next is none of theirs */
    a->numbers = NULL;
    uint32_t *ranks = malloc(((size_t)a->n + 1) * sizeof *ranks);
    if (!a->ranked)
        a->ranked = malloc(((size_t)a->n + 1) * sizeof *a->ranked);
    if (!a->ranked) {
        free(ranks);
        return false;
    }
    for (uint32_t i = 0; ranks && i < a->n; i++) {
        ranks[a->sorted[i].value] = i;
        a->ranked[i] = a->sorted[i].value;
    }
    for (uint32_t i = 0; ranks && i < a->n; i++)
        a->order[i] = ranks[a->order[i]];
    free(ranks);
    return ranks;
}

static void from_ranks(struct arranger *a) {
    for (uint32_t i = 0; i < a->n; i++)
        a->order[i] = a->ranked[a->order[i]];
}

/* ---- by keys ---- */

static const uint64_t sign = 1ull << 63;

/* The views of the items of ranks [from, end), which have equal keys. True if there is a hole. a->sorted has
 * the places in its keys, the sign flipped: differences are those of signed numbers. */
static bool look_around(const struct arranger *a, uint32_t from, uint32_t end, struct view *views) {
    uint32_t low = from, high = from, equal = from;
    bool any = false;
    for (uint32_t i = from; i < end; i++) {
        uint64_t place = a->sorted[i].key;
        while (equal < end && a->sorted[equal].key == place)
            equal++;
        while (place - a->sorted[low].key >= sign)
            low++;
        while (high < end && (a->sorted[high].key < place || a->sorted[high].key - place <= sign))
            high++;
        views[i] =
            low > from ? (struct view){equal, from, low - from} : (struct view){equal, high, end - high};
        any |= views[i].hole_len;
    }
    return any;
}

/* Sorts by keys, then places; a->views by rank. True if there is a hole. */
static bool sort_and_look(struct arranger *a) {
    bool any = false;
    forget_starts(a);
    sort_by(a, ARRANGE_KEYS, 0);
    keep_starts(a);
    sort_by(a, ARRANGE_PLACE, sign);
    a->views = (struct view *)(void *)a->room; /* sorting is over */
    a->room = NULL;
    for (uint32_t from = 0, end; from < a->n; from = end) {
        end = next_start(a->earlier, from);
        any |= look_around(a, from, end, a->views);
    }
    return any;
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
static void find_neighbours(const struct arranger *a, struct order_tree_node *nodes) {
    for (uint32_t i = 0; i <= a->n; i++) {
        nodes[i].below[0] = i ? i - 1 : a->n;
        nodes[i].below[1] = i < a->n ? i + 1 : 0;
    }
    for (uint32_t i = a->n; i-- > 0;) {
        struct order_tree_node *node = &nodes[a->order[i] + 1];
        uint32_t before = node->below[0], behind = node->below[1];
        node->parent = before & INT32_MAX;
        node->note = behind;
        nodes[before].below[1] = behind;
        nodes[behind].below[0] = before;
    }
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

/* The place below which a rank is to be attached. */
static uint32_t find_place(struct placing *p, uint32_t rank, bool *side) {
    struct order_tree_node *nodes = p->t->nodes;
    const struct view *v = &p->views[rank];
    uint32_t left = 0, right = 0, parent = 0, pred = nodes[rank + 1].parent, succ = nodes[rank + 1].note;
    bool whole = meets_stray(p, rank + 1, pred, succ), past = !v->hole_len && !whole;
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

static void ask_nodes_ahead(const struct arranger *a, const struct placing *p, uint32_t i) {
    if (i + 2 * AHEAD >= a->n)
        return;
    const struct order_tree_node *nodes = p->t->nodes, *node = &nodes[a->order[i + AHEAD] + 1];
    prefetch(&nodes[a->order[i + 2 * AHEAD] + 1]);
    prefetch(&nodes[node->parent]);
    prefetch(&nodes[node->note]);
    prefetch(&p->views[a->order[i + AHEAD]]);
}

/* Puts the ranks in a->order, one after the other, into a tree and takes them out in that of the tree. */
static bool through_tree(struct arranger *a, const struct view *views) {
    struct order_tree t;
    struct placing p = {.t = &t, .views = views};
    if (!order_tree_init(&t, a->n))
        return false;
    find_neighbours(a, t.nodes);
    for (uint32_t i = 0; i < a->n; i++) {
        ask_nodes_ahead(a, &p, i);
        bool side = false;
        uint32_t rank = a->order[i], parent = find_place(&p, rank, &side);
        order_tree_attach(&t, rank + 1, parent, side);
    }
    order_tree_list(&t, a->order);
    order_tree_fini(&t);
    return true;
}

static bool sort_by_keys(struct arranger *a) {
    bool ok = get_room(a);
    if (ok)
        start_from(a, NULL);
    if (ok && a->o->far) {
        sort_by(a, ARRANGE_MADE, 0);
        sort_by(a, ARRANGE_TURN, 0);
        take_order(a);
    }
    if (ok && sort_and_look(a)) {
        ok = to_ranks(a);
        give_back_room(a);
        ok = ok && through_tree(a, a->views) && through_tree(a, a->views);
        if (ok)
            from_ranks(a);
    } else if (ok) {
        take_order(a);
    }
    give_back_room(a);
    free(a->views);
    return ok;
}

/* ---- by shares ---- */

/* Rows of one thread with equal first shares. */
struct class {
    uint32_t depth;  /* of the first one */
    uint32_t number; /* 0: all have the same depth */
};

struct notes {
    uint32_t *list; /* by rank */
    uint32_t depth_mask;
};

/* Gives each rank its class; the list of them, NULL: memory. a->earlier tells where first shares differ. */
static struct class *find_classes(const struct arranger *a, uint32_t *class_of, uint32_t *count) {
    uint32_t most = 0, from = 0, next = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t thread = (uint32_t)(a->numbers[i] >> 16) + 1; /* none is UINT32_MAX */
        most = thread > most ? thread : most;
    }
    uint32_t *last_of = malloc(((size_t)most + 1) * sizeof *last_of); /* by thread */
    struct class *classes = malloc(((size_t)a->n + 1) * sizeof *classes);
    for (uint32_t i = 0; last_of && i <= most; i++)
        last_of[i] = UINT32_MAX;
    *count = 0;
    for (uint32_t i = 0; last_of && classes && i < a->n; i++) {
        uint64_t x = a->numbers[a->sorted[i].value];
        uint32_t *last = &last_of[(uint32_t)(x >> 16) + 1], depth = (uint16_t)x;
        if (i == next) {
            from = *count;
            next = next_start(a->earlier, i);
        }
        if (*last == UINT32_MAX || *last < from) {
            *last = *count;
            classes[(*count)++] = (struct class){depth, 0};
        }
        classes[*last].number |= classes[*last].depth != depth;
        class_of[i] = *last;
    }
    free(last_of);
    if (last_of && classes)
        return classes;
    free(classes);
    return NULL;
}

/*
 * A note on each rank: the number of its class and its depth, so that of two in one class the one with the
 * smaller note comes first; 0 where all in the class have the same depth. Classes are numbered from 1 as far
 * as 32 bits go, which is half a million classes at 4,096 frames.
 */
static bool make_notes(struct arranger *a, struct notes *notes) {
    uint32_t count, number = 0, mask = 1;
    ask(a, ARRANGE_CHAIN);
    struct class *classes = find_classes(a, notes->list, &count);
    if (!classes)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        while (mask < (uint16_t)a->numbers[i])
            mask = mask << 1 | 1;
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].number)
            classes[i].number = ++number;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t depth = (uint16_t)a->numbers[a->sorted[i].value], class = classes[notes->list[i]].number;
        notes->list[i] = class ? class * (mask + 1) + (a->o->shorter ? depth : mask - depth) : 0;
    }
    free(classes);
    notes->depth_mask = mask;
    return number <= UINT32_MAX / (mask + 1);
}

/* Which side of another node a node goes to: the depths of callchains decide between those in one class. */
static inline bool deep_side(const struct notes *notes, uint32_t other, uint32_t other_note, uint32_t node,
                             uint32_t note) {
    if (__builtin_expect((other_note ^ note) - 1 < notes->depth_mask, 0))
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
static uint32_t find_deep_place(const struct order_tree *t, const struct notes *notes, uint32_t *way,
                                uint32_t node, bool *side) {
    uint32_t at = t->root, parent = 0, note = notes->list[node - 1], k = 0;
    for (; at; k++) {
        uint32_t last = way[k], guess = last;
        __asm__("" : "+r"(guess)); /* or the compiler takes what is found instead, as the two are equal */
        parent = at;
        *side = deep_side(notes, at, t->nodes[at].note, node, note);
        at = t->nodes[at].below[*side];
        if (at != last)
            break;
        at = guess;
    }
    for (; at; k++) {
        way[k] = parent = at;
        *side = deep_side(notes, at, t->nodes[at].note, node, note);
        at = t->nodes[at].below[*side];
    }
    return parent;
}

/* As through_tree. */
static bool through_deep_tree(struct arranger *a, const struct notes *notes) {
    struct order_tree t;
    struct ways ways = {.shift = 0};
    if (!order_tree_init(&t, a->n))
        return false;
    while (a->n >> ways.shift >= WAYS)
        ways.shift++;
    for (uint32_t i = 0; i < a->n; i++) {
        if (i + AHEAD < a->n) {
            prefetch(&t.nodes[a->order[i + AHEAD] + 1]);
            prefetch(&notes->list[a->order[i + AHEAD]]);
        }
        bool side = false;
        uint32_t rank = a->order[i],
                 parent = find_deep_place(&t, notes, ways.nodes[rank >> ways.shift], rank + 1, &side);
        t.nodes[rank + 1].note = notes->list[rank];
        order_tree_attach(&t, rank + 1, parent, side);
    }
    order_tree_list(&t, a->order);
    order_tree_fini(&t);
    return true;
}

static bool sort_by_shares(struct arranger *a) {
    if (!get_room(a))
        return false;
    start_from(a, a->order);
    sort_by(a, ARRANGE_FIRST, UINT64_MAX);
    keep_starts(a);
    sort_by(a, ARRANGE_SECOND, UINT64_MAX);
    sort_by(a, ARRANGE_SHOWN, 0);
    if (!a->o->depths) {
        take_order(a);
        return true;
    }
    free(a->room); /* sorting is over: what is next may be in its place */
    a->room = NULL;
    struct notes notes = {.list = malloc(((size_t)a->n + 1) * sizeof *notes.list)};
    bool ok = notes.list && make_notes(a, &notes) && to_ranks(a);
    give_back_room(a);
    ok = ok && through_deep_tree(a, &notes);
    if (ok)
        from_ranks(a);
    free(notes.list);
    return ok;
}

bool profile_arrange(const struct arrange_options *o, uint32_t *order) {
    struct arranger a = {.o = o, .n = o->n, .order = order};
    bool ok = sort_by_keys(&a) && sort_by_shares(&a);
    give_back_room(&a);
    free(a.ranked);
    return ok;
}
