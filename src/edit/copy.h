/* SPDX-License-Identifier: Apache-2.0 */
/* A recording from one container into another, record by record and byte for byte: what `inject` does without
 * options, and, with an editor, the frame for what it does with them. */
#ifndef SONDE_EDIT_COPY_H
#define SONDE_EDIT_COPY_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/writer.h"
#include "stream/stream.h"

/* Where a copy goes. */
struct copy_sink {
    /* Appends; false and *err on failure. */
    bool (*write)(void *ctx, struct bytes b, struct err *err);
    /* Overwrites earlier output at an offset; NULL when the sink is a pipe, which makes the output a pipe
     * recording. */
    bool (*patch)(void *ctx, uint64_t at, struct bytes b, struct err *err);
    void *ctx;
};

/* Changes a recording on its way. */
struct copy_editor {
    /*
     * Asked about each record before it is copied: false for *keep leaves it out; what is appended to
     * `before` (records, of the recording's byte order) goes in front of it. r is NULL at the end. False:
     * *err says why.
     */
    bool (*edit)(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err);
    void *ctx;
    /* A file's head, tables and trailer are made anew, without the preamble; else only what changes size
     * does. */
    bool anew;
    /* With anew, may be NULL. Of the tables' features: false leaves one out. */
    bool (*feature)(void *ctx, uint32_t id);
    /* Likewise. Appends a trailer (a box, docs/FORMAT.md), or nothing; called when all records were copied.
     */
    bool (*trailer)(void *ctx, struct writer *out, struct err *err);
};

struct copy_result {
    uint64_t records;
    uint32_t features_left_out; /* that a pipe cannot carry */
};

/*
 * Copies `in`, which must have been opened with keep_compressed (but with an editor that must see what is in
 * compressed records) and not been read from yet, or rewound. `editor` may be NULL.
 *  file -> file  the same bytes, trailer included; what is damaged is left out, and the sizes are put right
 *  file -> pipe  head records made from the tables, then the same records
 *  pipe -> pipe  the same bytes
 *  pipe -> file  tables made from the head records, then the other records; a directory likewise
 * False and *err when reading or writing failed.
 */
bool copy_recording(struct stream *in, const struct copy_sink *sink, const struct copy_editor *editor,
                    struct copy_result *result, struct err *err);

#endif
