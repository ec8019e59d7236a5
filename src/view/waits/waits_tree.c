/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/json.h"
#include "base/text/plural.h"
#include "view/waits/waits_text.h"

enum { LINE_MAX_BYTES = 1024, STEP = 2, INDENT_MOST = 200, WAIT_DEPTH = 2 };

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

bool waits_tree_write(const struct waits_over_time *t, size_t width, struct out *o) {
    waits_node_order order = {0};
    bool ok = waits_over_time_order(t, &order);
    uint64_t all = t->nodes.count ? t->nodes.items[WAITS_NODE_ROOT].ns : 0;
    if (t->turns)
        out_printf(o, "%.3f s, %" PRIu64 " snapshot%s: time of threads by what they waited for\n\n",
                   seconds(t->elapsed_ns), t->turns, plural(t->turns));
    else
        out_printf(o, "%.3f s of threads' time: on a CPU, and by what they waited for\n\n", seconds(all));
    for (size_t i = 0; ok && i < order.count && !o->failed; i++) {
        const struct waits_node *n = &t->nodes.items[order.items[i]];
        uint32_t indent = (n->depth - 1) * STEP;
        char line[LINE_MAX_BYTES];
        snprintf(line, sizeof line, "%12.3f s %6.2f %%  %*s%s", seconds(n->ns),
                 all ? 100.0 * (double)n->ns / (double)all : 0.0,
                 (int)(indent < INDENT_MOST ? indent : INDENT_MOST), "", strpool_text(&t->names, n->name));
        waits_line_write(width, o, line);
    }
    if (t->left_out_ns)
        out_printf(o, "%12.3f s were more than there was room for\n", seconds(t->left_out_ns));
    vec_fini(&order);
    return ok;
}

bool waits_tree_json_write(const struct waits_over_time *t, struct out *o) {
    struct json *j = &(struct json){.out = o};
    waits_node_order order = {0};
    bool ok = waits_over_time_order(t, &order);
    uint32_t depth = 0;
    json_open(j, NULL, '{');
    json_number(j, "version", 1);
    if (t->turns) {
        json_number(j, "elapsed", t->elapsed_ns);
        json_number(j, "snapshots", t->turns);
    }
    json_number(j, "time", t->nodes.count ? t->nodes.items[WAITS_NODE_ROOT].ns : 0);
    json_number(j, "left_out", t->left_out_ns);
    json_open(j, "tree", '[');
    for (size_t i = 0; ok && i < order.count && !o->failed; i++) {
        const struct waits_node *n = &t->nodes.items[order.items[i]];
        for (; depth >= n->depth; depth--) { /* nodes with no more children */
            json_close(j, ']');
            json_close(j, '}');
        }
        json_open(j, NULL, '{');
        json_text(j, "name", strpool_text(&t->names, n->name));
        if (n->depth == WAIT_DEPTH && t->turns)
            json_text(j, "kind", waits_kind_name(n->kind));
        json_number(j, "time", n->ns);
        json_open(j, "below", '[');
        depth = n->depth;
    }
    for (; depth; depth--) {
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
    vec_fini(&order);
    return ok;
}
