/* SPDX-License-Identifier: Apache-2.0 */
/* Read-only maps of files. The counterpart for tests is memory of one's own: everything above reads spans. */
#ifndef SONDE_OS_MAP_H
#define SONDE_OS_MAP_H

#include "base/bytes.h"
#include "base/err.h"

enum os_file_kind { OS_FILE_REGULAR, OS_FILE_DIRECTORY, OS_FILE_STREAM /* pipe, FIFO, socket, terminal */ };

struct os_file {
    int fd; /* -1: none */
    enum os_file_kind kind;
    uint64_t size;                      /* of a regular file, bytes */
    uint32_t uid;                       /* owner */
    int64_t mtime_s, mtime_ns, ctime_s; /* mtime_ns: since 1970, too */
};

/* Opens `path` for reading; "-" is standard input (never closed). False and *err when that fails. */
bool os_file_open(const char *path, struct os_file *out, struct err *err);
/* The same for a path that a recording names, which may lead anywhere: only a regular file is opened. A FIFO
 * would wait for a writer, and to open a device may start something. Else *err says what is wrong. */
bool os_file_open_regular(const char *path, struct os_file *out, struct err *err);
void os_file_close(struct os_file *f);

/* Up to `n` bytes into `p`: the number read, 0 at the end; -1 and *err on failure. Restarts after signals. */
int64_t os_file_read(const struct os_file *f, uint8_t *p, size_t n, const char *name, struct err *err);

/* As os_file_read, from `offset` of a regular file on; nothing else about the file changes. */
int64_t os_file_read_at(const struct os_file *f, uint64_t offset, uint8_t *p, size_t n, const char *name,
                        struct err *err);

/* A private, read-only map of a whole regular file. An empty file maps to an empty span. */
struct os_map {
    struct bytes bytes;
};
bool os_map_file(const struct os_file *f, const char *name, struct os_map *out, struct err *err);

/* Several files one after the other at page-aligned offsets of one map, so that one base pointer serves all.
 */
struct os_multimap {
    uint8_t *base;
    size_t size;
};
/* offsets[i]: where file i begins. Bytes between files are zero. */
bool os_multimap_files(const struct os_file *files, const char *const *names, size_t count, uint64_t *offsets,
                       struct os_multimap *out, struct err *err);

void os_map_fini(struct os_map *m);
void os_multimap_fini(struct os_multimap *m);

/* Says that [offset, offset+size) of a map will not be needed again soon; its pages may be dropped. */
void os_map_forget(const struct os_map *m, uint64_t offset, uint64_t size);

/* Reads [offset, offset+size) of a map in and maps it, so that touching it later faults no more; returns when
 * that is done. What cannot be read is left to whoever touches it. */
void os_map_expect(const struct os_map *m, uint64_t offset, uint64_t size);

/* Sorted names in a directory that satisfy `want`; each owned, the array too (free both). False and *err on
 * failure. */
bool os_dir_list(const char *path, bool (*want)(const char *name), char ***names, size_t *count,
                 struct err *err);

#endif
