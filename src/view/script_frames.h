/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of callchains' frames, in three steps, so that what each one needs is on its way to the cache
 * while others are worked on: the index and the texts are larger than the nearest caches.
 *
 *   ask      of the addresses behind one marker, of many callchains: in which images do they lie?
 *   answer   of all of them: which texts are theirs?
 *   take     one after the other, as they were asked
 */
#ifndef SONDE_VIEW_SCRIPT_FRAMES_H
#define SONDE_VIEW_SCRIPT_FRAMES_H

#include "view/script_names.h"

/* Addresses behind one marker: they lie in one space. */
struct script_run {
    struct perfdata_u64s chain;
    uint64_t from, to;
    uint64_t fields;
    struct model_when when;
    uint32_t pid;
    enum model_space space;
    bool in_kernel; /* the sample was taken there */
    bool cut;       /* the last address is the outermost one that there was room for */
};

struct script_ask {
    struct script_text_key key;
    struct model_hit hit;
    const struct script_kept *kept; /* the answer; NULL: to be asked for by script_names_text */
};

/* Zeroed at first. */
struct script_frames {
    VEC(struct script_ask) asks;
    VEC(struct script_run) runs;
    size_t taken; /* of asks */
};

void script_frames_fini(struct script_frames *f);
/* Before the next callchains. */
static inline void script_frames_clear(struct script_frames *f) {
    f->asks.count = f->runs.count = f->taken = 0;
}
/* False: memory; the run is not asked for. */
bool script_frames_ask(struct script_frames *f, struct script_names *n, const struct script_run *run);
void script_frames_answer(struct script_frames *f, struct script_names *n);

/* Puts the next one's text, with a newline behind it: the frame of address `ip`. */
static inline void script_frames_put(struct script_frames *f, struct script_names *n, uint64_t fields,
                                     uint64_t ip, struct out *o) {
    const struct script_ask *ask = &f->asks.items[f->taken++];
    struct script_text t;
    if (__builtin_expect(ask->kept != NULL, 1))
        t = (struct script_text){ask->kept->text, ask->kept->len, ask->kept->grade, false};
    else
        t = script_names_text(n, fields, &ask->hit, ip);
    script_text_put(o, t);
    n->grades[t.grade]++;
}

#endif
