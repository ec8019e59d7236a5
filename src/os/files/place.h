/* SPDX-License-Identifier: Apache-2.0 */
/* Putting files into a store on disk: folders, links, copies. Nothing here is seen half done: what is new
 * appears under its name when it is complete. */
#ifndef SONDE_OS_PLACE_H
#define SONDE_OS_PLACE_H

#include "base/bytes.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Whether something is at `path`; a symbolic link that leads nowhere counts too. */
bool os_place_taken(const char *path);

/* Makes the folders that `path` lies in. */
bool os_place_folders(const char *path, struct err *err);

/*
 * A file with the content and permissions (its owner may always read and write) of `from` at `to`: with
 * blocks shared where file systems do that, a copy where it is small, a hard link, or a copy of at most
 * `max_bytes`. *copied: the bytes that were copied. False and *err when it cannot be had; ERR_UNSUPPORTED
 * when it is larger than that.
 */
bool os_place_file(const char *from, const char *to, uint64_t max_bytes, uint64_t *copied, struct err *err);

/* A copy whatever `from` is: /proc's files have no size, and cannot be linked. */
bool os_place_copy(const char *from, const char *to, uint64_t max_bytes, uint64_t *copied, struct err *err);

/* Replaces the content of the file at `path`, or of the one that a link there leads to; its permissions stay.
 * A new one gets those that the umask leaves of 0666. A device is written to. */
bool os_place_write(const char *path, struct bytes content, struct err *err);

/* Removes a file, a link or an empty folder. False and *err (ERR_ABSENT when there is none). */
bool os_place_remove(const char *path, struct err *err);

/* Where a symbolic link leads to, as it is written. */
bool os_place_target(const char *link, char *target, size_t size, struct err *err);

/* The path without symbolic links in it. */
bool os_place_real(const char *path, char *real, size_t size, struct err *err);

/* The size of a file, and when it was read or written last (ns since 1970, as far as the file system keeps
 * that). */
bool os_place_measure(const char *path, uint64_t *bytes, int64_t *used_ns);

/* A symbolic link at `path` to `target`. */
bool os_place_link(const char *target, const char *path, struct err *err);

#endif
