/* SPDX-License-Identifier: Apache-2.0 */
#include "os/files/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

bool os_output_piped(void) {
    struct stat st;
    return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int fd_of(void *ctx) {
    return (int)(intptr_t)ctx;
}

/* How many of `count` spans, the last one cut, make up `most` bytes; the cut one's size is in *last. */
static int piece_of(const struct iovec *iov, size_t count, uint64_t most, size_t *last) {
    size_t i = 0;
    while (i + 1 < count && iov[i].iov_len < most)
        most -= iov[i++].iov_len;
    *last = iov[i].iov_len < most ? iov[i].iov_len : (size_t)most;
    return (int)i + 1;
}

/*
 * One system call, up to the next multiple of PIECE in the file. A folio of the page cache is as large as a
 * write makes it, and a large one comes from memory that was free for long: in a virtual machine its host may
 * have taken that back (free page reporting), and gives it again page by page, at ten times the price of the
 * copy. Smaller folios come from what was in use a moment ago.
 */
static ssize_t write_piece(int fd, bool seekable, uint64_t at, struct iovec *iov, size_t count) {
    enum { PIECE = 64 << 10 };
    size_t last;
    if (!seekable)
        return writev(fd, iov, (int)count);
    int many = piece_of(iov, count, PIECE - at % PIECE, &last);
    size_t whole = iov[many - 1].iov_len;
    iov[many - 1].iov_len = last;
    ssize_t got = pwritev(fd, iov, many, (off_t)at);
    iov[many - 1].iov_len = whole;
    return got;
}

/* Writes all spans, going on after signals and short writes. */
static int64_t write_all(int fd, bool seekable, uint64_t at, const struct bytes *spans, size_t count) {
    struct iovec iov[OS_OUTPUT_SPANS];
    size_t n = 0, first = 0;
    int64_t done = 0;
    for (size_t i = 0; i < count && n < OS_OUTPUT_SPANS; i++)
        if (spans[i].size)
            iov[n++] = (struct iovec){(void *)spans[i].data, spans[i].size};
    while (first < n) {
        ssize_t got = write_piece(fd, seekable, at + (uint64_t)done, iov + first, n - first);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return done ? done : got < 0 ? -errno : -ENOSPC;
        done += got;
        for (size_t left = (size_t)got; left;) {
            size_t take = left < iov[first].iov_len ? left : iov[first].iov_len;
            iov[first].iov_base = (char *)iov[first].iov_base + take;
            iov[first].iov_len -= take;
            left -= take;
            first += iov[first].iov_len == 0;
        }
    }
    return done;
}

static int64_t file_write(void *ctx, uint64_t at, const struct bytes *spans, size_t count) {
    return write_all(fd_of(ctx), true, at, spans, count);
}

static int64_t pipe_write(void *ctx, uint64_t at, const struct bytes *spans, size_t count) {
    (void)at;
    return write_all(fd_of(ctx), false, 0, spans, count);
}

static int file_reserve(void *ctx, uint64_t from, uint64_t upto) {
    return fallocate(fd_of(ctx), FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(upto - from)) == 0 ? 0 : -errno;
}

static int pipe_reserve(void *ctx, uint64_t from, uint64_t upto) {
    (void)ctx, (void)from, (void)upto;
    return -EOPNOTSUPP;
}

static int file_truncate(void *ctx, uint64_t size) {
    return ftruncate(fd_of(ctx), (off_t)size) == 0 ? 0 : -errno;
}

static int pipe_truncate(void *ctx, uint64_t size) {
    (void)ctx, (void)size;
    return 0;
}

static int fd_close(void *ctx) {
    int fd = fd_of(ctx);
    return fd == STDOUT_FILENO || close(fd) == 0 ? 0 : -errno;
}

struct os_output os_output_fd(int fd) {
    struct stat st;
    bool seekable = fd != STDOUT_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    return (struct os_output){
        .ctx = (void *)(intptr_t)fd,
        .seekable = seekable,
        .write = seekable ? file_write : pipe_write,
        .reserve = seekable ? file_reserve : pipe_reserve,
        .truncate = seekable ? file_truncate : pipe_truncate,
        .close = fd_close,
    };
}

bool os_output_create(const char *path, struct os_output *out, struct err *err) {
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, path, "cannot create");
    *out = os_output_fd(fd);
    return true;
}

