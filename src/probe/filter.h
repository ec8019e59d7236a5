/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are shown: patterns of fnmatch(3) joined by !, &, | and parentheses, as perf-probe(1) has them.
 */
#ifndef SONDE_PROBE_FILTER_H
#define SONDE_PROBE_FILTER_H

#include "base/err.h"

/* Whether the filter is well formed. False and *err (ERR_USAGE). */
bool probe_filter_check(const char *filter, struct err *err);
/* Whether a name passes a filter that was checked; NULL passes all. */
bool probe_filter_passes(const char *filter, const char *name);

#endif
