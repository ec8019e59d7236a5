/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share that open the terminal browser. */
#ifndef SONDE_CMD_COMMON_BROWSE_H
#define SONDE_CMD_COMMON_BROWSE_H

#include "base/err.h"
#include "base/text/out.h"
#include "cmd/common/command.h"
#include "view/tui/source.h"

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

/* Whether there is a terminal to browse in; if not, and `said` (--tui), warns with the reason. */
bool browse_possible(bool said);

/* What `browse` opens. */
struct browse_wish {
    const struct tui_source *source;
    int verbose; /* for command_log, when the terminal is given back */
    bool quiet;
};

/* Shows a source, without data of its own accord, until the user leaves it. *ended: the signal that ended it,
 * to be raised again; else 0. False and *err: as tui_browser_new; ERR_UNSUPPORTED: it is no terminal for
 * that. */
bool browse(const struct browse_wish *w, struct command_env *env, int *ended, struct err *err);

/* After `browse`: returns whether it was shown or failed, which *status says; a failure was reported. False:
 * the text is to be printed instead. */
bool browse_settle(bool ok, const struct err *err, int *status);

#endif
