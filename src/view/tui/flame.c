/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/flame.h"

#include <stdlib.h>

static const struct flame_node *node(const struct tui_flame *f, uint32_t id) {
    return &f->tree.nodes.items[id];
}

/* ---- which stacks ---- */

/* Marks the frames that pass the filters of names and objects: bit 0 and 1. NULL: out of memory. */
static uint8_t *mark_frames(const struct stacks *s, const struct tui_filter *filter) {
    uint8_t *marks = calloc(s->frames.count + 1, 1);
    for (size_t i = 0; marks && i < s->frames.count; i++) {
        const struct stacks_frame *x = &s->frames.items[i];
        const char *name = stacks_frame_name(s, x), *dso = stacks_frame_dso(s, x);
        marks[i] = (uint8_t)(tui_filter_passes(filter, TUI_BY_SYMBOL, name, strlen(name)) |
                             tui_filter_passes(filter, TUI_BY_DSO, dso, strlen(dso)) << 1);
    }
    return marks;
}

/* Adds up the samples in the range of time, by row. */
static void add_moments(const struct stacks *s, uint32_t event, const struct tui_filter *filter,
                        uint64_t *weights) {
    for (size_t i = 0; i < s->moments.count; i++) {
        const struct stacks_moment *m = &s->moments.items[i];
        if (m->time_ns >= filter->from_ns && m->time_ns <= filter->to_ns &&
            s->rows.items[m->row].event == event)
            weights[m->row] += m->period;
    }
}

/* Returns the weight of each row, 0 for those that the filter takes away. NULL: out of memory. */
static uint64_t *weigh(const struct stacks *s, uint32_t event, const struct tui_filter *filter) {
    uint64_t *weights = calloc(s->rows.count + 1, sizeof *weights);
    uint8_t *frames = mark_frames(s, filter), *nodes = calloc(s->nodes.count + 1, 1);
    for (size_t i = 0; frames && nodes && i < s->nodes.count; i++) { /* callers come first */
        const struct stacks_node *n = &s->nodes.items[i];
        nodes[i] = (uint8_t)(frames[n->frame] | (n->caller == STACKS_NONE ? 0 : nodes[n->caller]));
    }
    bool ok = weights && frames && nodes;
    if (ok && filter->ranged)
        add_moments(s, event, filter, weights);
    for (size_t i = 0; ok && i < s->rows.count; i++) {
        const struct stacks_row *row = &s->rows.items[i];
        const char *comm = stacks_str(s, row->comm);
        if (!filter->ranged)
            weights[i] = row->period;
        if (nodes[row->node] != 3 || !tui_filter_passes(filter, TUI_BY_THREAD, comm, strlen(comm)))
            weights[i] = 0;
    }
    free(frames);
    free(nodes);
    if (!ok) {
        free(weights);
        weights = NULL;
    }
    return weights;
}

/* ---- opening ---- */

/* Returns the node that has the same names above it as `at` of another tree; as many of them as there are. */
static uint32_t same_node(const struct tui_flame *f, const struct flame_tree *was, uint32_t at) {
    VEC(uint32_t) path = {0};
    for (; at != STACKS_NONE && at < was->nodes.count; at = was->nodes.items[at].caller) {
        uint32_t *step = vec_push(&path);
        if (!step)
            break;
        *step = was->nodes.items[at].name;
    }
    uint32_t here = 0;
    for (size_t i = path.count; i-- > 1;) {
        uint32_t next = node(f, here)->first;
        while (next != STACKS_NONE && node(f, next)->name != path.items[i - 1])
            next = node(f, next)->next;
        if (next == STACKS_NONE)
            break;
        here = next;
    }
    vec_fini(&path);
    return here;
}

static void mark_found(struct tui_flame *f) {
    free(f->found);
    f->found = f->searching ? calloc(f->tree.nodes.count + 1, 1) : NULL;
    for (uint32_t i = 1; f->found && i < f->tree.nodes.count; i++)
        f->found[i] = regexec(&f->search, stacks_str(f->s, node(f, i)->name), 0, NULL, 0) == 0;
}

/* Puts the largest callees first. */
static bool sort_callees(struct flame_tree *t) {
    VEC(uint32_t) list = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < t->nodes.count; i++) {
        vec_clear(&list);
        for (uint32_t c = t->nodes.items[i].first; ok && c != STACKS_NONE; c = t->nodes.items[c].next) {
            uint32_t *slot = vec_push(&list);
            ok = slot;
            if (ok)
                *slot = c;
        }
        /* By insertion where there are few, which is nearly always; else in passes of halves. */
        for (size_t gap = list.count / 2; ok && gap; gap /= 2)
            for (size_t a = gap; a < list.count; a++)
                for (size_t b = a; b >= gap && t->nodes.items[list.items[b - gap]].total <
                                                   t->nodes.items[list.items[b]].total;
                     b -= gap) {
                    uint32_t swap = list.items[b];
                    list.items[b] = list.items[b - gap];
                    list.items[b - gap] = swap;
                }
        uint32_t next = STACKS_NONE;
        for (size_t k = list.count; ok && k-- > 0;) {
            t->nodes.items[list.items[k]].next = next;
            next = list.items[k];
        }
        if (ok)
            t->nodes.items[i].first = next;
    }
    vec_fini(&list);
    return ok;
}

