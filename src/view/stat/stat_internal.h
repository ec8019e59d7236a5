/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms share: stat.c goes through the rows, the others print one. */
#ifndef SONDE_VIEW_STAT_STAT_INTERNAL_H
#define SONDE_VIEW_STAT_STAT_INTERNAL_H

#include "view/stat/stat.h"

/* What stands behind a count. */
struct stat_metric {
    double value; /* NaN: it cannot be told */
    const char *unit;
    const char *name; /* NULL: of a rate, whose unit says it all */
    unsigned digits;  /* after the point */
    bool percent;     /* a rate in per cent */
};

enum { STAT_METRICS_MAX = 64 /* of one row */, STAT_LABEL = 160 };

struct stat_row {
    const struct stat_view *view;
    const struct counts *counts;
    size_t key, event;
    bool sums;
};

/* What stands behind the count of a row: how many. */
unsigned stat_row_metrics(const struct stat_row *r, struct stat_metric out[STAT_METRICS_MAX]);
/* "cs/sec  cs_per_second": the unit with the name. */
void stat_metric_label(const struct stat_metric *m, char out[STAT_LABEL]);

/* The count as text: with at most two digits after the point if it is scaled, else none; "<not counted>". */
enum { STAT_COUNT_ROOM = 96 };
void stat_count_text(const struct stat_row *r, char out[STAT_COUNT_ROOM]);

/* What its running time is of the time it was enabled, in %. */
double stat_running_percent(const struct count_cell *c);

void stat_text_row(const struct stat_row *r, struct out *o);
void stat_csv_row(const struct stat_row *r, struct out *o);
void stat_json_row(const struct stat_row *r, struct out *o);
/* What a row begins with: the time of an interval, and the key. */
void stat_text_begin(const struct stat_row *r, struct out *o);
void stat_csv_begin(const struct stat_row *r, struct out *o);
/* True: there are members already. */
bool stat_json_begin(const struct stat_row *r, struct out *o);

/* --metric-only: one row for all events of a key, or of all. */
void stat_metric_only(const struct stat_view *v, const struct counts *c, bool sums, struct out *o);
void stat_metric_only_heading(const struct stat_view *v, const struct counts *c, struct out *o);

#endif
