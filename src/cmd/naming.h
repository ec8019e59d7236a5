/* SPDX-License-Identifier: Apache-2.0 */
/* What names the addresses of a recording: the store of its images' symbols, and the joins with its model. */
#ifndef SONDE_CMD_NAMING_H
#define SONDE_CMD_NAMING_H

#include "cmd/reading.h"
#include "resolve/lines.h"
#include "resolve/names.h"

struct naming {
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_lines *lines;
    char *release; /* OSRELEASE; NULL: not known */
};

/*
 * Zeroed before; opens no file yet. `o` without what the recording itself says: kept files are added here.
 * `strict`: only what is exact has a name. `m` is borrowed. False: memory; naming_close is allowed.
 */
bool naming_open(struct naming *n, const struct reading *r, const struct model *m,
                 const struct symbol_options *o, bool strict, struct err *err);
void naming_close(struct naming *n);

#endif
