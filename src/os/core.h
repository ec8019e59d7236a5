/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read here and there, and never whole: /proc/kcore's size is that of all addresses (proc(5)).
 */
#ifndef SONDE_OS_CORE_H
#define SONDE_OS_CORE_H

#include "base/bytes.h"
#include "base/err.h"

struct os_core {
    void *ctx;
    /* As many bytes from `at` on as there are, at most n; 0 at the end, or a negative errno. */
    int64_t (*read)(void *ctx, uint64_t at, uint8_t *to, size_t n);
    void (*close)(void *ctx);
};

/* False and *err when it cannot be opened; the message says what would allow it. */
bool os_core_open(const char *path, struct os_core *out, struct err *err);

/* For tests: a file with that content; `content` is borrowed. */
struct os_core os_core_fake(const struct bytes *content);

#endif
