/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timechart/timechart_svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/export/visible_text.h"
#include "view/timechart/io_rows.h"
#include "view/timechart/timechart_figures.h"

enum {
    GUTTER = 210, /* labels */
    MARGIN = 10,
    TOP = 74, /* title, legend, axis */
    HEAD = 18,
    ROW = 14,
    GAP = 6,
    BAR = 8,   /* what ran */
    STRIP = 4, /* below: what waited, or how deep a CPU slept */
    LABEL_MAX = 30,
    TITLE_MAX = 26,
    TICKS = 6,
};

static const char STYLE[] =
    "<style>svg{font:11px sans-serif;background:#fff}text{fill:#222}.t{font-size:15px}.d{fill:#666}"
    ".h{cursor:pointer;font-weight:bold}.c .body{display:none}.bg{fill:#f3f3f3}"
    ".r1{fill:#c6d8f2}.r2{fill:#8fb3e6}.r3{fill:#5a8fd8}.r4{fill:#2b66bd}"
    ".o1{fill:#f6d9b0}.o2{fill:#f0b86a}.o3{fill:#e8962e}.o4{fill:#c96f00}"
    ".w{fill:#e6c200}.b{fill:#c0392b}.i1{fill:#dfe8df}.i2{fill:#b9d3b9}.i3{fill:#8bb98b}.i4{fill:#5d985d}"
    ".n1{fill:#cfe8cf}.n2{fill:#94cc94}.n3{fill:#55aa55}.n4{fill:#1f7f1f}"
    ".y1{fill:#ecdfb0}.y2{fill:#d9bf63}.y3{fill:#b8962b}.y4{fill:#8a6d10}"
    ".q1{fill:#e9f3f4}.q2{fill:#ddeef0}.q3{fill:#d0e8eb}.q4{fill:#c2e1e5}"
    ".f{fill:none;stroke:#7a3fa0;vector-effect:non-scaling-stroke}.g{stroke:#bbb}</style>\n";

/* Folds sections at a click on their titles; zooms at the wheel, moves by dragging, and shows all at a double
 * click. It reads numbers of data-attributes only. */
static const char SCRIPT[] =
    "<script>//<![CDATA[\n"
    "(function(){'use strict';\n"
    "var "
    "r=document.documentElement,d=r.dataset,n=+d.n,span=+d.span,from=+d.from,left=+d.left,plot=+d.plot,x=0,w="
    "n,drag=null;\n"
    "var "
    "p=[].slice.call(r.querySelectorAll('.p')),s=[].slice.call(r.querySelectorAll('.s')),k=[].slice.call(r."
    "querySelectorAll('.k'));\n"
    "function lay(){var y=+d.top;s.forEach(function(g){g.setAttribute('transform','translate(0,'+y+')');"
    "y+=+d.head+(g.classList.contains('c')?0:+g.dataset.h)+6});r.setAttribute('height',y+10);r.setAttribute('"
    "viewBox','0 0 '+d.width+' '+(y+10))}\n"
    "function show(){x=Math.max(0,Math.min(x,n-w));p.forEach(function(e){e.setAttribute('viewBox',x+' 0 "
    "'+w+' '+e.dataset.h)});"
    "k.forEach(function(e,i){var "
    "c=x+w*i/(k.length-1),digits=Math.max(3,Math.min(9,Math.ceil(-Math.log(span*w/n/k.length)/Math.LN10)+1));"
    "e.textContent=(from+span*c/n).toFixed(digits)})}\n"
    "function at(e){var b=r.getBoundingClientRect();return((e.clientX-b.left)*d.width/b.width-left)/plot}\n"
    "s.forEach(function(g){g.querySelector('.h').addEventListener('click',function(){g.classList.toggle('c');"
    "lay()})});\n"
    "r.addEventListener('wheel',function(e){var a=at(e);if(a<0||a>1||e.shiftKey)return;e.preventDefault();"
    "var "
    "c=x+a*w;w=Math.max(Math.min(20,n),Math.min(n,w*(e.deltaY<0?0.8:1.25)));x=c-a*w;show()},{passive:false});"
    "\n"
    "r.addEventListener('mousedown',function(e){var a=at(e);if(a>=0&&a<=1)drag=[a,x]});\n"
    "r.addEventListener('mousemove',function(e){if(drag){x=drag[1]-(at(e)-drag[0])*w;show()}});\n"
    "r.addEventListener('mouseup',function(){drag=null});\n"
    "r.addEventListener('dblclick',function(e){if(at(e)>=0){x=0;w=n;show()}});\n"
    "})();\n//]]></script>\n";

