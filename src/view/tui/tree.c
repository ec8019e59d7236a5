/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tree.h"

#include <stdlib.h>

#include "view/report/report_cell.h"

enum { OPEN_FRAMES = 1, OPEN_BELOW = 2 };
enum { FIRST_INDENT = 3, STEP = 3 };

static uint64_t with_below(const struct profile_node *n) {
    return n->period + n->below_period;
}

static bool is_list(const struct tui_data *d) {
    return d->text->chain_mode == PROFILE_CHAIN_FLAT || d->text->chain_mode == PROFILE_CHAIN_FOLDED;
}

/* ---- lines ---- */

/* A node whose children are being laid out. */
struct level {
    uint32_t node, next;
    uint32_t indent; /* of its children */
    uint64_t total;
};

static bool add_line(struct tui_tree *t, struct tui_line line) {
    struct tui_line *made = vec_push(&t->lines);
    if (made)
        *made = line;
    return made;
}

/* Adds the lines of a node's own frames; *below: whether its children are shown, *indent: where. */
static bool add_node(struct tui_tree *t, uint32_t node, bool numbered, uint64_t total, uint32_t *indent,
                     bool *below) {
    const struct profile_node *n = &t->graph.nodes.items[node];
    bool top = t->single && n->parent == 0;
    bool open = top || t->open[node] & OPEN_FRAMES, one = n->frame_count < 2 && !top;
    bool below_open = one ? open : open && t->open[node] & OPEN_BELOW;
    uint32_t at = *indent;
    for (uint32_t i = 0; i < n->frame_count && (open || !i); i++) {
        bool first = i == 0 && !top, last = i + 1 == n->frame_count && !one;
        struct tui_line line = {
            .node = node, .frame = n->frame + i, .indent = at, .marker = ' ', .total = total};
        if (first && (n->count || !one)) {
            line.marker = open ? '-' : '+';
            line.folds_frames = true;
        } else if (last && n->count) {
            line.marker = below_open ? '-' : '+';
        }
        line.numbered = i == 0 && numbered;
        if (!add_line(t, line))
            return false;
        if (i == 0 && numbered && !one)
            at += STEP;
    }
    *indent = at + STEP;
    *below = below_open && n->count;
    return true;
}

static bool add_branches(struct tui_tree *t, const struct tui_data *d, const struct profile_event *e) {
    bool fractal = d->text->chain_mode == PROFILE_CHAIN_FRACTAL, ok = true;
    unsigned limit = d->text->chain_limit;
    VEC(struct level) levels = {0};
    struct level *l = vec_push(&levels);
    if (!l)
        return false;
    *l = (struct level){0, 0, FIRST_INDENT, fractal ? t->period : e->member_totals[0].period};
    while (ok && levels.count) {
        l = &levels.items[levels.count - 1];
        const struct profile_node *parent = &t->graph.nodes.items[l->node];
        if (l->next == parent->count || (limit && l->next == limit)) {
            levels.count--;
            continue;
        }
        uint32_t node = t->graph.order.items[parent->first + l->next++], indent = l->indent;
        const struct profile_node *n = &t->graph.nodes.items[node];
        bool below, numbered = parent->count > 1 || (l->node == 0 && !t->single);
        ok = add_node(t, node, numbered, l->total, &indent, &below);
        if (ok && below) {
            struct level *next = vec_push(&levels);
            ok = next;
            if (ok)
                *next =
                    (struct level){node, 0, indent, fractal ? n->below_period : e->member_totals[0].period};
        }
    }
    vec_fini(&levels);
    return ok;
}

/* Lists the lines below a row, but for those that are folded away. */
static bool lay_below(struct tui_tree *t) {
    enum { DEEPEST = 40 };
    uint32_t closed = UINT32_MAX; /* the depth of a closed line: deeper ones are left out */
    for (uint32_t i = 0; i < t->below.lines.count; i++) {
        const struct tui_below_line *line = &t->below.lines.items[i];
        bool parent = i + 1 < t->below.lines.count && line[1].depth > line->depth;
        if (line->depth > closed)
            continue;
        closed = parent && !t->open[i] ? line->depth : UINT32_MAX;
        if (!add_line(t, (struct tui_line){.node = i,
                                           .indent = 2 * (line->depth < DEEPEST ? line->depth : DEEPEST),
                                           .marker = !parent      ? ' '
                                                     : t->open[i] ? '-'
                                                                  : '+',
                                           .folds_frames = true}))
            return false;
    }
    return true;
}

