/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/proc/mounts.h"
#include "os/proc/proc_internal.h"

/* struct procmap_query and its constants: include/uapi/linux/fs.h of Linux 6.11; older headers lack them. */
struct procmap_query {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY_IOCTL _IOWR('f', 17, struct procmap_query)
enum {
    QUERY_EXECUTABLE = 0x04,
    QUERY_COVERING_OR_NEXT = 0x10,
    VMA_READABLE = 1,
    VMA_WRITABLE = 2,
    VMA_EXECUTABLE = 4,
    VMA_SHARED = 8,
};

enum { CHUNK = 64 << 10, ONCE = 8 << 10, FILE_MAX = 64 << 20, IMAGE_MAX = 1 << 30 };

/* Reads until nothing comes, or once. Nothing here is so large that FILE_MAX does not hold it. */
static bool read_path(const char *path, struct writer *into, bool once, struct err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, path, "cannot open %s", path);
    size_t start = into->size;
    ssize_t n;
    do {
        size_t before = into->size, room = once ? ONCE : CHUNK;
        uint8_t *p = writer_grow(into, room);
        n = p ? TEMP_FAILURE_RETRY(read(fd, p, room)) : -1;
        int why = p ? errno : ENOMEM;
        if (p)
            into->size = before + (size_t)(n > 0 ? n : 0);
        if (n < 0)
            err_errno(err, why, path, "cannot read %s", path);
    } while (n > 0 && !once && into->size - start < FILE_MAX);
    close(fd);
    return n >= 0;
}

static bool system_read(void *ctx, const char *path, struct writer *into, struct err *err) {
    (void)ctx;
    return read_path(path, into, false, err);
}

static bool system_read_once(void *ctx, const char *path, struct writer *into, struct err *err) {
    (void)ctx;
    return read_path(path, into, true, err);
}

static bool system_lines(void *ctx, const char *path, os_lines_fn *fn, void *fn_ctx, struct err *err) {
    enum { ROOM = 64 << 10 };
    (void)ctx;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, path, "cannot open %s", path);
    uint8_t *room = malloc(ROOM);
    size_t have = 0;
    ssize_t n = room ? 1 : -1;
    bool more = true, ok;
    while (n > 0 && more && have < ROOM) {
        n = TEMP_FAILURE_RETRY(read(fd, room + have, ROOM - have));
        have += n > 0 ? (size_t)n : 0;
        const uint8_t *nl = n > 0 ? memrchr(room, '\n', have) : NULL;
        size_t whole = n == 0 ? have : nl ? (size_t)(nl - room) + 1 : 0;
        more = !whole || fn(fn_ctx, (struct bytes){room, whole});
        memmove(room, room + whole, have - whole);
        have -= whole;
    }
    ok = n >= 0 || (room ? err_errno(err, errno, path, "cannot read %s", path) : err_memory(err, path));
    free(room);
    close(fd);
    return ok;
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool system_numbers(void *ctx, const char *path, os_numbers *out, struct err *err) {
    (void)ctx;
    DIR *d = opendir(path);
    bool sorted = true, ok = true;
    if (!d)
        return err_errno(err, errno, path, "cannot open %s", path);
    for (struct dirent *e; ok && (e = readdir(d));) {
        char *end;
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        long n = strtol(e->d_name, &end, 10);
        if (*end || n > INT32_MAX)
            continue;
        int32_t *slot = vec_push(out);
        if (!slot) {
            ok = err_memory(err, path);
            break;
        }
        *slot = (int32_t)n;
        sorted &= out->count < 2 || slot[-1] < *slot;
    }
    closedir(d);
    if (!sorted)
        qsort(out->items, out->count, sizeof *out->items, ascending);
    return ok;
}

static bool system_folders(void *ctx, const char *path, struct arena *a, os_names *out, struct err *err) {
    (void)ctx;
    DIR *d = opendir(path);
    bool ok = true;
    if (!d)
        return err_errno(err, errno, path, "cannot open %s", path);
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        const char **slot = vec_push(out);
        ok = slot && (*slot = arena_strndup(a, e->d_name, strlen(e->d_name)));
    }
    closedir(d);
    return ok || err_memory(err, path);
}

static bool system_link(void *ctx, const char *path, char *to, size_t room, struct err *err) {
    (void)ctx;
    ssize_t n = readlink(path, to, room - 1);
    if (n < 0)
        return err_errno(err, errno, path, "cannot read %s", path);
    to[n] = 0;
    return true;
}

static bool system_memory(void *ctx, int32_t pid, uint64_t address, void *to, size_t n, struct err *err) {
    struct iovec own = {to, n}, theirs = {(void *)(uintptr_t)address, n};
    char where[32];
    (void)ctx;
    snprintf(where, sizeof where, "process %d", (int)pid);
    ssize_t got = n ? process_vm_readv(pid, &own, 1, &theirs, 1, 0) : 0;
    if (got < 0 || (size_t)got != n)
        return err_errno(err, got < 0 ? errno : EFAULT, where, "cannot read memory");
    return true;
}

