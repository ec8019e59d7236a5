/* SPDX-License-Identifier: Apache-2.0 */
/* How this process gets its memory from the kernel. */
#ifndef SONDE_OS_HEAP_H
#define SONDE_OS_HEAP_H

/*
 * For a run that will need much memory, and keep it until its end: malloc takes room for it once, the first
 * few megabytes in pages, the rest in huge pages as they are touched (madvise(2), MADV_HUGEPAGE), and gives
 * nothing back in between. A page that is first touched costs the kernel as much time as a thousand samples
 * of a report that are added up. Room that is not touched costs nothing. Where the kernel refuses, all is as
 * it was. To be called once, before threads are there.
 */
void os_heap_prepare(void);

#endif
