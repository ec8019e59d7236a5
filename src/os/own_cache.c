/* SPDX-License-Identifier: Apache-2.0 */
#include "os/own_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const struct stat *st) {
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* The folder, if it is ours; -1 otherwise. */
static int open_folder(const char *path) {
    struct stat st;
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !is_ours(&st))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool map_file(int fd, uint64_t max_bytes, struct os_map *out) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_ours(&st) || st.st_size <= 0 ||
        (uint64_t)st.st_size > max_bytes)
        return false;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (p == MAP_FAILED)
        return false;
    out->bytes = (struct bytes){p, (size_t)st.st_size};
    return true;
}

bool os_own_cache_map(const char *folder, const char *name, uint64_t max_bytes, struct os_map *out) {
    int at = open_folder(folder);
    /* Not blocking: a FIFO may lie there. */
    int fd = at < 0 ? -1 : openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ok = fd >= 0 && map_file(fd, max_bytes, out);
    if (fd >= 0)
        close(fd);
    if (at >= 0)
        close(at);
    return ok;
}

static bool write_all(int fd, struct bytes content) {
    while (content.size) {
        ssize_t done = TEMP_FAILURE_RETRY(write(fd, content.data, content.size));
        if (done <= 0)
            return false;
        content.data += done;
        content.size -= (size_t)done;
    }
    return true;
}

/* As the base directory specification (freedesktop.org) wants folders made: for the user alone. */
static void make_folder(const char *path) {
    char parent[4096];
    const char *slash = strrchr(path, '/');
    if (mkdir(path, 0700) == 0 || errno != ENOENT || !slash || slash == path ||
        (size_t)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path) >= sizeof parent)
        return;
    if (mkdir(parent, 0700) == 0)
        mkdir(path, 0700);
}

bool os_own_cache_put(const char *folder, const char *name, struct bytes content) {
    char temporary[256];
    make_folder(folder);
    int at = open_folder(folder);
    bool ok = at >= 0 &&
              (size_t)snprintf(temporary, sizeof temporary, ".%s.%d", name, (int)getpid()) < sizeof temporary;
    int fd =
        ok ? openat(at, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR)
           : -1;
    if (fd >= 0) {
        ok = write_all(fd, content);
        ok = close(fd) == 0 && ok && renameat(at, temporary, at, name) == 0;
        if (!ok)
            unlinkat(at, temporary, 0);
    }
    if (at >= 0)
        close(at);
    return ok && fd >= 0;
}
