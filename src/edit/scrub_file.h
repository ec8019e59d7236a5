/* SPDX-License-Identifier: Apache-2.0 */
/* archive --scrub: a copy of a recording for others to see (edit/scrub.h). */
#ifndef SONDE_EDIT_SCRUB_FILE_H
#define SONDE_EDIT_SCRUB_FILE_H

#include "recording/recording.h"

/* Reads `r`, just opened, of a regular file of this machine's byte order, and writes the copy to `output`.
 * False: *err says why, and there is no copy. *left_out: records that are not in it, because nobody can tell
 * where their addresses are. What is left out of what the recording keeps LOG_WARN tells. */
bool edit_scrub_file(struct recording *r, const char *output, uint64_t *left_out, struct err *err);

#endif
