/* SPDX-License-Identifier: Apache-2.0 */
/* A command given as one text, made into words as sh(1) makes them. */
#ifndef SONDE_CMD_STAT_SHELL_WORDS_H
#define SONDE_CMD_STAT_SHELL_WORDS_H

#include <stdbool.h>

#include "base/err.h"

struct shell_words {
    char **argv; /* owned with its texts; ends with NULL */
    bool shell;  /* argv is "sh -c TEXT": the text has more in it than words and quotes */
};

/* False and *err: no command, a quote that does not end (ERR_USAGE), or memory. */
bool shell_words_split(const char *text, struct shell_words *out, struct err *err);
void shell_words_fini(struct shell_words *w);

#endif
