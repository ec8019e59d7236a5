/* SPDX-License-Identifier: Apache-2.0 */
/* The report in the terminal, to be browsed. */
#ifndef SONDE_CMD_REPORT_REPORT_TUI_H
#define SONDE_CMD_REPORT_REPORT_TUI_H

#include "cmd/report/report_profile.h"

/* Whether the options, the configuration and the terminal ask for the browser. If --tui does and it is not to
 * be had, reports that. */
bool report_tui_wanted(const struct command_env *env, const struct report_options *o);

/* Shows a session whose options have `stacks` and `moments` until the user leaves. False: *err says why
 * nothing was shown (ERR_ABSENT: there is nothing to show). *ended: the signal that ended it, or 0. */
bool report_tui_run(struct report_session *s, struct recording *r, struct command_env *env,
                    const struct report_options *o, int *ended, struct err *err);

#endif