bool tui_flame_open(struct tui_flame *f, const struct stacks *s, uint32_t event,
                    const struct tui_filter *filter, struct err *err) {
    struct flame_tree was = f->tree;
    struct export_options o = {.event = event};
    uint64_t *weights = weigh(s, event, filter);
    bool same = f->s == s;
    f->tree = (struct flame_tree){0};
    f->s = s;
    f->event = event;
    o.weights = weights;
    bool ok = weights && flame_tree_make(&f->tree, s, &o, err) && sort_callees(&f->tree);
    free(weights);
    if (ok) {
        f->zoom = same ? same_node(f, &was, f->zoom) : 0;
        f->at = same ? same_node(f, &was, f->at) : 0;
        mark_found(f);
    } else {
        flame_tree_fini(&f->tree);
        f->tree = (struct flame_tree){0};
        f->s = NULL;
    }
    flame_tree_fini(&was);
    return ok || err_memory(err, "flame graph");
}

void tui_flame_fini(struct tui_flame *f) {
    if (f->searching)
        regfree(&f->search);
    free(f->found);
    flame_tree_fini(&f->tree);
    vec_fini(&f->spans);
    *f = (struct tui_flame){0};
}

/* ---- walking ---- */

/* The span of the cursor in the last drawing. */
static const struct tui_span *span_of(const struct tui_flame *f, uint32_t id) {
    for (size_t i = 0; i < f->spans.count; i++)
        if (f->spans.items[i].node == id)
            return &f->spans.items[i];
    return NULL;
}

static bool is_below(const struct tui_flame *f, uint32_t id, uint32_t above) {
    while (id != STACKS_NONE && id != above)
        id = node(f, id)->caller;
    return id == above;
}

static uint32_t beside(const struct tui_flame *f, int step) {
    const struct tui_span *at = span_of(f, f->at);
    for (const struct tui_span *x = at; at && (x += step) >= f->spans.items;) {
        if (x == f->spans.items + f->spans.count || x->depth != at->depth)
            break;
        if (x->node != STACKS_NONE)
            return x->node;
    }
    return f->at;
}

void tui_flame_walk(struct tui_flame *f, int where) {
    if (!f->tree.nodes.count)
        return;
    const struct flame_node *at = node(f, f->at);
    switch (where) {
    case 'k':
        f->at = at->caller == STACKS_NONE ? f->at : at->caller;
        break;
    case 'j':
        f->at = at->first == STACKS_NONE ? f->at : at->first;
        break;
    case 'h':
    case 'l':
        f->at = beside(f, where == 'h' ? -1 : 1);
        break;
    case 'g':
        f->at = f->zoom;
        break;
    case 'G':
        while (node(f, f->at)->first != STACKS_NONE)
            f->at = node(f, f->at)->first;
        break;
    default:
        break;
    }
}

void tui_flame_zoom(struct tui_flame *f) {
    f->zoom = f->at;
}

bool tui_flame_back(struct tui_flame *f) {
    if (!f->tree.nodes.count || node(f, f->zoom)->caller == STACKS_NONE)
        return false;
    f->zoom = node(f, f->zoom)->caller;
    while (f->zoom && node(f, f->zoom)->total == node(f, node(f, f->zoom)->caller)->total)
        f->zoom = node(f, f->zoom)->caller; /* what is as wide as its caller looks the same */
    return true;
}

/* ---- searching ---- */

bool tui_flame_search(struct tui_flame *f, const char *regex, struct err *err) {
    char message[256];
    if (f->searching)
        regfree(&f->search);
    f->searching = false;
    int code = regex && *regex ? regcomp(&f->search, regex, REG_EXTENDED | REG_NOSUB) : 0;
    f->searching = regex && *regex && !code;
    mark_found(f);
    if (code)
        regerror(code, &f->search, message, sizeof message);
    return !code || err_set(err, ERR_USAGE, NULL, "%s: %s", regex, message);
}

/* Returns the node after one in the order of drawing: its largest callee, else the next beside it or above.
 */
static uint32_t after(const struct tui_flame *f, uint32_t id) {
    if (node(f, id)->first != STACKS_NONE)
        return node(f, id)->first;
    while (id != STACKS_NONE && node(f, id)->next == STACKS_NONE)
        id = node(f, id)->caller;
    return id == STACKS_NONE ? 0 : node(f, id)->next;
}

bool tui_flame_next(struct tui_flame *f, bool forward) {
    uint32_t best = STACKS_NONE, x = f->at;
    if (!f->found)
        return false;
    for (size_t i = 0; i < f->tree.nodes.count; i++) {
        x = after(f, x);
        if (!f->found[x] || (i + 1 == f->tree.nodes.count && best != STACKS_NONE))
            continue;
        best = x; /* backwards: the last one before the cursor comes round */
        if (forward)
            break;
    }
    if (best == STACKS_NONE)
        return false;
    f->at = best;
    if (!is_below(f, best, f->zoom))
        f->zoom = 0;
    return true;
}

bool tui_flame_find(struct tui_flame *f, const char *name, size_t n) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < f->tree.nodes.count; i++) {
        const char *text = stacks_str(f->s, node(f, i)->name);
        if (strlen(text) == n && !memcmp(text, name, n) &&
            (!best || node(f, i)->total > node(f, best)->total))
            best = i;
    }
    if (best)
        f->at = best;
    return best;
}

/* ---- what is selected ---- */

const char *tui_flame_name(const struct tui_flame *f) {
    return f->tree.nodes.count ? stacks_str(f->s, node(f, f->at)->name) : "";
}

const struct stacks_frame *tui_flame_frame(const struct tui_flame *f) {
    uint32_t frame = f->tree.nodes.count ? node(f, f->at)->frame : STACKS_NONE;
    return frame == STACKS_NONE ? NULL : &f->s->frames.items[frame];
}

void tui_flame_click(struct tui_flame *f, int y, int x) {
    for (size_t i = 0; i < f->spans.count; i++) {
        const struct tui_span *p = &f->spans.items[i];
        if (p->depth - f->top == y && x >= p->from && x < p->to && p->node != STACKS_NONE)
            f->at = p->node;
    }
}