static unsigned plot_width(const struct timechart_svg *s) {
    unsigned width = s->width < TIMECHART_SVG_WIDTH_MIN ? TIMECHART_SVG_WIDTH_MIN : s->width;
    return width - GUTTER - MARGIN;
}

/* Milliseconds are enough where ticks are far apart. */
static void put_seconds(const struct timechart *t, uint64_t ns, struct out *o) {
    bool brief = (t->end_ns - t->begin_ns) / TICKS >= 10 * 1000000;
    out_dec(o, ns / 1000000000, 0);
    out_char(o, '.');
    if (brief)
        out_dec0(o, ns % 1000000000 / 1000000, 3);
    else
        out_dec0(o, ns % 1000000000 / 1000, 6);
}

/* ---- rows ---- */

static unsigned run_level(const void *row, uint32_t c, uint64_t ns) {
    return timechart_level(((const struct timechart_row *)row)->cells[c].run_ns, ns);
}

/* Whether a thread waited for a CPU for a tenth of the column, and longer than it was blocked. */
static unsigned wait_level(const void *row, uint32_t c, uint64_t ns) {
    const struct timechart_cell *cell = &((const struct timechart_row *)row)->cells[c];
    return cell->wait_ns >= cell->block_ns && cell->wait_ns && cell->wait_ns >= ns / 10;
}

static unsigned block_level(const void *row, uint32_t c, uint64_t ns) {
    const struct timechart_cell *cell = &((const struct timechart_row *)row)->cells[c];
    return cell->block_ns > cell->wait_ns && cell->block_ns >= ns / 10;
}

/* The idle state with the largest part of the column, if the CPU was idle for half of it. */
static unsigned idle_level(const void *row, uint32_t c, uint64_t ns) {
    const struct timechart_power *p = &((const struct timechart_cpu *)row)->power[c];
    unsigned most = 0;
    uint64_t sum = 0;
    for (unsigned i = 0; i < TIMECHART_IDLE_STATES; i++) {
        sum += p->idle_ns[i];
        if (p->idle_ns[i] > p->idle_ns[most])
            most = i;
    }
    return sum && sum >= ns / 2 ? most + 1 : 0;
}

/* Draws a CPU's speed as a line, scaled from the lowest to the highest speed of all CPUs. */
static void put_speed(const struct timechart *t, const struct timechart_cpu *cpu, unsigned y, struct out *o) {
    bool pen = false, open = false;
    for (uint32_t c = 0; c < t->columns && !o->failed; c++) {
        const struct timechart_power *p = &cpu->power[c];
        if (!p->known_ns || !t->max_khz) {
            pen = false;
            continue;
        }
        double at = y + BAR - BAR * (p->speed / (double)p->known_ns) / t->max_khz;
        out_str(o, open ? "" : "<path class=\"f\" d=\"");
        out_printf(o, "%s%" PRIu32 " %.1fh1", pen ? "L" : "M", c, at);
        pen = open = true;
    }
    if (open)
        out_str(o, "\"/>\n");
}

/* ---- sections ---- */

