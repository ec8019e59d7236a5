/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The kernel's structs of locks, in the way of kernel.h. */
#ifndef SONDE_BPF_KERNEL_LOCKS_H
#define SONDE_BPF_KERNEL_LOCKS_H

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
    long counter;
} atomic_word; /* atomic_long_t */

struct mutex {
    atomic_word owner; /* the task, and three flags */
};

struct rw_semaphore {
    atomic_word owner; /* the task, and flags; bit 0: readers */
};

#pragma clang attribute pop

/* Flags of lock:contention_begin (include/trace/events/lock.h). */
enum { BPF_LOCK_READ = 2, BPF_LOCK_WRITE = 4, BPF_LOCK_MUTEX = 32 };

#endif
