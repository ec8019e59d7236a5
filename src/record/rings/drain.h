/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From rings to file. One pass looks at all rings' heads first and then writes what lies before them, in few
 * system calls and without copying, and closes the round: whatever was written into a ring after a pass began
 * is in a later round, so no record after a FINISHED_ROUND is older than the newest one before the previous
 * FINISHED_ROUND, which is what readers sort by (perf.data-file-format.txt).
 *
 *     ring 0  ====|--------        heads at the beginning of the pass
 *     ring 1  =========|---        = is written now, - next time
 *     file    ... [ring 0 ====] [ring 1 =========] [FINISHED_ROUND]
 */
#ifndef SONDE_RECORD_RINGS_DRAIN_H
#define SONDE_RECORD_RINGS_DRAIN_H

#include "record/keep/identity.h"
#include "record/keep/keep.h"
#include "record/rings/open.h"
#include "record/rings/travel.h"
#include "record/unwind/unwind_thread.h"
#include "record/write/mapped_build_ids.h"
#include "record/write/outlet.h"

/* A record that goes out longer than it came: an MMAP2 with a tail. */
struct record_patch {
    uint64_t at, size; /* in the ring, or in what is put */
    size_t from, to;   /* its new bytes in record_drain.patched */
};

typedef VEC(uint32_t) record_programs; /* numbers of BPF programs */

struct record_drain {
    struct record_outlet outlet;
    struct record_unwind *unwind;         /* that everything passes through on its way there; NULL: not;
                                             borrowed, as the next two */
    const struct perfdata_events *events; /* to read samples' times */
    struct record_build_ids *build_ids;   /* NULL: not kept */
    struct record_identities *identities; /* NULL: map records go out as they come */
    struct record_keep *keep;             /* NULL: nothing is kept */
    pthread_mutex_t *shared;              /* held while the above are used; NULL: nobody else does */
    struct record_travel travel;          /* where rings are read */
    int64_t pass_ns, since_ns;            /* when this and the last pass began: wall clock */
    uint32_t id_bytes;                    /* of the sample_id that map records end in */
    uint64_t samples, lost;               /* records; events that LOST records tell of */
    record_programs programs;             /* that were loaded; who asks for them clears it */
    uint64_t bytes;                       /* taken from rings */
    bool has_time;                        /* of any sample: */
    uint64_t first_ns, last_ns;
    uint64_t *heads; /* owned: one per ring */
    size_t head_count;
    struct writer scratch, patched;
    VEC(struct record_patch) patches; /* of the ring, or the piece, at hand */
    struct hash_map settled;          /* map records of which nothing more is to be learned -> 1 */
    uint64_t flush_bytes;             /* rings with less than that are left for later; 0: none is */
    bool limited;                     /* --max-size: of samples only budget_bytes more may be taken */
    uint64_t budget_bytes, left_out;  /* left_out: samples beyond it */
    bool no_rounds;                   /* with rings that are read late, no round is ever finished */
    bool damaged;                     /* a ring held what cannot be a record: said once */
};

void record_drain_fini(struct record_drain *d);

/* Knows no map record any more: build_ids, identities and keep have been emptied. */
void record_drain_restart(struct record_drain *d);

/* One pass over all rings; with flush_bytes over those that hold so much. *wrote: whether there was anything.
 * False and *err when the file could not take it. */
bool record_drain_pass(struct record_drain *d, struct record_opened *opened, bool *wrote, struct err *err);

/*
 * The processes that have begun another program since their rings were last drained, as the keys of `pids`;
 * nothing is taken from the rings. What /proc said of one meanwhile may be about the new program, and belongs
 * to none before it. False when memory ran out.
 */
bool record_drain_execs(struct record_drain *d, const struct record_opened *opened, struct hash_map *pids);

/* Drops the COMM and map records of these processes from whole records. */
void record_drain_forget(struct writer *records, const struct hash_map *pids);

/* Takes what the rings hold that are overwritten, newest records first; they are paused meanwhile. */
bool record_drain_backward(struct record_drain *d, struct record_opened *opened, struct err *err);

/* Whole records that do not come from a ring: counted and kept like those that do. */
bool record_drain_put(struct record_drain *d, struct bytes records, struct err *err);

#endif
