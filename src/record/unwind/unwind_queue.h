/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records on their way from whoever takes them out of the rings to the thread that unwinds, first in, first
 * out, in bounded memory: what is beyond that waits in an unlinked file. Where no file can be had either, the
 * thread is to hurry: to hand all on as it is, until there is room again. Nothing is ever dropped.
 *
 *     record_unwind_queue_put -> | chunk | chunk | chunk (file) | ... -> record_unwind_queue_take
 *     room again                 <---------------------------------- record_unwind_queue_give_back
 */
#ifndef SONDE_RECORD_UNWIND_UNWIND_QUEUE_H
#define SONDE_RECORD_UNWIND_UNWIND_QUEUE_H

#include <pthread.h>

#include "base/vec.h"
#include "base/writer.h"
#include "os/files/spool.h"

/* Whole records: the first `packed` bytes are to be compressed if anything is. */
struct record_chunk {
    struct bytes bytes;
    size_t packed;
    bool round;           /* a round ends with it; it may be empty */
    struct writer memory; /* of the queue; without any, the bytes lie in the file, */
    uint64_t file_end;    /* up to here; */
    int file;             /* its descriptor */
};

enum { RECORD_UNWIND_SPARES = 8 };

struct record_unwind_queue {
    pthread_mutex_t lock;
    pthread_cond_t todo, room;
    VEC(struct record_chunk) waiting; /* from `first` on */
    size_t first;
    struct writer spares[RECORD_UNWIND_SPARES]; /* memory to be used again */
    unsigned spare_count;
    uint64_t bytes, most;   /* of chunks in memory that were not given back yet; at most so many, or one */
    struct os_spool file;   /* of whoever puts, but for */
    uint64_t released;      /* what whoever gives back has released of it */
    bool has_file, no_file; /* no_file: it could not be made, or not be longer */
    bool hurry, stop;
    bool failed; /* nothing is taken any more */
    struct err err;
};

void record_unwind_queue_init(struct record_unwind_queue *q, uint64_t most);
/* Chunks that were taken are lost, too. */
void record_unwind_queue_fini(struct record_unwind_queue *q);

/* Copies what the spans hold; may wait for room. False and *err when the queue failed, or without memory. */
bool record_unwind_queue_put(struct record_unwind_queue *q, const struct bytes *spans, size_t count,
                             size_t packed, bool round, struct err *err);

enum record_unwind_next {
    RECORD_UNWIND_CHUNK, /* *out is the oldest chunk; to be given back */
    RECORD_UNWIND_HURRY, /* there is none, but whoever puts waits for room: all is to be given back */
    RECORD_UNWIND_STOP,  /* record_unwind_queue_stop was called; what waits still does */
};
/* Waits for the next chunk. *hurry: there is no room, or will be none. */
enum record_unwind_next record_unwind_queue_take(struct record_unwind_queue *q, struct record_chunk *out,
                                                 bool *hurry);
/* Takes the oldest chunk if there is one. */
bool record_unwind_queue_try(struct record_unwind_queue *q, struct record_chunk *out);

/* In the order in which they were taken. */
void record_unwind_queue_give_back(struct record_unwind_queue *q, struct record_chunk *chunk);

/* Makes record_unwind_queue_take return, and puts fail from now on if `why` is given. */
void record_unwind_queue_stop(struct record_unwind_queue *q, const struct err *why);

#endif
