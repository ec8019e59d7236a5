/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User stacks of threads that wait, as bpf/off_cpu_copies.h copied them, for samples of "offcpu-time" whose
 * stacks are unwound by tables (--call-graph dwarf).
 */
#ifndef SONDE_RECORD_OFF_CPU_COPIES_H
#define SONDE_RECORD_OFF_CPU_COPIES_H

#include "base/vec.h"
#include "base/writer.h"
#include "bpf/dist/off_cpu.h"
#include "format/perfdata/perfdata_sample.h"
#include "os/bpf/bpf_object.h"
#include "os/proc/proc.h"

/* The kernel's memory for copies, and the most that we use for threads that still wait at the end. */
enum { RECORD_COPIES_BYTES = 16 << 20 };

struct record_copies_own {
    struct bpf_off_cpu_registers registers;
    size_t at, bytes;
};

struct record_copies {
    struct os_bpf_object *object;           /* borrowed */
    uint32_t bytes, pages;                  /* of each stack, and of a generation; 0: none are copied */
    struct writer page, stack;              /* of the one that was found last */
    struct bpf_off_cpu_registers registers; /* of it */
    VEC(struct bpf_off_cpu_copy_key) old;
    VEC(struct record_copies_own) own; /* of threads that still wait */
    struct writer own_bytes;
    uint64_t no_room; /* threads that still wait, for whose stacks there was no memory left */
};

/* Before `object` is loaded: `bytes` (0: none) are to be copied of each stack. */
void record_copies_init(struct record_copies *c, struct os_bpf_object *object, uint32_t bytes);
void record_copies_fini(struct record_copies *c);

/* Whether copies should be taken now, before there is no room left. */
bool record_copies_due(const struct record_copies *c);

/* Gives the sample the registers and the stack with that hash, borrowed until the next call. False: the copy
 * is not there, or memory ran out. */
bool record_copies_find(struct record_copies *c, uint64_t hash, struct perfdata_sample *s);

/* Call it once the sums have been taken: drops the copies that no later sum can refer to, to make room.
 * False: out of memory. */
bool record_copies_turn(struct record_copies *c);

/* Copies the stack of a thread that still waits. Returns its number, from 1 on; 0: it cannot be read. */
uint32_t record_copies_read(struct record_copies *c, const struct os_proc *proc,
                            const struct bpf_off_cpu_still *still);
/* As record_copies_find. */
bool record_copies_own(struct record_copies *c, uint32_t number, struct perfdata_sample *s);
void record_copies_forget(struct record_copies *c);

#endif
