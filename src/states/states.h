/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of every thread over time: one pass over ordered events, with one open interval for each thread.
 *
 *             wake          in            out            wake
 *   | sleeping | runnable    | running     | sleeping     | runnable ...       a thread
 *   begin                                                             end
 *
 * A thread's intervals follow each other without gap or overlap, from its begin (the first event of all, or
 * its fork) to its end (the last event of all, or the moment when another thread got its tid), in integer ns.
 * Nothing is invented: where events contradict each other, or were lost, the interval is STATES_UNKNOWN. So
 * is what runs at the end on a CPU whose switches mostly contradict each other: those of some threads alone
 * were recorded.
 *
 *   states_init -> states_apply ... -> states_finish -> states_fini
 *
 * Events come in the order of time, those of the same time by CPU, and those of one CPU in recorded order
 * (recording/ordered.h). The true order of events with the same time on different CPUs is not known; this
 * one is a convention. An event that comes too late is given the latest time, and counted. Memory grows with
 * threads, CPUs and losses, never with events.
 *
 * Kernels leave out switches, above all from idle threads. A thread that the scheduler says to have run for
 * some time, on the CPU where it says so, has begun that long ago: the scheduler accounts a thread from when
 * it is chosen. That is taken (begin_told) unless it contradicts what was seen.
 */
#ifndef SONDE_STATES_STATES_H
#define SONDE_STATES_STATES_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"

#define STATES_NO_PRIO INT32_MIN
#define STATES_NONE    UINT32_MAX
enum { STATES_NEAR_CPUS = 256 };
#define STATES_INTERRUPT (UINT32_MAX - 1) /* as a waker: an interrupt, whatever thread it interrupted */

enum states_state {
    STATES_UNKNOWN,
    STATES_NEW, /* forked, and not started yet */
    STATES_RUNNING,
    STATES_RUNNABLE,  /* woken, and waiting for a CPU */
    STATES_PREEMPTED, /* left a CPU though it could go on; of an idle thread: its CPU has work */
    STATES_SLEEPING,  /* blocked, interruptible (or it is not known which) */
    STATES_BLOCKED,   /* blocked, not interruptible */
    STATES_STOPPED,   /* by a signal or a tracer */
    STATES_DEAD,
    STATES_COUNT,
};

/* Blocked, in any way: it has to be woken. */
static inline bool states_waits(enum states_state s) {
    return s == STATES_SLEEPING || s == STATES_BLOCKED || s == STATES_STOPPED || s == STATES_NEW;
}

enum states_event_kind {
    STATES_TICK,    /* an event that only shows that this CPU's events are recorded */
    STATES_OUT,     /* `tid` leaves `cpu` for `state`, `reason` */
    STATES_IN,      /* `tid` begins to run on `cpu` */
    STATES_WAKE,    /* `tid` is woken on `cpu`, for `other` (a CPU, or STATES_NONE) */
    STATES_FORK,    /* `tid` is created by `other` */
    STATES_EXEC,    /* `tid` begins another program; `other` is the tid that it had before */
    STATES_EXIT,    /* `tid` is about to end: at its next OUT, unless that has a letter */
    STATES_MIGRATE, /* `tid` belongs to the CPU `other` from now on */
    STATES_RAN,     /* `tid` ran for another `ran_ns` up to now, as the scheduler accounts it */
    STATES_LOST,    /* events of `cpu` (STATES_NONE: of any CPU) were lost since its last event */
};

struct states_event {
    enum states_event_kind kind;
    uint64_t time_ns;
    uint32_t cpu; /* where the event was recorded */
    uint32_t tid, other;
    uint32_t pid;  /* the process of `tid`; 0: not known */
    uint32_t from; /* MIGRATE: the CPU before */
    enum states_state state;
    uint32_t reason; /* the state in the kernel's own bits; 0: none */
    char letter;     /* OUT: the state's letter, as the kernel prints it; 0: not known */
    bool interrupt;  /* WAKE: by an interrupt */
    bool local;      /* RAN: `tid` runs on `cpu` */
    int32_t prio;    /* OUT: the thread's priority, in the kernel's numbering; STATES_NO_PRIO: not known */
    uint64_t ran_ns;
    uint64_t loc;      /* the event's record (stream/stream.h), from which its stack can be read */
    struct bytes comm; /* the name of `tid`; empty: not known. Borrowed for the call. */
};

