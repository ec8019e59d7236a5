/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's clock of each CPU (rq_clock_task). It stands still in interrupts and while a hypervisor
 * has taken the CPU, so it cannot be computed from another clock. /proc/PID/sched shows its value when the
 * thread last began or ceased to run: we move to each CPU and read our own.
 */
#ifndef SONDE_WAITS_READ_CLOCKS_H
#define SONDE_WAITS_READ_CLOCKS_H

#include "os/affinity.h"
#include "os/proc/proc.h"

typedef VEC(int64_t) waits_clocks;

/* By CPU, as of `now_ns` on the mover's clock; -1 where we may not run, or the kernel does not show it.
 * False: out of memory. */
bool waits_clocks_read(const struct os_proc *proc, const struct os_mover *mover, unsigned cpus,
                       uint64_t now_ns, waits_clocks *out);

#endif
