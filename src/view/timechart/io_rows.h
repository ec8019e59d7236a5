/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a chart of input and output: above what came in (read, received), below what went out (written,
 * sent, synced), behind both the waits in polls; a red mark where calls failed. Of several kinds in one
 * column and half the longest is drawn.
 */
#ifndef SONDE_VIEW_TIMECHART_IO_ROWS_H
#define SONDE_VIEW_TIMECHART_IO_ROWS_H

#include "base/text/out.h"
#include "states/timechart/io_chart.h"

/* Draws threads [first, first + count) together as one row of 14 units from y on. */
void io_rows_put(const struct io_chart *c, uint32_t first, uint32_t count, unsigned y, struct out *o);

#endif
