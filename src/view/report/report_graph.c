/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, as observed:
 *   - to the left of a branch is a prefix: 12 columns at first; a branch that others follow adds "|" and ten
 *     spaces for what is below it, the last one eleven spaces
 *   - above each branch is a line with its prefix, "|" and ten spaces
 *   - a print limit counts branches, and the frames of a single root; the branch at which it stops looks as
 *     if others followed
 *   - fractal: what a node has beyond the branches that are shown is a last branch, without the line above:
 *     " --80.00%--[...]"
 *   - the frames of a branch are eleven columns to the right of it, however wide its number is
 */
#include "view/report/report_graph.h"

#include "view/report/report_cell.h"

#define MARGIN        12
#define INDENT        11 /* of what is below a branch */
#define SINGLE_INDENT 3  /* of what is below a single root, whose frames follow "---" */
#define FLAT_PERCENT  11 /* columns to the left of a flat chain's percentage */
#define FLAT_FRAME    16

struct printer {
    const struct profile *p;
    const struct profile_graph *g;
    const struct report_graph_options *o;
    const struct report_graph_totals *totals;
    struct out *out;
    struct out prefix; /* of the next line */
};

static uint64_t with_below(const struct profile_node *n) {
    return n->period + n->below_period;
}

static void print_value(const struct printer *pr, uint64_t period, uint64_t samples, uint64_t total) {
    switch (pr->o->value) {
    case REPORT_GRAPH_PERCENT:
        report_print_percent(report_percent(period, total), 0, pr->o->color, pr->out);
        break;
    case REPORT_GRAPH_PERIOD:
        out_dec(pr->out, period, 0);
        break;
    case REPORT_GRAPH_COUNT:
        out_dec(pr->out, samples, 0);
        break;
    }
}

static void print_frame(const struct printer *pr, uint32_t frame) {
    profile_frame_text(pr->p, &pr->g->frames.items[frame], pr->out);
}

static void print_prefix(const struct printer *pr) {
    out_mem(pr->out, pr->prefix.buf, pr->prefix.len);
}

struct rest {
    uint64_t period, samples;
};

/* One level of a walk: a node whose branches are being printed. */
struct level {
    const struct profile_node *node;
    uint32_t next;     /* index of its next branch */
    size_t prefix_len; /* length of its branches' prefix */
    uint64_t total;    /* the 100 % of its branches */
    struct rest rest;  /* what none of the branches has of the total; fractal only */
};

/* Prints a branch's own lines, and extends the prefix for what is below it. */
static void print_branch(struct printer *pr, const struct profile_node *n, bool last, uint64_t total) {
    print_prefix(pr);
    out_str(pr->out, "|          \n");
    print_prefix(pr);
    out_str(pr->out, last ? " --" : "|--");
    print_value(pr, with_below(n), n->samples + n->below_samples, total);
    out_str(pr->out, "--");
    if (!last)
        out_char(&pr->prefix, '|');
    out_fill(&pr->prefix, ' ', last ? INDENT : INDENT - 1);
    for (uint32_t i = 0; i < n->frame_count; i++) {
        if (i)
            print_prefix(pr);
        print_frame(pr, n->frame + i);
        out_char(pr->out, '\n');
    }
}

static uint64_t total_below(const struct printer *pr, const struct profile_node *n) {
    return pr->o->mode == PROFILE_CHAIN_FRACTAL ? n->below_period : pr->totals->all_period;
}

static struct level level_of(const struct printer *pr, const struct profile_node *n, uint64_t total,
                             uint64_t total_samples) {
    struct level l = {.node = n, .prefix_len = pr->prefix.len, .total = total};
    if (pr->o->mode != PROFILE_CHAIN_FRACTAL)
        return l;
    l.rest = (struct rest){total, total_samples};
    uint32_t limit = pr->o->print_limit, shown = limit && limit < n->count ? limit : n->count;
    for (uint32_t i = 0; i < shown; i++) {
        const struct profile_node *child = &pr->g->nodes.items[pr->g->order.items[n->first + i]];
        uint64_t period = with_below(child), samples = child->samples + child->below_samples;
        l.rest.period -= period < l.rest.period ? period : l.rest.period;
        l.rest.samples -= samples < l.rest.samples ? samples : l.rest.samples;
    }
    return l;
}

/* Prints the last branch of a fractal node, for what is in none of its branches. */
static void print_rest(const struct printer *pr, const struct level *l) {
    print_prefix(pr);
    out_str(pr->out, " --");
    print_value(pr, l->rest.period, l->rest.samples, l->total);
    out_str(pr->out, "--[...]\n");
}

