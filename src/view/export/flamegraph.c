/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as one SVG file that needs nothing else: hover for figures, click to zoom, Ctrl-F to search.
 */
#include <inttypes.h>

#include "base/hash.h"
#include "view/export/flame_tree.h"
#include "view/export/visible_text.h"

enum { WIDTH = 1200, SIDE = 10, ROW = 16, TOP = 56, BOTTOM = 34, CHAR_TENTHS = 69 };
#define LEAST_WIDTH 0.1 /* pixels: what is narrower is not drawn */

/* The script moves and hides what is there: it never makes elements of names. */
static const char script[] =
    "\"use strict\";\n"
    "(function () {\n"
    "var svg = document.documentElement, nodes = "
    "Array.prototype.slice.call(document.querySelectorAll('#frames > g'));\n"
    "var W = 1180, X = 10, zoomed = null;\n"
    "var back = document.getElementById('back'), find = document.getElementById('find'), found = "
    "document.getElementById('found');\n"
    "nodes.forEach(function (g) {\n"
    "  g.sx = +g.getAttribute('data-x'); g.sw = +g.getAttribute('data-w'); g.depth = "
    "+g.getAttribute('data-d');\n"
    "  g.name = g.querySelector('title').textContent.replace(/\\n[\\s\\S]*$/, ''); g.full = "
    "g.getAttribute('data-n');\n"
    "});\n"
    "function place(g, x, w) {\n"
    "  var r = g.querySelector('rect'), t = g.querySelector('text');\n"
    "  g.style.display = w < 0.1 ? 'none' : '';\n"
    "  if (w < 0.1) return;\n"
    "  r.setAttribute('x', x.toFixed(2)); r.setAttribute('width', w.toFixed(2));\n"
    "  var fit = Math.floor((w - 6) / 6.9);\n"
    "  t.textContent = fit < 3 ? '' : fit >= g.full.length ? g.full : g.full.slice(0, fit - 2) + '..';\n"
    "  t.setAttribute('x', (x + 3).toFixed(2));\n"
    "}\n"
    "function zoom(to) {\n"
    "  zoomed = to; var x0 = to ? to.sx : 0, w0 = to ? to.sw : 1, d0 = to ? to.depth : 0;\n"
    "  nodes.forEach(function (g) {\n"
    "    var above = g.depth < d0 && g.sx <= x0 + 1e-9 && g.sx + g.sw >= x0 + w0 - 1e-9;\n"
    "    var inside = g.depth >= d0 && g.sx >= x0 - 1e-9 && g.sx + g.sw <= x0 + w0 + 1e-9;\n"
    "    g.style.opacity = above ? 0.5 : 1;\n"
    "    if (above) place(g, X, W); else if (inside) place(g, X + (g.sx - x0) / w0 * W, g.sw / w0 * W); else "
    "g.style.display = 'none';\n"
    "  });\n"
    "  back.style.display = to ? '' : 'none';\n"
    "}\n"
    "function search(text) {\n"
    "  var re = null, hit = [];\n"
    "  if (text) { try { re = new RegExp(text); } catch (e) { found.textContent = 'not a regular "
    "expression'; return; } }\n"
    "  nodes.forEach(function (g) {\n"
    "    var is = re && re.test(g.full); g.querySelector('rect').style.fill = is ? '#e600e6' : '';\n"
    "    if (is) hit.push(g);\n"
    "  });\n"
    "  hit.sort(function (a, b) { return a.sx - b.sx || b.sw - a.sw; });\n"
    "  var sum = 0, end = -1;\n"
    "  hit.forEach(function (g) { if (g.sx >= end - 1e-9) { sum += g.sw; end = g.sx + g.sw; } });\n"
    "  found.textContent = re ? 'Matched: ' + (100 * sum).toFixed(1) + '%' : '';\n"
    "  find.textContent = re ? 'Reset search' : 'Search';\n"
    "}\n"
    "nodes.forEach(function (g) {\n"
    "  g.addEventListener('click', function () { zoom(g.depth ? g : null); });\n"
    "  g.addEventListener('keydown', function (e) { if (e.key === 'Enter') zoom(g.depth ? g : null); });\n"
    "});\n"
    "function ask() {\n"
    "  if (find.textContent !== 'Search') { search(''); return; }\n"
    "  var text = prompt('Functions to search for (a regular expression)', ''); if (text) search(text);\n"
    "}\n"
    "back.addEventListener('click', function () { zoom(null); });\n"
    "find.addEventListener('click', ask);\n"
    "window.addEventListener('keydown', function (e) {\n"
    "  if (e.key === 'Escape') zoom(null);\n"
    "  if (e.key === '/' || ((e.ctrlKey || e.metaKey) && e.key === 'f')) { e.preventDefault(); ask(); }\n"
    "});\n"
    "zoom(null);\n"
    "})();\n";

