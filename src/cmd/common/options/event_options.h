/* SPDX-License-Identifier: Apache-2.0 */
/* What options say of events and of whose they are, for all commands that open events. */
#ifndef SONDE_CMD_COMMON_EVENT_OPTIONS_H
#define SONDE_CMD_COMMON_EVENT_OPTIONS_H

#include "base/vec.h"
#include "cmd/common/options/option.h"
#include "events/event_parse.h"

/* -e, --pfm-events, --filter, --exclude-perf, -G and --switch-output-event depend on each other's order. */
struct event_choice {
    enum {
        EVENT_CHOICE_EVENT,
        EVENT_CHOICE_PFM,
        EVENT_CHOICE_FILTER,
        EVENT_CHOICE_EXCLUDE_SELF,
        EVENT_CHOICE_CGROUPS,
        EVENT_CHOICE_SWITCH
    } what;
    const char *text;
};

typedef VEC(struct event_choice) event_choices;

/* For OPTION_CALL rows; the field is an event_choices. */
option_fn event_choices_set;

/*
 * Parses them all, in order; --switch-output-event's go to `triggers` (may be NULL where there is no such
 * option). False: *err says why, or is ERR_NONE when the place in the event's text has been shown on stderr.
 */
bool event_choices_parse(const event_choices *choices, struct perf_event_sources *src,
                         struct perf_events *events, struct perf_events *triggers, struct err *err);

/* -u: the number of a user given by name or number, as text; NULL stays NULL. */
bool event_options_user(const char *user, char room[16], const char **number, struct err *err);

#endif
