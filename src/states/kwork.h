/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that the kernel does for itself: interrupts, soft interrupts, work items; each with when it was asked
 * for (raised, activated), began and ended.
 *
 *       raise        entry                exit
 *         |--- delay --|------- run --------|          a soft interrupt, or a work item
 *                           |- inner -|                an interrupt in it
 *
 *   kwork_init -> kwork_apply ... -> kwork_finish -> kwork_fini
 *
 * Events come in the order of recording/ordered.h. Interrupts nest; what is inside of one is told as its
 * inner time. Work items run in threads, which sleep and move, so they are followed across CPUs: their row is
 * that of the CPU where they began. Asked for twice before it begins counts from the first. After a loss
 * nothing that was open there goes on. Memory grows with the number of different works.
 */
#ifndef SONDE_STATES_KWORK_H
#define SONDE_STATES_KWORK_H

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
    KWORK_LOST, /* events of `cpu` (KWORK_NONE: of any) were lost before */
};

struct kwork_event {
    enum kwork_event_kind kind;
    enum kwork_class class;
    uint64_t time_ns;
    uint64_t id;       /* number of the interrupt or vector, address of the item */
    uint64_t function; /* of a work item; 0: not told */
    uint32_t cpu;
    struct bytes name; /* empty: not told. Borrowed for the call. */
    uint64_t loc;      /* the record that tells it */
};

/* One row: a work on a CPU. */
struct kwork_work {
    enum kwork_class class;
    uint32_t cpu;
    uint64_t id, function; /* function: 0: not told */
    uint32_t name;         /* in kwork.names; STRPOOL_NONE: not told */
    uint32_t next;         /* internal */
};

/* A work that was seen to begin and to end. */
struct kwork_run {
    uint32_t work, cpu; /* work: index, for kwork_work */
    bool raised;        /* raise_ns is known */
    bool nested;        /* in another interrupt */
    uint64_t raise_ns, since_ns, until_ns;
    uint64_t inner_ns; /* of it, in interrupts inside */
    uint64_t loc;      /* the record of its entry */
};

/* What is going on: of a work, on its CPU or (work items) anywhere. */
struct kwork_open {
    enum kwork_class class;
    uint32_t cpu; /* KWORK_NONE: anywhere */
    uint64_t id;
    bool raised, entered;
    uint64_t raise_ns, losses; /* losses: as many were known of when it was noted */
    struct kwork_run run;      /* once it is entered */
    uint32_t next;             /* internal */
};

enum { KWORK_DEPTH = 16 }; /* more interrupts than that do not nest in each other */

struct kwork_cpu {
    uint32_t number;
    uint64_t losses;
    uint32_t depth, open[KWORK_DEPTH]; /* interrupts that are going on: indices of opens */
};

struct kwork_faults {
    uint64_t events;                 /* good ones included, losses not */
    uint64_t raises, entries, exits; /* without what comes after, or before */
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
/* False: out of memory; only kwork_fini is allowed then. */
bool kwork_apply(struct kwork *k, const struct kwork_event *e);
/* Counts what never ended. */
void kwork_finish(struct kwork *k);

/* A pointer dies with the next event. */
static inline const struct kwork_work *kwork_work(const struct kwork *k, uint32_t index) {
    return &k->works.items[index];
}

#endif
