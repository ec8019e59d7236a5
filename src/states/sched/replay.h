/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads did, as steps that other threads can repeat: run for a time, sleep for a time, wait until
 * another thread wakes them, wake another thread.
 *
 *   A   run ------- wake B -- run ---- sleep 3 ms ------ run
 *   B   wait ............. run -- wait until C wakes it ...
 *
 * A thread waits if a recorded thread woke it; if an interrupt did, or it is not known, the thread sleeps
 * for as long as it did. Every wait has one wake, and both are in the order of time, so that the steps
 * cannot deadlock. Waiting for a CPU is no step: that depends on where the steps are repeated.
 */
#ifndef SONDE_STATES_SCHED_REPLAY_H
#define SONDE_STATES_SCHED_REPLAY_H

#include "states/states.h"

enum replay_kind { REPLAY_RUN, REPLAY_SLEEP, REPLAY_WAIT, REPLAY_WAKE };

struct replay_step {
    uint64_t ns;    /* RUN, SLEEP */
    uint32_t other; /* WAKE: index of the thread */
    uint8_t kind;
};

struct replay_thread {
    VEC(struct replay_step) steps;
    uint64_t told_ns; /* steps are complete up to here */
};

struct replay {
    VEC(struct replay_thread) threads; /* by index in states; may be shorter */
    uint64_t runs, sleeps, wakes, waits;
};

/* The sink and the tap of states; ctx is a struct replay, zeroed. */
bool replay_interval(void *ctx, const struct states_interval *i);
bool replay_event(void *ctx, const struct states *s, const struct states_event *e);
void replay_fini(struct replay *r);

#endif
