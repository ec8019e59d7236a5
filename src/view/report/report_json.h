/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as one line of JSON; its shape is in docs/JSON.md and only grows. */
#ifndef SONDE_VIEW_REPORT_REPORT_JSON_H
#define SONDE_VIEW_REPORT_REPORT_JSON_H

#include "profile/profile.h"

struct report_json_options {
    const struct profile_columns *columns;
    bool graphs; /* call graphs, too */
    bool blocks; /* basic blocks, too */
    const struct perfdata_events *events;
};

/* Writes the profile. False and *err: out of memory. */
bool report_json_print(const struct profile *p, const struct report_json_options *o, struct out *out,
                       struct err *err);

#endif
