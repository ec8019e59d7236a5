/* SPDX-License-Identifier: Apache-2.0 */
/* Threads over time: a line for each thread, the density of its samples as blocks of eight heights. */
#ifndef SONDE_VIEW_TUI_TIMES_H
#define SONDE_VIEW_TUI_TIMES_H

#include "stacks/stacks.h"
#include "view/tui/filter.h"
#include "view/tui/surface.h"

struct tui_lane {
    uint32_t thread;
    uint64_t period; /* of all its samples */
};

struct tui_times {
    const struct stacks *s; /* NULL: not made yet */
    uint32_t event;
    size_t first_moment, moment_count;  /* those of the event */
    uint64_t from_ns, to_ns;            /* of the event's samples */
    VEC(struct tui_lane) lanes;         /* largest first; those that the filter leaves */
    uint32_t *lane_of;                  /* by thread; STACKS_NONE: none */
    uint64_t *cells;                    /* [lanes][width], periods */
    uint64_t most;                      /* of a cell */
    int width, height, top, columns_at; /* when it was drawn last; columns_at: of the first one */
    uint32_t at;                        /* lane */
    uint64_t cursor_ns;
    bool marked, has_end; /* the range that is being made */
    uint64_t mark_ns[2];
};

/* Zeroed at first. Takes the time axis of an event of `s` (borrowed). False: out of memory. */
bool tui_times_open(struct tui_times *t, const struct stacks *s, uint32_t event,
                    const struct tui_filter *filter, struct err *err);
void tui_times_fini(struct tui_times *t);

void tui_times_move(struct tui_times *t, int lanes, int columns);
/* Sets the beginning (0) or the end (1) of the range to the cursor's column. */
void tui_times_mark(struct tui_times *t, int which);
/* Moves the cursor, and the end of the range with it. */
void tui_times_extend(struct tui_times *t, int columns);
/* False: there is no range. Else its instants, both included. */
bool tui_times_range(const struct tui_times *t, uint64_t *from_ns, uint64_t *to_ns);
/* Forgets the marks. False: there are none. */
bool tui_times_unmark(struct tui_times *t);
/* Moves the cursor to a place of the screen; y: from the first lane's line on. */
void tui_times_click(struct tui_times *t, int y, int x);

/* Draws it into the lines from `y` on, but for the last `below`. */
void tui_times_draw(struct tui_times *t, struct tui_surface *s, int y, int below,
                    const struct tui_filter *filter);

enum { TUI_TIMES_HEAD = 2 /* lines above the lanes: title, axis */ };

#endif
