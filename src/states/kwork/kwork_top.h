/* SPDX-License-Identifier: Apache-2.0 */
/* How busy CPUs were, and with what: threads without the interrupts in them, interrupts, soft interrupts. */
#ifndef SONDE_STATES_KWORK_KWORK_TOP_H
#define SONDE_STATES_KWORK_KWORK_TOP_H

#include "states/kwork/kwork_sums.h"
#include "states/states.h"

struct kwork_top_thread {
    uint32_t thread;           /* index in states, where it is from there */
    uint32_t tid, name;        /* set by kwork_top_finish: name in kwork_top.names, STRPOOL_NONE: not known */
    uint64_t run_ns, inner_ns; /* inner: in interrupts; kwork_top_finish subtracts it from run_ns */
};

struct kwork_top_cpu {
    uint32_t number;
    uint64_t run_ns, idle_ns;    /* run: of threads with their interrupts; idle: without interrupts */
    uint64_t irq_ns, softirq_ns; /* each without what is nested in it */
    uint64_t idle_inner_ns;      /* interrupts while idle */
};

struct kwork_top {
    const struct kwork_choice *choice;    /* borrowed; only the part of a run within its times counts */
    const struct states *states;          /* borrowed; NULL: threads and CPUs were summed elsewhere */
    const struct strpool *names;          /* borrowed; that of states, if there are */
    VEC(struct kwork_top_thread) threads; /* by index in states until kwork_top_finish */
    VEC(struct kwork_top_cpu) cpus;       /* by their first run, then by number */
    struct hash_map by_cpu;
    uint64_t window_ns; /* the observed time of one CPU; from states set by kwork_top_finish */
};

/* NULL: not known. */
static inline const char *kwork_top_name(const struct kwork_top *t, const struct kwork_top_thread *x) {
    return x->name == STRPOOL_NONE ? NULL : strpool_text(t->names, x->name);
}

/* The sinks of states and kwork; ctx of both is the struct kwork_top, of which choice and states are set. */
bool kwork_top_interval(void *ctx, const struct states_interval *i);
bool kwork_top_run(void *ctx, const struct kwork *k, const struct kwork_run *run);

/* Threads and CPUs that were summed elsewhere: a new one with all but `thread`. NULL: out of memory. */
struct kwork_top_thread *kwork_top_add_thread(struct kwork_top *t);
struct kwork_top_cpu *kwork_top_add_cpu(struct kwork_top *t, uint32_t number);

/* After states_finish: keeps the threads that ran, without idle ones, sorted by run time or by tid. */
void kwork_top_finish(struct kwork_top *t, bool by_tid);
void kwork_top_fini(struct kwork_top *t);

#endif
