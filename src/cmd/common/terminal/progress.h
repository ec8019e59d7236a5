/* SPDX-License-Identifier: Apache-2.0 */
/* The one line on a terminal that says how far long work is. There is one for the process: it is gone before
 * anything else is written there. */
#ifndef SONDE_CMD_COMMON_PROGRESS_H
#define SONDE_CMD_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether there is to be a line at all (default: yes). */
void progress_allow(bool yes);

/* From here on progress_tick shows a line, if standard error is a terminal, once the work has taken half a
 * second. `what` ("reading perf.data") is copied, `hint` (" (^C ends)", or "") is not. */
void progress_start(const char *what, const char *hint);
/* A stream_watch_fn. `total` 0: not known. */
void progress_tick(void *ctx, uint64_t done, uint64_t total);
/* Likewise with the given words, for what is not measured in bytes. */
void progress_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Removes the line, until the next tick. */
void progress_clear(void);
/* Removes it for good. */
void progress_end(void);

#endif
