/* SPDX-License-Identifier: Apache-2.0 */
#include "view/ftrace/ftrace_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_WIDTH = 46, TREE_DEPTH_MAX = 1024 };

/* --- histogram --- */

/* "1 - 2 us", in the smallest unit in which the lower bound is below 1024. */
static void put_power(const struct ftrace_histogram *h, unsigned i, bool last, struct out *o) {
    static const char *const UNITS[] = {"ns", "us", "ms", "s"};
    unsigned unit = h->unit_ns == 1 ? 0 : 1;
    uint64_t from = ftrace_histogram_begin(h, i);
    for (; from >= 1024 && unit < 3; unit++)
        from /= 1024;
    if (last)
        out_printf(o, "  %4llu - %-4s %2s", (unsigned long long)from, "...", UNITS[unit]);
    else
        out_printf(o, "  %4llu - %-4llu %2s", (unsigned long long)from,
                   (unsigned long long)(from ? 2 * from : 1), UNITS[unit]);
}

static void put_range(const struct ftrace_histogram *h, unsigned i, bool last, struct out *o) {
    const char *unit = h->unit_ns == 1 ? "ns" : "us";
    unsigned long long from = ftrace_histogram_begin(h, i);
    if (last)
        out_printf(o, "  %4llu - %-4s %2s", from, "...", unit);
    else
        out_printf(o, "  %4llu - %-4llu %2s", from, (unsigned long long)ftrace_histogram_begin(h, i + 1),
                   unit);
}

void ftrace_histogram_print(const struct ftrace_histogram *h, bool hide_empty, struct out *o) {
    unsigned n = ftrace_histogram_size(h);
    double unit = h->unit_ns;
    if (!h->count) {
        out_str(o, "No data found\n");
        return;
    }
    out_printf(o, "# %14s | %10s | %-*s |\n", "  DURATION    ", "COUNT", BAR_WIDTH, "GRAPH");
    for (unsigned i = 0; i < n; i++) {
        uint64_t count = h->buckets[i];
        if (!count && hide_empty)
            continue;
        (h->range ? put_range : put_power)(h, i, i + 1 == n, o);
        size_t bar = (size_t)((double)count / (double)h->count * BAR_WIDTH);
        out_printf(o, " | %10llu | ", (unsigned long long)count);
        out_fill(o, '#', bar);
        out_fill(o, ' ', BAR_WIDTH - bar);
        out_str(o, " |\n");
    }
    out_printf(o, "\n# statistics  (in %s)\n", h->unit_ns == 1 ? "nsec" : "usec");
    out_printf(o, "  total time: %20.0f\n", (double)h->total_ns / unit);
    out_printf(o, "    avg time: %20.0f\n", (double)h->total_ns / unit / (double)h->count);
    out_printf(o, "    max time: %20.0f\n", (double)h->max_ns / unit);
    out_printf(o, "    min time: %20.0f\n", (double)h->min_ns / unit);
    out_printf(o, "       count: %20llu\n", (unsigned long long)h->count);
}

/* --- table --- */

struct row {
    const char *name;
    const struct ftrace_sum *sum;
    enum ftrace_sort sort;
};

static int order(double a, double b) {
    return (a < b) - (a > b);
}

static double average(const struct ftrace_sum *s) {
    return s->count ? (double)s->total_ns / (double)s->count : 0;
}

static int by_sort(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int by = 0;
    switch (x->sort) {
    case FTRACE_BY_TOTAL:
        by = order((double)x->sum->total_ns, (double)y->sum->total_ns);
        break;
    case FTRACE_BY_AVG:
        by = order(average(x->sum), average(y->sum));
        break;
    case FTRACE_BY_MAX:
        by = order((double)x->sum->max_ns, (double)y->sum->max_ns);
        break;
    case FTRACE_BY_COUNT:
        by = order((double)x->sum->count, (double)y->sum->count);
        break;
    case FTRACE_BY_NAME:
        break;
    }
    return by ? by : strcmp(x->name, y->name);
}

