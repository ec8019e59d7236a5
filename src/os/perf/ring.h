/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf ring as the kernel shares it with us (perf_event_open(2), "MMAP layout"): one control page, then a
 * power of two of data pages. The kernel moves data_head, we move data_tail; both only grow, and the place of
 * a byte is its number modulo the size.
 */
#ifndef SONDE_OS_RING_H
#define SONDE_OS_RING_H

#include "base/bytes.h"

struct os_ring {
    uint8_t *data;       /* NULL: not mapped */
    uint64_t data_bytes; /* a power of two */
    uint64_t *head;      /* written by the kernel */
    uint64_t *tail;      /* written by us */
    void *map;           /* the whole map: for the one who unmaps it */
    size_t map_bytes;
};

/* Finds the parts of a map of `map_bytes` bytes whose first page is the control page. */
void os_ring_init(struct os_ring *r, void *map, size_t map_bytes, size_t page_bytes);

/* How far the kernel has written. What is before it may be read after this call, not before. */
static inline uint64_t os_ring_head(const struct os_ring *r) {
    return __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
}
static inline uint64_t os_ring_tail(const struct os_ring *r) {
    return *r->tail;
}
/* Gives everything before `to` back to the kernel; it must have been read (or copied) by then. */
static inline void os_ring_consume(struct os_ring *r, uint64_t to) {
    __atomic_store_n(r->tail, to, __ATOMIC_RELEASE);
}

/* The bytes [from, to): one span, or two where they wrap; the second one is empty otherwise. `from` and `to`
 * lie at most data_bytes apart. */
void os_ring_spans(const struct os_ring *r, uint64_t from, uint64_t to, struct bytes out[2]);

/* Copies `n` bytes from position `at` on. */
void os_ring_copy(const struct os_ring *r, uint64_t at, void *to, size_t n);

/* How the processor's counter becomes the ring's time: zero + (cycles * mult >> shift). A short counter has
 * only the bits of `mask`, and stood at `cycles`. */
struct os_ring_counter {
    uint32_t mult;
    uint16_t shift;
    bool is_short;
    uint64_t zero, cycles, mask;
};

/* What the control page says of that; false where the kernel gives none (cap_user_time_zero): a machine whose
 * time is not the counter's, or an event with a clock of its own. */
bool os_ring_counter(const struct os_ring *r, struct os_ring_counter *out);

#endif
