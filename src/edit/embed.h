/* SPDX-License-Identifier: Apache-2.0 */
/* archive --embed: a copy of a recording with the data that names its samples. */
#ifndef SONDE_EDIT_EMBED_H
#define SONDE_EDIT_EMBED_H

#include "recording/recording.h"

struct edit_embed_counts {
    unsigned kept, left_out; /* images that samples hit: with their tables in the copy, or without */
    uint64_t bytes;          /* by which the copy is larger */
};

struct edit_embed_options {
    struct symbol_options symbols; /* where to look for the files that name the samples */
    bool lines;                    /* keep source lines and inlined calls, too */
};

/* Reads `r`, just opened, to its end and writes the copy to `output`. Only files in this machine's byte order
 * can be extended (else ERR_UNSUPPORTED). False: *err says why, and there is no copy. LOG_INFO messages say
 * which images are left out, and why. */
bool edit_embed(struct recording *r, const struct edit_embed_options *o, const char *output,
                struct edit_embed_counts *counts, struct err *err);

#endif
