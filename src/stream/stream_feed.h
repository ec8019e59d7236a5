/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is still being made, in memory: whoever has more of it puts that, as it would go through a
 * pipe, and a stream (stream_open_feed) reads it and gives back what it has read.
 *
 *     given back by stream_release | kept | what the stream has not read yet | <- stream_feed_put
 */
#ifndef SONDE_STREAM_STREAM_FEED_H
#define SONDE_STREAM_STREAM_FEED_H

#include "base/bytes.h"
#include "base/err.h"

struct stream_feed;

/* NULL: *err says why. */
struct stream_feed *stream_feed_new(struct err *err);
void stream_feed_free(struct stream_feed *f); /* NULL is allowed */

/* Appends the spans, which together end after a whole record; they are copied. False: *err says why, and
 * nothing was appended. */
bool stream_feed_put(struct stream_feed *f, const struct bytes *spans, size_t count, struct err *err);
/* Nothing more will be put. */
void stream_feed_end(struct stream_feed *f);
bool stream_feed_ended(const struct stream_feed *f);

/* All that was put, as one span from base; of which bytes in front were given back. The base does not move.
 */
const uint8_t *stream_feed_base(const struct stream_feed *f);
uint64_t stream_feed_size(const struct stream_feed *f);
/* Bytes that are in memory. */
uint64_t stream_feed_held(const struct stream_feed *f);
/* Gives back what lies before `upto`, in steps of some megabytes. */
void stream_feed_release(struct stream_feed *f, uint64_t upto);

#endif