bool os_output_put(const struct os_output *o, uint64_t *at, struct bytes b, const char *path,
                   struct err *err) {
    while (b.size) {
        int64_t n = o->write(o->ctx, *at, &b, 1);
        if (n <= 0)
            return err_errno(err, (int)-n, path, "cannot write");
        *at += (uint64_t)n;
        b.data += n;
        b.size -= (size_t)n;
    }
    return true;
}

bool os_output_folder(const char *path, struct err *err) {
    return mkdir(path, 0700) == 0 || err_errno(err, errno, path, "cannot create the directory");
}

bool os_output_possible(const char *path, struct err *err) {
    char folder[4096];
    struct stat st;
    const char *slash = strrchr(path, '/');
    bool there = stat(path, &st) == 0;
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                         slash ? path : ".") >= sizeof folder)
        return err_set(err, ERR_USAGE, path, "the name is too long");
    /* A device or FIFO, or an empty file, is opened as it is. */
    if (there && ((!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) || (S_ISREG(st.st_mode) && !st.st_size)))
        return access(path, W_OK) == 0 || err_errno(err, errno, path, "cannot write");
    return access(folder, W_OK | X_OK) == 0 || err_errno(err, errno, path, "cannot create");
}

/* Removes the files directly in a directory, and those in the folder of a kernel's copy. */
static void remove_files(int fd, bool below) {
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (unlinkat(fd, e->d_name, 0) == 0 || below || strcmp(e->d_name, "kcore_dir") != 0)
            continue;
        remove_files(openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), true);
        unlinkat(fd, e->d_name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
}

/* Removes a file, or the directory of a recording. */
static void remove_path(const char *path) {
    if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    remove_files(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), false);
    rmdir(path);
}

bool os_output_keep_old(const char *path, struct err *err) {
    struct stat st;
    char old[4096];
    if (stat(path, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return true; /* nothing there, or a device or FIFO to write into */
    if (S_ISREG(st.st_mode) && st.st_size == 0)
        return true;
    if ((size_t)snprintf(old, sizeof old, "%s.old", path) >= sizeof old)
        return err_set(err, ERR_USAGE, path, "the name is too long");
    remove_path(old);
    return rename(path, old) == 0 || err_errno(err, errno, path, "cannot rename it to %s", old);
}

static int64_t fake_write(void *ctx, uint64_t at, const struct bytes *spans, size_t count) {
    struct os_output_fake *f = ctx;
    int64_t done = 0;
    if (++f->writes >= f->fail_at && f->fail_at)
        return -EIO;
    if (!f->out.seekable)
        at = f->bytes.count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < spans[i].size; k++, at++, done++) {
            if (at >= f->bytes.count && at >= f->room && at >= f->reserved)
                return done ? done : -ENOSPC;
            while (f->bytes.count <= at)
                if (!vec_push(&f->bytes))
                    return -ENOMEM;
            f->bytes.items[at] = spans[i].data[k];
        }
    return done;
}

static int fake_reserve(void *ctx, uint64_t from, uint64_t upto) {
    struct os_output_fake *f = ctx;
    (void)from;
    if (upto > f->room)
        return -ENOSPC;
    f->reserved = upto;
    return 0;
}

static int fake_truncate(void *ctx, uint64_t size) {
    struct os_output_fake *f = ctx;
    if (f->fail_at && f->writes >= f->fail_at)
        return -EIO;
    if (size < f->bytes.count)
        f->bytes.count = (size_t)size;
    return 0;
}

static int fake_close(void *ctx) {
    ((struct os_output_fake *)ctx)->closed = true;
    return 0;
}

void os_output_fake_init(struct os_output_fake *f, bool seekable) {
    *f = (struct os_output_fake){
        .out = {.ctx = f,
                .seekable = seekable,
                .write = fake_write,
                .reserve = fake_reserve,
                .truncate = fake_truncate,
                .close = fake_close},
        .room = UINT64_MAX,
    };
}

void os_output_fake_fini(struct os_output_fake *f) {
    vec_fini(&f->bytes);
}
