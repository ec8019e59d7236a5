/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as text, in perf report --stdio's layout: for each event a title, the names of the columns, one
 * row per entry, and below a row its call graph.
 */
#ifndef SONDE_VIEW_REPORT_REPORT_TEXT_H
#define SONDE_VIEW_REPORT_REPORT_TEXT_H

#include "base/pool.h"
#include "view/report/report_graph.h"

struct report_text_options {
    const struct profile_columns *columns;
    enum profile_chain_mode chain_mode;
    enum profile_chain_order chain_order;
    enum report_graph_value chain_value;
    unsigned chain_limit; /* 0: none */
    double percent_limit; /* entries below are left out */
    bool children, hierarchy;
    bool blocks; /* --total-cycles: basic blocks in place of rows */
    bool quiet;  /* no titles */
    bool color;
    const char *program;    /* whose report the tip speaks of */
    bool keep_empty;        /* a table even for an event without samples */
    const char *separator;  /* between columns (-t); NULL: padded columns */
    const unsigned *widths; /* -w, by column in order of printing; 0: as wide as need be */
    size_t width_count;
    const char *only_comm, *only_dso, *only_symbol; /* the one that a filter leaves: said once, no column */
    uint64_t lost;                                  /* samples that were lost while recording */
    const char *times;                              /* --time */
    int socket;                                     /* --socket-filter; -1: none */
    bool shows_reference;                           /* --show-ref-call-graph */
    const char *memory_sort;                        /* --mem-mode: the sort keys, for the title; else NULL */
    bool unmade_group; /* a group that is not seen, or with one event only: the first one's title speaks of
                          events */
    bool made_group;   /* --group of events that were not recorded as one: no group's name */
    const struct perfdata_events *events;
    struct pool *pool; /* the threads to print on; NULL: one */
};

/* False with *err when memory ran out; what the sink could not take is the sink's to say. */
bool report_text_print(const struct profile *p, const struct report_text_options *o, struct out *out,
                       struct err *err);

#endif
