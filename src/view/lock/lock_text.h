/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of waits for locks as text: the tables of `lock contention`, `lock report` and `lock info`. */
#ifndef SONDE_VIEW_LOCK_LOCK_TEXT_H
#define SONDE_VIEW_LOCK_LOCK_TEXT_H

#include "base/text/out.h"
#include "states/lock/lock_table.h"

struct lock_columns {
    enum lock_field fields[LOCK_FIELDS]; /* each once, in this order */
    size_t count;
    const char *separator; /* of CSV; NULL: a table */
    size_t most;           /* rows; 0: all */
    bool owners;           /* rows are of the locks' owners */
    bool quiet;            /* no headings */
    bool verbose;          /* with stacks */
};

/* Names for the keys of rows, from the caller; texts are valid during the call. */
struct lock_names {
    void *ctx;
    const char *(*site)(void *ctx, const struct lock_row *r);
    const char *(*stack)(void *ctx, const struct lock_row *r); /* a line for each frame; "" : none */
    const char *(*thread)(void *ctx, const struct lock_row *r);
    const char *(*lock)(void *ctx, const struct lock_row *r); /* "" : it has no name */
    const char *(*group)(void *ctx, const struct lock_row *r);
};

/* Reads "contended" and so on; LOCK_FIELDS: there is none of that name. */
enum lock_field lock_field_named(const char *name, size_t len);

/* `lock contention`: rows by site, thread, address or control group (table->by). Sorted rows. */
void lock_text_contention(const struct lock_table *t, const struct lock_columns *c,
                          const struct lock_names *names, struct out *o);
/* `lock report`, by thread, or by address or name. */
void lock_text_report(const struct lock_table *t, const struct lock_columns *c,
                      const struct lock_names *names, struct out *o);
/* `lock info`: threads by tid, locks by address; rows are in that order. */
void lock_text_threads(const struct lock_table *t, const struct lock_names *names, struct out *o);
void lock_text_map(const struct lock_table *t, const struct lock_names *names, struct out *o);

#endif
