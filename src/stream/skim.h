/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting without looking: steps over the records of an uncompressed file
 * whose type and size are all that is asked for, reading the file in pieces
 * that stay in the CPU's cache rather than through the map (whose pages cost
 * more to make present than the records to step over).
 *
 *   while (stream_skim(...) && stream_next(...) == STREAM_RECORD) look at that record
 *
 * counts every record once: those that need no look here, the others there.
 */
#ifndef SONDE_STREAM_SKIM_H
#define SONDE_STREAM_SKIM_H

#include "stream/stream.h"

enum { STREAM_SKIM_TYPES = PERFDATA_RECORD_USER_START };

struct stream_skim {
    uint64_t plain; /* bit i: records of type i (< 64) need no look */
    uint64_t by_type[STREAM_SKIM_TYPES];
    uint64_t *samples; /* owned: how many of them by event */
    size_t event_count;
    uint8_t *buffer; /* owned: bytes [start, start + size) of the input */
    uint64_t start;
    size_t size;
};

/* LOST and LOST_SAMPLES are never plain. Nothing is allocated before the first use. */
void stream_skim_init(struct stream_skim *k, uint64_t plain);
void stream_skim_fini(struct stream_skim *k);

/* Whether a sample's body holds all that its event's samples have: as perfdata_sample_decode of everything,
 * which it spares the usual ones. */
bool stream_sample_whole(const struct perfdata_plan *plan, struct bytes body);

/*
 * Counts plain records from the stream's place on, up to the first one that is not: of another type, too
 * short for its type, not whole, a sample that is not (stream_sample_whole), of no known event, seen before.
 * stream_next gives that one. Does nothing where it cannot help (pipes, compressed recordings, directories).
 * False: reading failed, or no memory.
 */
bool stream_skim(struct stream *s, struct stream_skim *k, struct err *err);

#endif
