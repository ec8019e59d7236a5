/* SPDX-License-Identifier: Apache-2.0 */
#include "os/files/own_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

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

/* Larger files are read in where they are looked at. */
enum { READ_AT_ONCE_BYTES = 8 << 20 };

static bool map_file(int fd, uint64_t max_bytes, struct os_map *out) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_ours(&st) || st.st_size <= 0 ||
        (uint64_t)st.st_size > max_bytes)
        return false;
    int at_once = st.st_size <= READ_AT_ONCE_BYTES ? MAP_POPULATE : 0;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | at_once, fd, 0);
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

bool os_own_cache_put_parts(const char *folder, const char *name, const struct bytes *parts, size_t count) {
    char temporary[256];
    make_folder(folder);
    int at = open_folder(folder);
    bool ok = at >= 0 &&
              (size_t)snprintf(temporary, sizeof temporary, ".%s.%d", name, (int)getpid()) < sizeof temporary;
    int fd =
        ok ? openat(at, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR)
           : -1;
    if (fd >= 0) {
        for (size_t i = 0; ok && i < count; i++)
            ok = write_all(fd, parts[i]);
        ok = close(fd) == 0 && ok && renameat(at, temporary, at, name) == 0;
        if (!ok)
            unlinkat(at, temporary, 0);
    }
    if (at >= 0)
        close(at);
    return ok && fd >= 0;
}

bool os_own_cache_put(const char *folder, const char *name, struct bytes content) {
    return os_own_cache_put_parts(folder, name, &content, 1);
}

void os_own_cache_touch(const char *folder, const char *name) {
    static const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    int at = open_folder(folder);
    if (at < 0)
        return;
    utimensat(at, name, now, AT_SYMLINK_NOFOLLOW);
    close(at);
}

struct found {
    char *name;
    uint64_t bytes;
    int64_t used_s, used_ns;
};

typedef VEC(struct found) found_files;

static int longest_unused_first(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    if (x->used_s != y->used_s)
        return x->used_s < y->used_s ? -1 : 1;
    return x->used_ns != y->used_ns ? (x->used_ns < y->used_ns ? -1 : 1) : strcmp(x->name, y->name);
}

/* Takes a file of the prefix; what a writer left behind an hour ago is removed. */
static void look_at(int at, const char *name, const char *prefix, found_files *files) {
    enum { ABANDONED_S = 3600 };
    struct stat st;
    bool temporary = *name == '.';
    if (strncmp(name + temporary, prefix, strlen(prefix)) != 0 ||
        fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return;
    if (temporary) {
        if (time(NULL) - st.st_mtim.tv_sec > ABANDONED_S)
            unlinkat(at, name, 0);
        return;
    }
    struct found *f = vec_push(files);
    if (f)
        *f = (struct found){strdup(name), (uint64_t)st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    if (f && !f->name)
        files->count--;
}

void os_own_cache_trim(const char *folder, const char *prefix, uint64_t max_bytes) {
    found_files files = {0};
    uint64_t sum = 0;
    int at = open_folder(folder), list = at < 0 ? -1 : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = list < 0 ? NULL : fdopendir(list);
    if (!d && list >= 0)
        close(list);
    for (struct dirent *e; d && (e = readdir(d));)
        look_at(at, e->d_name, prefix, &files);
    if (d)
        closedir(d);
    for (size_t i = 0; i < files.count; i++)
        sum += files.items[i].bytes;
    if (files.count)
        qsort(files.items, files.count, sizeof *files.items, longest_unused_first);
    for (size_t i = 0; i < files.count; i++) {
        if (sum > max_bytes && unlinkat(at, files.items[i].name, 0) == 0)
            sum -= files.items[i].bytes;
        free(files.items[i].name);
    }
    vec_fini(&files);
    if (at >= 0)
        close(at);
}
