/* SPDX-License-Identifier: Apache-2.0 */
/* The probes that the build-id cache keeps of one program, or of the kernel (probe/cache/cache.h). */
#ifndef SONDE_CMD_PROBE_PROBE_KEPT_H
#define SONDE_CMD_PROBE_PROBE_KEPT_H

#include "cmd/common/command.h"
#include "probe/cache/cache.h"

/* Zeroed but for the first members, which are borrowed. */
struct probe_kept {
    const struct command_env *env;
    struct probe_image *image; /* NULL: the kernel */
    bool module;               /* or one of its modules: none are kept */
    struct probe_cache cache;
    bool was_read;
    struct err err;
};
void probe_kept_fini(struct probe_kept *k);

/* Reads them, once; none where no file is there. False and *err: the image has no build-id to find them by
 * (ERR_ABSENT), it is a module, there is no cache; out of memory. */
bool probe_kept_read(struct probe_kept *k, struct err *err);

/* Reads such a file; one that is not there is empty. Lines that were left out are logged. False and *err. */
bool probe_kept_read_file(const char *path, struct probe_cache *out, struct err *err);

/* What probe_events_make could not find, and *err says why, may be kept: as probe_cache_take, for %NAME and
 * where there is no debugging information. False: *err stays, unless there is more to say. */
bool probe_kept_take(struct probe_kept *k, const struct probe_spec *spec, struct arena *a, probe_events *out,
                     struct err *err);

/* Writes them, beside a copy of the program, which has its place by `name` (not used where there is one
 * already); removes the file where none are left. False and *err. */
bool probe_kept_write(struct probe_kept *k, const char *name, struct err *err);

#endif
