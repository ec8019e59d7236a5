/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's slab allocator allocated and freed: sums by call site and by address.
 *
 *   alloc P (site S, cpu 0) ... free P (cpu 1)    a ping-pong of P and of S
 *
 * A free belongs to the latest allocation of its address. Memory grows with distinct addresses and sites.
 */
#ifndef SONDE_STATES_KMEM_KMEM_SLAB_H
#define SONDE_STATES_KMEM_KMEM_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct kmem_slab_alloc {
    uint64_t address, site; /* site: an address of the kernel's code */
    uint64_t requested, allocated;
    uint32_t cpu;
    bool other_node; /* asked for memory of another node than the CPU's */
};

struct kmem_slab_row {
    uint64_t key; /* address or site */
    uint64_t hits, requested, allocated, pingpong;
};

struct kmem_slab_rows {
    struct kmem_slab_row *items;
    size_t count, cap;
};

struct kmem_slab_live {
    bool live;
    uint32_t site, cpu; /* site: its row */
    uint64_t bytes;
};

struct kmem_slab {
    struct kmem_slab_rows sites, addresses; /* as VEC */
    VEC(struct kmem_slab_live) live;        /* of each row of `addresses`, until those are sorted */
    struct hash_map by_site, by_address;
    uint64_t allocs, frees, requested, allocated, freed, cross_node;
    uint64_t before; /* frees of addresses whose allocation was not seen */
    uint64_t missed; /* allocations of addresses whose previous free was not seen */
};

/* False: out of memory. */
bool kmem_slab_alloc(struct kmem_slab *s, const struct kmem_slab_alloc *a);
/* Address 0 is ignored, as kfree does. */
void kmem_slab_free(struct kmem_slab *s, uint64_t address, uint32_t cpu);
void kmem_slab_fini(struct kmem_slab *s);

enum kmem_slab_key { KMEM_SLAB_KEY, KMEM_SLAB_BYTES, KMEM_SLAB_HIT, KMEM_SLAB_PINGPONG, KMEM_SLAB_FRAG };
enum { KMEM_KEYS_MAX = 8 };

/* What rows are sorted by, downwards; then by key. */
struct kmem_slab_order {
    enum kmem_slab_key keys[KMEM_KEYS_MAX];
    size_t count;
};
/* Per cent of the allocated bytes that were not requested. */
double kmem_slab_fragmentation(uint64_t requested, uint64_t allocated);
/* Sorts sites or addresses; nothing can be added afterwards. */
void kmem_slab_sort(struct kmem_slab_row *rows, size_t count, const struct kmem_slab_order *order);

#endif
