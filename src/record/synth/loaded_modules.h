/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel modules that are loaded. */
#ifndef SONDE_RECORD_SYNTH_LOADED_MODULES_H
#define SONDE_RECORD_SYNTH_LOADED_MODULES_H

#include "base/arena.h"
#include "os/proc/proc.h"

struct record_module {
    const char *name;
    const char *path; /* of its file, or "[NAME]" where that is not known; of the arena, like `name` */
    uint64_t base;    /* as /proc/modules says; where the module's memory begins */
    uint64_t start, end;
    struct os_build_id build_id;
};

struct record_modules {
    struct arena arena;
    VEC(struct record_module) list; /* by address */
};

/*
 * All modules whose addresses we may see. /proc/modules has address and size (proc(5)). Until a
 * module's init code is freed, some time after it is "Live", that size counts it too, so that
 * /sys/module/NAME/coresize is asked; one that begins to load and is not in sysfs yet is left out. Since
 * Linux 6.4 a module's text and its data lie apart, and the size is that of all together: an end never
 * reaches into the next module. False when memory ran out; a kernel without modules has none.
 */
bool record_modules_read(const struct os_proc *proc, struct record_modules *out);
void record_modules_fini(struct record_modules *m);

#endif
