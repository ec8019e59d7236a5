/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls: the enter and exit events of threads, joined to calls.
 *
 *   calls_init -> calls_enter, calls_exit, calls_name ... (by time) -> calls_finish -> calls_fini
 *
 * A thread has one open call at most. A call that was entered ends when the same thread leaves it; execve
 * also under the process's first tid, which a thread that calls it takes over. Nothing is invented: an exit
 * without an enter has no arguments and no duration, an enter that another one follows has no result, and
 * after a loss no open call is joined with a later exit. Memory grows with the threads that live at a time.
 */
#ifndef SONDE_CALLS_CALLS_H
#define SONDE_CALLS_CALLS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/strpool.h"
#include "calls/table.h"

/* What was copied of the memory that an argument points to; data NULL: nothing. */
struct calls_memory {
    const uint8_t *data;
    uint32_t size;
    bool cut; /* the memory goes on */
};

/* How much of struct iovec and struct msghdr is copied: of CALLS_VECTORS the structs, then the bytes of each;
 * of CALLS_MESSAGE the struct, the bytes of its address, and its vectors likewise. */
enum { CALLS_VECTORS_MAX = 4, CALLS_VECTOR_BYTES = 64, CALLS_NAME_BYTES = 128 };

struct calls_call {
    uint32_t tid, pid; /* pid: 0: not known */
    uint32_t cpu;      /* of its latest event */
    int64_t number;
    bool compat; /* of a 32-bit program on a 64-bit kernel */
    bool has_enter, has_exit;
    uint64_t enter_ns, exit_ns; /* valid if has_enter, has_exit */
    uint64_t args[CALLS_ARGS];
    int64_t result;
    struct calls_memory memory[CALLS_ARGS]; /* borrowed; of an open call, owned by its thread */
    uint64_t enter_loc, exit_loc;           /* the owner's own numbers for the two events */
    bool shown;                             /* for the owner: the beginning has been shown already */
};

/* How a call comes to an end. */
enum calls_end {
    CALLS_RETURNED,
    CALLS_ENTER_UNSEEN,
    CALLS_EXIT_UNSEEN,
    CALLS_ENDED_THREAD, /* exit, exit_group: it does not return */
};

struct calls_thread {
    uint32_t tid, pid;
    uint32_t name; /* in calls.names; STRPOOL_NONE: not known */
    bool open;     /* `call` is valid: it has not ended yet */
    bool compat;
    struct calls_call call;
    uint64_t gone;     /* it has ended, as the n-th; 0: it lives */
    uint64_t losses;   /* the number of losses when `call` was entered */
    VEC(uint8_t) kept; /* the memory of `call` */
};

struct calls_process {
    bool has_code, has_high; /* code is mapped, above 4 GiB */
    uint32_t exec_tid;       /* a thread that called execve and is not the first one; 0: none */
};

struct calls_faults {
    uint64_t enter_unseen, exit_unseen, backwards, losses, cut_by_loss;
};

struct calls;
/* A call came to its end; the owner may read `c`, and change nothing in it. False: out of memory. */
typedef bool calls_sink_fn(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end);

struct calls {
    const struct calls_table *table, *compat_table; /* NULL: none */
    VEC(struct calls_thread) threads;
    struct hash_map by_tid, by_pid; /* by_pid: of `processes` */
    VEC(struct calls_process) processes;
    struct strpool names;
    uint64_t gone;  /* threads that have ended, */
    size_t waiting; /* of which so many are still there */
    struct calls_faults faults;
    calls_sink_fn *sink;
    void *ctx;
};

/* An enter or an exit. `args` belong to an enter; its memory is copied. An exit may bring memory that could
 * not be read on entry, or that the kernel has written. */
struct calls_event {
    uint64_t time_ns, loc;
    uint32_t tid, pid, cpu;
    bool compat; /* it is known to be of a 32-bit program */
    int64_t number;
    int64_t result;
    uint64_t args[CALLS_ARGS];
    struct calls_memory memory[CALLS_ARGS];
};

/* `machine`: uname(2)'s name of the kernel's architecture; NULL: not known. */
void calls_init(struct calls *c, const char *machine, calls_sink_fn *sink, void *ctx);
/* Sets the machine if it becomes known only after calls_init. */
void calls_machine(struct calls *c, const char *machine);
void calls_fini(struct calls *c);

/* All that return bool: false: out of memory; only calls_fini is allowed then. */
bool calls_enter(struct calls *c, const struct calls_event *e);
bool calls_exit(struct calls *c, const struct calls_event *e);
/* What the arguments of a thread's open call point to is known now; it is copied. */
bool calls_remember(struct calls *c, uint32_t tid, const struct calls_memory memory[CALLS_ARGS]);
/* A thread has this name from now on; `exec`: it begins another program. */
bool calls_name(struct calls *c, uint32_t tid, uint32_t pid, struct bytes comm, bool exec);
bool calls_fork(struct calls *c, uint32_t tid, uint32_t pid, uint32_t parent);
/* The thread has ended. Its name stays for a while. */
bool calls_gone(struct calls *c, uint32_t tid);
/* Code was mapped: programs whose code lies below 4 GiB are 32-bit ones. */
bool calls_map(struct calls *c, uint32_t pid, uint64_t address);
/* Events were lost. */
void calls_lost(struct calls *c);
/* The end of all events: open calls are handed out. */
bool calls_finish(struct calls *c);

/* The thread of a tid; NULL: it has had no event. Valid until the next event. */
struct calls_thread *calls_thread(struct calls *c, uint32_t tid);
/* Its name, or NULL. */
const char *calls_thread_name(struct calls *c, uint32_t tid);

/* The table for a call's number; NULL: none. */
static inline const struct calls_table *calls_table_of(const struct calls *c, const struct calls_call *call) {
    return call->compat ? c->compat_table : c->table;
}

#endif
