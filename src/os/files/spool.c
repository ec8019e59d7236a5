/* SPDX-License-Identifier: Apache-2.0 */
#include "os/files/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GROW_BYTES = 4 << 20 };

static int open_unlinked(char *dir, size_t dir_size) {
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, dir_size, "%s", tmp && *tmp ? tmp : "/tmp");
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char path[300]; /* a file system without O_TMPFILE */
    snprintf(path, sizeof path, "%s/sonde-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Maps s->fd. */
static bool reserve(struct os_spool *s, struct err *err) {
    /* As many addresses as the system allows: they cost nothing until used. Limits (ulimit -v) make it less.
     */
    for (uint64_t want = 1ull << (sizeof(void *) == 8 ? 42 : 30); want >= 1u << 26; want /= 2) {
        void *p = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
        if (p != MAP_FAILED) {
            s->base = p;
            s->reserved = want;
            return true;
        }
    }
    err_errno(err, errno, s->dir, "cannot reserve address space for a temporary file");
    os_spool_close(s);
    return false;
}

bool os_spool_open(struct os_spool *s, struct err *err) {
    *s = (struct os_spool){.fd = -1};
    s->fd = open_unlinked(s->dir, sizeof s->dir);
    if (s->fd < 0)
        return err_errno(err, errno, s->dir,
                         "cannot make a temporary file (set TMPDIR to a writable directory)");
    return reserve(s, err);
}

bool os_spool_open_memory(struct os_spool *s, struct err *err) {
    *s = (struct os_spool){.fd = memfd_create("sonde", MFD_CLOEXEC), .dir = "memory"};
    return s->fd < 0 ? os_spool_open(s, err) /* a kernel that forbids it */ : reserve(s, err);
}

void os_spool_close(struct os_spool *s) {
    if (s->base)
        munmap(s->base, s->reserved);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct os_spool){.fd = -1};
}

uint8_t *os_spool_room(struct os_spool *s, size_t n, struct err *err) {
    if (n > s->reserved - s->size) {
        err_set(err, ERR_IO, s->dir, "more than %llu bytes to spool", (unsigned long long)s->reserved);
        return NULL;
    }
    if (s->size + n > s->allocated) {
        /* Blocks are allocated before they are touched: a full disk is an error here, not a SIGBUS later. */
        uint64_t add = n > GROW_BYTES ? n : GROW_BYTES;
        if (add > s->reserved - s->allocated)
            add = s->reserved - s->allocated;
        int e = posix_fallocate(s->fd, (off_t)s->allocated, (off_t)add);
        if (e) {
            err_errno(err, e, s->dir, "cannot extend a temporary file (set TMPDIR to a larger file system)");
            return NULL;
        }
        s->allocated += add;
    }
    return s->base + s->size;
}

bool os_spool_append(struct os_spool *s, const struct bytes *spans, size_t count, struct err *err) {
    uint64_t at = s->size;
    for (size_t i = 0; i < count; i++)
        for (size_t done = 0; done < spans[i].size;) {
            size_t left = spans[i].size - done;
            if (left > s->reserved - at)
                return err_set(err, ERR_IO, s->dir, "more than %llu bytes to spool",
                               (unsigned long long)s->reserved);
            ssize_t n = pwrite(s->fd, spans[i].data + done, left, (off_t)at);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return err_errno(err, n ? errno : ENOSPC, s->dir,
                                 "cannot extend a temporary file (set TMPDIR to a larger file system)");
            done += (size_t)n;
            at += (uint64_t)n;
        }
    s->size = at;
    s->allocated = s->allocated > at ? s->allocated : at;
    return true;
}

void os_spool_release(struct os_spool *s, uint64_t upto) {
    uint64_t to = upto & ~(uint64_t)(GROW_BYTES - 1);
    if (to <= s->released || upto > s->size)
        return;
    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->released,
              (off_t)(to - s->released));
    s->released = to;
}
