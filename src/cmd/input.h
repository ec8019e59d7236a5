/* SPDX-License-Identifier: Apache-2.0 */
/* Which recording a command reads, and whether it may. */
#ifndef SONDE_CMD_INPUT_H
#define SONDE_CMD_INPUT_H

#include <stdbool.h>

#include "base/err.h"

/* The rows nearly every reader has. */
#define INPUT_OPTION(type, field)       OPTION_STRING('i', "input", type, field, "file", "input file name")
#define INPUT_FORCE_OPTION(type, field) OPTION_BOOL('f', "force", type, field, "don't complain, do it")

/* `given` (the value of -i) or, when that is NULL, "-" if standard input is a pipe, else "perf.data". */
const char *input_path(const char *given);

/* "-" is fine. A file that is missing, empty, or of an owner who is neither we nor root (unless `force`) is
 * not; the texts are perf's. `path` may be a directory. */
bool input_check(const char *path, bool force, struct err *e);

/* Whether `output` may be written while `input` is read: not if both are the same file, which would be gone.
 * "-" is no file. */
bool input_check_output(const char *input, const char *output, struct err *e);

/* Whether a recording is there: a file or kept pipe that begins like one, or a directory with such a file. */
bool input_is_recording(const char *path);

struct stream;
/* Of a pipe, reads what stands before its first record that is no header record, so that stream_header and
 * stream_events are complete, and rewinds. Nothing is to be done for a file. */
bool input_read_head(struct stream *s, struct err *e);

#endif
