/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share that open the terminal browser. */
#ifndef SONDE_CMD_COMMON_BROWSE_H
#define SONDE_CMD_COMMON_BROWSE_H

#include "base/err.h"
#include "base/text/out.h"

/* Lines for stderr wait until the terminal is given back. */
struct held_log {
    struct out text; /* a letter for the level, the line, a newline */
    bool ok;
};

/* From now on log_line keeps lines, unless it is not `wanted`. */
void held_log_begin(struct held_log *h, bool wanted);
/* Says them, after command_log. */
void held_log_say(struct held_log *h);

/* tui_source.save: perf's names, perf.hist.0 and so on, in the current folder. */
bool browse_save(void *ctx, const char *text, size_t n, char *name, size_t size, struct err *err);

#endif
