/* SPDX-License-Identifier: Apache-2.0 */
/* What names the addresses of a recording: the store of its images' symbols, and the joins with its model. */
#ifndef SONDE_RECORDING_NAMING_H
#define SONDE_RECORDING_NAMING_H

#include "recording/recording.h"
#include "resolve/names.h"
#include "resolve/resolve_lines.h"

struct recording_names {
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_lines *lines;
};

/*
 * Zeroed before; opens no file yet. `o` is what the caller wants, and where files are looked for: nothing
 * that it does not name (build-id cache, sonde's own cache, debuginfod servers) is used. What the recording
 * says (kept files, where and when it was made) is added here. `m` and `r` are borrowed, `r` also where names
 * are looked up; so are the texts of `o`. False: memory; recording_names_close is allowed.
 */
bool recording_names_open(struct recording_names *n, struct recording *r, const struct model *m,
                          const struct symbol_options *o, struct err *err);
void recording_names_close(struct recording_names *n);

#endif
