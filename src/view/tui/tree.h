/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph below a row, as lines that can be folded, in the layout of perf's browser:
 *
 *      _start                    the frames of a single root
 *    - reads
 *       - 92.86% entry_SYSCALL   a branch; a percentage if there are others
 *            do_syscall_64
 *          + ksys_read           the last frame of a node folds what is below it
 *       + 7.14% page_fault
 */
#ifndef SONDE_VIEW_TUI_TREE_H
#define SONDE_VIEW_TUI_TREE_H

#include "view/tui/source.h"

struct tui_line {
    uint32_t node;  /* of the graph; index of a line below */
    uint32_t frame; /* of the graph; TUI_CHAIN: the line is the whole chain that ends at the node */
    uint32_t indent;
    char marker; /* '+', '-' or ' ' */
    bool numbered;
    bool folds_frames; /* the marker is for the node's other frames, too */
    uint64_t total;    /* the 100 % of its number */
};
enum { TUI_CHAIN = UINT32_MAX };

struct tui_tree {
    struct profile_graph graph;
    uint8_t *open; /* by node */
    VEC(struct tui_line) lines;
    uint64_t period; /* of the row */
    bool single;
    struct tui_below below; /* shown in place of the graph, if `own` */
    bool own;
};

/* Builds the tree of a row, with everything open or nothing but the first level. False: out of memory. */
bool tui_tree_make(struct tui_tree *t, const struct tui_data *d, const struct profile_event *e,
                   const struct profile_entry *entry, bool all, struct err *err);
/* As tui_tree_make, of what is below a row of a table that is no profile's. */
bool tui_tree_below(struct tui_tree *t, const struct tui_rows *rows, uint32_t row, bool all, struct err *err);
void tui_tree_fini(struct tui_tree *t);

/* Opens or closes what a line's marker stands for. False: it has no marker, or memory ran out. e NULL: it is
 * one of tui_tree_below. */
bool tui_tree_toggle(struct tui_tree *t, const struct tui_data *d, const struct profile_event *e,
                     size_t line);
/* Returns the line whose marker folds a line away: itself, or one above it; SIZE_MAX: the row. */
size_t tui_tree_fold_above(const struct tui_tree *t, size_t line);

/* Appends a line's number and name: "92.86% reads". */
void tui_tree_text(const struct tui_tree *t, const struct tui_data *d, const struct tui_line *line,
                   struct out *out);

#endif
