/* SPDX-License-Identifier: Apache-2.0 */
/* archive --scrub: a copy of a recording that can be given to others (edit/scrub.h). */
#ifndef SONDE_EDIT_SCRUB_FILE_H
#define SONDE_EDIT_SCRUB_FILE_H

#include "recording/recording.h"

/* Reads `r`, just opened and a regular file in this machine's byte order, and writes the copy to `output`.
 * False: *err says why, and there is no copy. *left_out: records left out, because their addresses cannot be
 * found. LOG_WARN messages say which kept files are left out. */
bool edit_scrub_file(struct recording *r, const char *output, uint64_t *left_out, struct err *err);

#endif
