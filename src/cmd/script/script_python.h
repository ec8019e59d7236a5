/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts in Python: `script -s FILE`. sonde embeds no interpreter; it runs
 * the system's python3 on a small module of ours (share/scripts/python),
 * which reads `script --json`'s lines from a pipe and calls the script's handlers.
 */
#ifndef SONDE_CMD_SCRIPT_SCRIPT_PYTHON_H
#define SONDE_CMD_SCRIPT_SCRIPT_PYTHON_H

#include <sys/types.h>

#include "base/err.h"
#include "base/strpool.h"
#include "base/text/out.h"
#include "cmd/common/command.h"

struct script_python {
    pid_t pid; /* 0: not running */
    struct command_sink sink;
};

/* True when `given` (the value of -s) asks for the list of languages. */
bool script_python_is_lang(const char *given);

/* Writes the path of a script into `path`: as given, among those of the exec path, or among those that come
 * with sonde. False: there is none, or it is not in Python. */
bool script_python_find(const char *given, char *path, size_t size, struct err *err);

/* Starts python3 on the script: `given` is "FILE", "py:FILE" or "Python:FILE", or the name of one that comes
 * with sonde. `arguments` (ended by NULL) are handed on to it. `out` becomes its input. False: python3 or the
 * script is missing. */
bool script_python_start(struct script_python *p, const char *given, char **arguments, struct out *out,
                         struct err *err);

/* Ends its input and waits for it. Its exit status, or EXIT_ERROR when a signal ended it. */
int script_python_finish(struct script_python *p, struct out *out);

/*
 * `script report NAME`: becomes scripts/python/bin/NAME-report of the exec path, if there is one, which calls
 * perf for a script; `input` (-i, may be NULL) goes in front of the `arguments` (ended by NULL). True: there
 * is none. False: it cannot be run.
 */
bool script_python_report(const char *name, const char *input, char **arguments, struct err *err);

/* Prints the scripts of the exec path and those that come with sonde, with what they say of themselves. */
bool script_python_list(struct out *out, struct err *err);

/* What is written with -g: a script with a handler for each of the events. The file's name is returned in
 * `path` (at most `size` bytes): perf-script.py, or `given` if it ends in .py. */
struct perfdata_events;
struct tracing_data;
bool script_python_generate(const char *given, const struct perfdata_events *events,
                            const struct tracing_data *tracing, char *path, size_t size, struct err *err);

#endif