static const char *const level_names[] = {
    [STACKS_USER] = "user",
    [STACKS_KERNEL] = "kernel",
    [STACKS_GUEST_USER] = "guest",
    [STACKS_GUEST_KERNEL] = "guest kernel",
    [STACKS_HYPERVISOR] = "hypervisor",
    [STACKS_JIT] = "JIT code",
    [STACKS_INLINED] = "inlined",
};

static const char *const grade_names[] = {[STACKS_EXACT] = "exact",
                                          [STACKS_INFERRED] = "inferred",
                                          [STACKS_STALE] = "stale",
                                          [STACKS_UNKNOWN] = "unknown"};

/* A colour from a level's hue and, so that neighbours differ, the name. */
static void put_color(const struct stacks *s, const struct flame_node *n, struct out *out) {
    static const uint16_t hues[] = {
        [STACKS_USER] = 38,          [STACKS_KERNEL] = 12,      [STACKS_GUEST_USER] = 190,
        [STACKS_GUEST_KERNEL] = 210, [STACKS_HYPERVISOR] = 260, [STACKS_JIT] = 100,
        [STACKS_INLINED] = 55};
    const char *name = stacks_str(s, n->name);
    unsigned h = (unsigned)(hash_bytes(name, strlen(name)) >> 32);
    if (n->frame == STACKS_NONE)
        out_printf(out, "hsl(0,0%%,%u%%)", 78 + h % 9);
    else
        out_printf(out, "hsl(%u,%u%%,%u%%)", hues[s->frames.items[n->frame].level] + h % 13, 78 + h / 16 % 15,
                   58 + h / 256 % 14);
}

static double share_of(uint64_t part, uint64_t all) {
    return all ? (double)part / (double)all : 0;
}

/* A colour by how a node's share changed: red where it grew, blue where it shrank, deeper for larger changes,
 * white where it did not change. */
static void put_change_color(const struct flame_node *n, const struct flame_node *root, struct out *out) {
    double now = share_of(n->total, root->total), was = share_of(n->base_total, root->base_total);
    double change = now - was, most = now > was ? now : was;
    double depth = most > 0 ? change / most : 0; /* -1 to 1 */
    depth = depth < 0 ? -depth : depth;
    out_printf(out, "hsl(%u,90%%,%u%%)", change > 0 ? 5u : 220u, 97 - (unsigned)(depth * 42));
}

struct drawing {
    const struct stacks *s;
    const struct export_options *o;
    const struct flame_tree *t;
    struct out *out;
    double scale; /* pixels for a weight of 1 */
};

static void put_title(const struct drawing *d, const struct flame_node *n) {
    uint64_t all = d->t->nodes.items[0].total;
    const struct stacks_event *e = &d->s->events.items[d->o->event];
    struct out *out = d->out;
    out_str(out, "<title>");
    visible_xml(n->caller == STACKS_NONE ? "all" : stacks_str(d->s, n->name), out);
    out_printf(out, "\n%" PRIu64 " %s, %.2f%%", n->total,
               d->o->samples ? "samples" : stacks_str(d->s, e->unit),
               all ? 100.0 * (double)n->total / (double)all : 0);
    if (d->o->compares) {
        double now = share_of(n->total, all), was = share_of(n->base_total, d->t->nodes.items[0].base_total);
        out_printf(out, "\nbefore: %.2f%% (%+.2f)", was * 100, (now - was) * 100);
    }
    if (n->self)
        out_printf(out, "\nself: %.2f%%", 100.0 * (double)n->self / (double)all);
    if (n->frame != STACKS_NONE) {
        const struct stacks_frame *f = &d->s->frames.items[n->frame];
        out_str(out, "\n");
        visible_xml(stacks_frame_dso(d->s, f), out);
        out_printf(out, " (%s)\n%s: ", level_names[f->level], grade_names[f->grade]);
        visible_xml(stacks_str(d->s, f->why), out);
    }
    out_str(out, "</title>");
}

