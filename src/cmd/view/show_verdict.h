/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes between the two recordings of a page are proved: what `diff --verdict` says of them. */
#ifndef SONDE_CMD_VIEW_SHOW_VERDICT_H
#define SONDE_CMD_VIEW_SHOW_VERDICT_H

#include "cmd/view/stacks_input.h"
#include "view/page/page.h"

/* Judges the two recordings, which stacks_read kept when it read `s`, into `out` (zeroed; page_verdicts_fini
 * in any case). Where that cannot be done, a note in `s` says why. False and *err: out of memory. */
bool show_verdict(struct command_env *env, const struct diff_files *files, struct stacks *s,
                  struct page_verdicts *out, struct err *err);

#endif
