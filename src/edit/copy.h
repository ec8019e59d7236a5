/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a recording into another container, record by record and byte for byte: what `inject` does without
 * options and, with an editor, the framework for its options. */
#ifndef SONDE_EDIT_COPY_H
#define SONDE_EDIT_COPY_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/writer.h"
#include "stream/stream.h"

/* The destination of a copy. */
struct copy_sink {
    /* Appends bytes. False: *err says why. */
    bool (*write)(void *ctx, struct bytes b, struct err *err);
    /* Overwrites earlier output at an offset. NULL: the output cannot seek, and the recording is written in
     * the format for pipes. */
    bool (*patch)(void *ctx, uint64_t at, struct bytes b, struct err *err);
    void *ctx;
};

/* Changes a recording while it is copied. */
struct copy_editor {
    /*
     * Called with each record before it is copied, and with NULL at the end. Setting *keep to false leaves
     * the record out; records appended to `before`, in the recording's byte order, go in front of it. False:
     * *err says why.
     */
    bool (*edit)(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err);
    void *ctx;
    /* Makes a file's head, tables and trailer anew, without the preamble; false: changes only those parts
     * whose size changes. */
    bool anew;
    /* With `anew`; may be NULL. False leaves a feature of the tables out. */
    bool (*feature)(void *ctx, uint32_t id);
    /* Likewise. Appends a trailer (a box, docs/FORMAT.md), or nothing; called after all records. */
    bool (*trailer)(void *ctx, struct writer *out, struct err *err);
};

struct copy_result {
    uint64_t records;
    uint32_t features_left_out; /* those that a pipe cannot carry */
};

/*
 * Copies `in`, which must have been opened with keep_compressed (unless an editor must see what is in
 * compressed records), and be unread or rewound. `editor` may be NULL.
 *  file -> file  the same bytes, trailer included; damaged parts are left out, and sizes corrected
 *  file -> pipe  header records made from the tables, then the same records
 *  pipe -> pipe  the same bytes
 *  pipe -> file  tables made from the header records, then the other records; likewise for a directory
 * False and *err: reading or writing failed.
 */
bool copy_recording(struct stream *in, const struct copy_sink *sink, const struct copy_editor *editor,
                    struct copy_result *result, struct err *err);

#endif
