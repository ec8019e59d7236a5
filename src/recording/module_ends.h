/* SPDX-License-Identifier: Apache-2.0 */
/* Where kernel modules end of which the recording says only where they begin (perfs before 4.13, the last
 * one). */
#ifndef SONDE_RECORDING_MODULE_ENDS_H
#define SONDE_RECORDING_MODULE_ENDS_H

#include "model/model.h"

/* What may tell; anything may be absent. Borrowed. */
struct module_ends {
    const struct bytes *lines; /* two texts of module_lines.h */
    const char *kallsyms;      /* path of a list of symbols */
    const char *symfs;         /* where to look for modules' files */
    const char *release;       /* OSRELEASE of the recording */
};

/* Ends those of the model's modules that any of these tells the end of; call it before the freeze. */
void module_ends_find(const struct module_ends *from, struct model *m);

#endif
