/* SPDX-License-Identifier: Apache-2.0 */
#include "os/perf/ring.h"

#include <linux/perf_event.h>

void os_ring_init(struct os_ring *r, void *map, size_t map_bytes, size_t page_bytes) {
    struct perf_event_mmap_page *page = map;
    *r = (struct os_ring){
        .data = (uint8_t *)map + page_bytes,
        .data_bytes = map_bytes - page_bytes,
        .head = (uint64_t *)&page->data_head,
        .tail = (uint64_t *)&page->data_tail,
        .map = map,
        .map_bytes = map_bytes,
    };
}

void os_ring_spans(const struct os_ring *r, uint64_t from, uint64_t to, struct bytes out[2]) {
    uint64_t at = from & (r->data_bytes - 1), n = to - from, room = r->data_bytes - at;
    uint64_t first = n < room ? n : room;
    out[0] = (struct bytes){r->data + at, (size_t)first};
    out[1] = (struct bytes){r->data, (size_t)(n - first)};
}

void os_ring_copy(const struct os_ring *r, uint64_t at, void *to, size_t n) {
    struct bytes span[2];
    os_ring_spans(r, at, at + n, span);
    memcpy(to, span[0].data, span[0].size);
    memcpy((uint8_t *)to + span[0].size, span[1].data, span[1].size);
}

bool os_ring_counter(const struct os_ring *r, struct os_ring_counter *out) {
    enum { TRIES = 1000 };
    const volatile struct perf_event_mmap_page *page = r->map;
    for (int i = 0; i < TRIES; i++) { /* the kernel changes `lock` before and after it writes */
        uint32_t lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        bool has = page->cap_user_time && page->cap_user_time_zero;
        *out = (struct os_ring_counter){page->time_mult, page->time_shift,  page->cap_user_time_short,
                                        page->time_zero, page->time_cycles, page->time_mask};
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(lock & 1) && __atomic_load_n(&page->lock, __ATOMIC_RELAXED) == lock)
            return has;
    }
    return false;
}
