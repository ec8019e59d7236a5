/* SPDX-License-Identifier: Apache-2.0 */
/* The report proper: an open recording, through model, symbols and profile, into text. */
#ifndef SONDE_CMD_REPORT_REPORT_PROFILE_H
#define SONDE_CMD_REPORT_REPORT_PROFILE_H

#include "cmd/common/command.h"
#include "cmd/report/report_options.h"
#include "recording/naming.h"
#include "recording/recording.h"

struct report_session;

/* Everything up to the frozen profile; nothing is printed. `r` and `o` are borrowed and must live as long;
 * NULL: *err says why. */
struct report_session *report_session_new(struct recording *r, const struct report_options *o,
                                          const struct command_env *env, struct err *err);
void report_session_free(struct report_session *s); /* NULL is allowed */

/* What it is made of, for who shows something else of it. */
struct report_session_parts {
    const struct profile *profile;
    const struct model *model;
    const struct recording_names *naming;
    uint64_t lost;      /* samples, by LOST_SAMPLES records */
    uint64_t throttled; /* how often the kernel stopped an event for a while */
    uint64_t late;      /* records about tasks and maps that came later than their round */
};
struct report_session_parts report_session_parts(const struct report_session *s);

/* The profile as text or JSON. False: memory. */
bool report_session_print(struct report_session *s, bool color, struct out *out, struct err *err);

/* Whether the user ended reading early; says so through log_line. */
bool report_session_interrupted(const struct report_session *s);

/* What else should be said, once everything is printed: through log_line. */
void report_session_warn(const struct report_session *s);

#endif