static void open_plot(const struct timechart_svg *s, unsigned y, unsigned height, struct out *o) {
    out_printf(o,
               "<svg class=\"p\" x=\"%d\" y=\"%u\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %" PRIu32
               " %u\" data-h=\"%u\" preserveAspectRatio=\"none\">\n",
               GUTTER, y, plot_width(s), height, s->chart->columns, height, height);
    out_printf(o, "<path class=\"bg\" d=\"M0 0h%" PRIu32 "v%uh-%" PRIu32 "z\"/>\n", s->chart->columns, height,
               s->chart->columns);
}

struct sum {
    struct timechart_row row;
    uint64_t parts; /* of which the columns are sums */
};

static unsigned sum_level(const void *row, uint32_t c, uint64_t ns) {
    const struct sum *sum = row;
    return timechart_level(sum->row.cells[c].run_ns / sum->parts, ns);
}

static const struct timechart_row *cpu_row(const struct timechart_svg *s, uint32_t i) {
    return &s->chart->cpus.items[i].row;
}

static const struct timechart_row *thread_row(const struct timechart_svg *s, uint32_t i) {
    return &s->chart->threads.items[i];
}

typedef const struct timechart_row *row_fn(const struct timechart_svg *s, uint32_t i);

/* Draws the row of a section's title: the run time of all its rows together. */
static void put_sum(const struct timechart_svg *s, row_fn *row, uint32_t first, uint32_t count, bool average,
                    struct out *o) {
    struct sum sum = {.parts = average && count ? count : 1};
    sum.row.cells = calloc(s->chart->columns, sizeof *sum.row.cells);
    if (!sum.row.cells) {
        o->failed = true;
        return;
    }
    for (uint32_t i = first; i < first + count; i++)
        for (uint32_t c = 0; c < s->chart->columns; c++)
            sum.row.cells[c].run_ns += row(s, i)->cells[c].run_ns;
    open_plot(s, 3, ROW - 2, o);
    timechart_put_levels(s->chart, &sum, sum_level, 1, ROW - 4, 'r', o);
    out_str(o, "</svg>\n");
    free(sum.row.cells);
}

/* Returns the section's height. */
static unsigned open_section(const char *title, const char *whole, uint32_t rows, bool folded, unsigned y,
                             struct out *o) {
    unsigned body = rows * ROW;
    out_printf(o, "<g class=\"s%s\" transform=\"translate(0,%u)\" data-h=\"%u\">\n", folded ? " c" : "", y,
               body);
    out_printf(o, "<text class=\"h\" x=\"%d\" y=\"13\"><title>", MARGIN);
    visible_xml(whole, o);
    out_str(o, "</title>");
    visible_xml_cut(title, TITLE_MAX, o);
    out_str(o, "</text>\n");
    return HEAD + (folded ? 0 : body) + GAP;
}

static void put_label(const char *label, const char *title, unsigned y, struct out *o) {
    out_printf(o, "<text x=\"%d\" y=\"%u\"><title>", MARGIN + 8, y + 10);
    visible_xml(title, o);
    out_str(o, "</title>");
    visible_xml_cut(label, LABEL_MAX, o);
    out_str(o, "</text>\n");
}

static uint64_t busy_ns(const struct timechart *t, const struct timechart_row *r) {
    uint64_t ns = 0;
    for (uint32_t c = 0; c < t->columns; c++)
        ns += r->cells[c].run_ns;
    return ns;
}

static void put_cpu_label(const struct timechart *t, const struct timechart_row *r, unsigned y,
                          struct out *o) {
    double share = 100.0 * (double)busy_ns(t, r) / (double)(t->end_ns - t->begin_ns);
    out_printf(o, "<text x=\"%d\" y=\"%u\">CPU %" PRIu32 "<tspan class=\"d\"> %.1f %% busy</tspan></text>\n",
               MARGIN + 8, y + 10, r->what, share);
}

enum { CPUS_OPEN_MAX = 32 };

