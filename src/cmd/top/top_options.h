/* SPDX-License-Identifier: Apache-2.0 */
/* What the user requested of `top`: what to record, as of `record`, and what to show, as of `report`. */
#ifndef SONDE_CMD_TOP_TOP_OPTIONS_H
#define SONDE_CMD_TOP_TOP_OPTIONS_H

#include "cmd/common/options/event_options.h"
#include "cmd/report/report_options.h"
#include "record/options.h"

struct top_options {
    struct record_options record; /* first: rows for all of this are rows for it */
    struct report_options view;
    event_choices selected;
    const char *freq, *user;
    bool plain_callgraph, group, no_inherit;
    bool zero;                          /* each screen begins from nothing */
    bool hide_kernel, hide_user;        /* samples taken there do not count */
    const char *sym_annotate;           /* NULL: none */
    const char *switch_on, *switch_off; /* names of events; NULL: none */
    uint64_t delay_ms;                  /* between screens */
    uint64_t entries, count_filter;     /* 0: as many as there is room for; all */
    int verbose, realtime;
    const char *absent; /* an option that sonde does not have yet was used */
    uint64_t ignored;

    /* Made of the above. */
    char user_number[16];
    char *sort; /* owned */
};

void top_options_init(struct top_options *o, const struct perfconfig *config);
void top_options_fini(struct top_options *o);

extern const struct option top_option_rows[];

/* Checks what single options could not, and fills in what follows from them. `events`: those that -e and the
 * like name. False: *err says why, or is ERR_NONE when an event's error was shown. */
bool top_options_settle(struct top_options *o, const struct perfconfig *config,
                        struct perf_event_sources *src, struct perf_events *events, struct err *err);

/* "2", "0.5": seconds, as ms. False: it is no such number. */
bool top_delay_parse(const char *text, uint64_t *ms);

#endif
