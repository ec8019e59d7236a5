/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of tracefs that control the kernel's tracers, behind a struct of functions so that tests can hand
 * in a tree of their own. Paths are relative to the root of tracefs.
 */
#ifndef SONDE_OS_TRACEFS_H
#define SONDE_OS_TRACEFS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/writer.h"
#include "os/sysfs.h"

struct os_tracefs {
    void *ctx;
    /* Appends the file's content. False and *err (ERR_ABSENT, ERR_PERMISSION). */
    bool (*read)(void *ctx, const char *path, struct writer *into, struct err *err);
    /* Writes the text in one call, after what is there or in its place; 0, or the errno. */
    int (*write)(void *ctx, const char *path, const char *text, bool append);
    /* Makes and removes an instance's folder; 0, or the errno. */
    int (*make)(void *ctx, const char *path);
    int (*remove)(void *ctx, const char *path);
    /* The names in a folder, in `a`. */
    bool (*list)(void *ctx, const char *path, struct arena *a, struct sysfs_names *out, struct err *err);
    /* A descriptor that gives what a ring holds and does not wait for more; or -errno. */
    int (*open_ring)(void *ctx, const char *path);
    /* Whether a process exists. */
    bool (*is_alive)(void *ctx, pid_t pid);
};

/* This machine's; mounted at /sys/kernel/tracing or, for long, /sys/kernel/debug/tracing. */
extern const struct os_tracefs os_tracefs_system;

/* For tests: files in memory; writes change them. `refuse`: writes to it give that errno. */
struct os_tracefs_fake_file {
    char path[96], text[256];
};
enum { OS_TRACEFS_FAKE_FILES = 64 };
struct os_tracefs_fake {
    struct os_tracefs_fake_file files[OS_TRACEFS_FAKE_FILES]; /* a folder: its path ends with a slash */
    size_t count;
    const char *refused; /* or NULL */
    int refused_with;
    pid_t alive;
    unsigned writes;
    unsigned fail_after; /* writes fail after this many; 0: none fails */
};
void os_tracefs_fake_put(struct os_tracefs_fake *f, const char *path, const char *text);
/* The text of a file, or NULL. */
const char *os_tracefs_fake_text(const struct os_tracefs_fake *f, const char *path);
struct os_tracefs os_tracefs_fake(struct os_tracefs_fake *f);

#endif