static unsigned put_cpus(const struct timechart_svg *s, unsigned y, struct out *o) {
    const struct timechart *t = s->chart;
    uint32_t n = (uint32_t)t->cpus.count;
    char title[64];
    snprintf(title, sizeof title, "CPUs (%" PRIu32 ")", n);
    unsigned height = open_section(title, title, n, n > CPUS_OPEN_MAX, y, o);
    put_sum(s, cpu_row, 0, n, true, o);
    out_str(o, "<g class=\"body\">\n");
    for (uint32_t i = 0; i < n && !o->failed; i++)
        put_cpu_label(t, cpu_row(s, i), HEAD + i * ROW, o);
    if (n)
        open_plot(s, HEAD, n * ROW, o);
    for (uint32_t i = 0; i < n && !o->failed; i++) {
        const struct timechart_cpu *cpu = &t->cpus.items[i];
        timechart_put_levels(t, &cpu->row, run_level, i * ROW + 1, BAR, 'r', o);
        if (!cpu->power || s->no_power)
            continue;
        timechart_put_levels(t, cpu, idle_level, i * ROW + 1 + BAR, STRIP, 'i', o);
        put_speed(t, cpu, i * ROW + 1, o);
    }
    out_str(o, n ? "</svg>\n</g>\n</g>\n" : "</g>\n</g>\n");
    return height;
}

static void put_thread(const struct timechart_svg *s, uint32_t i, unsigned y, struct out *o) {
    if (s->io) {
        if (s->highlight(s->ctx, i))
            out_printf(o, "<path class=\"o1\" d=\"M0 %uh%" PRIu32 "v%uh-%" PRIu32 "z\"/>\n", y,
                       s->chart->columns, (unsigned)ROW, s->chart->columns);
        io_rows_put(s->io, i, 1, y, o);
        return;
    }
    const struct timechart_row *r = thread_row(s, i);
    timechart_put_levels(s->chart, r, run_level, y + 1, BAR, s->highlight(s->ctx, i) ? 'o' : 'r', o);
    timechart_put_level(s->chart, r, wait_level, 1, y + 1 + BAR, STRIP, "w", o);
    timechart_put_level(s->chart, r, block_level, 1, y + 1 + BAR, STRIP, "b", o);
}

/* A process with one thread has only the row of its section's title. */
static unsigned put_single(const struct timechart_svg *s, const struct timechart_group *g, unsigned y,
                           struct out *o) {
    unsigned height = open_section(g->title, s->title(s->ctx, g->first), 0, false, y, o);
    open_plot(s, 3, ROW, o);
    put_thread(s, g->first, 0, o);
    out_str(o, "</svg>\n</g>\n");
    return height;
}

static void put_io_sum(const struct timechart_svg *s, const struct timechart_group *g, struct out *o) {
    open_plot(s, 3, ROW, o);
    io_rows_put(s->io, g->first, g->count, 0, o);
    out_str(o, "</svg>\n");
}

static unsigned put_group(const struct timechart_svg *s, const struct timechart_group *g, unsigned y,
                          struct out *o) {
    if (g->count == 1)
        return put_single(s, g, y, o);
    unsigned height = open_section(g->title, g->title, g->count, g->folded, y, o);
    if (s->io)
        put_io_sum(s, g, o);
    else
        put_sum(s, thread_row, g->first, g->count, false, o);
    out_str(o, "<g class=\"body\">\n");
    for (uint32_t i = 0; i < g->count && !o->failed; i++) {
        char label[256];
        snprintf(label, sizeof label, "%s", s->label(s->ctx, g->first + i));
        put_label(label, s->title(s->ctx, g->first + i), HEAD + i * ROW, o);
    }
    open_plot(s, HEAD, g->count * ROW, o);
    for (uint32_t i = 0; i < g->count && !o->failed; i++)
        put_thread(s, g->first + i, i * ROW, o);
    out_str(o, "</svg>\n</g>\n</g>\n");
    return height;
}

/* ---- the page ---- */

