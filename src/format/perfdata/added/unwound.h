/* SPDX-License-Identifier: Apache-2.0 */
/* The text of PERFDATA_PART_UNWOUND (docs/FORMAT.md): what became of the stacks of a recording that were
 * unwound while it was made. */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_UNWOUND_H
#define SONDE_FORMAT_PERFDATA_ADDED_UNWOUND_H

#include "base/bytes.h"
#include "base/writer.h"

struct perfdata_unwound {
    uint64_t stacks;  /* dumps of stacks that were taken from the rings: */
    uint64_t whole;   /* unwound to the outermost function, */
    uint64_t cut;     /* as far as the dump goes, */
    uint64_t kept;    /* or in the recording as they were; */
    uint64_t lagging; /* of these so many for want of time and room */
};

void perfdata_unwound_encode(const struct perfdata_unwound *u, struct writer *w);
/* Appends how many stacks were cut in the code of `image`. */
void perfdata_unwound_encode_cut(uint64_t stacks, const char *image, struct writer *w);

/* False: there is nothing about it in the text. Damaged lines are stepped over. */
bool perfdata_unwound_decode(struct bytes text, struct perfdata_unwound *out);

/* The next image in which stacks were cut: start with *rest = the text. False at the end. `image` is
 * borrowed.
 */
bool perfdata_unwound_next_cut(struct bytes *rest, uint64_t *stacks, struct bytes *image);

#endif
