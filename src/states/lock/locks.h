/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waited for which lock in the kernel, and how long: makes waits of events about locks, ordered by time.
 *
 *   contention:   BEGIN ... END       waiting; a second BEGIN (a mutex that no longer
 *                                     spins) continues the wait
 *   lockdep:      ACQUIRE CONTENDED ... ACQUIRED ... RELEASE
 *                                     waiting from CONTENDED to ACQUIRED
 *
 *   locks_init -> locks_apply ... -> locks_finish -> locks_fini
 *
 * A thread may wait for several locks at once, as an interrupt handler in it may wait, too. Idle threads,
 * which all have tid 0, are distinguished by their CPUs. When events were lost, open waits are given up: the
 * next end may belong to another wait.
 */
#ifndef SONDE_STATES_LOCK_LOCKS_H
#define SONDE_STATES_LOCK_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* Flags of lock:contention_begin (include/trace/events/lock.h). */
enum lock_flags {
    LOCK_SPIN = 1,
    LOCK_READ = 2,
    LOCK_WRITE = 4,
    LOCK_RT = 8,
    LOCK_PERCPU = 16,
    LOCK_MUTEX = 32,
};

/* The kind of a lock and of its acquisition (read, write): an index in the table of types. */
enum { LOCK_TYPE_UNKNOWN = 0 };
unsigned lock_type(unsigned flags);
/* "rwsem:W"; `whole`: without the kind of acquisition. */
const char *lock_type_name(unsigned type, bool whole);
/* The types of a name: a bit for each; "rwsem" is all of them, "rwsem:R" one. 0: there is none of that name.
 */
uint32_t lock_types_named(const char *name, size_t len);

enum lock_event_kind {
    LOCK_EVENT_BEGIN, /* `flags` */
    LOCK_EVENT_END,
    LOCK_EVENT_ACQUIRE, /* `flags`: LOCK_ACQUIRE_* */
    LOCK_EVENT_CONTENDED,
    LOCK_EVENT_ACQUIRED,
    LOCK_EVENT_RELEASE,
    LOCK_EVENT_LOST, /* events are missing here */
    LOCK_EVENT_KINDS,
};

enum { LOCK_ACQUIRE_TRY = 1, LOCK_ACQUIRE_READ = 2 };
enum { LOCK_NESTED_MAX = 64 /* locks that a thread waits for at once; no kernel needs more */ };

struct lock_event {
    enum lock_event_kind kind;
    unsigned flags;
    uint64_t time_ns, address;
    uint32_t tid, pid, cpu;
    uint32_t name;  /* as the caller numbers names; handed on */
    uint32_t site;  /* the call site, likewise */
    uint64_t group; /* the control group of the thread, likewise */
    bool ignored;   /* of BEGIN, CONTENDED: the wait is not handed on */
};

/* A lock that was acquired, or waited for. */
struct lock_wait {
    uint64_t address, since_ns, until_ns; /* equal if it was acquired without a wait */
    uint64_t group;
    uint32_t tid, pid, name, site;
    unsigned type;
    bool contended; /* it was waited for */
    bool acquired;  /* a lockdep event says that it was acquired */
};

/* False: out of memory. */
typedef bool locks_sink_fn(void *ctx, const struct lock_wait *w);

struct lock_pending {
    uint64_t address, since_ns, group;
    uint32_t pid, name, site;
    unsigned type;
    bool lockdep, ignored;
};

struct lock_thread {
    VEC(struct lock_pending) pending;
    uint64_t losses; /* losses that are applied already */
};

struct locks_faults {
    uint64_t unbegun;   /* ENDs of waits whose BEGIN was not seen */
    uint64_t unended;   /* waits that are open at the end */
    uint64_t lost;      /* waits that were given up because events were lost */
    uint64_t repeated;  /* BEGINs with another type while the lock was waited for, or of too many locks */
    uint64_t backwards; /* ENDs before their BEGINs */
};

struct locks {
    VEC(struct lock_thread) threads;
    struct hash_map by_thread;
    uint64_t losses;
    struct locks_faults faults;
    locks_sink_fn *sink;
    void *sink_ctx;
};

void locks_init(struct locks *l, locks_sink_fn *sink, void *ctx);
void locks_fini(struct locks *l);
/* False: out of memory; only locks_fini is allowed then. */
bool locks_apply(struct locks *l, const struct lock_event *e);
/* Counts the waits that have not ended. */
void locks_finish(struct locks *l);

#endif
