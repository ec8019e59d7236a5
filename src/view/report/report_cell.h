/* SPDX-License-Identifier: Apache-2.0 */
/* Percentages and sums as report prints them, in rows and in call graphs. */
#ifndef SONDE_VIEW_REPORT_REPORT_CELL_H
#define SONDE_VIEW_REPORT_REPORT_CELL_H

#include "base/text/out.h"

/* Returns 100 * part / whole; 0 if whole is 0. */
static inline double report_percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Prints as "%*.2f%%" does, with the sign included in `width`; with `color` in red from 5 %, in green from
 * 0.5 %. */
void report_print_percent(double percent, unsigned width, bool color, struct out *out);

/* Prints a number of samples as the title has it: "195 ", "12K", "3M": rounded down to thousands or millions,
 * followed by the unit or a space. */
void report_print_unit(uint64_t n, struct out *out);

#endif
