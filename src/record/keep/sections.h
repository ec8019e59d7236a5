/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where kernel modules and their sections lie: the text of PERFDATA_PART_SECTIONS and
 * PERFDATA_PART_MODULES (docs/FORMAT.md). Lines of fields with a tab between them; addresses in hexadecimal,
 * a build-id that is not known as "-":
 *
 *     module  START END BUILD-ID NAME PATH
 *     section ADDRESS NAME                     of the module above
 */
#ifndef SONDE_RECORD_KEEP_SECTIONS_H
#define SONDE_RECORD_KEEP_SECTIONS_H

#include "os/proc/proc.h"
#include "os/sysfs.h"
#include "record/synth/loaded_modules.h"

/* One module and its sections. */
void record_sections_module(const struct os_proc *proc, const struct sysfs *sys,
                            const struct record_module *m, struct writer *w);

/* All of a list. False when memory ran out. */
bool record_sections_encode(const struct os_proc *proc, const struct sysfs *sys,
                            const struct record_modules *modules, struct writer *w);

#endif
