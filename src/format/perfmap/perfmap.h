/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files in which JITs list the functions they made, /tmp/perf-PID.map: lines of "START SIZE NAME", both
 * numbers in hexadecimal with or without 0x, the name up to the end of the line, spaces included
 * (tools/perf/Documentation/jit-interface.txt of the kernel). Nothing promises an order, and code that moved
 * or was replaced is listed again.
 */
#ifndef SONDE_FORMAT_PERFMAP_PERFMAP_H
#define SONDE_FORMAT_PERFMAP_PERFMAP_H

#include "base/bytes.h"

struct perfmap_symbol {
    uint64_t start, size; /* bytes */
    struct bytes name;    /* not empty */
};

/* The functions of a text in its order: start with *rest = the text; false at the end. Lines of another form
 * are skipped. */
bool perfmap_next(struct bytes *rest, struct perfmap_symbol *out);

#endif
