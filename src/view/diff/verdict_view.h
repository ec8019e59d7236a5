/* SPDX-License-Identifier: Apache-2.0 */
/* Judged comparisons (profile/compare/judge.h) as text and as JSON (docs/JSON.md). */
#ifndef SONDE_VIEW_DIFF_VERDICT_VIEW_H
#define SONDE_VIEW_DIFF_VERDICT_VIEW_H

#include "base/text/json.h"
#include "base/text/out.h"
#include "profile/compare/judge.h"

/* What is shown of a recording. */
struct verdict_file {
    const char *path;
    uint64_t samples;
    bool is_new;
};

enum figure_says { FIGURE_UNJUDGED, FIGURE_TOO_FEW, FIGURE_NOTHING, FIGURE_LESS, FIGURE_MORE };

/* A figure of whole recordings or runs: an event's count, the duration. Means over those of each side. */
struct verdict_figure {
    const char *name;
    double base, now;
    bool ns;      /* nanoseconds */
    bool counted; /* by stat, in runs of their own; these come last */
    enum figure_says says;
    double low, high; /* unless FIGURE_UNJUDGED or _TOO_FEW: of the change, as a share (0.01: 1 %) */
};

struct verdict_view {
    const struct compare *compare;
    const struct judgement *judgement;
    const struct verdict_figure *figures;
    size_t figure_count;
    const struct verdict_file *files; /* by side of the comparison */
    const char *event;
    const char *doubts;   /* how the machines differ; NULL: no known difference */
    const char *programs; /* which names are taken for one program; NULL: none differ */
    enum judge_by by;
    const char *by_event; /* JUDGE_BY_EVENT */
    bool clock;           /* the event counts nanoseconds */
    double level;
    bool quiet, gated;
    double gate_share;         /* with gated */
    const char *gate_function; /* NULL: all */
    const uint32_t *offenders; /* rows, with gated */
    size_t offender_count;
    const struct compare_side *sides; /* as in struct diff_view */
    double least_caller;
    const char *only_comm, *only_dso, *only_symbol; /* as in report_text_options */
};

/* Prints the table of one event. False and *err: out of memory. */
bool verdict_text_print(const struct verdict_view *v, struct out *out, struct err *err);

/* Prints what verdict_text_print says above and below the table. */
void verdict_text_about(const struct verdict_view *v, struct out *out);

/* Appends the comparison of one event as an object. */
void verdict_json_print(const struct verdict_view *v, struct json *j);

/* Appends a row's keys, as one text: "libc.so.6 malloc". */
void verdict_put_name(const struct compare *c, uint32_t row, struct out *out);

#endif
