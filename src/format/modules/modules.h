/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of kernel modules: /proc/modules (lines of "NAME SIZE REFS USERS STATE 0xADDRESS", proc(5)),
 * and modules.dep (lines of "kernel/dir/name.ko: ...", depmod(8)), which has their paths.
 */
#ifndef SONDE_FORMAT_MODULES_MODULES_H
#define SONDE_FORMAT_MODULES_MODULES_H

#include "base/bytes.h"

struct modules_entry {
    struct bytes name;
    uint64_t size;    /* bytes */
    uint64_t address; /* 0 when the reader may not see it */
    bool loading;     /* its init code has not ended; the size holds that code too, and for a while after */
};

/* The modules of a text in its order: start with *rest = the text; false at the end. Lines of another form
 * are skipped. */
bool modules_next(struct bytes *rest, struct modules_entry *out);

/* The path, below the folder of modules.dep, of the module of that name: hyphens and underscores are the same
 * in names. Empty when it is not in the text. */
struct bytes modules_dep_path(struct bytes dep, struct bytes name);

#endif
