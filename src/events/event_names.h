/* SPDX-License-Identifier: Apache-2.0 */
/* The event names that every machine knows: hardware, cache and software events (perf_event_open(2)), and the
 * tool's own counters (perf-list(1), TOOL EVENTS). */
#ifndef SONDE_EVENTS_EVENT_NAMES_H
#define SONDE_EVENTS_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type that perf gives to tool events; no kernel knows it. */
#define EVENT_NAMES_TYPE_TOOL 0xfffffffeu

struct event_name {
    const char *name;
    const char *alias; /* another spelling, or NULL */
    uint32_t config;
    const char *text; /* what it counts: a phrase for `list`; NULL for hardware */
};

/* Ended by a row without a name. */
extern const struct event_name EVENT_NAMES_HARDWARE[];
extern const struct event_name EVENT_NAMES_SOFTWARE[];
extern const struct event_name EVENT_NAMES_TOOL[];

/* The type and config of the `n` bytes at `name`, in any letter case; false: no such name. Aliases of caches,
 * operations and results are known ("l1d-read-miss"). */
bool event_names_find(const char *name, size_t n, uint32_t *type, uint64_t *config);

/* The same among software events, and among tool events. */
bool event_names_software(const char *name, size_t n, uint64_t *config);

/* Room for the longest name of a cache event and its NUL. */
enum { EVENT_NAMES_CACHE_MAX = 48 };
/* Writes the name of the i-th cache event ("L1-dcache-loads") into `out`, and its config; false after the
 * last. */
bool event_names_cache(size_t i, char out[EVENT_NAMES_CACHE_MAX], uint64_t *config);

#endif
