/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a recording, as perf evlist lists them. */
#ifndef SONDE_VIEW_LISTS_EVLIST_TEXT_H
#define SONDE_VIEW_LISTS_EVLIST_TEXT_H

#include "base/text/out.h"
#include "format/perfdata/events/event_name.h"

struct evlist_text_options {
    bool freq;           /* -F */
    bool verbose;        /* -v: the whole attr */
    bool group;          /* -g: a group's events in one line */
    bool trace_fields;   /* --trace-fields */
    const char *program; /* name of the program in the hints */
    bool attr_names;     /* take names from the attrs alone, as perf evlist does for pipes */
};

/* Writes one line per event (or group), then hints at what else could be shown. */
void evlist_text_write(const struct perfdata_events *events, const struct perfdata_namer *names,
                       const struct evlist_text_options *opts, struct out *o);

#endif
