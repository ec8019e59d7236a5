/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --threads: several threads that each take what is in their CPUs' rings to a file of their own, data.N of a
 * directory (perf.data-directory-format.txt), while the session's thread does everything else.
 *
 *     DIR/data     header, what existed before, modules, trailer    the session's thread
 *     DIR/data.N   records of the rings of group N, as they came    reader N
 */
#ifndef SONDE_RECORD_RINGS_READERS_H
#define SONDE_RECORD_RINGS_READERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "record/rings/drain.h"
#include "record/rings/layout.h"

struct record_reader {
    struct record_drain drain;
    struct record_file file;
    struct record_compress compress;
    struct record_opened opened;             /* its rings only; the session closes them */
    const struct record_layout_group *group; /* borrowed */
    int poller;
    size_t polled; /* event descriptors that have not hung up */
    pthread_t thread;
    bool started, failed;
    struct err err;
    char *name; /* of its file; owned */
    struct record_readers *all;
};

struct record_readers {
    VEC(struct record_reader *) list; /* owned */
    pthread_mutex_t lock;             /* of identities and what else all drains share */
    int stop_fd;                      /* readable when they are to end; -1: none */
    atomic_bool failed;               /* one of them */
    atomic_size_t polled;             /* descriptors of all that have not hung up */
    atomic_uint_fast64_t samples, lost, bytes;
    uint32_t how;             /* a file of theirs ended: enum perfdata_ending_how; 0: as it should */
    record_programs programs; /* as record_drain.programs, of all; under the lock */
};

/* Makes their files, empty: stock perf opens no directory that lacks one. False and *err when it cannot. */
bool record_readers_files(const struct record_layout *layout, const char *folder, struct err *err);

/*
 * Starts a reader for each group of the layout that has rings. `model`: the session's drain, whose settings
 * they share; `folder`: where data.N go. False and *err when that cannot be; record_readers_fini is allowed.
 */
bool record_readers_start(struct record_readers *r, const struct record_layout *layout,
                          const struct record_opened *opened, const struct record_drain *model,
                          const char *folder, int compression, struct err *err);

/* Moves the numbers of BPF programs that were loaded to those of `into`. */
void record_readers_programs(struct record_readers *r, struct record_drain *into);

/* Takes what is left in the rings and ends all readers; their counts join those of `into`, their rings' those
 * of `opened`. False and *err when one of them could not write. */
bool record_readers_stop(struct record_readers *r, struct record_drain *into, struct record_opened *opened,
                         struct err *err);
void record_readers_fini(struct record_readers *r);

/* Sizes of compressed data: before and after. */
void record_readers_compressed(const struct record_readers *r, uint64_t *in, uint64_t *written);

#endif
