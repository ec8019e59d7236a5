/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of archives of files: tar, compressed with gzip if zlib is built in. */
#ifndef SONDE_EDIT_ARCHIVE_H
#define SONDE_EDIT_ARCHIVE_H

#include "edit/copy.h"
#include "format/tar/tar.h"

struct archive;

/* Returns ".tar.gz", or ".tar" without zlib. */
const char *archive_suffix(void);

/* Begins an archive. `sink` is borrowed; its `patch` is not used. NULL: out of memory. */
struct archive *archive_new(const struct copy_sink *sink, struct err *err);
void archive_free(struct archive *a); /* NULL is allowed */

/* Adds a file with this content, or a link (`e->link`, no content). e->size is ignored. */
bool archive_add(struct archive *a, const struct tar_entry *e, struct bytes content, struct err *err);

/* Ends the archive and writes what is left of it. */
bool archive_finish(struct archive *a, struct err *err);

#endif
