/* SPDX-License-Identifier: Apache-2.0 */
/* How this process gets its memory from the kernel. */
#ifndef SONDE_OS_HEAP_H
#define SONDE_OS_HEAP_H

#include <stddef.h>

/*
 * For a run that will need much memory, and keep it until its end: malloc takes room for it once, the first
 * few megabytes in pages, the rest in huge pages as they are touched (madvise(2), MADV_HUGEPAGE), and gives
 * nothing back in between. A page that is first touched costs the kernel as much time as a thousand samples
 * of a report that are added up. Room that is not touched costs nothing. All threads take from there. Where
 * the kernel refuses, all is as it was. To be called once, before threads are there.
 */
void os_heap_prepare(void);

/* Gives the pages of freed memory back to the kernel: for the end of a phase that needed more than what
 * follows may use again. No other thread may take memory meanwhile. */
void os_heap_give_back(void);

/*
 * Room for `n` elements in an empty VEC that is going to be large, nobody knows how large: what it does not
 * use costs nothing, and while it grows it is neither copied nor in the memory twice. Only a hint: where
 * there is no room, and beyond `n`, the vector grows as any other.
 */
#define os_heap_room(v, n) os_heap_room_raw((void **)&(v)->items, &(v)->cap, (n), sizeof *(v)->items)
void os_heap_room_raw(void **items, size_t *cap, size_t n, size_t item_size);

/* What lies there is not wanted any more, and nobody takes it for themselves soon: its pages go back,
 * whatever is read there. For the inner of a large block that is going to be freed, while much else is to
 * come. */
void os_heap_forget(void *block, size_t bytes);

#endif
