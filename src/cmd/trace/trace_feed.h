/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording that `trace` makes of itself while it goes on: records are put, and come out as lines in the
 * order of time. What is known of processes that are gone does not stay: names that were found hang on
 * numbers of images and mappings, so when there have been many, another recording begins, which knows only
 * what still is.
 *
 *   trace_feed_init -> recording_live_put(f->live), trace_feed_begin, trace_feed_turn ... -> trace_feed_close
 */
#ifndef SONDE_CMD_TRACE_TRACE_FEED_H
#define SONDE_CMD_TRACE_TRACE_FEED_H

#include "cmd/trace/trace.h"
#include "recording/live.h"

struct trace_feed {
    struct trace *trace;
    struct recording_live lives[2], *live; /* the one that goes on; the other is all zero */
    bool named;                            /* addresses get names */
    struct symbol_options symbols;
    struct recording_names naming;
    struct recording_stacks stacks;
    recording_seen_fn *seen; /* told of each record that is no sample, when its turn has come */
    void *seen_ctx;
    bool begun;
    size_t taken; /* samples of the list that were shown */
    uint64_t rounds, turns;
    size_t first_bytes, first_images; /* of the recording that goes on, when it began */
    uint64_t epochs;                  /* that have ended */
};

/* `trace` is borrowed; `named`: callchains and page faults are shown. False: *err; trace_feed_close is
 * allowed. */
bool trace_feed_init(struct trace_feed *f, struct trace *trace, bool named, recording_seen_fn *seen,
                     void *ctx, struct err *err);
void trace_feed_close(struct trace_feed *f);

/* The events are known: from now on records have a meaning. Calls trace_init. */
bool trace_feed_begin(struct trace_feed *f, const char *machine, struct err *err);
/* Shows the samples whose turn has come. False: *err, unless trace->done. */
bool trace_feed_show(struct trace_feed *f, struct err *err);
/* Takes in what came, and shows it; `all`: nothing older will come, so that nothing has to wait. */
bool trace_feed_take(struct trace_feed *f, bool all, struct err *err);
/* The end of a turn in which all was taken: what is not needed any more is dropped. *renewed: another
 * recording has begun. */
bool trace_feed_turn(struct trace_feed *f, bool *renewed, struct err *err);

#endif
