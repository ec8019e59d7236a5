/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel and its modules: where their code is, and their build-ids. */
#ifndef SONDE_RECORDING_KERNEL_MAPS_H
#define SONDE_RECORDING_KERNEL_MAPS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "object/build_id.h"
#include "os/files/files.h"

struct kernel_map {
    uint64_t start, end;       /* addresses of the text; both 0 if they are hidden from this user */
    struct object_build_id id; /* size 0: not known */
    const char *path; /* "[kernel.kallsyms]", a module's file, or "[name]"; owned by the list's arena */
};

struct kernel_maps {
    struct arena arena;
    VEC(struct kernel_map) list; /* by address */
};

/* Reads the running kernel's build-id from /sys/kernel/notes. False and *err: it cannot be read. */
bool kernel_maps_kernel_id(const struct os_files *files, struct object_build_id *out, struct err *err);

/* Reads the kernel's and the modules' addresses from /proc/kallsyms (_stext, _etext) and /proc/modules,
 * build-ids from the notes in /sys, modules' paths from /lib/modules/`release`/modules.dep. What is missing
 * is left out. False: out of memory, or the kernel's symbols cannot be read. Call kernel_maps_fini in any
 * case. */
bool kernel_maps_read(struct kernel_maps *maps, const struct os_files *files, const char *release,
                      struct err *err);
void kernel_maps_fini(struct kernel_maps *maps);

#endif
