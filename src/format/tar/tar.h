/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tar archives, written (POSIX.1-2001, pax(1), "ustar Interchange Format" and "pax Header Block"): what does
 * not fit into a header's fields stands in an extended header before it.
 *
 *   | header, 512 bytes | content, padded to 512 |  ...  | two empty blocks |
 */
#ifndef SONDE_FORMAT_TAR_TAR_H
#define SONDE_FORMAT_TAR_TAR_H

#include "base/writer.h"

enum { TAR_BLOCK = 512 };

struct tar_entry {
    const char *path; /* relative, without a slash at its beginning */
    const char *link; /* a symbolic link to there; NULL: a file */
    uint64_t size;    /* of a file: bytes of content that follow */
    uint32_t mode;    /* permissions, 0644 */
    int64_t mtime_s;
};

/* Appends the entry's header, or headers. Owner and group are root. */
void tar_entry_encode(const struct tar_entry *e, struct writer *w);

/* How many zero bytes follow a content of that size. */
static inline unsigned tar_padding(uint64_t size) {
    return (unsigned)(-size & (TAR_BLOCK - 1));
}

/* Appends what ends an archive. */
void tar_end_encode(struct writer *w);

#endif
