/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernel functions as text (perf-ftrace(1)): a histogram, a table, a tree, folded stacks. */
#ifndef SONDE_VIEW_FTRACE_FTRACE_TEXT_H
#define SONDE_VIEW_FTRACE_FTRACE_TEXT_H

#include "base/text/out.h"
#include "ftrace/calls.h"
#include "ftrace/histogram.h"

/* Prints the histogram and its statistics below; if it is empty, one line says so. */
void ftrace_histogram_print(const struct ftrace_histogram *h, bool hide_empty, struct out *o);

enum ftrace_sort { FTRACE_BY_TOTAL, FTRACE_BY_AVG, FTRACE_BY_MAX, FTRACE_BY_COUNT, FTRACE_BY_NAME };

/* `names`: of each function of `c`, in its order. False: out of memory. */
bool ftrace_profile_print(const struct ftrace_calls *c, const char *const *names, enum ftrace_sort sort,
                          struct out *o);
/* Prints the call tree, the longest time first. */
bool ftrace_tree_print(const struct ftrace_calls *c, const char *const *names, struct out *o);
/* "outer;inner ns": stacks with the self time of their innermost function, as flame graph tools read them. */
bool ftrace_folded_print(const struct ftrace_calls *c, const char *const *names, struct out *o);

#endif