bool ftrace_profile_print(const struct ftrace_calls *c, const char *const *names, enum ftrace_sort sort,
                          struct out *o) {
    struct row *rows = calloc(c->functions.count + 1, sizeof *rows);
    size_t n = 0;
    if (!rows)
        return false;
    for (size_t i = 0; i < c->functions.count; i++)
        if (c->functions.items[i].sum.count)
            rows[n++] = (struct row){names[i], &c->functions.items[i].sum, sort};
    qsort(rows, n, sizeof *rows, by_sort);
    out_str(o, "# Total (us)   Avg (us)   Max (us)      Count   Function\n");
    for (size_t i = 0; i < n; i++)
        out_printf(o, "%12.3f %10.3f %10.3f %10llu   %s\n", (double)rows[i].sum->total_ns / 1e3,
                   average(rows[i].sum) / 1e3, (double)rows[i].sum->max_ns / 1e3,
                   (unsigned long long)rows[i].sum->count, rows[i].name);
    free(rows);
    return true;
}

/* --- tree --- */

struct child {
    uint32_t node;
    uint32_t parent;
    uint64_t total_ns;
    const char *name;
};

/* By parent; the roots last. */
static int by_parent(const void *a, const void *b) {
    const struct child *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    int by = strcmp(x->name, y->name);
    return by ? by : (x->node > y->node) - (x->node < y->node);
}

static struct child *sort_children(const struct ftrace_calls *c, const char *const *names) {
    struct child *list = calloc(c->nodes.count + 1, sizeof *list);
    for (size_t i = 0; list && i < c->nodes.count; i++) {
        const struct ftrace_node *n = &c->nodes.items[i];
        list[i] = (struct child){(uint32_t)i, n->parent, n->sum.total_ns, names[n->function]};
    }
    if (list)
        qsort(list, c->nodes.count, sizeof *list, by_parent);
    return list;
}

static size_t first_child(const struct child *list, size_t n, uint32_t parent) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Called for each node, callers before callees; `path` leads to it, itself included. */
typedef void node_fn(const struct ftrace_calls *c, const char *const *names, const uint32_t *path,
                     unsigned depth, struct out *o);

static bool walk(const struct ftrace_calls *c, const char *const *names, node_fn *fn, struct out *o) {
    struct child *list = sort_children(c, names);
    size_t *at = calloc(TREE_DEPTH_MAX + 1, sizeof *at);
    uint32_t *path = calloc(TREE_DEPTH_MAX + 1, sizeof *path);
    unsigned depth = 0;
    bool ok = list && at && path;
    if (ok)
        at[0] = first_child(list, c->nodes.count, UINT32_MAX);
    while (ok) {
        uint32_t parent = depth ? path[depth - 1] : UINT32_MAX;
        if (at[depth] == c->nodes.count || list[at[depth]].parent != parent) {
            if (!depth--)
                break;
            continue;
        }
        path[depth] = list[at[depth]++].node;
        fn(c, names, path, depth, o);
        if (depth + 1 < TREE_DEPTH_MAX) {
            at[depth + 1] = first_child(list, c->nodes.count, path[depth]);
            depth++;
        }
    }
    free(list);
    free(at);
    free(path);
    return ok;
}

static void put_node(const struct ftrace_calls *c, const char *const *names, const uint32_t *path,
                     unsigned depth, struct out *o) {
    const struct ftrace_node *n = &c->nodes.items[path[depth]];
    if (!n->sum.count)
        return;
    out_printf(o, "%12.3f %12.3f %10llu   ", (double)n->sum.total_ns / 1e3, (double)n->sum.self_ns / 1e3,
               (unsigned long long)n->sum.count);
    out_fill(o, ' ', 2 * depth);
    out_printf(o, "%s\n", names[n->function]);
}

bool ftrace_tree_print(const struct ftrace_calls *c, const char *const *names, struct out *o) {
    out_str(o, "# Total (us)    Self (us)      Count   Function\n");
    return walk(c, names, put_node, o);
}

static void put_folded(const struct ftrace_calls *c, const char *const *names, const uint32_t *path,
                       unsigned depth, struct out *o) {
    const struct ftrace_node *n = &c->nodes.items[path[depth]];
    if (!n->sum.self_ns)
        return;
    for (unsigned i = 0; i <= depth; i++) {
        out_str(o, i ? ";" : "");
        out_str(o, names[c->nodes.items[path[i]].function]);
    }
    out_printf(o, " %llu\n", (unsigned long long)n->sum.self_ns);
}

bool ftrace_folded_print(const struct ftrace_calls *c, const char *const *names, struct out *o) {
    return walk(c, names, put_folded, o);
}