static bool lay(struct tui_tree *t, const struct tui_data *d, const struct profile_event *e) {
    vec_clear(&t->lines);
    if (t->own)
        return lay_below(t);
    if (!t->graph.nodes.count)
        return true;
    if (!is_list(d))
        return add_branches(t, d, e);
    for (size_t i = 0; i < t->graph.flat.count && (!d->text->chain_limit || i < d->text->chain_limit); i++)
        if (!add_line(t, (struct tui_line){.node = t->graph.flat.items[i],
                                           .frame = TUI_CHAIN,
                                           .indent = FIRST_INDENT,
                                           .marker = ' ',
                                           .numbered = true,
                                           .total = e->member_totals[0].period}))
            return false;
    return true;
}

/* ---- the tree ---- */

bool tui_tree_make(struct tui_tree *t, const struct tui_data *d, const struct profile_event *e,
                   const struct profile_entry *entry, bool all, struct err *err) {
    if (!profile_graph_build(d->profile, e, entry, &t->graph, err))
        return false;
    size_t n = t->graph.nodes.count;
    t->period = entry->children ? entry->children->period : entry->self->period;
    t->open = malloc(n + 1);
    if (!t->open)
        return err_memory(err, "call graph");
    memset(t->open, all ? OPEN_FRAMES | OPEN_BELOW : 0, n + 1);
    if (n && !is_list(d) && t->graph.nodes.items[0].count == 1)
        t->single = with_below(&t->graph.nodes.items[t->graph.order.items[t->graph.nodes.items[0].first]]) ==
                    t->period;
    return lay(t, d, e) || err_memory(err, "call graph");
}

bool tui_tree_below(struct tui_tree *t, const struct tui_rows *rows, uint32_t row, bool all,
                    struct err *err) {
    t->own = true;
    if (!rows->below(rows->ctx, row, &t->below, err))
        return false;
    t->open = malloc(t->below.lines.count + 1);
    if (t->open)
        memset(t->open, all ? OPEN_FRAMES : 0, t->below.lines.count + 1);
    return (t->open && lay_below(t)) || err_memory(err, "callers");
}

void tui_tree_fini(struct tui_tree *t) {
    profile_graph_fini(&t->graph);
    tui_below_fini(&t->below);
    vec_fini(&t->lines);
    free(t->open);
    *t = (struct tui_tree){0};
}

bool tui_tree_toggle(struct tui_tree *t, const struct tui_data *d, const struct profile_event *e,
                     size_t line) {
    if (line >= t->lines.count || t->lines.items[line].marker == ' ')
        return false;
    const struct tui_line *l = &t->lines.items[line];
    t->open[l->node] ^= l->folds_frames ? OPEN_FRAMES : OPEN_BELOW;
    return lay(t, d, e);
}

size_t tui_tree_fold_above(const struct tui_tree *t, size_t line) {
    if (line >= t->lines.count)
        return SIZE_MAX;
    uint32_t indent = t->lines.items[line].indent, node = t->lines.items[line].node;
    for (size_t i = line + 1; i-- > 0;) {
        const struct tui_line *l = &t->lines.items[i];
        bool mine = i == line || l->indent < indent || (l->node == node && l->folds_frames);
        if (mine && l->marker == '-')
            return i;
    }
    return SIZE_MAX;
}

/* ---- texts ---- */

static void put_chain(const struct tui_tree *t, const struct tui_data *d, uint32_t end, struct out *out) {
    VEC(uint32_t) path = {0};
    for (uint32_t i = end; i != 0 && i != UINT32_MAX; i = t->graph.nodes.items[i].parent) {
        uint32_t *node = vec_push(&path);
        if (!node)
            break;
        *node = i;
    }
    for (bool first = true; path.count;) {
        const struct profile_node *n = &t->graph.nodes.items[path.items[--path.count]];
        for (uint32_t i = 0; i < n->frame_count; i++, first = false) {
            out_str(out, first ? "" : ";");
            profile_frame_text(d->profile, &t->graph.frames.items[n->frame + i], out);
        }
    }
    vec_fini(&path);
}

void tui_tree_text(const struct tui_tree *t, const struct tui_data *d, const struct tui_line *line,
                   struct out *out) {
    if (t->own) {
        out_str(out, t->below.lines.items[line->node].name);
        return;
    }
    const struct profile_node *n = &t->graph.nodes.items[line->node];
    bool own = line->frame == TUI_CHAIN && d->text->chain_mode == PROFILE_CHAIN_FOLDED;
    if (line->numbered) {
        uint64_t period = own ? n->period : with_below(n);
        if (d->text->chain_value == REPORT_GRAPH_PERIOD)
            out_dec(out, period, 0);
        else if (d->text->chain_value == REPORT_GRAPH_COUNT)
            out_dec(out, own ? n->samples : n->samples + n->below_samples, 0);
        else
            report_print_percent(report_percent(period, line->total), 0, false, out);
        out_char(out, ' ');
    }
    if (line->frame == TUI_CHAIN)
        put_chain(t, d, line->node, out);
    else
        profile_frame_text(d->profile, &t->graph.frames.items[line->frame], out);
}
