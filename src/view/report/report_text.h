/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as text, in the layout of perf report --stdio: for each event a title, the names of the columns,
 * and its rows, each with its call graph below.
 */
#ifndef SONDE_VIEW_REPORT_REPORT_TEXT_H
#define SONDE_VIEW_REPORT_REPORT_TEXT_H

#include "base/threads/pool.h"
#include "view/report/report_graph.h"

struct report_text_options {
    const struct profile_columns *columns;
    enum profile_chain_mode chain_mode;
    enum profile_chain_order chain_order;
    enum report_graph_value chain_value;
    unsigned chain_limit; /* 0: none */
    double percent_limit; /* rows below it are left out */
    bool children, hierarchy;
    bool blocks; /* --total-cycles: basic blocks instead of rows */
    bool quiet;  /* no titles */
    bool color;
    const char *program;    /* name of the program in the tip */
    bool keep_empty;        /* print a table even for an event without samples */
    const char *separator;  /* between columns (-t); NULL: padded columns */
    const unsigned *widths; /* -w, by column in printing order; 0: as wide as needed */
    size_t width_count;
    const char *only_comm, *only_dso, *only_symbol; /* the only value that a filter leaves: no column */
    uint64_t lost;                                  /* samples that were lost while recording */
    const char *times;                              /* --time */
    int socket;                                     /* --socket-filter; -1: none */
    bool shows_reference;                           /* --show-ref-call-graph */
    const char *memory_sort; /* --mem-mode: the sort keys, for the title; NULL: not that mode */
    bool unmade_group; /* the group is not shown as one, or has one event only: the first one's title says
                          "events" */
    bool made_group;   /* --group of events that were not recorded as a group: no group's name */
    const struct perfdata_events *events;
    struct pool *pool; /* threads to print on; NULL: only this one */
};

/* Prints the profile. False and *err: out of memory. What cannot be written is reported by the sink. */
bool report_text_print(const struct profile *p, const struct report_text_options *o, struct out *out,
                       struct err *err);

#endif
