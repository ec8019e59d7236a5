/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding while recording, all but the thread: records come in chunks as they left the rings, and leave in
 * the same order, samples with a dump in their new form (unwind_sample.h).
 *
 *     chunk -> side-band records: kept aside -> by time, at the end of a round -> model
 *           `> the chunk waits one more round -> samples: resolve/unwind by model and files -> put
 *
 * A round is complete, and what was mapped before its last sample known, when the next one ends
 * (rings/drain.h): so samples leave one round late. The model is dropped behind them.
 */
#ifndef SONDE_RECORD_UNWIND_UNWIND_CORE_H
#define SONDE_RECORD_UNWIND_UNWIND_CORE_H

#include "base/hash.h"
#include "record/unwind/unwind_queue.h"
#include "record/unwind/unwind_sample.h"

/* All borrowed. */
struct record_unwind_options {
    const struct perfdata_events *events;
    const char *machine; /* uname -m */
    const char *host;    /* uname -n; NULL: not known */
    const char *symfs;   /* files are looked for below it, for tests; NULL: where they are */
    /* Takes whole records, in order; the first `packed` of the spans may be compressed. */
    bool (*put)(void *ctx, const struct bytes *spans, size_t count, size_t packed, struct err *err);
    /* Takes a chunk back that is used no more. */
    void (*give_back)(void *ctx, struct record_chunk *chunk);
    void *ctx;
};

/* A record of what was mapped, not applied yet. */
struct record_unwind_side {
    uint64_t time_ns, loc;
    const uint8_t *at; /* in a chunk that is held */
};

struct record_unwind_core {
    struct record_unwind_options o;
    struct model *model;
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_unwind *unwind;
    struct record_unwind_sampler sampler;
    struct hash_map jits;          /* processes that mapped a jitdump */
    VEC(struct record_chunk) held; /* oldest first; */
    size_t complete;               /* so many are of rounds that ended before this one began */
    VEC(struct record_unwind_side) side;
    uint64_t loc;                   /* bytes that came so far: a record's place in the order */
    uint64_t emitted;               /* of them, that left */
    uint64_t newest_ns;             /* of all records so far, */
    uint64_t complete_ns, older_ns; /* when the last round ended, and the one before */
    struct writer out;
};

/* False and *err without memory; record_unwind_core_fini is allowed in any case. */
bool record_unwind_core_init(struct record_unwind_core *c, const struct record_unwind_options *options,
                             struct err *err);
/* What is still held is given back, unused. */
void record_unwind_core_fini(struct record_unwind_core *c);

/* Takes a chunk over. False and *err when `put` failed, or memory ran out for what was mapped. */
bool record_unwind_core_take(struct record_unwind_core *c, struct record_chunk *chunk, struct err *err);

/* Hands on all that is held, without waiting for the end of rounds, and with all dumps as they are. */
bool record_unwind_core_flush(struct record_unwind_core *c, struct err *err);

/* Unwinds and hands on all that is held: nothing comes after it. */
bool record_unwind_core_finish(struct record_unwind_core *c, struct err *err);

/* Appends what was counted, in lines as PERFDATA_PART_UNWOUND has them (docs/FORMAT.md). */
void record_unwind_core_report(const struct record_unwind_core *c, struct writer *w);

#endif
