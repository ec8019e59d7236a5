/* SPDX-License-Identifier: Apache-2.0 */
/* Where the calling thread runs: sched_setaffinity(2). */
#ifndef SONDE_OS_AFFINITY_H
#define SONDE_OS_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

enum { OS_AFFINITY_CPUS = 8192 };

struct os_cpu_mask {
    unsigned long bits[OS_AFFINITY_CPUS / 8 / sizeof(unsigned long)];
};

/* CPUs from OS_AFFINITY_CPUS on are in no mask. */
void os_cpu_mask_add(struct os_cpu_mask *m, uint32_t cpu);
bool os_cpu_mask_has(const struct os_cpu_mask *m, uint32_t cpu);
bool os_cpu_mask_empty(const struct os_cpu_mask *m);
bool os_cpu_mask_meets(const struct os_cpu_mask *a, const struct os_cpu_mask *b);
void os_cpu_mask_and(struct os_cpu_mask *m, const struct os_cpu_mask *other);
void os_cpu_mask_or(struct os_cpu_mask *m, const struct os_cpu_mask *other);

struct os_affinity {
    struct os_cpu_mask allowed; /* what the thread began with: isolated CPUs are none of ours */
    bool known;
};

/* Remembers where the thread may run. */
void os_affinity_init(struct os_affinity *a);

/* Moves the thread to a CPU, or to the CPUs of its memory node. False, and it stays where it is, when it may
 * not run there, or nobody knows where that is. */
bool os_affinity_to_cpu(const struct os_affinity *a, int32_t cpu);
bool os_affinity_to_node(const struct os_affinity *a, int32_t cpu);

/* Moves the thread to those of these CPUs that it may use; false when there are none. */
bool os_affinity_to_mask(const struct os_affinity *a, const struct os_cpu_mask *cpus);

/* On how many CPUs the calling thread may run: 1 or more. */
unsigned os_affinity_count(void);

/* Whether more threads want to run now than there are CPUs, the calling one aside (proc_loadavg(5)). True
 * also when nobody knows. */
bool os_affinity_crowded(void);

/* The thread may run wherever it might in the beginning. */
void os_affinity_restore(const struct os_affinity *a);

/* The above as a struct of functions, so that tests can say how long a way takes. */
struct os_mover {
    void *ctx; /* NULL: the thread stays where it is */
    bool (*to_cpu)(void *ctx, int32_t cpu);
    bool (*to_node)(void *ctx, int32_t cpu);
    bool (*crowded)(void *ctx);
    void (*home)(void *ctx);
    uint64_t (*clock_ns)(void *ctx); /* os_clock_ns() */
};
struct os_mover os_affinity_mover(struct os_affinity *a); /* borrows *a */

#endif
