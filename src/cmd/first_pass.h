/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading_first_pass does with the records: each is read, decoded, and put into the model. Where the
 * reading has a pool of threads, and the recording is no pipe, one thread reads and decodes, and another one
 * does the rest:
 *
 *   reader   next, decode -> | batch | batch | batch | -> see, apply   keeper
 *
 * The keeper begins alone, as a pool may have no other thread after all; a reader that comes takes over from
 * it. Records are decoded in the recording's order and by whoever reads them, so that what is bad is counted
 * and named as with one thread.
 */
#ifndef SONDE_CMD_FIRST_PASS_H
#define SONDE_CMD_FIRST_PASS_H

#include "cmd/reading.h"

/* Into `m`, which is not frozen then. `span` and `seen`, which may be NULL, as of reading_first_pass. */
bool first_pass_run(struct reading *r, struct model *m, struct reading_span *span, reading_seen_fn *seen,
                    void *ctx, struct err *err);

#endif
