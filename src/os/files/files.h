/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of the system, /proc and /sys above all: read whole. */
#ifndef SONDE_OS_FILES_H
#define SONDE_OS_FILES_H

#include "base/err.h"
#include "base/writer.h"

struct os_files {
    /* Appends the file's content. False and *err (ERR_ABSENT when there is no such file) on failure. */
    bool (*read)(void *ctx, const char *path, struct writer *into, struct err *err);
    void *ctx;
};

/* This machine's. */
extern const struct os_files os_files_real;

/* Appends the content of a file that a recording names (os_file_open_regular). As os_files.read. */
bool os_files_read_regular(const char *path, struct writer *into, struct err *err);

/* For tests: files that a table has, and no others. */
struct os_fake_file {
    const char *path; /* NULL ends the table */
    struct bytes content;
};
struct os_files os_files_fake(const struct os_fake_file *table);

#endif
