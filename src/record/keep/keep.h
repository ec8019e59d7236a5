/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --keep: what is needed to name the code of files that are deleted or replaced while recording. Each mapped
 * file is opened when its map record is seen, once. What has no name then, lies in memory or in other mounts
 * is copied at once; what lies on the root file system is held open, up to a limit, and copied at the end if
 * its name leads elsewhere by then. Perf maps and jitdumps are held from the time when their process maps
 * code without a file, and copied if it has ended.
 */
#ifndef SONDE_RECORD_KEEP_KEEP_H
#define SONDE_RECORD_KEEP_KEEP_H

#include "base/arena.h"
#include "base/hash.h"
#include "format/perfdata/added/kept.h"
#include "os/proc/proc.h"

enum record_keep_what { RECORD_KEEP_UNWIND, RECORD_KEEP_FULL, RECORD_KEEP_NONE };

enum {
    RECORD_KEEP_HELD_MAX = 256,                     /* descriptors */
    RECORD_KEEP_NAMED_MAX = 4096,                   /* files that are opened again at the end */
    RECORD_KEEP_FILE_MAX = 64 << 20,                /* bytes of a file that is copied while recording */
    RECORD_KEEP_LAST_FILE_MAX = 512 << 20,          /* of one that is copied at the end */
    RECORD_KEEP_ALL_MAX = RECORD_KEEP_FILE_MAX * 4, /* of everything that is kept, unpacked */
};

struct record_kept_file {
    struct perfdata_kept is; /* what its entry will say; name in the arena */
    struct os_held held;
};

/* A file that was copied at once although it may have a name, and its entry: [from, to) of the entries. */
struct record_keep_copy {
    const char *name; /* in the arena */
    uint32_t pid;
    struct os_identity identity;
    size_t from, to;
};

struct record_keep {
    const struct os_proc *proc; /* borrowed; NULL: nothing is done */
    enum record_keep_what what;
    struct arena arena;
    VEC(struct record_kept_file) held;
    VEC(struct record_kept_file) named; /* to be opened by name at the end; `held` is given back */
    VEC(struct record_keep_copy) copies;
    struct hash_map seen;  /* files and, for maps of JITs, processes -> 1 */
    struct hash_map tried; /* processes whose maps were not there -> ms of pass_ns */
    int64_t pass_ns;       /* whoever notes says when its pass began: wall clock */
    struct writer entries; /* of what was copied */
    uint64_t bytes;        /* in them, unpacked */
    uint32_t left_out;     /* files for which there was no room */
};

void record_keep_fini(struct record_keep *k);

/* Told of every MMAP2 of user space; `evidence` as record_identities_note said, or NULL. True: nothing more
 * would be done for another record of the same file and name, whatever its process. */
bool record_keep_note(struct record_keep *k, uint16_t misc, struct bytes body,
                      const struct perfdata_evidence *evidence);

/* Copies what has gone since, and gives back what was held. Returns the content of PERFDATA_PART_KEPT, valid
 * until record_keep_fini; empty when nothing needed to be kept (or memory ran out). */
struct bytes record_keep_finish(struct record_keep *k);

#endif