static void put_node(const struct drawing *d, const struct flame_node *n, double x, double width) {
    struct out *out = d->out;
    uint64_t all = d->t->nodes.items[0].total;
    const char *name = n->caller == STACKS_NONE ? "all" : stacks_str(d->s, n->name);
    unsigned y = TOP + n->depth * ROW;
    out_printf(out, "<g tabindex=\"-1\" data-x=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\" data-n=\"",
               x / (WIDTH - 2 * SIDE), all ? (double)n->total / (double)all : 1, n->depth);
    visible_xml(name, out);
    out_str(out, "\">");
    put_title(d, n);
    out_printf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"", SIDE + x, y, width,
               ROW - 1);
    if (d->o->compares)
        put_change_color(n, &d->t->nodes.items[0], out);
    else
        put_color(d->s, n, out);
    out_printf(out, "\" rx=\"1\"/><text x=\"%.2f\" y=\"%u\">", SIDE + x + 3, y + 11);
    int fit = (int)((width - 6) * 10 / CHAR_TENTHS);
    if (fit >= 3)
        visible_xml_cut(name, (unsigned)fit, out);
    out_str(out, "</text></g>\n");
}

/* Draws a node and all above it. Stacks may be thousands of frames deep, so there is no recursion. */
static void put_nodes(const struct drawing *d) {
    uint32_t at = 0;
    double x = 0;
    for (;;) {
        const struct flame_node *n = &d->t->nodes.items[at];
        double width = (double)n->total * d->scale;
        if (width >= LEAST_WIDTH) {
            put_node(d, n, x, width);
            if (n->first != STACKS_NONE) {
                at = n->first;
                continue;
            }
        }
        x += width;
        while (n->next == STACKS_NONE) {
            if (n->caller == STACKS_NONE)
                return;
            n = &d->t->nodes.items[n->caller];
            x += (double)n->self * d->scale;
        }
        at = n->next;
    }
}

/* Returns how many rows have something wide enough to be drawn. */
static unsigned rows_of(const struct flame_tree *t, double scale) {
    unsigned rows = 1;
    for (size_t i = 0; i < t->nodes.count; i++)
        if ((double)t->nodes.items[i].total * scale >= LEAST_WIDTH && t->nodes.items[i].depth + 1 > rows)
            rows = t->nodes.items[i].depth + 1;
    return rows;
}

static void put_head(const struct drawing *d, unsigned height) {
    struct out *out = d->out;
    out_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n"
        "<style>text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#111}"
        "#frames>g{cursor:pointer}#frames>g:hover rect,#frames>g:focus rect{stroke:#000}"
        "#frames text{pointer-events:none}.button{cursor:pointer;text-decoration:underline}"
        ".title{font:600 16px system-ui,sans-serif;text-anchor:middle}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fdfcf7\"/>\n<text class=\"title\" x=\"%d\" y=\"24\">",
        WIDTH, height, WIDTH, height, WIDTH / 2);
    visible_xml_cut(stacks_str(d->s, d->s->events.items[d->o->event].name), 80, out);
    out_printf(out,
               "</text>\n<text class=\"button\" id=\"back\" x=\"%d\" y=\"44\" style=\"display:none\">Reset "
               "zoom</text>\n"
               "<text class=\"button\" id=\"find\" x=\"%d\" y=\"44\">Search</text>\n"
               "<text id=\"found\" x=\"%d\" y=\"44\"> </text>\n<g id=\"frames\">\n",
               SIDE, WIDTH - SIDE - 90, WIDTH - SIDE - 250);
}

bool export_flamegraph(const struct stacks *s, const struct export_options *o, struct out *out,
                       struct err *err) {
    struct flame_tree t = {0};
    bool ok = flame_tree_make(&t, s, o, err);
    if (ok) {
        uint64_t all = t.nodes.items[0].total;
        struct drawing d = {s, o, &t, out, all ? (WIDTH - 2 * SIDE) / (double)all : 0};
        put_head(&d, TOP + rows_of(&t, d.scale) * ROW + BOTTOM);
        put_nodes(&d);
        out_str(out, "</g>\n<script><![CDATA[\n");
        out_str(out, script);
        out_str(out, "]]></script>\n</svg>\n");
    }
    flame_tree_fini(&t);
    return ok;
}
