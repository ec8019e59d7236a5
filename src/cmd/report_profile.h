/* SPDX-License-Identifier: Apache-2.0 */
/* The report proper: an open recording, through model, symbols and profile, into text. */
#ifndef SONDE_CMD_REPORT_PROFILE_H
#define SONDE_CMD_REPORT_PROFILE_H

#include "cmd/command.h"
#include "cmd/reading.h"
#include "cmd/report_options.h"

struct report_session;

/* Everything up to the frozen profile; nothing is printed. `r` and `o` are borrowed and must live as long;
 * NULL: *err says why. */
struct report_session *report_session_new(struct reading *r, const struct report_options *o,
                                          const struct command_env *env, struct err *err);
void report_session_free(struct report_session *s); /* NULL is allowed */

/* The profile as text or JSON. False: memory. */
bool report_session_print(struct report_session *s, bool color, struct out *out, struct err *err);

/* What else should be said, once everything is printed: through log_line. */
void report_session_warn(const struct report_session *s);

#endif
