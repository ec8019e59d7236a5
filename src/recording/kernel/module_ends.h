/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ends of kernel modules of which the recording has only the start (the last one, in recordings of
 * perf before 4.13). */
#ifndef SONDE_RECORDING_MODULE_ENDS_H
#define SONDE_RECORDING_MODULE_ENDS_H

#include "model/model.h"

/* Sources of the modules' ends; each may be absent. Borrowed. */
struct module_ends {
    const struct bytes *lines; /* two texts of module_lines.h */
    const char *kallsyms;      /* path of a list of symbols */
    const char *symfs;         /* where to look for modules' files */
    const char *release;       /* OSRELEASE of the recording */
};

/* Sets the ends of the model's modules that any of these sources knows; call it before the freeze. */
void module_ends_find(const struct module_ends *from, struct model *m);

#endif
