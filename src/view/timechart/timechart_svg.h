/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timechart as SVG: a section of CPUs and one of each process, which fold; the time axis zooms (a constant
 * script; without scripts the chart is static). Names are escaped, and appear in texts only. Of each row
 * there are at most as many figures as columns, whatever was recorded.
 */
#ifndef SONDE_VIEW_TIMECHART_TIMECHART_SVG_H
#define SONDE_VIEW_TIMECHART_TIMECHART_SVG_H

#include "base/text/out.h"
#include "states/timechart/io_chart.h"
#include "states/timechart/timechart.h"

/* Threads [first, first + count) of the chart's. */
struct timechart_group {
    const char *title; /* the section's; borrowed as all texts */
    uint32_t first, count;
    bool folded;
};

struct timechart_svg {
    const struct timechart *chart;
    const struct io_chart *io; /* `chart` is its span, rows are input and output; NULL: states of threads */
    unsigned width;            /* of the page; at least TIMECHART_SVG_WIDTH_MIN */
    bool no_power, no_threads; /* these parts are left out */
    const struct timechart_group *groups;
    size_t group_count;
    void *ctx;
    const char *(*label)(void *ctx, uint32_t row); /* of a thread's row; valid until the next call */
    const char *(*title)(void *ctx, uint32_t row); /* the same at length */
    bool (*highlight)(void *ctx, uint32_t row);
    const char *note; /* a line below the title; NULL: none */
};

enum { TIMECHART_SVG_WIDTH_MIN = 400 };

void timechart_svg_write(const struct timechart_svg *s, struct out *o);

#endif
