/* SPDX-License-Identifier: Apache-2.0 */
/* Which images the samples of a recording hit. */
#ifndef SONDE_RECORDING_HITS_H
#define SONDE_RECORDING_HITS_H

#include "recording/recording.h"

/* Reads the samples up to the recording's end; call it after the first pass into `m`. Returns, by image id, 1
 * for images that samples or their callchains hit, else 0; at least one element; for free(). Dumped stacks
 * are not unwound. NULL and *err: out of memory, or the recording cannot be read on. */
uint8_t *recording_hits(struct recording *r, const struct model *m, struct err *err);

#endif
