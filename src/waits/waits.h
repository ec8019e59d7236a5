/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every thread waits for at one instant: a snapshot, and what can be proved from it.
 *
 *   waits_read_proc (read/read_proc.h)  /proc -> threads with state, system call and arguments
 *   waits_read_bpf (read/read_bpf.h)    the same from the kernel's iterators, where BPF is allowed
 *   waits_explain (explain.h)           system call -> what is waited for, and for which thread
 *   waits_chains_find (chains.h)        who waits for whom: rings, trees
 *   waits_groups_find (groups.h)        threads that wait for the same
 *   waits_over_time_add (over_time.h)   sums of many snapshots
 *
 * Texts live in the snapshot's arena. Threads are named by their index in `threads`, which is in the order of
 * process and thread ids.
 */
#ifndef SONDE_WAITS_WAITS_H
#define SONDE_WAITS_WAITS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

enum { WAITS_ARGS = 6, WAITS_STACK_MAX = 127, WAITS_REGS = 33 };

/* Numbers of system calls are those of the architecture that sonde was built for. */
enum {
    WAITS_CALL_NONE = -1,    /* in no system call: kernel threads, page faults, threads that run */
    WAITS_CALL_HIDDEN = -2,  /* hidden from us */
    WAITS_CALL_FOREIGN = -3, /* of a 32-bit program on a 64-bit kernel: it has other numbers */
};

#define WAITS_NOBODY UINT32_MAX

/* In the order in which groups are shown. */
enum waits_kind {
    WAITS_LOCK,      /* a lock of user space whose owner is proved */
    WAITS_FILE_LOCK, /* flock, fcntl: the kernel's own list says who has it */
    WAITS_JOIN,      /* the end of a thread */
    WAITS_DISK,      /* uninterruptible: a file, a device, a page */
    WAITS_CPU,       /* runnable, not running */
    WAITS_FUTEX,     /* a word of user space: no owner is proved */
    WAITS_PIPE,
    WAITS_SOCKET,
    WAITS_FILE, /* any other file: terminals, eventfds, ... */
    WAITS_CHILD,
    WAITS_IPC, /* System V semaphores and messages */
    WAITS_OTHER,
    WAITS_POLL, /* several descriptors at once */
    WAITS_SLEEP,
    WAITS_SIGNAL,
    WAITS_STOPPED,
    WAITS_HIDDEN, /* the system call is hidden from us */
    WAITS_RUNNING,
    WAITS_ZOMBIE,
    WAITS_KERNEL, /* kernel threads that sleep */
    WAITS_KINDS,
};

struct waits_wait {
    enum waits_kind kind;
    const char *call;    /* name of the system call; NULL: none, or unknown */
    const char *what;    /* worded the same for all waits of one sort; never NULL once explained */
    const char *which;   /* which one of that sort; NULL: nothing more is known */
    const char *object;  /* path or name of the file; NULL */
    const char *address; /* of a socket's other end, as text; NULL */
    uint64_t lock;       /* address of the word; 0: none */
    int64_t limit_ns;    /* for how long it waits at most; -1: no limit, or an unknown one */
    int32_t fd;          /* -1: none */
    int32_t peer;        /* process at the other end; 0: unknown */
    uint32_t on;         /* the thread that it waits for; WAITS_NOBODY: none is proved */
    bool certain;        /* only that thread can end the wait: a lock or join without a limit */
};

struct waits_thread {
    int32_t tid, pid, parent;
    int32_t inner_tid; /* in its own pid namespace: the id that its own process uses */
    int32_t cpu;       /* where it ran last; -1: unknown */
    uint32_t uid;
    char state;       /* as in proc(5): R S D T t Z X I P */
    bool kernel;      /* a kernel thread */
    bool running;     /* on a CPU now; valid if waits.running_known */
    int64_t since_ns; /* how long ago it ran last; -1: unknown */
    int64_t call;     /* WAITS_CALL_NONE, ...HIDDEN, ...FOREIGN, or a number */
    uint64_t args[WAITS_ARGS];
    uint64_t end_word;  /* user-space address that the kernel clears when the thread ends; 0: unknown */
    uint64_t regs_mask; /* which of `regs` (user space) are known, numbered as in asm/perf_regs.h */
    uint64_t regs[WAITS_REGS];
    uint64_t sp, pc;              /* of user space; 0: unknown */
    const char *comm;             /* as the kernel has it: any bytes */
    const char *process;          /* comm of its process's main thread; "[kernel]" of kernel threads */
    const char *site;             /* the kernel function that it waits in; NULL: unknown */
    const char **stack;           /* names of frames, innermost first */
    uint32_t depth, kernel_depth; /* number of frames, and how many of them are the kernel's */
    struct waits_wait wait;
};

/* Threads of one process lie next to each other. */
struct waits_process {
    int32_t pid;
    uint32_t first, count;
};

struct waits {
    struct arena arena;
    VEC(struct waits_thread) threads;
    VEC(struct waits_process) processes; /* by pid */
    struct hash_map by_tid;              /* -> index in threads */
    bool running_known;                  /* the threads' `running` is valid */
    bool failed;                         /* memory ran out for a text */
    uint32_t hidden_calls;               /* threads whose system call is hidden from us */
    uint32_t hidden_memory;              /* waits whose words of user space we may not read */
    uint32_t hidden_files;               /* processes whose descriptors we may not see */
    uint32_t hidden_stacks; /* threads whose kernel stack we may not see, when it was asked for */
};

void waits_init(struct waits *w);
void waits_fini(struct waits *w);

/* Indexes the threads by tid and process: to be called once all are there, in order. False: out of memory. */
bool waits_index(struct waits *w);

/* The thread's index, or WAITS_NOBODY. */
uint32_t waits_find(const struct waits *w, int32_t tid);
/* NULL: there is none of that number. */
const struct waits_process *waits_process(const struct waits *w, int32_t pid);
/* The thread that has this id in the pid namespace of thread `from`; only in its process if `own`. */
uint32_t waits_find_inner(const struct waits *w, uint32_t from, uint32_t tid, bool own);

/* Copies a text into the arena. Out of memory: "?", and `failed` is set. */
const char *waits_text(struct waits *w, const char *s, size_t n);
/* "comm/tid" */
const char *waits_name(struct waits *w, uint32_t thread);

#endif
