/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small text files and directories of /sys, tracefs and /proc, behind a struct of functions so that tests can
 * hand in a tree of their own.
 */
#ifndef SONDE_OS_SYSFS_H
#define SONDE_OS_SYSFS_H

#include "base/arena.h"
#include "base/err.h"

/* No file or directory of the trees concerned is larger; what is larger is refused. */
enum { SYSFS_TEXT_MAX = 1 << 20, SYSFS_NAMES_MAX = 1 << 16 };

struct sysfs_names {
    const char **items; /* sorted by strcmp, without "." and ".." */
    size_t count;
};

struct sysfs {
    const void *ctx;
    /* The text of the file at the absolute `path`, NUL-terminated, without trailing newlines, in `a`. NULL
     * and *err on failure: ERR_ABSENT when there is no such file, ERR_PERMISSION when it may not be read. */
    const char *(*read)(const struct sysfs *s, const char *path, struct arena *a, struct err *err);
    /* The names in the directory at `path`, in `a`. Errors as read's. */
    bool (*list)(const struct sysfs *s, const char *path, struct arena *a, struct sysfs_names *out,
                 struct err *err);
    /* Mounts tracefs at /sys/kernel/tracing. NULL or false: it may not, or the kernel has none. */
    bool (*mount_tracefs)(const struct sysfs *s);
};

/* The running system's. */
extern const struct sysfs sysfs_system;

/* A tree from memory: files by absolute path; directories are implied, those without a file are written with
 * a slash at the end and a NULL text. A text of SYSFS_FAKE_DENIED may not be read. */
struct sysfs_fake_file {
    const char *path, *text;
};
extern const char SYSFS_FAKE_DENIED[];
struct sysfs_fake {
    const struct sysfs_fake_file *files;
    size_t count;
    bool *mounted; /* until it is true nothing below /sys/kernel/tracing is there; NULL: as the files are */
};
/* `tree` is borrowed for as long as the result is used. */
struct sysfs sysfs_fake(const struct sysfs_fake *tree);

#endif
