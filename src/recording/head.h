/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a recording: whether one is there, and what it says before its first record. */
#ifndef SONDE_RECORDING_HEAD_H
#define SONDE_RECORDING_HEAD_H

#include <stdbool.h>

#include "stream/stream.h"

/* Whether a recording is at `path`: a file or a kept pipe that begins like one, or a directory with such a
 * file. Nothing is read from what is no regular file. */
bool recording_is_at(const char *path);

/* Of a pipe, reads what comes before its first record that is no header record, so that stream_header and
 * stream_events are complete, and rewinds. Does nothing for a file. False and *err: it could not be read. */
bool recording_read_head(struct stream *s, struct err *err);

#endif
