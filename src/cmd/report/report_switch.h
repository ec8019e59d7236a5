/* SPDX-License-Identifier: Apache-2.0 */
/* --switch-on and --switch-off: from which event on, and up to which, samples count. */
#ifndef SONDE_CMD_REPORT_REPORT_SWITCH_H
#define SONDE_CMD_REPORT_REPORT_SWITCH_H

#include "recording/recording.h"

struct report_switch_span {
    struct model_when on, off; /* after `on`, before `off`: the events themselves do not count */
};

struct report_switch {
    bool asked;
    VEC(struct report_switch_span) spans; /* ascending */
};

/* The index of the event that an option names; PERFDATA_NO_EVENT for NULL. False: there is none. */
bool report_switch_event(const struct recording *r, const char *option, const char *name, uint32_t *out,
                         struct err *err);

/* Looks for the events in the whole recording, and rewinds it. Either may be NULL. `w` is zeroed; freed with
 * report_switch_fini in any case. False: no such event, or reading failed. */
bool report_switch_find(struct report_switch *w, struct recording *r, const char *on, const char *off,
                        struct err *err);
void report_switch_fini(struct report_switch *w);

bool report_switch_is_on(const struct report_switch *w, struct model_when when);

#endif
