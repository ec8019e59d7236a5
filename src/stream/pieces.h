/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a sequence that was read once again, in pieces, with one thread each.
 *
 *   records   | . . . . . | . . . . . . | . . . . |      first pass: one stream
 *   pieces    0           1             2         3
 *   again     `--- thread 0: [0, 2) ---'`-- 1 ---'       stream_pieces_open(s, 0, 2), (s, 2, 3)
 *
 * All shares together return what the stream itself would return in another pass: the same records with the
 * same locs, times (stream_when_ns) and events. Loss and damage were counted in the first pass.
 */
#ifndef SONDE_STREAM_PIECES_H
#define SONDE_STREAM_PIECES_H

#include "stream/stream.h"

enum { STREAM_PIECE_BYTES = 32 << 10 };
/* How many pieces, of some ten thousand bytes each, a stream has that was read to its end; 0: none, because
 * it is still being written. */
uint32_t stream_piece_count(const struct stream *s);

/* About how many there will be at least, before it is read, by the size of a plain file; others: 0. */
uint32_t stream_pieces_expected(const struct stream *s);

/*
 * Opens the pieces [from, to) as a stream, for which only these may be called: stream_next, stream_when_ns,
 * stream_forget, stream_record_at (any loc of `s`). `s` must live longer, and must not be read meanwhile
 * (except by stream_record_at). NULL: out of memory.
 */
struct stream *stream_pieces_open(const struct stream *s, uint32_t from, uint32_t to, struct err *err);
void stream_pieces_close(struct stream *s); /* NULL is allowed */

#endif
