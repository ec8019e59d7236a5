/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing, and compressing, in a thread of its own: whoever takes records from rings copies them into a free
 * buffer and goes on, unless all buffers are waiting to be written.
 *
 *     record_write_thread_put -> | buffer | buffer | -> compress, if asked -> record_file_append
 */
#ifndef SONDE_RECORD_WRITE_WRITE_THREAD_H
#define SONDE_RECORD_WRITE_WRITE_THREAD_H

#include <pthread.h>

#include "record/write/compress.h"
#include "record/write/file.h"

enum { RECORD_WRITE_BUFFERS_MAX = 4 };

struct record_write_thread {
    struct record_file *file;         /* borrowed, and the thread's alone while it runs */
    struct record_compress *compress; /* likewise; NULL: nothing is compressed */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t todo, done;
    struct record_write_job {
        struct writer bytes;
        size_t packed; /* so many of them, from the first on, are to be compressed */
    } jobs[RECORD_WRITE_BUFFERS_MAX];
    unsigned buffers;      /* in use, of jobs */
    unsigned first, count; /* of those that wait */
    bool stop, failed;
    struct err err;         /* why it failed */
    uint64_t written_bytes; /* the file's size after what has been written */
};

/* False when there can be no thread; nothing needs to be stopped then. 1 to RECORD_WRITE_BUFFERS_MAX
 * buffers. */
bool record_write_thread_start(struct record_write_thread *t, struct record_file *file,
                               struct record_compress *compress, unsigned buffers);

/* Hands records over: the first `packed` spans are to be compressed if anything is. False and *err when
 * something that was handed over before could not be written. */
bool record_write_thread_put(struct record_write_thread *t, const struct bytes *spans, size_t count,
                             size_t packed, struct err *err);

/* The file's size, as far as it has been written. */
uint64_t record_write_thread_size(struct record_write_thread *t);

/* Ends the thread when all is written; file and compressor are the caller's again. False and *err as above.
 */
bool record_write_thread_stop(struct record_write_thread *t, struct err *err);

#endif
