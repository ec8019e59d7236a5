/* SPDX-License-Identifier: Apache-2.0 */
/* What names a recording's addresses: the store of its images' symbols, and its connections with the model.
 */
#ifndef SONDE_RECORDING_NAMING_H
#define SONDE_RECORDING_NAMING_H

#include "recording/recording.h"
#include "resolve/lines/resolve_lines.h"
#include "resolve/names.h"

struct recording_names {
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_lines *lines;
};

/*
 * Prepares the names; opens no file yet. `n` is zeroed before. `o` says what the caller wants and where to
 * look for files: what it does not name (build-id cache, sonde's own cache, debuginfod servers) is not used.
 * What the recording itself says (kept files, where and when it was made) is added. `m`, `r` and the texts of
 * `o` are borrowed, `r` also while names are looked up. False: out of memory; recording_names_close is
 * allowed.
 */
bool recording_names_open(struct recording_names *n, struct recording *r, const struct model *m,
                          const struct symbol_options *o, struct err *err);
void recording_names_close(struct recording_names *n);

#endif
