/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts records of which only type and size matter: steps over those of an
 * uncompressed file, and reads it in pieces that stay in the CPU's cache
 * rather than through the map (whose page faults cost more than stepping
 * over the records).
 *
 *   while (stream_skim(...) && stream_next(...) == STREAM_RECORD) look at that record
 *
 * counts every record once: plain ones in stream_skim, the others in the loop.
 */
#ifndef SONDE_STREAM_SKIM_H
#define SONDE_STREAM_SKIM_H

#include "stream/stream.h"

enum { STREAM_SKIM_TYPES = PERFDATA_RECORD_USER_START };

struct stream_skim {
    uint64_t plain; /* bit i: records of type i (< 64) are only counted */
    uint64_t by_type[STREAM_SKIM_TYPES];
    uint64_t *samples; /* owned: how many samples by event */
    size_t event_count;
    uint8_t *buffer; /* owned: bytes [start, start + size) of the input */
    uint64_t start;
    size_t size;
};

/* LOST and LOST_SAMPLES are never plain. Nothing is allocated before the first use. */
void stream_skim_init(struct stream_skim *k, uint64_t plain);
void stream_skim_fini(struct stream_skim *k);

/* Whether a sample's body has all fields of its event's samples: as perfdata_sample_decode of everything, but
 * faster for the usual samples. */
bool stream_sample_whole(const struct perfdata_plan *plan, struct bytes body);

/*
 * Counts plain records from the stream's place on, up to the first one that is not plain: of another type,
 * too short for its type, cut, an incomplete sample (stream_sample_whole), of no known event, or seen before.
 * stream_next returns that one. Does nothing if it cannot help (pipes, compressed recordings, directories).
 * False: reading failed, or memory.
 */
bool stream_skim(struct stream *s, struct stream_skim *k, struct err *err);

#endif
