/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time order: a generic container that takes (time, loc) pairs in file order
 * and returns them sorted, in bounded memory if the file has rounds.
 *
 *   file:   e3 e1 | FINISHED_ROUND | e2 e5 e4 | FINISHED_ROUND | e6 ...
 *   at a round's end everything up to the latest time of the round *before* can be delivered: perf record
 *   promises that nothing older comes after it (perf.data-file-format.txt, "Ordering").
 *
 * 16 bytes per waiting event.
 */
#ifndef SONDE_STREAM_STREAM_ORDER_H
#define SONDE_STREAM_STREAM_ORDER_H

#include "base/err.h"
#include "stream/stream.h"

struct order_item {
    uint64_t time_ns, loc;
};

struct order_queue {
    struct order_item *items; /* owned; [head, count) are waiting, of which [head, sorted) are in order */
    size_t head, sorted, count, cap;
    bool open;              /* a round or the end came: items up to limit_ns can be popped */
    uint64_t limit_ns;      /* items up to this time may be delivered now */
    uint64_t next_limit_ns; /* limit_ns from the end of the next round on */
    uint64_t round_max_ns;  /* latest time pushed so far */
    uint64_t last_ns;       /* time of the item delivered last */
    uint64_t unordered;     /* how many items came after a later one was delivered */
};

void order_queue_init(struct order_queue *q);
void order_queue_fini(struct order_queue *q);
/* False: out of memory. */
bool order_queue_push(struct order_queue *q, uint64_t time_ns, uint64_t loc);
/* Reports a FINISHED_ROUND: items up to the latest time of the previous round can be popped. False: out of
 * memory.
 */
bool order_queue_round(struct order_queue *q);
/* Reports the end: everything can be popped. False: out of memory. */
bool order_queue_finish(struct order_queue *q);
/* Takes the oldest deliverable item, by loc if times are equal. False: there is none. */
bool order_queue_pop(struct order_queue *q, struct order_item *out);

/* Whether a record is to be delivered; others are dropped when they are read. */
typedef bool order_want_fn(void *ctx, const struct stream_record *r);

/* A number, its CPU as a rule, that comes before file order among records of one time. */
typedef uint32_t order_tie_fn(void *ctx, const struct stream_record *r);

/*
 * Delivers a stream's records in (time, loc) order; with `tie` in (time, tie, loc) order. Records without a
 * time (user records, time 0, kernel records without sample_id_all) are delivered when they are read.
 */
struct order {
    struct stream *stream; /* borrowed */
    struct order_queue queue;
    order_want_fn *want; /* NULL: everything */
    void *want_ctx;      /* of tie, too */
    order_tie_fn *tie;   /* set after order_init; NULL: none */
    size_t tied;         /* how many of the next items have the same time, and are sorted by `tie` */
    size_t events;       /* how many the stream had when the first item was queued */
    bool ended, disabled;
};

/* `disabled` (--disable-order): file order. */
void order_init(struct order *o, struct stream *s, order_want_fn *want, void *want_ctx, bool disabled);
void order_fini(struct order *o);
/* The next record; of a stream that goes on, STREAM_END: those that wait need more to come first.
 * out->time_ns is its time or, for one without, that of stream_when_ns. */
enum stream_status order_next(struct order *o, struct stream_record *out, struct err *err);

#endif
