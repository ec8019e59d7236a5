/* SPDX-License-Identifier: Apache-2.0 */
/* -D: every record of a recording in hex and decoded, for all commands that have the option. */
#ifndef SONDE_CMD_COMMON_RAW_DUMP_H
#define SONDE_CMD_COMMON_RAW_DUMP_H

#include "base/text/out.h"
#include "recording/recording.h"

struct raw_dump {
    struct recording *recording; /* borrowed, as all here; the first pass is done */
    const struct model *model;
    struct out *out;
    bool unsorted;   /* in the order of the file, also where all records have a time */
    bool for_script; /* as in struct dump */
    /* Called after each record's text, unless NULL. `reason`: its body cannot be decoded, and why; else NULL.
     * False stops, with *err. */
    bool (*each)(void *ctx, const struct stream_record *r, const char *reason, struct err *err);
    void *ctx;
};

/* Reads from where the stream stands up to its end, or until the output fails. False with *err. */
bool raw_dump_write(const struct raw_dump *d, struct err *err);

#endif
