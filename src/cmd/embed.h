/* SPDX-License-Identifier: Apache-2.0 */
/* archive --embed: a copy of a recording that brings what names its samples. */
#ifndef SONDE_CMD_EMBED_H
#define SONDE_CMD_EMBED_H

#include "cmd/command.h"

struct embed_counts {
    unsigned kept, left_out; /* images that samples hit: with their tables in the copy, or without */
    uint64_t bytes;          /* that the copy is larger */
};

struct embed_options {
    bool force; /* whoever owns the file */
    bool lines; /* source lines and what was inlined, too */
};

/* Reads the regular file at `path` and writes the copy to `output`. False: *err says why. */
bool embed_recording(const struct command_env *env, const char *path, const struct embed_options *o,
                     const char *output, struct embed_counts *counts, struct err *err);

#endif
