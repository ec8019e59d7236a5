/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is being made, read as it grows: what comes is put, in pipe format; a call takes in what
 * came since the last one, in the order of time. Side-band goes into a streaming model, samples wait in a
 * list to be resolved with that model, and are then done with:
 *
 *   recording_live_put ...          whoever records
 *   recording_live_take             side-band -> model; samples -> list
 *   (resolve the samples)
 *   recording_live_forget           their bytes go
 *   recording_live_retire           so do states of the model that nobody will ask for
 *
 * One thread at a time.
 */
#ifndef SONDE_RECORDING_LIVE_H
#define SONDE_RECORDING_LIVE_H

#include "os/files/output.h"
#include "recording/recording.h"
#include "stream/stream_feed.h"
#include "stream/stream_order.h"

/* Which records a recording has whose turn has come. */
struct recording_live_sample {
    uint64_t loc;     /* for stream_record_at, until recording_live_forget */
    uint64_t time_ns; /* of the recording's clock */
};

struct recording_live {
    struct stream_feed *feed;
    struct recording recording; /* .stream is NULL until the head came */
    struct model *model;
    struct order order;
    VEC(struct recording_live_sample) samples;
    recording_seen_fn *seen; /* also told of each record that is no sample; NULL: nobody is */
    void *seen_ctx;
    uint64_t now_ns; /* of the newest record that was taken in */
    unsigned need;   /* MODEL_NEED_* */
    /* For another epoch: what describes the recording, as it came; and records about the kernel and about
     * control groups, which outlive processes. */
    struct writer head, lasting;
    uint64_t rounds;        /* that ended */
    uint64_t round_locs[3]; /* where the last three ended */
    bool failed;            /* memory ran out while a record was looked at */
};

/* The model holds what `need` (MODEL_NEED_*) says. False: *err says why; recording_live_close is allowed. */
bool recording_live_init(struct recording_live *l, unsigned need, struct err *err);
void recording_live_close(struct recording_live *l); /* l may be all zero */

/* Opens the recording, whose head has been put by now: its events are known. */
bool recording_live_open(struct recording_live *l, const struct recording_owner *owner, struct err *err);

/* Records that came, as stream_feed_put. */
static inline bool recording_live_put(struct recording_live *l, const struct bytes *spans, size_t count,
                                      struct err *err) {
    return stream_feed_put(l->feed, spans, count, err);
}

/* A recorder's output that is put; what could not be is said in its next turn. */
struct recording_live_sink {
    struct recording_live *const *live; /* *live may become another one */
    bool failed;
    struct err failure;
};
struct os_output recording_live_output(struct recording_live_sink *s);

/* Takes in what came. The records of the last two rounds may still wait: others that are older may come
 * (perf's FINISHED_ROUND). False: out of memory. */
bool recording_live_take(struct recording_live *l, struct err *err);

/* Says that nothing older than what was put will come, so that nothing has to wait. */
bool recording_live_settle(struct recording_live *l, struct err *err);

/* The samples have been resolved. */
void recording_live_forget(struct recording_live *l);

/* Drops what the model holds of processes that ended before (now_ns - linger_ns). Numbers of mappings,
 * threads and processes are others afterwards. False: out of memory. */
bool recording_live_retire(struct recording_live *l, uint64_t linger_ns, struct err *err);

/*
 * Begins another epoch: `fresh` (not initialised yet) becomes a live recording, opened, whose next
 * recording_live_take takes in what `old` knows of whoever lives, and of the kernel, and nothing else: so
 * what grows with all that ever was begins anew. To be called when `old` has settled and its samples are done
 * with; what comes from now on is put into `fresh`. False: *err says why; `fresh` is to be closed.
 */
bool recording_live_renew(const struct recording_live *old, struct recording_live *fresh, struct err *err);
/* After that, by image of the old model: the same one in the fresh model, or MODEL_NONE; *map is to be freed,
 * after a failure too. False: out of memory. */
bool recording_live_images(const struct recording_live *old, const struct recording_live *fresh,
                           uint32_t **map, struct err *err);

#endif
