/* SPDX-License-Identifier: Apache-2.0 */
/* Putting files into a store on disk: folders, links, copies. Nothing here is seen half done: what is new
 * appears under its name when it is complete. */
#ifndef SONDE_OS_PLACE_H
#define SONDE_OS_PLACE_H

#include "base/err.h"

#include <stdint.h>

/* Whether something is at `path`; a symbolic link that leads nowhere counts too. */
bool os_place_taken(const char *path);

/* Makes the folders that `path` lies in. */
bool os_place_folders(const char *path, struct err *err);

/*
 * A file with the content of `from` at `to`: with blocks shared where file systems do that, a copy where it
 * is small, a hard link, or a copy of at most `max_bytes`. *copied: the bytes that were copied. False and
 * *err when it cannot be had; ERR_UNSUPPORTED when it is larger than that.
 */
bool os_place_file(const char *from, const char *to, uint64_t max_bytes, uint64_t *copied, struct err *err);

/* A copy whatever `from` is: /proc's files have no size, and cannot be linked. */
bool os_place_copy(const char *from, const char *to, uint64_t max_bytes, uint64_t *copied, struct err *err);

/* A symbolic link at `path` to `target`. */
bool os_place_link(const char *target, const char *path, struct err *err);

#endif
