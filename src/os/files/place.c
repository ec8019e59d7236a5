/* SPDX-License-Identifier: Apache-2.0 */
#include "os/files/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 8192, CHUNK = 256 << 10 };

bool os_place_taken(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

bool os_place_folders(const char *path, struct err *err) {
    char folder[PATH_ROOM];
    if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder)
        return err_set(err, ERR_USAGE, path, "the name is too long");
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0755) != 0 && errno != EEXIST)
            return err_errno(err, errno, folder, "cannot make the folder");
        *slash = '/';
    }
    return true;
}

static bool write_all(int fd, const char *p, size_t n) {
    while (n) {
        ssize_t done = TEMP_FAILURE_RETRY(write(fd, p, n));
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* The bytes of `in` into `out`. 0 or an errno; EFBIG: more than `max_bytes`. */
static int copy_bytes(int in, int out, uint64_t max_bytes, uint64_t *copied) {
    char *room = malloc(CHUNK);
    int why = room ? 0 : ENOMEM;
    while (!why) {
        ssize_t n = TEMP_FAILURE_RETRY(read(in, room, CHUNK));
        if (n <= 0) {
            why = n < 0 ? errno : 0;
            break;
        }
        *copied += (uint64_t)n;
        if (*copied > max_bytes)
            why = EFBIG;
        else if (!write_all(out, room, (size_t)n))
            why = errno;
    }
    free(room);
    return why;
}

static bool share_bytes(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
}

static int fill(int in, int out, uint64_t max_bytes, uint64_t *copied) {
    struct stat st;
    if (ioctl(out, FICLONE, in) == 0)
        return 0;
    if (fstat(in, &st) == 0 && (uint64_t)st.st_size > max_bytes)
        return EFBIG;
    return copy_bytes(in, out, max_bytes, copied);
}

bool os_place_copy(const char *from, const char *to, uint64_t max_bytes, uint64_t *copied, struct err *err) {
    char temporary[PATH_ROOM];
    *copied = 0;
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", to) >= sizeof temporary)
        return err_set(err, ERR_USAGE, to, "the name is too long");
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return err_errno(err, errno, from, "cannot open");
    int out = mkostemp(temporary, O_CLOEXEC);
    int why = out < 0 ? errno : fill(in, out, max_bytes, copied);
    /* A cached program can be run, and what others may not read stays so; set-user-ID is for none but the
     * original. */
    struct stat st;
    if (!why && (fstat(in, &st) != 0 || fchmod(out, (st.st_mode & 0777) | 0600) != 0))
        why = errno;
    if (out >= 0 && close(out) != 0 && !why)
        why = errno;
    close(in);
    if (!why && rename(temporary, to) != 0)
        why = errno;
    if (why && out >= 0)
        unlink(temporary);
    if (why == EFBIG)
        return err_set(err, ERR_UNSUPPORTED, from, "larger than %llu bytes", (unsigned long long)max_bytes);
    return !why || err_errno(err, why, to, "cannot copy %s", from);
}

static int write_device(const char *path, struct bytes content) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int why = write_all(fd, (const char *)content.data, content.size) ? 0 : errno;
    return close(fd) != 0 && !why ? errno : why;
}

static int write_new(const char *path, const struct stat *old, struct bytes content) {
    char temporary[PATH_ROOM];
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%d.new", path, (int)getpid()) >= sizeof temporary)
        return ENAMETOOLONG;
    unlink(temporary); /* of an earlier process of that number, which was killed */
    int out = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out < 0)
        return errno;
    int why = write_all(out, (const char *)content.data, content.size) ? 0 : errno;
    if (!why && old && fchmod(out, old->st_mode & 0777) != 0)
        why = errno;
    if (close(out) != 0 && !why)
        why = errno;
    if (!why && rename(temporary, path) != 0)
        why = errno;
    if (why)
        unlink(temporary);
    return why;
}

bool os_place_write(const char *path, struct bytes content, struct err *err) {
    struct stat st;
    char *real = realpath(path, NULL);
    const char *to = real ? real : path;
    bool there = stat(to, &st) == 0;
    int why = there && !S_ISREG(st.st_mode) ? write_device(to, content)
                                            : write_new(to, there ? &st : NULL, content);
    free(real);
    return !why || err_errno(err, why, path, "cannot write");
}

/* A link is the same file: overwriting the one in place overwrites both. */
bool os_place_file(const char *from, const char *to, uint64_t max_bytes, uint64_t *copied, struct err *err) {
    enum { COPY_BYTES_MAX = 32 << 20 };
    uint64_t first = max_bytes < COPY_BYTES_MAX ? max_bytes : COPY_BYTES_MAX;
    return os_place_copy(from, to, first, copied, err) || share_bytes(from, to) ||
           (first < max_bytes && os_place_copy(from, to, max_bytes, copied, err));
}

bool os_place_link(const char *target, const char *path, struct err *err) {
    return symlink(target, path) == 0 || errno == EEXIST || err_errno(err, errno, path, "cannot link");
}

bool os_place_remove(const char *path, struct err *err) {
    return remove(path) == 0 || err_errno(err, errno, path, "cannot remove");
}

bool os_place_target(const char *link, char *target, size_t size, struct err *err) {
    ssize_t n = readlink(link, target, size);
    if (n < 0)
        return err_errno(err, errno, link, "cannot read the link");
    if ((size_t)n >= size)
        return err_set(err, ERR_UNSUPPORTED, link, "the link is too long");
    target[n] = 0;
    return true;
}

bool os_place_real(const char *path, char *real, size_t size, struct err *err) {
    char *found = realpath(path, NULL);
    if (!found)
        return err_errno(err, errno, path, "cannot open");
    bool fits = (size_t)snprintf(real, size, "%s", found) < size;
    free(found);
    return fits || err_set(err, ERR_USAGE, path, "the name is too long");
}

bool os_place_measure(const char *path, uint64_t *bytes, int64_t *used_ns) {
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    const struct timespec *t = st.st_atim.tv_sec > st.st_mtim.tv_sec ? &st.st_atim : &st.st_mtim;
    *bytes = (uint64_t)st.st_size;
    *used_ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
    return true;
}
