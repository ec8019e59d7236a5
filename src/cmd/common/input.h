/* SPDX-License-Identifier: Apache-2.0 */
/* Which recording a command reads, whether it may, and what it reports about it. */
#ifndef SONDE_CMD_COMMON_INPUT_H
#define SONDE_CMD_COMMON_INPUT_H

#include "cmd/common/command.h"
#include "recording/naming.h"
#include "recording/recording.h"
#include "view/lists/header_text.h"

/* The rows that nearly every command with an input has. */
#define INPUT_OPTION(type, field)       OPTION_STRING('i', "input", type, field, "file", "input file name")
#define INPUT_FORCE_OPTION(type, field) OPTION_BOOL('f', "force", type, field, "don't complain, do it")

/* Returns `given` (the value of -i) or, if that is NULL, "-" if standard input is a pipe, else "perf.data".
 */
const char *input_path(const char *given);

/* Checks a recording's path: "-" is fine; a file that is missing, empty, or owned by someone other than us
 * and root (unless `force`) is not. The texts are perf's. `path` may be a directory. */
bool input_check(const char *path, bool force, struct err *e);

/* Checks that `output` can be written while `input` is read: if both were the same file, it would be
 * destroyed. "-" is no file. */
bool input_check_output(const char *input, const char *output, struct err *e);

/* Opens the recording at `path` ("-": standard input) after input_check, as a program may that owns its
 * process: its memory is given back (os/heap.h). False and *err; recording_close is allowed then. */
bool input_open(struct recording *r, const char *path, bool force, struct err *err);

/* Shows how far reading the stream is, when that takes long (cmd/common/terminal/progress.h). NULL is
 * allowed. */
void input_watch(struct stream *s);

/* For -C: checks that samples have their CPU. False: ERR_ABSENT, in perf's words. */
bool input_check_cpus(const struct recording *r, struct err *err);

/* Returns the user's options (`o`) and where else to look: the build-id cache, sonde's own cache, debuginfod
 * servers. */
struct symbol_options input_symbols(const struct command_env *env, const struct symbol_options *o);

/* Calls recording_names_open with those. */
bool input_names(struct recording_names *n, const struct command_env *env, struct recording *r,
                 const struct model *m, const struct symbol_options *o, struct err *err);

/* Does recording_first_pass, and warns of jitdumps that could not be used. */
bool input_first_pass(struct recording *r, struct model *m, struct recording_span *span,
                      recording_seen_fn *seen, void *ctx, struct err *err);

/* Prints these warnings alone, at the end of a pipe that was read as it came. */
void input_warn_jitdumps(const struct recording *r);

/* What the header's text wants to know of a recording. Of one that was not finished it reads the samples'
 * times, once and from the beginning, and rewinds. */
struct header_text_options input_header_options(struct recording *r, bool full);

/* Says on stderr what the recorder lost, and returns the exit status for what could be read. */
int input_status(const struct recording *r);

#endif
