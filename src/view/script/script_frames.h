/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of callchains' frames, in three steps, each of which prefetches what the next one needs, as the
 * index and the texts are larger than the nearest caches:
 *
 *   ask      finds the images at the addresses of a segment, for many callchains
 *   answer   finds the texts of all of them
 *   put      prints them one after the other, in the order of asking
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_FRAMES_H
#define SONDE_VIEW_SCRIPT_SCRIPT_FRAMES_H

#include "resolve/chain.h"
#include "view/script/script_names.h"

/* A segment of a callchain, and what to show of its frames. */
struct script_run {
    struct resolve_segment segment;
    uint64_t fields;
    struct model_when when;
    uint32_t pid;
    bool in_kernel;   /* the sample was taken in the kernel */
    bool wants_place; /* the frames' places are needed, whatever the fields */
};

static inline bool script_run_is_cookie(const struct script_run *run) {
    return run->segment.kind == RESOLVE_SEGMENT_COOKIE;
}

struct script_ask {
    struct script_text_key key;
    struct model_hit hit;           /* if run.wants_place, or if fields need it */
    const struct script_kept *kept; /* the text that was found; NULL: script_names_text must make it */
};

/* Zeroed at first. */
struct script_frames {
    VEC(struct script_ask) asks;
    VEC(struct script_run) runs;
};

void script_frames_fini(struct script_frames *f);
/* Removes all runs, before the next callchains. */
static inline void script_frames_clear(struct script_frames *f) {
    f->asks.count = f->runs.count = 0;
}
/* Adds a run, which may be a cookie, and finds the places of its addresses. False: out of memory; nothing has
 * changed. */
bool script_frames_ask(struct script_frames *f, struct script_names *n, const struct script_run *run);
void script_frames_answer(struct script_frames *f, struct script_names *n);

/* Prints the text found for the frame of address `ip`, and a newline. */
static inline void script_frames_put(struct script_names *n, const struct script_ask *ask, uint64_t fields,
                                     uint64_t ip, struct out *o) {
    struct script_text t;
    if (__builtin_expect(ask->kept != NULL, 1))
        t = (struct script_text){ask->kept->text, ask->kept->len, ask->kept->grade, false};
    else
        t = script_names_text(n, fields, &ask->hit, ip);
    script_text_put(o, t);
    n->grades[t.grade]++;
}

/* Returns the fields of a run's i-th frame, with SCRIPT_DOUBT if it is the outermost one of a cut callchain.
 */
static inline uint64_t script_run_fields(const struct script_run *run, uint64_t i) {
    return run->fields | (run->segment.ends_early && i + 1 == run->segment.count ? SCRIPT_DOUBT : 0);
}

#endif
