/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's work, added up by row: how often and how long each ran, and how long it was delayed. */
#ifndef SONDE_STATES_KWORK_KWORK_SUMS_H
#define SONDE_STATES_KWORK_KWORK_SUMS_H

#include "select/filter.h"
#include "select/time_range.h"
#include "states/kwork/kwork.h"

/* Which runs count. Borrowed; NULL or empty: all. */
struct kwork_choice {
    const struct filter_ranges *cpus;
    const struct time_ranges *times; /* of the beginning of a run */
    bool classes[KWORK_CLASSES];
};
bool kwork_chosen(const struct kwork_choice *c, const struct kwork *k, const struct kwork_run *run);

struct kwork_sum {
    uint64_t count, total_ns, max_ns, max_since_ns, max_until_ns; /* of the longest, the first of equals */
};

struct kwork_row {
    uint32_t work;
    struct kwork_sum run, delay; /* delay: runs of which the raise is known */
};

struct kwork_sums {
    const struct kwork_choice *choice; /* borrowed */
    VEC(struct kwork_row) rows;        /* by work until kwork_sums_finish */
};

/* The sink of kwork; ctx is a struct kwork_sums, zeroed but for `choice`. */
bool kwork_sums_add(void *ctx, const struct kwork *k, const struct kwork_run *run);

/* Adds a row of the work, which was summed elsewhere; the choice has been made there but for classes. False:
 * out of memory. */
bool kwork_sums_take(struct kwork_sums *s, const struct kwork *k, const struct kwork_row *row);

/* What rows are sorted by, downwards. */
enum kwork_key { KWORK_RUNTIME, KWORK_AVG, KWORK_MAX, KWORK_COUNT, KWORK_KEYS };

struct kwork_order {
    enum kwork_key keys[KWORK_KEYS];
    size_t count;
    bool delays; /* rows are sorted by their delays, not their runs */
};

/* Reads "max,count"; KWORK_RUNTIME and KWORK_AVG are allowed for runs and delays. False: *bad is the word
 * that is no key, maybe empty. */
bool kwork_order_parse(const char *text, struct kwork_order *order, struct bytes *bad);

/* Keeps the rows that count, and sorts them; equal ones by class, number and CPU. */
void kwork_sums_finish(struct kwork_sums *s, const struct kwork *k, const struct kwork_order *order);
void kwork_sums_fini(struct kwork_sums *s);

#endif
