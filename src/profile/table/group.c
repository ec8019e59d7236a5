/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows events of a group side by side: the rows of all members move into the leader's table, with one sum
 * for each member.
 *
 *   cycles        instructions            {cycles, instructions}
 *   main  70 %    main  60 %              main  70 %  60 %
 *   read  30 %    fork  40 %        ->    read  30 %   0 %
 *                                         fork   0 %  40 %
 */
#include "profile/profile_internal.h"

/* A group with more sums is not shown side by side: half a gigabyte. A recording may claim thousands of
 * members. */
enum { SUMS_MOST = 1 << 24 };

static bool add_total(struct profile_table *t, const struct profile_tally *tally) {
    struct profile_sums *total = vec_push(&t->totals);
    if (!total)
        return false;
    total->period = tally->period;
    total->samples = tally->samples;
    total->latency = tally->latency;
    return true;
}

/* ---- rows of several tables with equal keys ---- */

static unsigned all_words(const struct profile *p, const struct profile_row *row, uint64_t *words) {
    unsigned n = 0;
    for (uint32_t i = 0; i < p->key_count; i++)
        n += profile_key_words(p, p->keys[i], row, words + n);
    return n;
}

/* Returns the leader's row with the keys of `like`, or `new` if there is none yet. PROFILE_NONE: out of
 * memory. */
static uint32_t find_row(const struct profile *p, const struct profile_table *leader, struct idtable *by_key,
                         const struct profile_row *like, uint32_t new) {
    enum { WORDS_MAX = PROFILE_COLUMNS_MAX * PROFILE_KEY_WORDS };
    uint64_t words[WORDS_MAX], other[WORDS_MAX];
    unsigned n = all_words(p, like, words);
    uint64_t hash = hash_bytes(words, n * sizeof *words);
    struct idtable_at at = idtable_first(by_key, hash);
    for (uint32_t id; (id = idtable_next(by_key, &at)) != IDTABLE_NONE;) {
        all_words(p, &leader->rows.items[id], other);
        if (!memcmp(words, other, n * sizeof *words))
            return id;
    }
    return idtable_add(by_key, hash, new) ? new : PROFILE_NONE;
}

/* Finds the leader's row for each of the member's (rows[i]), or makes it from that. False: out of memory. */
static bool take_rows(struct profile *p, struct profile_table *leader, uint32_t m, struct idtable *by_key,
                      uint32_t *rows) {
    const struct profile_table *member = leader + m;
    for (uint32_t i = 0; i < member->rows.count; i++) {
        const struct profile_row *from = &member->rows.items[i];
        rows[i] = find_row(p, leader, by_key, from, (uint32_t)leader->rows.count);
        if (rows[i] == PROFILE_NONE)
            return false;
        if (rows[i] != leader->rows.count)
            continue;
        struct profile_row *made = vec_push(&leader->rows);
        if (!made || (p->plan.o->children && !vec_push(&leader->through)) ||
            (leader->latency.items && !vec_push(&leader->latency)))
            return false;
        *made = *from;
        made->self = 0;
        made->depth = 0; /* none of the leader's callchains has it */
    }
    return true;
}

static const struct profile_sums *own_sums(const struct profile_table *t, uint32_t row) {
    static const struct profile_sums none;
    uint32_t self = t->rows.items[row].self;
    return self ? &t->self.items[self] : &none;
}

/* Fills in the members' sums. rows[m][i]: the leader's row for row i of member m. False: out of memory. */
static bool join(struct profile *p, struct profile_table *leader, uint32_t members, uint32_t *const *rows) {
    size_t n = leader->rows.count * members;
    if (!vec_reserve(&leader->joined_self, n + 1) ||
        (p->plan.o->children && !vec_reserve(&leader->joined_children, n + 1)) ||
        (p->plan.o->children && p->plan.extras && !vec_reserve(&leader->joined_latency, n + 1)))
        return false;
    memset(leader->joined_self.items, 0, n * sizeof *leader->joined_self.items);
    if (p->plan.o->children)
        memset(leader->joined_children.items, 0, n * sizeof *leader->joined_children.items);
    if (leader->joined_latency.items)
        memset(leader->joined_latency.items, 0, n * sizeof *leader->joined_latency.items);
    for (uint32_t m = 0; m < members; m++) {
        const struct profile_table *t = leader + m;
        for (uint32_t i = 0; i < t->rows.count; i++) {
            size_t at = (size_t)(m ? rows[m][i] : i) * members + m;
            leader->joined_self.items[at] = *own_sums(t, i);
            if (p->plan.o->children)
                leader->joined_children.items[at] = t->through.items[i];
            if (leader->joined_latency.items)
                leader->joined_latency.items[at] = t->latency.items[i];
        }
    }
    leader->joined_self.count = n;
    leader->joined_children.count = p->plan.o->children ? n : 0;
    return true;
}

/* Restores the leader's table as it was before the members' rows came: all events are shown one by one. */
static void keep_apart(struct profile_table *leader, uint32_t members, size_t own_rows) {
    for (uint32_t m = 1; m < members; m++)
        leader[m].member = false;
    leader->rows.count = own_rows;
    if (leader->through.count > own_rows)
        leader->through.count = own_rows;
    if (leader->latency.count > own_rows)
        leader->latency.count = own_rows;
    leader->totals.count = 0;
}

static bool join_group(struct profile *p, uint32_t first, uint32_t members) {
    struct profile_table *leader = &p->tables.items[first];
    size_t own_rows = leader->rows.count;
    bool fits = true;
    uint32_t **rows = calloc(members, sizeof *rows);
    struct idtable by_key = {0};
    bool ok = rows != NULL;
    for (uint32_t m = 0; ok && m < members; m++) {
        leader[m].member = m > 0;
        ok = add_total(leader, &p->b.tally.items[first + m]);
    }
    for (uint32_t i = 0; ok && i < leader->rows.count; i++)
        ok = find_row(p, leader, &by_key, &leader->rows.items[i], i) != PROFILE_NONE;
    for (uint32_t m = 1; ok && fits && m < members; m++) {
        rows[m] = malloc((leader[m].rows.count + 1) * sizeof **rows);
        ok = rows[m] && take_rows(p, leader, m, &by_key, rows[m]);
        fits = leader->rows.count * members <= SUMS_MOST;
    }
    if (ok && fits)
        ok = join(p, leader, members, rows);
    else if (ok)
        keep_apart(leader, members, own_rows);
    for (uint32_t m = 0; rows && m < members; m++)
        free(rows[m]);
    free(rows);
    idtable_fini(&by_key);
    if (fits)
        leader->members = members;
    return ok;
}

bool profile_group(struct profile *p) {
    const struct perfdata_events *events = p->plan.in->events;
    for (uint32_t i = 0; i < p->tables.count; i++) {
        uint32_t members = events->list.items[i].group_members;
        if (!p->plan.o->group || members < 2 || members > p->tables.count - i)
            continue;
        if (!join_group(p, i, members))
            return false;
        i += members - 1;
    }
    for (uint32_t i = 0; i < p->tables.count; i++) {
        struct profile_table *t = &p->tables.items[i];
        if (!t->members && !t->member) {
            t->members = 1;
            if (!add_total(t, &p->b.tally.items[i]))
                return false;
        }
    }
    return true;
}