static unsigned page_height(const struct timechart_svg *s) {
    uint32_t cpus = (uint32_t)s->chart->cpus.count;
    unsigned height = TOP + (s->io ? 0 : HEAD + GAP + (cpus > CPUS_OPEN_MAX ? 0 : cpus * ROW));
    for (size_t i = 0; i < s->group_count && !s->no_threads; i++)
        height +=
            HEAD + GAP + (s->groups[i].folded || s->groups[i].count == 1 ? 0 : s->groups[i].count * ROW);
    return height + MARGIN;
}

struct legend {
    const char *class, *text;
};
static const struct legend STATES[] = {{"r4", "running"},        {"r1", "in a part of the time"},
                                       {"w", "waits for a CPU"}, {"b", "blocked"},
                                       {"o4", "highlighted"},    {"i1", "idle"},
                                       {"i4", "idle, deep"},     {0}};
static const struct legend IO[] = {{"r4", "read (above), written"},
                                   {"r1", "in a part of the time"},
                                   {"n4", "received (above), sent"},
                                   {"y4", "synced"},
                                   {"q4", "waited in a poll"},
                                   {"b", "failed"},
                                   {0}};

static void put_legend(const struct legend *items, struct out *o) {
    unsigned x = GUTTER;
    for (; items->class; items++) {
        out_printf(o, "<rect class=\"%s\" x=\"%u\" y=\"34\" width=\"10\" height=\"10\"/>", items->class, x);
        out_printf(o, "<text class=\"d\" x=\"%u\" y=\"43\">%s</text>\n", x + 14, items->text);
        x += 30 + 6 * (unsigned)strlen(items->text);
    }
}

static void put_axis(const struct timechart_svg *s, struct out *o) {
    const struct timechart *t = s->chart;
    for (unsigned i = 0; i <= TICKS; i++) {
        unsigned x = GUTTER + plot_width(s) * i / TICKS;
        uint64_t ns = t->begin_ns + (uint64_t)((unsigned __int128)(t->end_ns - t->begin_ns) * i / TICKS);
        out_printf(
            o, "<path class=\"g\" d=\"M%u 64v6\"/><text class=\"k d\" x=\"%u\" y=\"61\" text-anchor=\"%s\">",
            x, x,
            i == 0       ? "start"
            : i == TICKS ? "end"
                         : "middle");
        put_seconds(t, ns, o);
        out_str(o, "</text>\n");
    }
    out_printf(o, "<text class=\"d\" x=\"%d\" y=\"61\">seconds; wheel: zoom</text>\n", MARGIN);
}

void timechart_svg_write(const struct timechart_svg *s, struct out *o) {
    const struct timechart *t = s->chart;
    unsigned width = plot_width(s) + GUTTER + MARGIN, height = page_height(s), y = TOP;
    out_str(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out_printf(o,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
               "data-n=\"%" PRIu32 "\" data-left=\"%d\" data-plot=\"%u\" data-top=\"%d\" data-head=\"%d\" "
               "data-width=\"%u\" data-span=\"%.9f\" data-from=\"%.9f\">\n",
               width, height, width, height, t->columns, GUTTER, plot_width(s), TOP, HEAD, width,
               (double)(t->end_ns - t->begin_ns) / 1e9, (double)t->begin_ns / 1e9);
    out_str(o, STYLE);
    out_printf(o, "<text class=\"t\" x=\"%d\" y=\"20\">%.6f s", MARGIN,
               (double)(t->end_ns - t->begin_ns) / 1e9);
    if (s->note) {
        out_str(o, "<tspan class=\"d\" font-size=\"11\"> ");
        visible_xml(s->note, o);
        out_str(o, "</tspan>");
    }
    out_str(o, "</text>\n");
    put_legend(s->io ? IO : STATES, o);
    put_axis(s, o);
    y += s->io ? 0 : put_cpus(s, y, o);
    for (size_t i = 0; i < s->group_count && !s->no_threads && !o->failed; i++)
        y += put_group(s, &s->groups[i], y, o);
    out_str(o, SCRIPT);
    out_str(o, "</svg>\n");
}
