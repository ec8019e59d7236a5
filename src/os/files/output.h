/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file or pipe to write a recording to, as a struct of functions; the fake keeps it in memory and can be
 * full. All functions return a negative errno on failure.
 */
#ifndef SONDE_OS_OUTPUT_H
#define SONDE_OS_OUTPUT_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

enum { OS_OUTPUT_SPANS = 512 }; /* at most so many at once (below IOV_MAX) */

struct os_output {
    void *ctx;
    bool seekable; /* a regular file: bytes may be written anywhere; else only one after the other */
    /* Writes the spans one after the other, at `at` (ignored when not seekable): how many bytes went out. A
     * short count means that an error stopped it; the next call says which. */
    int64_t (*write)(void *ctx, uint64_t at, const struct bytes *spans, size_t count);
    /* Sees to it that bytes up to `upto` can be written without asking for room: -ENOSPC when not;
     * -EOPNOTSUPP where that cannot be promised. */
    int (*reserve)(void *ctx, uint64_t from, uint64_t upto);
    int (*truncate)(void *ctx, uint64_t size);
    int (*close)(void *ctx);
};

/* A descriptor of one's own as ctx: (void *)(intptr_t)fd. Standard output is not closed. */
struct os_output os_output_fd(int fd);

/* Whether standard output is a pipe. */
bool os_output_piped(void);

/* Creates (or empties) a file; false and *err on failure. */
bool os_output_create(const char *path, struct os_output *out, struct err *err);

/* Writes all of `b` at *at, which moves on. False and *err, which says that `path` cannot be written. */
bool os_output_put(const struct os_output *o, uint64_t *at, struct bytes b, const char *path,
                   struct err *err);

/* Makes a folder, for its owner alone; false and *err on failure. */
bool os_output_folder(const char *path, struct err *err);

/* Whether a file could be created at `path` (or one there be replaced), without touching anything. False and
 * *err when not. */
bool os_output_possible(const char *path, struct err *err);

/* Makes way for a new file at `path`: an old one that is not empty is renamed to path.old; an old path.old
 * goes, a directory (of data files) as a whole. False and *err when that fails. */
bool os_output_keep_old(const char *path, struct err *err);

struct os_output_fake {
    struct os_output out; /* hand this on */
    VEC(uint8_t) bytes;
    uint64_t room;     /* the file may not become longer than this: ENOSPC */
    uint64_t reserved; /* what reserve promised and write did not use yet, up to this offset */
    uint32_t writes;   /* calls of write */
    uint32_t
        fail_at; /* every call from this one on (counted from 1) does nothing, as if we had been killed */
    bool closed;
};
void os_output_fake_init(struct os_output_fake *f, bool seekable);
void os_output_fake_fini(struct os_output_fake *f);

#endif
