/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of system calls as tables (perf-trace(1), -s), or as JSON (docs/JSON.md, trace). */
#ifndef SONDE_VIEW_TRACE_TRACE_SUMMARY_H
#define SONDE_VIEW_TRACE_TRACE_SUMMARY_H

#include "base/text/out.h"
#include "calls/summary.h"

enum trace_summary_mode { TRACE_SUMMARY_THREAD, TRACE_SUMMARY_TOTAL, TRACE_SUMMARY_CGROUP };

struct trace_summary_options {
    enum trace_summary_mode mode;
    bool errnos;   /* --errno-summary */
    uint64_t most; /* calls of a group that are shown; 0: all */
};

/* Prints sums that are sorted. `c`: the tables of names. */
void trace_summary_text(const struct calls_summary *s, const struct calls *c,
                        const struct trace_summary_options *o, struct out *out);
void trace_summary_json(const struct calls_summary *s, const struct calls *c,
                        const struct trace_summary_options *o, struct out *out);

#endif
