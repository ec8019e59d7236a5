/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes between the two recordings of a page are proved: what `diff --verdict` says of them. */
#ifndef SONDE_CMD_VIEW_SHOW_VERDICT_H
#define SONDE_CMD_VIEW_SHOW_VERDICT_H

#include "cmd/view/stacks_input.h"
#include "view/page/page.h"

/* Judges the recordings at paths[0] and [1], which `s` was read from with the same `report` options (as they
 * were before), into `out` (zeroed; page_verdicts_fini in any case). Where that cannot be done, a note in `s`
 * says why. False and *err: out of memory. */
bool show_verdict(struct command_env *env, const struct report_options *report, const char *const paths[2],
                  struct stacks *s, struct page_verdicts *out, struct err *err);

#endif
