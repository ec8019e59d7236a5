/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/table_internal.h"

#include <stdlib.h>

enum { ROWS_KEPT = 512 }; /* open rows whose call graphs stay */

/* ---- open rows ---- */

static void free_row(struct tui_row *row) {
    tui_tree_fini(&row->tree);
    free(row);
}

void tui_table_forget(struct tui_table *t, bool all) {
    size_t kept = 0;
    hash_map_fini(&t->by_entry);
    for (size_t i = 0; i < t->rows.count; i++) {
        struct tui_row *row = t->rows.items[i];
        if (!all && row->touched && hash_map_set(&t->by_entry, row->entry, (uint32_t)kept))
            t->rows.items[kept++] = row;
        else
            free_row(row);
    }
    t->rows.count = kept;
}

bool tui_table_opens(const struct tui_table *t, uint32_t entry) {
    if (t->own)
        return t->own->below;
    return t->d.text->chain_mode != PROFILE_CHAIN_NONE &&
           profile_entry_at(t->d.profile, t->e, entry).has_graph;
}

/* Makes the lines below an entry. */
static bool make_tree(const struct tui_table *t, struct tui_tree *tree, uint32_t entry, bool all) {
    struct err err = ERR_INIT;
    if (t->own)
        return tui_tree_below(tree, t->own, entry, all, &err);
    struct profile_entry x = profile_entry_at(t->d.profile, t->e, entry);
    return tui_tree_make(tree, &t->d, t->e, &x, all, &err);
}

static struct tui_row *open_row(struct tui_table *t, uint32_t entry) {
    if (!tui_table_opens(t, entry))
        return NULL;
    struct tui_row *row = calloc(1, sizeof *row), **slot = row ? vec_push(&t->rows) : NULL;
    if (!slot || !make_tree(t, &row->tree, entry, t->all_open) ||
        !hash_map_set(&t->by_entry, entry, (uint32_t)(t->rows.count - 1))) {
        t->rows.count -= slot != NULL;
        if (row)
            free_row(row);
        return NULL;
    }
    row->entry = entry;
    *slot = row;
    return row;
}

static struct tui_row *known_row(const struct tui_table *t, uint32_t row) {
    uint32_t id = row < t->shown.count ? hash_map_get(&t->by_entry, t->shown.items[row]) : HASH_ABSENT;
    return id == HASH_ABSENT ? NULL : t->rows.items[id];
}

struct tui_row *tui_table_row(struct tui_table *t, uint32_t row) {
    struct tui_row *known = known_row(t, row);
    if (!known && t->all_open && row < t->shown.count)
        known = open_row(t, t->shown.items[row]);
    return known && !known->closed ? known : NULL;
}

uint32_t tui_table_lines(struct tui_table *t, uint32_t row) {
    struct tui_row *open = tui_table_row(t, row);
    return open ? (uint32_t)open->tree.lines.count : 0;
}

/* ---- places ---- */

static bool before(struct tui_place a, struct tui_place b) {
    return a.row != b.row ? a.row < b.row : a.line < b.line;
}

bool tui_table_step(struct tui_table *t, struct tui_place *p, bool down) {
    if (down && p->line < tui_table_lines(t, p->row)) {
        p->line++;
    } else if (down) {
        if (p->row + 1 >= t->shown.count)
            return false;
        *p = (struct tui_place){p->row + 1, 0};
    } else if (p->line) {
        p->line--;
    } else {
        if (!p->row)
            return false;
        p->row--;
        p->line = tui_table_lines(t, p->row);
    }
    return true;
}

void tui_table_follow(struct tui_table *t) {
    struct tui_place p = t->top;
    int height = t->height < 1 ? 1 : t->height;
    if (before(t->at, t->top)) {
        t->top = t->at;
        return;
    }
    for (int i = 0; i < height; i++, tui_table_step(t, &p, true))
        if (!before(p, t->at))
            return;
    t->top = t->at;
    for (int i = 1; i < height && tui_table_step(t, &t->top, false); i++)
        ;
}

void tui_table_move(struct tui_table *t, int64_t lines) {
    if (t->rows.count > ROWS_KEPT)
        tui_table_forget(t, false);
    for (; lines > 0 && tui_table_step(t, &t->at, true); lines--)
        ;
    for (; lines < 0 && tui_table_step(t, &t->at, false); lines++)
        ;
    tui_table_follow(t);
}

