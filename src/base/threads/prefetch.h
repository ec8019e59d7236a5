/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that will be wanted soon is asked for. */
#ifndef SONDE_BASE_PREFETCH_H
#define SONDE_BASE_PREFETCH_H

/*
 * Has the line of the cache at an address fetched, which may be any. The empty statement keeps it: gcc takes
 * a function that does nothing but __builtin_prefetch for one without effects ("pure") and deletes the calls
 * of it (observed with gcc 12 at -O2, with and without LTO).
 */
static inline void prefetch(const void *at) {
    __builtin_prefetch(at);
    __asm__ volatile("");
}

/* The same for what will be written. */
static inline void prefetch_to_write(const void *at) {
    __builtin_prefetch(at, 1);
    __asm__ volatile("");
}

#endif
