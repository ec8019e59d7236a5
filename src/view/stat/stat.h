/* SPDX-License-Identifier: Apache-2.0 */
/* Frozen counts as text, CSV and JSON (perf-stat(1)). Pure: writes to the sink it is given. */
#ifndef SONDE_VIEW_STAT_STAT_H
#define SONDE_VIEW_STAT_STAT_H

#include "base/text/out.h"
#include "count/counts.h"
#include "count/metric/metric.h"

enum stat_form { STAT_TEXT, STAT_CSV, STAT_JSON };

/* How wide the columns of text are, and what changed its name between perf's releases. */
struct stat_columns {
    unsigned name;              /* of an event; a space follows */
    unsigned metric;            /* "# ..." */
    unsigned key[COUNT_LEVELS]; /* of what counts are told apart by */
    const char *counters;       /* heading of how many counters were added up */
    const char *counters_key;   /* the same in JSON */
    const char *cpu;            /* heading of CPUs */
    bool short_table;           /* --table with seven decimals at most, indented by two more */
    bool csv_blanks;            /* times in CSV begin with blanks */
    bool json_numbers;          /* metrics are numbers in JSON, not texts */
};

extern const struct stat_columns STAT_COLUMNS_7, STAT_COLUMNS_6;

struct stat_view {
    enum stat_form form;
    const char *separator; /* of CSV */
    const struct stat_columns *columns;
    const char *thousands;            /* between groups of three digits of counts in text; "": nothing */
    const struct metric_set *metrics; /* instead of rates, unless there are none; NULL: rates */
    bool metric_only, intervals;      /* intervals: rows begin with the time */
    bool csv_summary;                 /* sums after intervals begin with "summary" in CSV */
    size_t runs;                      /* several: how much they differ is shown */
};

/* The heading over intervals in text. */
void stat_print_interval_heading(const struct stat_view *v, const struct counts *c, struct out *o);
/* All rows. `sums`: after intervals, those of the whole time, which rows do not begin with. */
void stat_print_rows(const struct stat_view *v, const struct counts *c, bool sums, struct out *o);

/* " Performance counter stats for 'true' (3 runs):" with blank lines around it; text only. `what`: "'true'",
 * "process id '7'", "'system wide'". */
void stat_print_title(const struct stat_view *v, const char *what, struct out *o);

/* Times at the end: elapsed, and of a command those it used; of several runs (elapsed_ns of each) how they
 * vary, with `table` one by one. Text only. */
struct stat_times {
    const double *elapsed_ns;
    size_t runs;
    bool table, command;
};
void stat_print_times(const struct stat_view *v, const struct counts *c, const struct stat_times *t,
                      struct out *o);

#endif