void tui_table_end(struct tui_table *t, bool last) {
    t->at = (struct tui_place){0, 0};
    if (last && t->shown.count) {
        t->at.row = (uint32_t)t->shown.count - 1;
        t->at.line = tui_table_lines(t, t->at.row);
    }
    tui_table_follow(t);
}

void tui_table_click(struct tui_table *t, int y) {
    struct tui_place p = t->top;
    int first = t->headers ? 2 : 1;
    if (y < first || y >= first + t->height)
        return;
    for (int i = first; i < y; i++)
        if (!tui_table_step(t, &p, true))
            return;
    t->at = p;
}

/* ---- folding ---- */

static bool fold_hierarchy(struct tui_table *t, enum tui_fold how, struct err *err) {
    uint32_t entry = tui_table_entry(t);
    if (how == TUI_OPEN_ALL || how == TUI_CLOSE_ALL)
        memset(t->levels_open, how == TUI_OPEN_ALL, t->e->entry_count);
    else if (!profile_entry_at(t->d.profile, t->e, entry).count ||
             (!t->levels_open[entry] && (how == TUI_CLOSE_LEVEL || how == TUI_CLOSE_ROW)))
        return false;
    else
        t->levels_open[entry] ^= 1;
    return tui_table_filter(t, err);
}

/* Opens a row as it is first seen: only its first level, or everything. */
static bool toggle_row(struct tui_table *t, bool whole) {
    struct tui_row *row = known_row(t, t->at.row);
    bool open = row ? !row->closed : t->all_open;
    if (open) { /* it stays known as closed, as all others may be open */
        row = tui_table_row(t, t->at.row);
        if (!row)
            return false;
        row->closed = row->touched = true;
        t->at.line = 0;
        return true;
    }
    bool all = t->all_open;
    if (row) {
        tui_tree_fini(&row->tree);
        row->closed = false;
        row->whole = whole;
        return make_tree(t, &row->tree, tui_table_entry(t), whole);
    }
    t->all_open = whole;
    row = open_row(t, tui_table_entry(t));
    t->all_open = all;
    if (row) {
        row->touched = true;
        row->whole = whole;
    }
    return row;
}

void tui_table_reopen(struct tui_table *t, uint32_t entry, bool whole, bool closed) {
    bool all = t->all_open;
    t->all_open = whole || closed;
    struct tui_row *row = open_row(t, entry);
    t->all_open = all;
    if (!row)
        return;
    row->touched = true;
    row->whole = whole;
    row->closed = closed;
}

static bool fold_line(struct tui_table *t, bool close_only) {
    struct tui_row *row = tui_table_row(t, t->at.row);
    if (!row || !t->at.line)
        return false;
    size_t line = t->at.line - 1;
    if (close_only) {
        line = tui_tree_fold_above(&row->tree, line);
        if (line == SIZE_MAX)
            return toggle_row(t, false);
        t->at.line = (uint32_t)line + 1;
    }
    row->touched = true;
    return tui_tree_toggle(&row->tree, &t->d, t->e, line);
}

bool tui_table_fold(struct tui_table *t, enum tui_fold how, struct err *err) {
    bool ok = true;
    if (!t->shown.count)
        return false;
    if (t->levels_open)
        return fold_hierarchy(t, how, err);
    bool open = tui_table_row(t, t->at.row);
    switch (how) {
    case TUI_OPEN_ALL:
    case TUI_CLOSE_ALL:
        tui_table_forget(t, true);
        t->all_open = how == TUI_OPEN_ALL;
        t->at.line = t->top.line = 0;
        ok = t->own ? t->own->below != NULL : t->d.text->chain_mode != PROFILE_CHAIN_NONE;
        break;
    case TUI_TOGGLE_LEVEL:
    case TUI_CLOSE_LEVEL:
        if (t->at.line)
            ok = fold_line(t, how == TUI_CLOSE_LEVEL);
        else
            ok = (how == TUI_TOGGLE_LEVEL || open) && toggle_row(t, false);
        break;
    case TUI_TOGGLE_ROW:
        ok = toggle_row(t, true);
        break;
    case TUI_CLOSE_ROW:
        ok = open && toggle_row(t, true);
        break;
    }
    if (t->top.row == t->at.row && t->top.line > tui_table_lines(t, t->top.row))
        t->top.line = 0;
    tui_table_follow(t);
    return ok;
}
