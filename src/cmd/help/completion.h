/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for shells, made at build time from the tables of commands and options. */
#ifndef SONDE_CMD_HELP_COMPLETION_H
#define SONDE_CMD_HELP_COMPLETION_H

#include "base/text/out.h"

void completion_bash(struct out *o);
void completion_zsh(struct out *o);
void completion_fish(struct out *o);

#endif
