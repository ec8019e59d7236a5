/* SPDX-License-Identifier: Apache-2.0 */
/* The report itself: reads an open recording into a model, symbols and a profile, and prints that. */
#ifndef SONDE_CMD_REPORT_REPORT_PROFILE_H
#define SONDE_CMD_REPORT_REPORT_PROFILE_H

#include "cmd/common/command.h"
#include "cmd/report/report_options.h"
#include "recording/naming.h"
#include "recording/recording.h"

struct report_session;

/* Does everything up to the frozen profile; prints nothing. `r` and `o` are borrowed and must outlive it.
 * NULL: *err says why. */
struct report_session *report_session_new(struct recording *r, const struct report_options *o,
                                          const struct command_env *env, struct err *err);
void report_session_free(struct report_session *s); /* NULL is allowed */

/* The parts of a session, for other views of it. */
struct report_session_parts {
    const struct profile *profile;
    const struct model *model;
    const struct recording_names *naming;
    uint64_t lost;      /* lost samples, from LOST_SAMPLES records */
    uint64_t throttled; /* how often the kernel paused an event */
    uint64_t late;      /* records about tasks and maps that came after their round */
};
struct report_session_parts report_session_parts(const struct report_session *s);

/* Prints the profile as text or JSON. False: memory. */
bool report_session_print(struct report_session *s, bool color, struct out *out, struct err *err);

/* Whether the user ended reading early, which it reports through log_line. */
bool report_session_interrupted(const struct report_session *s);

/* Reports other facts through log_line, after everything is printed. */
void report_session_warn(const struct report_session *s);

#endif
