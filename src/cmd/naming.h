/* SPDX-License-Identifier: Apache-2.0 */
/* What names the addresses of a recording: the store of its images' symbols, and the joins with its model. */
#ifndef SONDE_CMD_NAMING_H
#define SONDE_CMD_NAMING_H

#include "cmd/command.h"
#include "cmd/reading.h"
#include "resolve/lines.h"
#include "resolve/names.h"

struct naming {
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_lines *lines;
    char *own_cache; /* symbol_options.own_cache */
};

/*
 * Zeroed before; opens no file yet. `o` is what the user wants; what the recording says (kept files, where
 * and when it was made) and where to look (build-id cache, debuginfod servers of $DEBUGINFOD_URLS) are added
 * here. `m` and `r` are borrowed, `r` also where names are looked up. False: memory; naming_close is allowed.
 */
bool naming_open(struct naming *n, const struct command_env *env, struct reading *r, const struct model *m,
                 const struct symbol_options *o, struct err *err);
void naming_close(struct naming *n);

#endif
