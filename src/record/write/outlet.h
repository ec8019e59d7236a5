/* SPDX-License-Identifier: Apache-2.0 */
/* Where whole records leave for the file: compressed here, in a thread of its own, or not at all. */
#ifndef SONDE_RECORD_WRITE_OUTLET_H
#define SONDE_RECORD_WRITE_OUTLET_H

#include "record/write/compress.h"
#include "record/write/file.h"
#include "record/write/write_thread.h"

/* All borrowed. */
struct record_outlet {
    struct record_file *file;
    struct record_compress *compress;   /* NULL: nothing is compressed */
    struct record_write_thread *thread; /* that compresses and writes; NULL: both is done by the caller */
};

/* The first `packed` of `count` spans, OS_OUTPUT_SPANS - 1 at most, are compressed if anything is. False and
 * *err when the file could not take it. */
bool record_outlet_put(const struct record_outlet *o, const struct bytes *spans, size_t count, size_t packed,
                       struct err *err);

#endif
