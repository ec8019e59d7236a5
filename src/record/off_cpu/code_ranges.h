/* SPDX-License-Identifier: Apache-2.0 */
/* Where processes' code lies, for programs in the kernel that tell user stacks apart by the addresses of code
 * on them (bpf/off_cpu_copies.h). */
#ifndef SONDE_RECORD_OFF_CPU_CODE_RANGES_H
#define SONDE_RECORD_OFF_CPU_CODE_RANGES_H

#include "bpf/dist/off_cpu.h"
#include "os/bpf/bpf_object.h"
#include "os/proc/proc.h"

/* The ranges that may be executed in a text as /proc/PID/maps. Where there are too many, those with the
 * smallest gaps between them become one: to take data for code only makes stacks differ that need not. */
void record_code_ranges(struct bytes maps, struct bpf_off_cpu_code *to);

/* Fills what the kernel asked for. False: its maps cannot be read, or memory ran out. */
bool record_code_ranges_fill(struct os_bpf_object *object, const struct os_proc *proc);

#endif
