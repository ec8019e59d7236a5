/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where samples hit functions: for each (image, function, offset) the samples and periods of each event. Only
 * a sample's own address counts, callers do not.
 *
 *   annotate_profile_collect   reads a recording's samples once
 *   annotate_profile_order     which functions some events hit, most first
 *   listing.h                  one function's instructions and lines, with these sums
 */
#ifndef SONDE_ANNOTATE_PROFILE_H
#define SONDE_ANNOTATE_PROFILE_H

#include "base/err.h"
#include "base/vec.h"
#include "recording/live.h"
#include "recording/naming.h"
#include "recording/recording.h"

struct annotate_sums {
    uint64_t samples, period;
};

static inline void annotate_sums_add(struct annotate_sums *to, const struct annotate_sums *more) {
    to->samples += more->samples;
    to->period += more->period;
}

/* Decides whether a sample counts; with TID, CPU and TIME as far as it has them. */
typedef bool annotate_keep_fn(void *ctx, const struct perfdata_sample *s, struct model_when when);

/* All borrowed, and needed as long as the profile. */
struct annotate_input {
    struct recording *recording; /* after its first pass */
    const struct model
        *model; /* frozen; or of a live recording: streaming, and nothing is applied meanwhile */
    const struct recording_names *naming;
    annotate_keep_fn *keep; /* NULL: all samples count */
    void *keep_ctx;
    /* Of a recording that goes on: these samples instead of reading it. */
    bool live;
    const struct recording_live_sample *listed;
    size_t listed_count;
};

/* The samples of one event at one offset in an image. */
struct annotate_hit {
    uint64_t offset;
    uint32_t event; /* index into the recording's events */
    struct annotate_sums sums;
};

struct annotate_function {
    uint32_t image, symbol; /* of the model; in the image's table */
    uint64_t start, end;    /* offsets in the image */
    size_t first, count;    /* in annotate_profile.hits */
};

struct annotate_profile {
    const struct annotate_input *in;
    VEC(struct annotate_hit) hits;           /* by function, offset, event */
    VEC(struct annotate_function) functions; /* by image and place in it */
    VEC(struct annotate_sums) totals;        /* by event: all samples that count, with a function or not */
};

/* Reads all samples; `p` is zeroed at first and freed with annotate_profile_fini in any case. False: out of
 * memory, or the recording cannot be read on. */
bool annotate_profile_collect(struct annotate_profile *p, const struct annotate_input *in, struct err *err);
void annotate_profile_fini(struct annotate_profile *p);

/* The name of a function as it is shown. Valid as long as the recording's names. */
const char *annotate_function_name(const struct annotate_profile *p, const struct annotate_function *f);

/* Events that are shown side by side, a group or a single one: indices [first, first + count). */
struct annotate_events {
    uint32_t first, count;
};

/* Sums of a function, all its hits: out[0 .. events.count). */
void annotate_function_self(const struct annotate_profile *p, const struct annotate_function *f,
                            struct annotate_events events, struct annotate_sums *out);

/* Lists the functions that these events hit, by period, largest first, those of the first event deciding
 * before those of the next; equal ones by name, then by place. */
struct annotate_order {
    VEC(uint32_t) list; /* indices of functions */
};
bool annotate_profile_order(const struct annotate_profile *p, struct annotate_events events,
                            struct annotate_order *out, struct err *err);

#endif
