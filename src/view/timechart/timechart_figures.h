/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a chart's rows: of each row and level one path, whose parts are as many columns wide as
 * follow each other with that level.
 *
 *   <path class="r4" d="M0 1h200v8h-200zM600 1h200v8h-200z"/>
 */
#ifndef SONDE_VIEW_TIMECHART_TIMECHART_FIGURES_H
#define SONDE_VIEW_TIMECHART_TIMECHART_FIGURES_H

#include "base/text/out.h"
#include "states/timechart/timechart.h"

enum { TIMECHART_LEVELS = 4 };

/* 0: nothing, else the quarter of the column that `part` reaches into, from 1 on. */
unsigned timechart_level(uint64_t part, uint64_t whole);

/* The level of a row's figure in a column; 0: none. */
typedef unsigned timechart_level_fn(const void *row, uint32_t column, uint64_t column_ns);

/* Writes all figures of one level as one path; none if there are none. */
void timechart_put_level(const struct timechart *t, const void *row, timechart_level_fn *level,
                         unsigned wanted, unsigned y, unsigned height, const char *class, struct out *o);

/* Likewise all levels, in the classes of this letter: "r1" to "r4". */
void timechart_put_levels(const struct timechart *t, const void *row, timechart_level_fn *level, unsigned y,
                          unsigned height, char letter, struct out *o);

#endif