/* Prints all branches below a node, without recursion: a chain may have thousands of frames. */
static bool print_branches(struct printer *pr, const struct profile_node *top, uint64_t total,
                           uint64_t total_samples) {
    VEC(struct level) levels = {0};
    struct level *l = vec_push(&levels);
    if (!l)
        return false;
    *l = level_of(pr, top, total, total_samples);
    while (levels.count && !pr->out->failed) {
        l = &levels.items[levels.count - 1];
        uint32_t limit = pr->o->print_limit;
        pr->prefix.len = l->prefix_len;
        if (l->next == l->node->count || (limit && l->next == limit)) {
            if (l->rest.period && l->node->count)
                print_rest(pr, l);
            levels.count--;
            continue;
        }
        const struct profile_node *n = &pr->g->nodes.items[pr->g->order.items[l->node->first + l->next++]];
        print_branch(pr, n, l->next == l->node->count && !l->rest.period, l->total);
        if (n->count) {
            l = vec_push(&levels);
            if (!l)
                break;
            *l = level_of(pr, n, total_below(pr, n), n->below_samples);
        }
    }
    bool ok = !levels.count || pr->out->failed;
    vec_fini(&levels);
    return ok;
}

/* Returns the 100 % of the first branches, also of those of a single root. */
static uint64_t top_total(const struct printer *pr) {
    return pr->o->mode == PROFILE_CHAIN_FRACTAL ? pr->totals->entry_period : pr->totals->all_period;
}

/* Prints a single root, which has the whole period: its frames are directly below the row. */
static void print_single(struct printer *pr, const struct profile_node *n) {
    uint32_t first = pr->o->skip_first ? 1 : 0, end = n->frame_count;
    if (pr->o->print_limit && end > first + pr->o->print_limit)
        end = first + pr->o->print_limit;
    for (uint32_t i = first; i < end; i++) {
        if (i == first) {
            print_prefix(pr);
            out_str(pr->out, "|\n");
            print_prefix(pr);
            out_str(pr->out, "---");
            out_fill(&pr->prefix, ' ', SINGLE_INDENT);
        } else {
            print_prefix(pr);
        }
        print_frame(pr, n->frame + i);
        out_char(pr->out, '\n');
    }
    print_branches(pr, n, top_total(pr), pr->totals->entry_samples);
}

static bool print_tree(struct printer *pr) {
    const struct profile_node *root = &pr->g->nodes.items[0];
    uint64_t before = pr->out->total + pr->out->len;
    if (!root->count || !out_init(&pr->prefix, NULL, NULL))
        return false;
    out_fill(&pr->prefix, ' ', MARGIN);
    const struct profile_node *only = &pr->g->nodes.items[pr->g->order.items[root->first]];
    if (root->count == 1 && with_below(only) == pr->totals->entry_period)
        print_single(pr, only);
    else
        print_branches(pr, root, top_total(pr), pr->totals->entry_samples);
    out_fini(&pr->prefix);
    if (pr->out->total + pr->out->len == before)
        return false;
    out_char(pr->out, '\n');
    return true;
}

/* Prints the chain that ends at a node: the frames of all nodes from the root to it, in the graph's order. */
static bool print_chain(const struct printer *pr, uint32_t end, const char *before, const char *between,
                        const char *after) {
    VEC(uint32_t) path = {0};
    for (uint32_t i = end; i != 0 && i != UINT32_MAX; i = pr->g->nodes.items[i].parent) {
        uint32_t *node = vec_push(&path);
        if (!node)
            break;
        *node = i;
    }
    bool first = true;
    while (path.count) {
        const struct profile_node *n = &pr->g->nodes.items[path.items[--path.count]];
        for (uint32_t i = 0; i < n->frame_count; i++, first = false) {
            if (!first)
                out_str(pr->out, between);
            out_str(pr->out, before);
            print_frame(pr, n->frame + i);
            out_str(pr->out, after);
        }
    }
    vec_fini(&path);
    return !first;
}

static bool print_list(struct printer *pr) {
    static const char frame_indent[] = "                ";
    _Static_assert(sizeof frame_indent == FLAT_FRAME + 1, "columns left of a flat chain's frame");
    bool folded = pr->o->mode == PROFILE_CHAIN_FOLDED;
    size_t i = 0;
    for (; i < pr->g->flat.count && (!pr->o->print_limit || i < pr->o->print_limit); i++) {
        const struct profile_node *n = &pr->g->nodes.items[pr->g->flat.items[i]];
        if (folded) {
            print_value(pr, n->period, n->samples, pr->totals->all_period);
            out_char(pr->out, ' ');
            print_chain(pr, pr->g->flat.items[i], "", pr->o->separator, "");
        } else {
            /* A flat chain's number includes all chains that begin with it. */
            out_fill(pr->out, ' ', FLAT_PERCENT);
            print_value(pr, with_below(n), n->samples + n->below_samples, pr->totals->all_period);
            out_char(pr->out, '\n');
            print_chain(pr, pr->g->flat.items[i], frame_indent, "", "\n");
        }
        out_char(pr->out, '\n');
    }
    return i > 0;
}

bool report_graph_print(const struct profile *p, const struct profile_graph *g,
                        const struct report_graph_options *o, const struct report_graph_totals *totals,
                        struct out *out) {
    struct printer pr = {.p = p, .g = g, .o = o, .totals = totals, .out = out};
    if (!g->nodes.count)
        return false;
    return o->mode == PROFILE_CHAIN_FLAT || o->mode == PROFILE_CHAIN_FOLDED ? print_list(&pr)
                                                                            : print_tree(&pr);
}
