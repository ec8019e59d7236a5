/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of evidence behind the name of one frame, for people and as JSON (docs/JSON.md). */
#ifndef SONDE_VIEW_LISTS_WHY_H
#define SONDE_VIEW_LISTS_WHY_H

#include "base/text/out.h"
#include "object/build_id.h"
#include "object/cookie.h"
#include "object/dwarf/lines.h"
#include "resolve/sample.h"
#include "stream/stream.h"

/* What identifies a file. */
struct why_identity {
    struct object_build_id build_id; /* size 0: none */
    bool has_cookie, has_state;
    uint8_t cookie[OBJECT_COOKIE_BYTES];
    struct perfdata_file_state state;
};

enum { WHY_FUNCTIONS_MAX = 64 }; /* at one address */

/* All borrowed. */
struct why {
    const struct model *model;
    const struct resolve_names *names; /* the frames' images are loaded */
    const struct stream *stream;
    const struct perfdata_events *events;

    /* The sample with the frames; has_sample is false if an address was given. */
    bool has_sample;
    uint64_t number, loc; /* the sample's number in the recording, from 1, in file order */
    uint32_t event, pid, tid;
    const char *comm; /* NULL: not known */
    bool has_time;
    struct model_when when;

    const struct resolve_sample_frame *frames; /* innermost first; their symbols are looked up */
    size_t count, chosen;                      /* chosen: index of the one to explain */

    /* The functions at the chosen frame's address with their lines, from the innermost inlined one outwards;
     * one when nothing is inlined there, none when its image has no lines. */
    struct object_inline functions[WHY_FUNCTIONS_MAX];
    size_t function_count;

    /* The chosen frame's file: what was recorded of it, and what is at its path now. */
    struct why_identity then, now;
    const char *now_path;  /* NULL: it has none */
    const char *now_error; /* why `now` is empty; NULL: it is not */
};

#define WHY_RUNNING_KERNEL "the running kernel" /* now_path of kernels */

void why_print_text(const struct why *w, struct out *o);
void why_print_json(const struct why *w, struct out *o);

#endif
