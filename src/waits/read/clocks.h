/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler's clock of each CPU shows (rq_clock_task): it stands still in interrupts and while a
 * hypervisor has taken the CPU, so that no other clock tells. /proc/PID/sched has it as of when a thread
 * began or ceased to run; we go to each CPU and look at ourselves.
 */
#ifndef SONDE_WAITS_READ_CLOCKS_H
#define SONDE_WAITS_READ_CLOCKS_H

#include "os/affinity.h"
#include "os/proc/proc.h"

typedef VEC(int64_t) waits_clocks;

/* By CPU, as of `now_ns` on the mover's clock; -1 where we may not run, or the kernel does not say. False:
 * memory. */
bool waits_clocks_read(const struct os_proc *proc, const struct os_mover *mover, unsigned cpus,
                       uint64_t now_ns, waits_clocks *out);

#endif
