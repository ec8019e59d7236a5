/* SPDX-License-Identifier: Apache-2.0 */
/* Which recording a command reads, whether it may, and what it says of it. */
#ifndef SONDE_CMD_COMMON_INPUT_H
#define SONDE_CMD_COMMON_INPUT_H

#include "cmd/common/command.h"
#include "recording/naming.h"
#include "recording/recording.h"
#include "view/lists/header_text.h"

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

/* Opens the recording at `path` ("-" is standard input) after input_check, and lets it use this process's
 * memory as a program may (os/heap.h). False with *err; recording_close is allowed then. */
bool input_open(struct recording *r, const char *path, bool force, struct err *err);

/* For -C: whether the samples say on which CPU they were taken. False: ERR_ABSENT, in perf's words. */
bool input_check_cpus(const struct recording *r, struct err *err);

/* What the user wants (`o`), and where to look besides: the build-id cache, sonde's own cache, debuginfod
 * servers. */
struct symbol_options input_symbols(const struct command_env *env, const struct symbol_options *o);

/* recording_names_open with those. */
bool input_names(struct recording_names *n, const struct command_env *env, struct recording *r,
                 const struct model *m, const struct symbol_options *o, struct err *err);

/* recording_first_pass, and warnings of jitdumps that could not be used. */
bool input_first_pass(struct recording *r, struct model *m, struct recording_span *span,
                      recording_seen_fn *seen, void *ctx, struct err *err);

/* The warnings alone: at the end of a pipe that was read as it came. */
void input_warn_jitdumps(const struct recording *r);

/* What the header's text wants to know of a recording. Of one that was not finished it reads the samples'
 * times, once and from the beginning, and rewinds. */
struct header_text_options input_header_options(struct recording *r, bool full);

/* Says on stderr what the recorder lost, and returns the exit status for what could be read. */
int input_status(const struct recording *r);

#endif
