/* SPDX-License-Identifier: Apache-2.0 */
/* archive --scrub: a copy of a recording for others to see (edit/scrub.h). */
#ifndef SONDE_CMD_SCRUB_H
#define SONDE_CMD_SCRUB_H

#include "base/err.h"

/* Reads the regular file at `path` (of this machine's byte order) and writes the copy to `output`. False:
 * *err says why, and there is no copy. */
bool scrub_recording(const char *path, const char *output, struct err *err);

#endif
