/* SPDX-License-Identifier: Apache-2.0 */
#include "os/files/map.h"

#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool take_descriptor(int fd, const char *path, struct os_file *out, struct err *err) {
    struct stat st;
    if (fd < 0)
        return err_errno(err, errno, path, "cannot open");
    if (fstat(fd, &st) != 0) {
        err_errno(err, errno, path, "cannot examine");
        if (fd != STDIN_FILENO)
            close(fd);
        return false;
    }
    out->fd = fd;
    out->kind = S_ISREG(st.st_mode)   ? OS_FILE_REGULAR
                : S_ISDIR(st.st_mode) ? OS_FILE_DIRECTORY
                                      : OS_FILE_STREAM;
    out->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    out->uid = st.st_uid;
    out->mtime_s = st.st_mtim.tv_sec;
    out->mtime_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    out->ctime_s = st.st_ctim.tv_sec;
    return true;
}

bool os_file_open(const char *path, struct os_file *out, struct err *err) {
    *out = (struct os_file){.fd = -1};
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    return take_descriptor(fd, path, out, err);
}

bool os_file_open_regular(const char *path, struct os_file *out, struct err *err) {
    struct stat st;
    *out = (struct os_file){.fd = -1};
    if (stat(path, &st) != 0)
        return err_errno(err, errno, path, "cannot open");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_IO, path, "not a regular file");
    /* What is there may be another file by now. */
    if (!take_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), path, out, err))
        return false;
    if (out->kind == OS_FILE_REGULAR)
        return true;
    os_file_close(out);
    return err_set(err, ERR_IO, path, "not a regular file");
}

void os_file_close(struct os_file *f) {
    if (f->fd >= 0 && f->fd != STDIN_FILENO)
        close(f->fd);
    f->fd = -1;
}

int64_t os_file_read(const struct os_file *f, uint8_t *p, size_t n, const char *name, struct err *err) {
    for (;;) {
        ssize_t got = read(f->fd, p, n);
        if (got >= 0)
            return got;
        if (errno != EINTR) {
            err_errno(err, errno, name, "cannot read");
            return -1;
        }
    }
}

int64_t os_file_read_at(const struct os_file *f, uint64_t offset, uint8_t *p, size_t n, const char *name,
                        struct err *err) {
    for (;;) {
        ssize_t got = pread(f->fd, p, n, (off_t)offset);
        if (got >= 0)
            return got;
        if (errno != EINTR) {
            err_errno(err, errno, name, "cannot read");
            return -1;
        }
    }
}

bool os_map_file(const struct os_file *f, const char *name, struct os_map *out, struct err *err) {
    *out = (struct os_map){0};
    if (f->size == 0)
        return true;
    void *p = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, f->fd, 0);
    if (p == MAP_FAILED)
        return err_errno(err, errno, name, "cannot map");
    out->bytes = (struct bytes){p, f->size};
    return true;
}

bool os_multimap_files(const struct os_file *files, const char *const *names, size_t count, uint64_t *offsets,
                       struct os_multimap *out, struct err *err) {
    *out = (struct os_multimap){0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE), total = 0;
    for (size_t i = 0; i < count; i++) {
        offsets[i] = total;
        total += (files[i].size + page - 1) & ~(page - 1);
    }
    if (total == 0)
        return true;
    uint8_t *base = mmap(NULL, total, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return err_errno(err, errno, names[0], "cannot reserve %zu bytes of address space", total);
    *out = (struct os_multimap){base, total};
    for (size_t i = 0; i < count; i++)
        if (files[i].size && mmap(base + offsets[i], files[i].size, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                                  files[i].fd, 0) == MAP_FAILED) {
            err_errno(err, errno, names[i], "cannot map");
            os_multimap_fini(out);
            return false;
        }
    return true;
}

void os_map_fini(struct os_map *m) {
    if (m->bytes.size)
        munmap((void *)m->bytes.data, m->bytes.size);
    *m = (struct os_map){0};
}

void os_multimap_fini(struct os_multimap *m) {
    if (m->size)
        munmap(m->base, m->size);
    *m = (struct os_multimap){0};
}

void os_map_forget(const struct os_map *m, uint64_t offset, uint64_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t from = (offset + page - 1) & ~(uint64_t)(page - 1), to = (offset + size) & ~(uint64_t)(page - 1);
    if (from < to && to <= m->bytes.size)
        madvise((uint8_t *)m->bytes.data + from, to - from, MADV_DONTNEED);
}

void os_map_expect(const struct os_map *m, uint64_t offset, uint64_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t from = offset & ~(uint64_t)(page - 1);
    if (offset >= m->bytes.size)
        return;
    uint64_t to = size < m->bytes.size - offset ? offset + size : m->bytes.size;
    uint8_t *at = (uint8_t *)m->bytes.data + from;
    if (madvise(at, to - from, MADV_POPULATE_READ) && errno == EINVAL) /* before Linux 5.14 */
        madvise(at, to - from, MADV_WILLNEED);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool os_dir_list(const char *path, bool (*want)(const char *name), char ***names, size_t *count,
                 struct err *err) {
    DIR *d = opendir(path);
    if (!d)
        return err_errno(err, errno, path, "cannot list");
    VEC(char *) list = {0};
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (!want(e->d_name))
            continue;
        char *copy = strdup(e->d_name), **slot = copy ? vec_push(&list) : NULL;
        if (slot)
            *slot = copy;
        else
            ok = err_memory(err, path), free(copy);
    }
    closedir(d);
    if (!ok) {
        for (size_t i = 0; i < list.count; i++)
            free(list.items[i]);
        vec_fini(&list);
        return false;
    }
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, compare_names);
    *names = list.items;
    *count = list.count;
    return true;
}