static int64_t ns_of(struct timespec t) {
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool os_answers(void *mounts, const char *path, struct err *err) {
    return !mounts || !os_mounts_stall(mounts, path) ||
           err_set(err, ERR_UNSUPPORTED, path, "%s lies on a file system that may not answer", path);
}

static bool system_identity(void *ctx, const char *path, struct os_identity *out, struct err *err) {
    struct stat st;
    if (!os_answers(ctx, path, err))
        return false;
    if (stat(path, &st) != 0)
        return err_errno(err, errno, path, "cannot look at %s", path);
    *out = (struct os_identity){st.st_dev, st.st_ino, (uint64_t)st.st_size, ns_of(st.st_mtim),
                                ns_of(st.st_ctim)};
    return true;
}

bool os_image_of_fd(int fd, const char *name, uint64_t most, struct os_image *out, struct err *err) {
    struct stat st;
    *out = (struct os_image){0};
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= IMAGE_MAX;
    uint64_t size = ok ? (uint64_t)st.st_size : 0;
    size = size < most ? size : most;
    uint8_t *p = ok ? malloc(size ? size : 1) : NULL;
    uint64_t have = 0;
    ssize_t n = p ? 1 : -1;
    int why = ok ? ENOMEM : EINVAL;
    while (n > 0 && have < size) {
        n = TEMP_FAILURE_RETRY(pread(fd, p + have, size - have, (off_t)have));
        why = errno;
        have += n > 0 ? (uint64_t)n : 0;
    }
    if (n < 0) {
        free(p);
        return err_errno(err, why, name, "cannot read %s", name);
    }
    *out = (struct os_image){{p, (size_t)have}, p};
    return true;
}

static bool system_image(void *ctx, const char *path, uint64_t most, struct os_image *out, struct err *err) {
    *out = (struct os_image){0};
    if (!os_answers(ctx, path, err))
        return false;
    /* Mapped names may lead to devices and FIFOs: opening those must neither wait nor do anything. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_errno(err, errno, path, "cannot open %s", path);
    bool ok = os_image_of_fd(fd, path, most, out, err);
    close(fd);
    return ok;
}

static void system_release(void *ctx, struct os_image *image) {
    (void)ctx;
    free(image->own);
    *image = (struct os_image){0};
}

static int system_maps_open(void *ctx, int32_t pid) {
    char path[40];
    (void)ctx;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int system_maps_next(void *ctx, int fd, uint64_t from, bool executable, struct os_mapping *out) {
    (void)ctx;
    out->name[0] = 0;
    struct procmap_query q = {
        .size = sizeof q,
        .query_flags = QUERY_COVERING_OR_NEXT | (executable ? QUERY_EXECUTABLE : 0),
        .query_addr = from,
        .vma_name_size = sizeof out->name,
        .vma_name_addr = (uintptr_t)out->name,
    };
    if (ioctl(fd, PROCMAP_QUERY_IOCTL, &q) != 0)
        return errno == ENOENT ? 0 : -errno;
    out->start = q.vma_start;
    out->end = q.vma_end;
    out->offset = q.vma_offset;
    out->ino = q.inode;
    out->maj = q.dev_major;
    out->min = q.dev_minor;
    out->prot = (q.vma_flags & VMA_READABLE ? PROT_READ : 0) | (q.vma_flags & VMA_WRITABLE ? PROT_WRITE : 0) |
                (q.vma_flags & VMA_EXECUTABLE ? PROT_EXEC : 0);
    out->flags = q.vma_flags & VMA_SHARED ? MAP_SHARED : MAP_PRIVATE;
    if (!q.vma_name_size)
        out->name[0] = 0;
    return 1;
}

static void system_maps_build_id(void *ctx, int fd, int32_t pid, const struct os_mapping *m,
                                 struct os_build_id *out) {
    struct procmap_query q = {
        .size = sizeof q,
        .query_addr = m->start,
        .build_id_size = sizeof out->bytes,
        .build_id_addr = (uintptr_t)out->bytes,
    };
    char path[sizeof m->name + 40];
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, m->name);
    *out = (struct os_build_id){0};
    if (m->name[0] == '/' && !os_answers(ctx, path, NULL))
        return;
    if (ioctl(fd, PROCMAP_QUERY_IOCTL, &q) == 0 && q.build_id_size <= sizeof out->bytes)
        out->size = (uint8_t)q.build_id_size;
}

static void system_maps_close(void *ctx, int fd) {
    (void)ctx;
    close(fd);
}

const struct os_proc os_proc_system = {
    .read = system_read,
    .read_once = system_read_once,
    .lines = system_lines,
    .numbers = system_numbers,
    .folders = system_folders,
    .link = system_link,
    .unix_sockets = os_unix_sockets_read,
    .memory = system_memory,
    .identity = system_identity,
    .image = system_image,
    .release = system_release,
    .hold = os_hold,
    .held_image = os_held_image,
    .held_identity = os_held_identity,
    .unhold = os_unhold,
    .maps_open = system_maps_open,
    .maps_next = system_maps_next,
    .maps_build_id = system_maps_build_id,
    .maps_close = system_maps_close,
    .bpf_next = os_bpf_next,
    .bpf_info = os_bpf_info,
    .bpf_btf = os_bpf_btf,
};
