/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages, made at build time from the tables of commands and options and
 * a text per command, man/sonde-CMD.md. In such a text "# NAME" begins a
 * section (what comes before the first is the description), "- " an item,
 * four spaces an example line, `x` is literal and *x* a word of emphasis.
 */
#ifndef SONDE_CMD_HELP_MANPAGE_H
#define SONDE_CMD_HELP_MANPAGE_H

#include "cmd/common/command.h"

/* The page of a command. `text` may be NULL: tables only. */
void manpage_command(struct out *o, const struct command *c, const char *text);
/* sonde(1) itself. */
void manpage_program(struct out *o, const char *text);

#endif
