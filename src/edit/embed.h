/* SPDX-License-Identifier: Apache-2.0 */
/* archive --embed: a copy of a recording that brings what names its samples. */
#ifndef SONDE_EDIT_EMBED_H
#define SONDE_EDIT_EMBED_H

#include "recording/recording.h"

struct edit_embed_counts {
    unsigned kept, left_out; /* images that samples hit: with their tables in the copy, or without */
    uint64_t bytes;          /* that the copy is larger */
};

struct edit_embed_options {
    struct symbol_options symbols; /* where what names the samples is looked for */
    bool lines;                    /* source lines and what was inlined, too */
};

/* Reads `r`, just opened, to its end and writes the copy to `output`. Only files of this machine's byte order
 * can be extended (else ERR_UNSUPPORTED). False: *err says why, and there is no copy. Which images are left
 * out, and why, LOG_INFO tells. */
bool edit_embed(struct recording *r, const struct edit_embed_options *o, const char *output,
                struct edit_embed_counts *counts, struct err *err);

#endif
