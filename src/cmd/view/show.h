/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a page to the user: as a file, or in a browser. */
#ifndef SONDE_CMD_VIEW_SHOW_H
#define SONDE_CMD_VIEW_SHOW_H

#include "cmd/view/stacks_input.h"
#include "view/page/page.h"

struct show_options {
    const char *output;                   /* write the page to this file; NULL: serve it */
    const char *port;                     /* serve it here; NULL: any */
    bool open;                            /* ask for a browser */
    const struct page_verdicts *verdicts; /* of two recordings; NULL: none */
};

/* Shows the stacks. Returns the exit status. */
int show_page(struct command_env *env, const struct show_options *o, const struct stacks *s);

/* `view` of one recording with default options, for commands that have just written it. */
int show_recording(struct command_env *env, const char *path);

#endif
