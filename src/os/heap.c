/* SPDX-License-Identifier: Apache-2.0 */
#include "os/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of one allocation (mallopt(3): not more than 32 MiB go into the heap); what small recordings need, in
 * pages; what is reserved. */
enum {
    HEAP_BLOCK_MAX = 32 << 20,
    HEAP_SMALL = 4 << 20,
    HEAP_ROOM = 512 << 20,
    HEAP_PAD = 1 << 20,
    HEAP_LITTLE = 256 << 10, /* some pages of any size */
    PAGE = 4096
};

void os_heap_prepare(void) {
    if (!mallopt(M_MMAP_THRESHOLD, HEAP_BLOCK_MAX) || !mallopt(M_TRIM_THRESHOLD, INT32_MAX) ||
        !mallopt(M_TOP_PAD, HEAP_ROOM) || !mallopt(M_ARENA_MAX, 1))
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

/*
 * The heap's end stays ours, or it would grow again in small pages: only what is in it goes. A little of it
 * is given back, which malloc does only if its free end is the heap's. Where it is not, because the heap
 * could not grow and malloc went on with mmap(2), what lies in front of the heap's end is in use.
 */
void os_heap_give_back(void) {
    size_t top = mallinfo2().keepcost;
    uint8_t *was = sbrk(0);
    malloc_trim(top > HEAP_PAD ? top - HEAP_LITTLE : HEAP_ROOM);
    uint8_t *end = sbrk(0);
    if (end >= was)
        return;
    top = mallinfo2().keepcost;
    uint8_t *from = (uint8_t *)(((uintptr_t)end - top + 2 * PAGE) & ~(uintptr_t)(PAGE - 1));
    madvise(from, (size_t)(end - from) & ~(size_t)(PAGE - 1), MADV_DONTNEED);
}
