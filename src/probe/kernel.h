/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of the running kernel and its modules by the names of functions alone: what /proc/kallsyms lists.
 * With a vmlinux that has DWARF, points.h does more. */
#ifndef SONDE_PROBE_KERNEL_H
#define SONDE_PROBE_KERNEL_H

#include "probe/event.h"
#include "probe/syntax.h"

struct probe_kernel {
    struct bytes kallsyms; /* its text */
    const char *module;    /* functions of this module only; NULL: of the kernel and all modules */
    bool offline;          /* the module need not be loaded: its functions are taken on trust */
};

/* A module's name, from the name or the path of its file: ext4 from /lib/modules/6.1/kernel/fs/ext4.ko.xz.
 * NULL: out of memory. */
const char *probe_kernel_module(struct arena *a, const char *text);

/* Appends the events of a probe. False and *err: there is no such function; something is asked for that needs
 * a vmlinux; out of memory. */
bool probe_kernel_events(const struct probe_kernel *k, const struct probe_spec *spec, unsigned max_probes,
                         struct arena *a, probe_events *out, struct err *err);

/* The names of functions that pass a filter, in the order of the list. False: the callback returned false. */
bool probe_kernel_functions(const struct probe_kernel *k, const char *filter,
                            bool (*each)(void *ctx, const char *name), void *ctx);

#endif
