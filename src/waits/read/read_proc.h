/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of this machine from /proc: proc(5), "stat", "status", "syscall", "wchan", "stack", "sched". */
#ifndef SONDE_WAITS_READ_READ_PROC_H
#define SONDE_WAITS_READ_READ_PROC_H

#include "base/err.h"
#include "os/proc/proc.h"
#include "waits/waits.h"

struct waits_read_options {
    bool stacks; /* the kernel's frames, too */
    /* By CPU: what its scheduler's clock (se.exec_start) showed at clock_at_ns, or less than 0; NULL: how
     * long threads have been waiting stays unknown. */
    const int64_t *clock_ns;
    size_t cpus;
    uint64_t clock_at_ns;     /* when clock_ns was read */
    uint64_t (*now_ns)(void); /* the same clock as clock_at_ns; NULL: no time passes */
};

/* Fills w->threads and indexes them. Threads that end meanwhile are left out. False and *err: there is no
 * /proc, or memory ran out. */
bool waits_read_proc(struct waits *w, const struct os_proc *proc, const struct waits_read_options *o,
                     struct err *err);

/* The system call of one thread; counts it in *w if it is hidden from us. */
void waits_read_call(struct waits *w, const struct os_proc *proc, struct waits_thread *t);
/* Sets since_ns from what its CPU's clock showed when it ran last; 0 or less: unknown. */
void waits_since(struct waits_thread *t, const struct waits_read_options *o, int64_t exec_start);

/* What waits_read_proc takes from single files; exported for tests. `text` may be anything. */
bool waits_read_stat(struct waits *w, struct bytes text, struct waits_thread *t);
void waits_read_syscall(struct bytes text, struct waits_thread *t);
/* se.exec_start in ns, or -1. */
int64_t waits_read_exec_start(struct bytes text);

#endif
