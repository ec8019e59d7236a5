/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of callchains' frames, in three steps, so that what each one needs is on its way to the cache
 * while others are worked on: the index and the texts are larger than the nearest caches.
 *
 *   ask      of the addresses of a segment, of many callchains: in which images do they lie?
 *   answer   of all of them: which texts are theirs?
 *   put      one after the other, as they were asked
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_FRAMES_H
#define SONDE_VIEW_SCRIPT_SCRIPT_FRAMES_H

#include "resolve/chain.h"
#include "view/script/script_names.h"

/* A segment of a callchain, and what is asked of its frames. */
struct script_run {
    struct resolve_segment segment;
    uint64_t fields;
    struct model_when when;
    uint32_t pid;
    bool in_kernel;   /* the sample was taken there */
    bool wants_place; /* where frames lie is asked for, whatever the fields */
};

static inline bool script_run_is_cookie(const struct script_run *run) {
    return run->segment.kind == RESOLVE_SEGMENT_COOKIE;
}

struct script_ask {
    struct script_text_key key;
    struct model_hit hit;           /* with run.wants_place, or fields that ask for it */
    const struct script_kept *kept; /* the answer; NULL: to be asked for by script_names_text */
};

/* Zeroed at first. */
struct script_frames {
    VEC(struct script_ask) asks;
    VEC(struct script_run) runs;
};

void script_frames_fini(struct script_frames *f);
/* Before the next callchains. */
static inline void script_frames_clear(struct script_frames *f) {
    f->asks.count = f->runs.count = 0;
}
/* Notes a run, a cookie's too, and asks for its addresses. False: memory; nothing has changed. */
bool script_frames_ask(struct script_frames *f, struct script_names *n, const struct script_run *run);
void script_frames_answer(struct script_frames *f, struct script_names *n);

/* Puts the text of an answer, with a newline after it: of the frame of address `ip`. */
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

/* The fields of a run's i-th frame, as far as its callchain decides. */
static inline uint64_t script_run_fields(const struct script_run *run, uint64_t i) {
    return run->fields | (run->segment.ends_early && i + 1 == run->segment.count ? SCRIPT_DOUBT : 0);
}

#endif
