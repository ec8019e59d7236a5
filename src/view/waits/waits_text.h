/* SPDX-License-Identifier: Apache-2.0 */
/* What threads wait for, as text: deadlocks and rings first, then who waits for whom, then all by groups. */
#ifndef SONDE_VIEW_WAITS_WAITS_TEXT_H
#define SONDE_VIEW_WAITS_WAITS_TEXT_H

#include "base/text/out.h"
#include "waits/chains.h"
#include "waits/groups.h"
#include "waits/over_time.h"

struct waits_view {
    const struct waits *w;
    const struct waits_chains *chains;
    const struct waits_groups *groups;
    const struct waits_choice *choice; /* chains without any of these threads are left out */
    bool threads;                      /* one by one, not in groups */
    bool stacks;
    bool all_chains; /* also chains of one step without a lock, such as a shell that waits for its child */
    size_t width;    /* of the terminal; lines are cut to it. 0: never */
};

void waits_text_write(const struct waits_view *v, struct out *o);

/* The same as one object (docs/JSON.md). */
void waits_json_write(const struct waits_view *v, struct out *o);

/* What was waited for over a time, as a tree; `width` as above. False: out of memory. */
bool waits_tree_write(const struct waits_over_time *t, size_t width, struct out *o);
bool waits_tree_json_write(const struct waits_over_time *t, struct out *o);

/* The word for a kind in JSON. */
const char *waits_kind_name(enum waits_kind kind);

/* Cuts a line to the width of the terminal, and writes it; control characters become "?". */
void waits_line_write(size_t width, struct out *o, const char *line);

/* Whether a chosen thread is part of the ring or tree. */
bool waits_view_has_ring(const struct waits_view *v, const struct waits_ring *r);
bool waits_view_has_root(const struct waits_view *v, const struct waits_root *r);

#endif
