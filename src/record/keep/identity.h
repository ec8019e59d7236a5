/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What identifies the code of mapped files that the kernel gave no build-id: their state as soon as the map
 * record is seen, a build-id from the file itself, and at the end, if the state is the same still, a cookie
 * over the code (object/cookie.h). Files that have no name any more are looked into at once.
 *
 * Overlay file systems show other devices and inodes to stat(2) than map records and /proc/PID/maps do: the
 * two kinds are never compared, except that an equal inode number is taken as the same file where nothing
 * better can be had.
 */
#ifndef SONDE_RECORD_KEEP_IDENTITY_H
#define SONDE_RECORD_KEEP_IDENTITY_H

#include "base/arena.h"
#include "base/hash.h"
#include "format/perfdata/added/evidence.h"
#include "format/perfdata/record.h"
#include "os/proc/proc.h"
#include "record/write/mapped_build_ids.h"

struct record_identity {
    const char *name; /* as mapped; of the arena */
    int32_t pid;      /* who mapped it */
    bool last_chance; /* it has no name to be found by at the end */
    struct perfdata_evidence evidence;
};

struct record_identities {
    const struct os_proc *proc;         /* borrowed; NULL: nothing is done */
    struct record_build_ids *build_ids; /* also told of build-ids that were found; may be NULL */
    /* Wall clock (ns): mappings that records tell of from now on were made after this time; 0: before all
     * samples, so that the files are now what was run. */
    int64_t since_ns;
    struct arena arena;
    VEC(struct record_identity) list; /* each file in each state once */
    struct hash_map seen;             /* hash of name and state -> index in list */
};

void record_identities_fini(struct record_identities *ids);

/* The build-id in the file at `path`; size 0: it has none. False when it cannot be read. */
bool record_identity_build_id(const struct os_proc *proc, const char *path, struct os_build_id *out);

/* What can be said of the file of an MMAP2 record. NULL when it is none that needs it: no code, no file, a
 * build-id in the record itself; or when nothing can be said. Valid until the next call. */
const struct perfdata_evidence *record_identities_note(struct record_identities *ids, uint16_t misc,
                                                       struct bytes body);

/* Cookies for what still is as it was; then the content of PERFDATA_PART_IMAGES. */
void record_identities_finish(struct record_identities *ids, struct writer *w);

#endif
