/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_cell.h"

#include <math.h>
#include <stdio.h>

/* perf-config(1), colors.top and colors.medium: limits from there, colours as perf has them on a terminal. */
#define TOP_PERCENT    5.0
#define MEDIUM_PERCENT 0.5
#define COLOR_TOP      "\033[31m"
#define COLOR_MEDIUM   "\033[32m"
#define COLOR_END      "\033[m"

/* Prints two decimals with integers, for speed. If a value is so near the middle between two that the last
 * bit of the double decides, printf does it. */
static void print_number(double percent, unsigned width, struct out *out) {
    double scaled = percent * 100, below = floor(scaled), rest = scaled - below;
    if (percent < 0 || percent > 1e9 || fabs(rest - 0.5) < 1e-6) {
        out_printf(out, "%*.2f%%", width ? (int)width - 1 : 0, percent);
        return;
    }
    uint64_t n = (uint64_t)below + (rest > 0.5);
    out_dec(out, n / 100, width > 4 ? width - 4 : 0);
    out_char(out, '.');
    out_dec0(out, n % 100, 2);
    out_char(out, '%');
}

void report_print_percent(double percent, unsigned width, bool color, struct out *out) {
    const char *start = NULL;
    if (color)
        start = percent >= TOP_PERCENT ? COLOR_TOP : percent >= MEDIUM_PERCENT ? COLOR_MEDIUM : NULL;
    if (start)
        out_str(out, start);
    print_number(percent, width, out);
    if (start)
        out_str(out, COLOR_END);
}

void report_print_unit(uint64_t n, struct out *out) {
    static const char units[] = " KMG";
    unsigned unit = 0;
    for (; n > 1000 && unit + 2 < sizeof units; unit++)
        n /= 1000;
    out_dec(out, n, 0);
    out_char(out, units[unit]);
}
