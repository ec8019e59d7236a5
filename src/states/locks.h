/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waited for which lock in the kernel, how long: events about locks, ordered by time, to waits.
 *
 *   contention:   BEGIN ... END             waiting; a second BEGIN (a mutex that no longer spins) goes on
 * with it lockdep:      ACQUIRE CONTENDED ... ACQUIRED ... RELEASE     waiting from CONTENDED to ACQUIRED
 *
 *   locks_init -> locks_apply ... -> locks_finish -> locks_fini
 *
 * A thread may wait for several locks: code that interrupts it can. Idle threads, which all have tid 0, are
 * told apart by their CPUs. When events were lost no wait goes on across the gap: its end may be another's.
 */
#ifndef SONDE_STATES_LOCKS_H
#define SONDE_STATES_LOCKS_H

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

/* What a lock is, and how it was wanted: a row of LOCK_TYPES. */
enum { LOCK_TYPE_UNKNOWN = 0 };
unsigned lock_type(unsigned flags);
/* "rwsem:W"; `whole`: without how it was wanted. */
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
enum { LOCK_NESTED_MAX = 64 /* locks that a thread waits for at once; more is no kernel's */ };

struct lock_event {
    enum lock_event_kind kind;
    unsigned flags;
    uint64_t time_ns, address;
    uint32_t tid, pid, cpu;
    uint32_t name; /* as the caller numbers names; told on */
    uint32_t site; /* where it was taken, likewise */
    bool ignored;  /* of BEGIN, CONTENDED: the wait is not handed on */
};

/* A lock that was got, or was waited for. */
struct lock_wait {
    uint64_t address, since_ns, until_ns; /* equal if nobody waited */
    uint32_t tid, pid, name, site;
    unsigned type;
    bool contended; /* it was waited for */
    bool acquired;  /* lockdep told that it was got */
};

/* False: out of memory. */
typedef bool locks_sink_fn(void *ctx, const struct lock_wait *w);

struct lock_pending {
    uint64_t address, since_ns;
    uint32_t pid, name, site;
    unsigned type;
    bool lockdep, ignored;
};

struct lock_thread {
    VEC(struct lock_pending) pending;
    uint64_t losses; /* that are applied to it */
};

struct locks_faults {
    uint64_t unbegun;   /* ENDs of waits that nobody saw begin */
    uint64_t unended;   /* waits that go on at the end */
    uint64_t lost;      /* waits that went on where events were lost */
    uint64_t repeated;  /* BEGINs of something else while the same lock was waited for, or too many at once */
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
/* Counts what has not ended. */
void locks_finish(struct locks *l);

#endif
