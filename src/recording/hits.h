/* SPDX-License-Identifier: Apache-2.0 */
/* Which images the samples of a recording hit. */
#ifndef SONDE_RECORDING_HITS_H
#define SONDE_RECORDING_HITS_H

#include "recording/recording.h"

/* After the first pass into `m`: reads the samples, to the recording's end. By image id, 1 for images that
 * samples or their callchains hit, else 0; one element at least; for free(). Stacks that were dumped are not
 * unwound. NULL and *err: memory, or the recording cannot be read on. */
uint8_t *recording_hits(struct recording *r, const struct model *m, struct err *err);

#endif
