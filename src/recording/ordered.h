/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reading of a recording, file or pipe, for code that adds up events (states/): some of its records in
 * the order of time, of equal times by CPU, then as in the file. That is a total order which no recorder's
 * buffering changes: what one CPU records lies in the file as it happened.
 *
 * Side-band goes into a model on the way, in file order, so that it can be asked when all is read. Callers
 * that need it earlier, for stacks, call recording_first_pass before, and set first_done.
 *
 * Memory: 16 bytes for each wanted record of the rounds that wait (a file without rounds: of all); bytes that
 * were delivered are given back.
 */
#ifndef SONDE_RECORDING_ORDERED_H
#define SONDE_RECORDING_ORDERED_H

#include "recording/recording.h"
#include "stream/stream_order.h"

struct recording_ordered {
    struct recording *r;
    struct model *m;     /* NULL: none is needed; side-band is only checked */
    bool first_done;     /* recording_first_pass has filled the model */
    bool again;          /* records are looked at again by their loc: a pipe's are all kept */
    order_want_fn *want; /* asked in file order, of records that are not legacy */
    /* Takes a record; its time_ns is set. False stops, with *err. */
    bool (*take)(void *ctx, const struct stream_record *r, struct err *err);
    void *ctx; /* of both */
};

/* Reads all; afterwards the model is frozen. False with *err: reading failed, out of memory, or `take`
 * stopped. */
bool recording_read_ordered(const struct recording_ordered *o, struct err *err);

/* The CPU of a record; UINT32_MAX: not known. */
uint32_t recording_cpu(const struct recording *r, const struct stream_record *rec);

#endif
