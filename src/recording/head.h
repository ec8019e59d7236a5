/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a recording: whether there is one, and what it says before its first record. */
#ifndef SONDE_RECORDING_HEAD_H
#define SONDE_RECORDING_HEAD_H

#include <stdbool.h>

#include "stream/stream.h"

/* Whether `path` is a recording: a file or saved pipe that begins like one, or a directory with such a file.
 * Reads regular files only. */
bool recording_is_at(const char *path);

/* Reads a pipe's header records, up to the first other record, so that stream_header and stream_events are
 * complete; then rewinds. Does nothing for a file. False and *err: it could not be read. */
bool recording_read_head(struct stream *s, struct err *err);

#endif
