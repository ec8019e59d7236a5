/* SPDX-License-Identifier: Apache-2.0 */
/* The program itself: its own options, and finding the command. */
#ifndef SONDE_CMD_HELP_TOPLEVEL_H
#define SONDE_CMD_HELP_TOPLEVEL_H

#include "base/text/out.h"
#include "cmd/common/options/option.h"

/* What goes before the command. */
extern const struct option toplevel_option_rows[];

/* Runs the command line; returns the exit code. argv[argc] is NULL; argv is permuted. */
int toplevel_run(int argc, char **argv);

/* The text of `sonde help`: usage, commands, those that are not there yet. */
void toplevel_overview(struct out *o, const char *program);

/* Says on stderr that `name` is no command, or not yet one; returns the exit code. */
int toplevel_no_command(const char *program, const char *name);

#endif
