/* SPDX-License-Identifier: Apache-2.0 */
#include "os/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of one allocation (mallopt(3): not more than 32 MiB go into the heap); what small recordings need, in
 * pages; what is reserved. */
enum { HEAP_BLOCK_MAX = 32 << 20, HEAP_SMALL = 4 << 20, HEAP_ROOM = 512 << 20, HEAP_PAD = 1 << 20 };

void os_heap_prepare(void) {
    if (!mallopt(M_MMAP_THRESHOLD, HEAP_BLOCK_MAX) || !mallopt(M_TRIM_THRESHOLD, INT32_MAX) ||
        !mallopt(M_TOP_PAD, HEAP_ROOM))
        return;
    uint8_t *start = sbrk(0);
    void *volatile more = malloc(HEAP_PAD); /* more than there is: the heap grows by the pad */
    free(more);
    uint8_t *end = sbrk(0);
    mallopt(M_TOP_PAD, HEAP_PAD);
    if (start != (void *)-1 && end > start && end - start > HEAP_SMALL)
        madvise((uint8_t *)((uintptr_t)(start + HEAP_SMALL) & ~(uintptr_t)4095),
                (size_t)(end - start - HEAP_SMALL), MADV_HUGEPAGE);
}

void os_heap_room_raw(void **items, size_t *cap, size_t n, size_t item_size) {
    enum { PAGE = 4096 };
    if (*items || !n || n > SIZE_MAX / 2 / item_size)
        return;
    uint8_t *room = malloc(n * item_size);
    if (!room)
        return;
    *items = room;
    *cap = n;
    if (n * item_size >= HEAP_BLOCK_MAX) /* a map of its own, with malloc's header in front */
        madvise((uint8_t *)((uintptr_t)room & ~(uintptr_t)(PAGE - 1)), n * item_size, MADV_HUGEPAGE);
}
