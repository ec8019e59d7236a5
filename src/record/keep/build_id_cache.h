/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build-id cache as perf lays it out (perf-buildid-cache(1)), so that what was recorded can be looked
 * into after the files have changed:
 *
 *     DIR/usr/lib/libx.so/BUILD-ID/elf                DIR/[kernel.kallsyms]/BUILD-ID/kallsyms
 *     DIR/.build-id/BU/ILD-ID -> ../../usr/lib/libx.so/BUILD-ID
 */
#ifndef SONDE_RECORD_KEEP_BUILD_ID_CACHE_H
#define SONDE_RECORD_KEEP_BUILD_ID_CACHE_H

#include "os/proc/proc.h"
#include "record/write/mapped_build_ids.h"

struct record_cache {
    const char *folder;
    const struct os_proc *proc;
    uint64_t file_bytes_max, all_bytes_max; /* of copies; links cost nothing */
};

/* What a file's copy may cost by default, and all of one recording's. */
enum { RECORD_CACHE_FILE_MAX = 128 << 20, RECORD_CACHE_ALL_MAX = 512 << 20 };

/*
 * Puts what `ids` names into the cache, if it is not there: files that still have the build-id, and the
 * kernel's symbols when their addresses may be seen. How many things were added. What cannot be kept is left
 * out, and said at LOG_INFO.
 */
size_t record_cache_add(const struct record_cache *c, const struct record_build_ids *ids);

#endif
