/* SPDX-License-Identifier: Apache-2.0 */
/* Room for large tables: apart from heap.c, so that libsonde has nothing in it that changes its process. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "os/heap.h"

/* From this size on an allocation is a map of its own whatever heap.c chose (mallopt(3), M_MMAP_THRESHOLD).
 */
enum { OWN_MAP = 32 << 20, PAGE = 4096 };

void os_heap_room_raw(void **items, size_t *cap, size_t n, size_t item_size) {
    if (*items || !n || n > SIZE_MAX / 2 / item_size)
        return;
    uint8_t *room = malloc(n * item_size);
    if (!room)
        return;
    *items = room;
    *cap = n;
    if (n * item_size >= OWN_MAP) /* a map of its own, with malloc's header in front */
        madvise((uint8_t *)((uintptr_t)room & ~(uintptr_t)(PAGE - 1)), n * item_size, MADV_HUGEPAGE);
}

void os_heap_forget(void *block, size_t bytes) {
    uintptr_t from = ((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
              to = ((uintptr_t)block + bytes) & ~(uintptr_t)(PAGE - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}