struct states_interval {
    uint32_t thread; /* index, for states_thread */
    uint32_t epoch;  /* programs that the thread's tid has begun since it was first seen */
    uint64_t since_ns, until_ns;
    enum states_state state, next; /* next: what it did afterwards; as `state` if `cut` */
    uint32_t cpu;                  /* where it ran or waits to run; STATES_NONE: not known */
    uint32_t reason;               /* of the OUT before it, while it waits or was preempted; else 0 */
    uint32_t waker;    /* RUNNABLE: a thread's index, STATES_INTERRUPT, or STATES_NONE: not known */
    bool begin_unseen; /* it ran, but was not seen to begin: it may have before */
    bool begin_told;   /* it ran, and its beginning follows from how long the scheduler says it did */
    bool end_unseen;   /* it waited, and its wake-up was not seen: the end is when it next ran */
    bool cut;          /* by the end of the events, or of its thread */
};

struct states_thread {
    uint32_t tid;    /* 0: the idle thread of a CPU, each of which is a thread */
    uint32_t pid;    /* 0: not known */
    uint32_t parent; /* the tid of the thread that created it; STATES_NONE: that was not seen */
    uint32_t epoch;
    uint32_t name;             /* in states.names; STRPOOL_NONE: not known */
    uint64_t begin_ns, end_ns; /* end_ns: once its intervals are complete */
    uint64_t ran_ns;           /* sum of RAN: also of times whose switches are missing */
    /* The open interval. */
    uint64_t since_ns;
    enum states_state state;
    uint32_t cpu, reason, waker;
    bool begin_unseen;  /* RUNNING, at least since then */
    bool begin_told;    /* RUNNING, as of RAN */
    bool woken;         /* OUT came after a WAKE while it ran: it may have been woken just before it left */
    bool woken_now;     /* WAKE came while it runs */
    bool exiting, over; /* over: end_ns is set */
    size_t cpu_losses, any_losses; /* losses that are applied: of its CPU, and of any CPU */
};

struct states_cpu {
    uint32_t number;
    uint32_t current;  /* the thread that runs; STATES_NONE: not known */
    uint64_t heard_ns; /* events are complete from here on */
    uint64_t last_ns;  /* the latest event */
    bool heard;
    uint64_t pairs, broken; /* OUTs while a thread was known to run there, and those of another thread */
    size_t any_losses;
    VEC(uint64_t) losses; /* for each, the latest event before it */
};

/* What was wrong with the events. */
struct states_faults {
    uint64_t switches;   /* OUTs, good ones included */
    uint64_t half_pairs; /* OUTs and INs that contradict what ran there */
    uint64_t told;       /* beginnings without an IN, known from RAN */
    uint64_t unwoken;    /* INs of threads that wait, and were not seen to be woken */
    uint64_t backwards;  /* events older than the one before */
    uint64_t reused;     /* tids given to other threads before their old ones were seen to end */
    uint64_t losses;     /* LOST */
};

/* Takes an interval. Those of one thread come in order, those of different threads as they end. Empty
 * intervals come only if the thread ran, or could have run. False: out of memory. */
typedef bool states_sink_fn(void *ctx, const struct states_interval *i);

/* Called for every event when it is applied, after the intervals that it ends. False: out of memory. */
struct states;
typedef bool states_tap_fn(void *ctx, const struct states *s, const struct states_event *e);

struct states {
    VEC(struct states_thread) threads;
    VEC(struct states_cpu) cpus;
    struct hash_map by_tid, by_cpu;       /* by_tid: the tid's latest thread; by_cpu: of large numbers */
    uint32_t near_cpus[STATES_NEAR_CPUS]; /* the indices of CPUs with small numbers, plus 1: the usual ones,
                                             without a hash lookup */
    struct strpool names;
    VEC(uint64_t) any_losses;
    uint64_t begin_ns, now_ns;
    bool begun, tells_ran; /* tells_ran: there were RAN events */
    struct states_faults faults;
    states_sink_fn *sink;
    states_tap_fn *tap; /* may be NULL; called with sink_ctx, too */
    void *sink_ctx;
};

void states_init(struct states *s, states_sink_fn *sink, void *ctx);
void states_fini(struct states *s);
/* Applies an event. False: out of memory; only states_fini is allowed then. */
bool states_apply(struct states *s, const struct states_event *e);
/* Closes all intervals at the time of the last event. False: out of memory. */
bool states_finish(struct states *s);

/* Threads are numbered in the order of their first events; the pointer is valid until the next event. */
static inline const struct states_thread *states_thread(const struct states *s, uint32_t index) {
    return &s->threads.items[index];
}
/* The thread that has this tid now (the idle thread of `cpu`: 0); STATES_NONE: there is none. */
uint32_t states_find(const struct states *s, uint32_t tid, uint32_t cpu);
/* The thread that runs on a CPU; STATES_NONE: not known. */
uint32_t states_current(const struct states *s, uint32_t cpu);
/* Its last name, or NULL. */
static inline const char *states_thread_name(const struct states *s, uint32_t index) {
    uint32_t name = s->threads.items[index].name;
    return name == STRPOOL_NONE ? NULL : strpool_text(&s->names, name);
}

#endif
