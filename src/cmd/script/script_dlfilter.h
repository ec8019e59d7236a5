/* SPDX-License-Identifier: Apache-2.0 */
/* Filters in shared objects: `script --dlfilter FILE.so --dlarg ARG` (perf-dlfilter(1), include/perf). */
#ifndef SONDE_CMD_SCRIPT_SCRIPT_DLFILTER_H
#define SONDE_CMD_SCRIPT_SCRIPT_DLFILTER_H

#include "base/err.h"
#include "base/text/out.h"
#include "cmd/common/options/option.h"
#include "view/script/script_print.h"

struct script_dlfilter;

/* What a filter can ask is answered from these; all borrowed. */
struct script_dlfilter_world {
    struct script_print *print;
    struct symbol_store *store;
    const struct option_list *args;
};

/* Loads the filter and calls its start. A name without "/" is looked for here, then among sonde's own, then
 * where the dynamic linker looks. NULL with *err. */
struct script_dlfilter *script_dlfilter_open(const char *name, const struct script_dlfilter_world *world,
                                             struct err *err);

/* Calls its stop; false with *err when that reports a failure. NULL is allowed. */
bool script_dlfilter_close(struct script_dlfilter *f, struct err *err);

/* Asks filter_event (or, `early`, filter_event_early) about a sample. *keep; false with *err when the filter
 * gives up. */
bool script_dlfilter_ask(struct script_dlfilter *f, bool early, const struct script_sample *x, bool *keep,
                         struct err *err);

/* Prints the filters in a folder with their descriptions; `verbose`: the long ones. */
bool script_dlfilter_list(struct out *out, bool verbose);

#endif
