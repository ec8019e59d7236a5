/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph as cells of characters, root on top: each frame is as wide as its share of what is shown.
 */
#ifndef SONDE_VIEW_TUI_FLAME_H
#define SONDE_VIEW_TUI_FLAME_H

#include <regex.h>

#include "view/export/flame_tree.h"
#include "view/tui/filter.h"
#include "view/tui/surface.h"

/* A frame on the screen, in columns. */
struct tui_span {
    uint32_t node;
    int depth; /* lines from the top of the graph */
    int from, to;
};

struct tui_flame {
    const struct stacks *s; /* NULL: not made yet */
    uint32_t event;
    struct flame_tree tree;
    uint32_t zoom, at;          /* nodes */
    int top;                    /* lines that are scrolled away */
    int width, height;          /* when it was drawn last */
    VEC(struct tui_span) spans; /* that of the last drawing, by depth and column */
    regex_t search;
    bool searching; /* `search` is compiled */
    uint8_t *found; /* by node */
};

/* Zeroed at first. Makes the tree of an event of `s` (borrowed), of the stacks that the filter leaves: those
 * in which any frame has the name or the object. The cursor stays where it was as far as its frames are
 * left. False: out of memory. */
bool tui_flame_open(struct tui_flame *f, const struct stacks *s, uint32_t event,
                    const struct tui_filter *filter, struct err *err);
void tui_flame_fini(struct tui_flame *f);

/* Up, down, left, right as 'k', 'j', 'h', 'l'; 'g', 'G': the root, the deepest callee. */
void tui_flame_walk(struct tui_flame *f, int where);
void tui_flame_zoom(struct tui_flame *f);
/* Zooms out by one frame. False: it was the root. */
bool tui_flame_back(struct tui_flame *f);
/* NULL: no search. False with *err: a bad regex. */
bool tui_flame_search(struct tui_flame *f, const char *regex, struct err *err);
/* Goes to the next match, in the order of the graph. False: there is none. */
bool tui_flame_next(struct tui_flame *f, bool forward);
/* Puts the cursor on the widest frame with that name. False: there is none. */
bool tui_flame_find(struct tui_flame *f, const char *name, size_t n);
/* Returns the name under the cursor; "" at the root. */
const char *tui_flame_name(const struct tui_flame *f);
/* Returns the frame under the cursor; NULL: the root, or a command. */
const struct stacks_frame *tui_flame_frame(const struct tui_flame *f);

/* Draws it into the lines from `y` on, but for the last `below`; the line after it says what is selected. */
void tui_flame_draw(struct tui_flame *f, struct tui_surface *s, int y, int below);
/* Puts the cursor on the frame there. */
void tui_flame_click(struct tui_flame *f, int y, int x);

#endif
