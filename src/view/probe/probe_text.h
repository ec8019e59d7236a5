/* SPDX-License-Identifier: Apache-2.0 */
/* What `sonde probe` shows, in perf's layout. */
#ifndef SONDE_VIEW_PROBE_PROBE_TEXT_H
#define SONDE_VIEW_PROBE_PROBE_TEXT_H

#include "base/text/out.h"
#include "probe/points.h"

/* "  probe_t:work         (on work+4@/src/t.c in /bin/t with n s)\n"; `args` may be empty; `path` may be
 * NULL. */
void probe_text_event(struct out *o, const struct probe_event *e, const char *place, const char *args,
                      const char *path);

/* --funcs: names of functions that pass the filter, sorted. False and *err: out of memory. */
bool probe_text_functions(struct out *o, struct probe_image *i, const char *filter, bool demangle,
                          struct err *err);

struct probe_vars_options {
    const char *filter;
    bool externals, ranges;
};
/* --vars: of each place. False and *err: there is none, or no DWARF. */
bool probe_text_variables(struct out *o, struct probe_image *i, const struct probe_spec *spec,
                          const struct probe_options *p, const struct probe_vars_options *v, struct err *err);

/* --line: source lines; those that have code are numbered. False and *err. */
bool probe_text_lines(struct out *o, struct probe_image *i, const struct probe_lines *l,
                      const struct probe_options *p, struct err *err);

#endif
