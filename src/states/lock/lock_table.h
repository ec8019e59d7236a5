/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of waits for locks: by call site, by thread, by lock, by the lock's name, or by control
 * group. */
#ifndef SONDE_STATES_LOCK_LOCK_TABLE_H
#define SONDE_STATES_LOCK_LOCK_TABLE_H

#include "states/lock/locks.h"

enum lock_by {
    LOCK_BY_SITE, /* where it was taken, and its type */
    LOCK_BY_THREAD,
    LOCK_BY_ADDRESS,
    LOCK_BY_NAME,
    LOCK_BY_GROUP, /* the control group of who waited */
};

struct lock_row {
    uint64_t acquired, contended;
    uint64_t total_ns, max_ns, min_ns; /* of waits; 0 without any */
    uint64_t address;                  /* this and the next ones are of the row's first wait */
    uint64_t group;
    uint32_t tid, pid, site, name;
    unsigned type;
};

/* Columns, and what rows can be sorted by. */
enum lock_field {
    LOCK_ACQUIRED,
    LOCK_CONTENDED,
    LOCK_TOTAL,
    LOCK_MAX,
    LOCK_MIN,
    LOCK_AVG,
    LOCK_FIELDS,
};

struct lock_table {
    enum lock_by by;
    bool waits_only; /* acquisitions without a wait make no row */
    VEC(struct lock_row) rows;
    struct hash_map index;
};

/* The sink of locks; ctx is the struct lock_table, zeroed except for the options. */
bool lock_table_add(void *ctx, const struct lock_wait *w);
/* Adds a row that was summed elsewhere to the one of its key. False: out of memory. */
bool lock_table_merge(struct lock_table *t, const struct lock_row *r);
uint64_t lock_row_value(const struct lock_row *r, enum lock_field f);
/* Sorts by a field, downwards, and then in a total order: the rest of the figures, then the keys. */
void lock_table_sort(struct lock_table *t, enum lock_field f);
void lock_table_fini(struct lock_table *t);

#endif
