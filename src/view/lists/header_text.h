/* SPDX-License-Identifier: Apache-2.0 */
/* The header block of `report --header`, `--header-only`, `script --header` and -I, as perf 7.2 writes it. */
#ifndef SONDE_VIEW_LISTS_HEADER_TEXT_H
#define SONDE_VIEW_LISTS_HEADER_TEXT_H

#include "base/text/out.h"
#include "format/perfdata/added/ending.h"
#include "format/perfdata/events/event_name.h"
#include "format/perfdata/header/header.h"

struct header_text_options {
    bool full;          /* -I: the long descriptions, too (topology, caches, memory) */
    int64_t captured_s; /* the file's modification time (standard input: now), seconds since 1970 */
    struct perfdata_ending ending;
    uint64_t first_ns, last_ns; /* of the samples, used if both are 0 in the header; 0: not known */
};

/*
 * Writes all lines from "# ========" to the one after the last feature (for a file: the missing features, and
 * a closing "# ========" and "#"; a pipe has no such end). Times are in the local time zone. A feature that
 * is damaged or beyond the file's end is "not available". A pipe's `h` must have been read up to its first
 * record that is no header record.
 */
void header_text_write(const struct perfdata_header *h, const struct perfdata_namer *names,
                       const struct header_text_options *opts, struct out *o);

/* Writes the lines of one feature alone, with the long descriptions. False: the header does not have it, or
 * there is nothing to print; nothing was written. */
bool header_text_feature(const struct perfdata_header *h, const struct perfdata_namer *names, uint32_t id,
                         struct out *o);

#endif
