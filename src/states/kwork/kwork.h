/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that the kernel does for itself: interrupts, soft interrupts and work items, with the times at which
 * each was raised (or activated), entered and left.
 *
 *       raise        entry                exit
 *         |--- delay --|------- run --------|          a soft interrupt, or a work item
 *                           |- inner -|                an interrupt in it
 *
 *   kwork_init -> kwork_apply ... -> kwork_finish -> kwork_fini
 *
 * Events come in the order of recording/ordered.h. Interrupts nest; the time of those inside another one is
 * its inner time. Work items run in threads, which sleep and migrate, so they are followed across CPUs:
 * their row is that of the CPU where they began. A work that is raised twice before it begins counts from
 * the first raise. After a loss all work that was open there is given up. Memory grows with the number of
 * different works.
 */
#ifndef SONDE_STATES_KWORK_KWORK_H
#define SONDE_STATES_KWORK_KWORK_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"

#define KWORK_NONE UINT32_MAX

enum kwork_class { KWORK_IRQ, KWORK_SOFTIRQ, KWORK_WORKQUEUE, KWORK_CLASSES };

enum kwork_event_kind {
    KWORK_RAISE, /* interrupts have none */
    KWORK_ENTRY,
    KWORK_EXIT,
    KWORK_LOST, /* events of `cpu` (KWORK_NONE: of any CPU) were lost before this */
};

struct kwork_event {
    enum kwork_event_kind kind;
    enum kwork_class class;
    uint64_t time_ns;
    uint64_t id;       /* number of the interrupt or vector, address of the item */
    uint64_t function; /* of a work item; 0: not known */
    uint32_t cpu;
    struct bytes name; /* empty: not known. Borrowed for the call. */
    uint64_t loc;      /* the record of the event */
};

/* One row: a work on a CPU. */
struct kwork_work {
    enum kwork_class class;
    uint32_t cpu;
    uint64_t id, function; /* function: 0: not known */
    uint32_t name;         /* in kwork.names; STRPOOL_NONE: not known */
    uint32_t next;         /* internal */
};

/* A work that was seen to begin and to end. */
struct kwork_run {
    uint32_t work, cpu; /* work: index, for kwork_work */
    bool raised;        /* raise_ns is known */
    bool nested;        /* in another interrupt */
    uint64_t raise_ns, since_ns, until_ns;
    uint64_t inner_ns; /* the part of it that was spent in nested interrupts */
    uint64_t loc;      /* the record of its entry */
};

/* A work that is raised or running: on its CPU or, if it is a work item, on any. */
struct kwork_open {
    enum kwork_class class;
    uint32_t cpu; /* KWORK_NONE: anywhere */
    uint64_t id;
    bool raised, entered;
    uint64_t raise_ns, losses; /* losses: how many there were when this was noted */
    struct kwork_run run;      /* once it is entered */
    uint32_t next;             /* internal */
};

enum { KWORK_DEPTH = 16 }; /* interrupts do not nest deeper than that */

struct kwork_cpu {
    uint32_t number;
    uint64_t losses;
    uint32_t depth, open[KWORK_DEPTH]; /* nested interrupts that are running: indices in `opens` */
};

struct kwork_faults {
    uint64_t events;                 /* good ones included, losses not */
    uint64_t raises, entries, exits; /* whose counterpart is missing */
    uint64_t losses, backwards;
};

/* Takes a run as it ends. False: out of memory. */
struct kwork;
typedef bool kwork_sink_fn(void *ctx, const struct kwork *k, const struct kwork_run *run);

struct kwork {
    VEC(struct kwork_work) works;
    VEC(struct kwork_open) opens;
    VEC(struct kwork_cpu) cpus;
    struct hash_map by_work, by_open, by_cpu;
    struct strpool names;
    uint64_t losses, begin_ns, now_ns;
    bool begun;
    struct kwork_faults faults;
    kwork_sink_fn *sink;
    void *sink_ctx;
};

void kwork_init(struct kwork *k, kwork_sink_fn *sink, void *ctx);
void kwork_fini(struct kwork *k);
/* The row of the work of an event, made if it is not there, with the function and the name that the event
 * gives it. For work that was summed elsewhere. KWORK_NONE: out of memory. */
uint32_t kwork_work_of(struct kwork *k, const struct kwork_event *e);
/* False: out of memory; only kwork_fini is allowed then. */
bool kwork_apply(struct kwork *k, const struct kwork_event *e);
/* Counts the work that never ended. */
void kwork_finish(struct kwork *k);

/* The pointer is valid until the next event. */
static inline const struct kwork_work *kwork_work(const struct kwork *k, uint32_t index) {
    return &k->works.items[index];
}

#endif
