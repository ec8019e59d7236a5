/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in a build-id cache (record/keep/build_id_cache.h says how), and changing it. */
#ifndef SONDE_RECORD_KEEP_CACHE_ENTRIES_H
#define SONDE_RECORD_KEEP_CACHE_ENTRIES_H

#include "base/arena.h"
#include "base/vec.h"
#include "os/proc/proc.h"

struct record_cache_entry {
    const char *id;   /* in hexadecimal */
    const char *name; /* "/usr/lib/libx.so", "[kernel.kallsyms]" */
    uint64_t bytes;   /* of all its files */
    int64_t used_ns;  /* when one of them was read or written last */
};

/* Zeroed at first; freed with record_cache_entries_fini. */
struct record_cache_entries {
    struct arena texts;
    VEC(struct record_cache_entry) list; /* by id */
};

/* All entries of the cache at `folder` that have files; none when there is no such folder. False: out of
 * memory. */
bool record_cache_list(const char *folder, struct record_cache_entries *out, struct err *err);
void record_cache_entries_fini(struct record_cache_entries *e);

/* The entry with that id, or NULL. */
const struct record_cache_entry *record_cache_find(const struct record_cache_entries *e, const char *id);

/*
 * Puts the file at `from` into the cache, as the file `kind` ("elf", "debug", "kallsyms", "vdso") of the
 * entry of that name and id. An absolute name has no ".." in it. What is there of that kind is replaced.
 */
bool record_cache_put(const char *folder, const char *name, const char *id, const char *kind,
                      const char *from, struct err *err);

/* Removes an entry and the folders that are empty without it. */
bool record_cache_drop(const char *folder, const struct record_cache_entry *e, struct err *err);

#endif
