/* SPDX-License-Identifier: Apache-2.0 */
#include "os/affinity.h"
#include "os/poller.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8 * sizeof(unsigned long) };

enum { WORDS = sizeof(struct os_cpu_mask) / sizeof(unsigned long) };

void os_cpu_mask_add(struct os_cpu_mask *m, uint32_t cpu) {
    if (cpu < OS_AFFINITY_CPUS)
        m->bits[cpu / WORD] |= 1ul << cpu % WORD;
}

bool os_cpu_mask_has(const struct os_cpu_mask *m, uint32_t cpu) {
    return cpu < OS_AFFINITY_CPUS && m->bits[cpu / WORD] >> cpu % WORD & 1;
}

bool os_cpu_mask_meets(const struct os_cpu_mask *a, const struct os_cpu_mask *b) {
    unsigned long any = 0;
    for (size_t i = 0; i < WORDS; i++)
        any |= a->bits[i] & b->bits[i];
    return any;
}

bool os_cpu_mask_empty(const struct os_cpu_mask *m) {
    return !os_cpu_mask_meets(m, m);
}

void os_cpu_mask_and(struct os_cpu_mask *m, const struct os_cpu_mask *other) {
    for (size_t i = 0; i < WORDS; i++)
        m->bits[i] &= other->bits[i];
}

void os_cpu_mask_or(struct os_cpu_mask *m, const struct os_cpu_mask *other) {
    for (size_t i = 0; i < WORDS; i++)
        m->bits[i] |= other->bits[i];
}

static bool set(const struct os_cpu_mask *m) {
    return sched_setaffinity(0, sizeof *m, (const cpu_set_t *)(const void *)m) == 0;
}

void os_affinity_init(struct os_affinity *a) {
    memset(a, 0, sizeof *a);
    a->known = sched_getaffinity(0, sizeof a->allowed, (cpu_set_t *)(void *)&a->allowed) == 0;
}

unsigned os_affinity_count(void) {
    struct os_affinity a;
    unsigned count = 0;
    os_affinity_init(&a);
    for (size_t i = 0; a.known && i < WORDS; i++)
        count += (unsigned)__builtin_popcountl(a.allowed.bits[i]);
    return count ? count : 1;
}

bool os_affinity_to_cpu(const struct os_affinity *a, int32_t cpu) {
    struct os_cpu_mask one = {{0}};
    if (!a->known || cpu < 0 || !os_cpu_mask_has(&a->allowed, (uint32_t)cpu))
        return false;
    os_cpu_mask_add(&one, (uint32_t)cpu);
    return set(&one);
}

/* sysfs shows a CPU's node as a link cpuN/nodeM. -1: there is none. */
static long node_of(int32_t cpu) {
    char path[64];
    long node = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", (int)cpu);
    DIR *d = opendir(path);
    for (struct dirent *e; d && node < 0 && (e = readdir(d));)
        if (strncmp(e->d_name, "node", 4) == 0 && e->d_name[4] >= '0' && e->d_name[4] <= '9')
            node = strtol(e->d_name + 4, NULL, 10);
    if (d)
        closedir(d);
    return node;
}

/* "0-3,8": those of them that are allowed. */
static bool read_list(FILE *f, const struct os_cpu_mask *allowed, struct os_cpu_mask *out) {
    unsigned from, to;
    bool any = false;
    while (fscanf(f, "%u", &from) == 1) {
        to = from;
        if (fscanf(f, "-%u", &to) == EOF)
            to = from;
        for (unsigned cpu = from; cpu <= to && cpu < OS_AFFINITY_CPUS; cpu++)
            if (os_cpu_mask_has(allowed, cpu)) {
                os_cpu_mask_add(out, cpu);
                any = true;
            }
        if (fgetc(f) != ',')
            break;
    }
    return any;
}

bool os_affinity_to_node(const struct os_affinity *a, int32_t cpu) {
    struct os_cpu_mask near = {{0}};
    char path[80];
    long node = a->known && cpu >= 0 ? node_of(cpu) : -1;
    if (node < 0)
        return false;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%ld/cpulist", node);
    FILE *f = fopen(path, "re");
    bool any = f && read_list(f, &a->allowed, &near);
    if (f)
        fclose(f);
    return any && set(&near);
}

bool os_affinity_to_mask(const struct os_affinity *a, const struct os_cpu_mask *cpus) {
    struct os_cpu_mask both = *cpus;
    os_cpu_mask_and(&both, &a->allowed);
    return a->known && !os_cpu_mask_empty(&both) && set(&both);
}

bool os_affinity_crowded(void) {
    long running = -1, cpus = sysconf(_SC_NPROCESSORS_ONLN);
    FILE *f = fopen("/proc/loadavg", "re");
    bool known = f && fscanf(f, "%*f %*f %*f %ld/", &running) == 1 && cpus > 0;
    if (f)
        fclose(f);
    return !known || running - 1 > cpus;
}

void os_affinity_restore(const struct os_affinity *a) {
    if (a->known)
        set(&a->allowed);
}

static bool to_cpu(void *ctx, int32_t cpu) {
    return os_affinity_to_cpu(ctx, cpu);
}

static bool to_node(void *ctx, int32_t cpu) {
    return os_affinity_to_node(ctx, cpu);
}

static bool crowded(void *ctx) {
    (void)ctx;
    return os_affinity_crowded();
}

static void home(void *ctx) {
    os_affinity_restore(ctx);
}

static uint64_t clock_ns(void *ctx) {
    (void)ctx;
    return os_clock_ns();
}

struct os_mover os_affinity_mover(struct os_affinity *a) {
    return (struct os_mover){a, to_cpu, to_node, crowded, home, clock_ns};
}
