/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are held open although their names may go. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/proc/proc_internal.h"

/* Which mount a file is reached through; 0: the kernel does not say (before Linux 5.8). statx(2). */
static uint64_t mount_of(int fd, const char *path) {
    struct statx x;
    bool told =
        statx(fd, path, *path ? 0 : AT_EMPTY_PATH, STATX_MNT_ID, &x) == 0 && x.stx_mask & STATX_MNT_ID;
    return told ? x.stx_mnt_id : 0;
}

static bool in_memory(int fd) {
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 &&
           (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

/* Whether the process has other mounts than we; of one that has ended nobody can say. */
static bool foreign_mounts(int32_t pid) {
    char path[40];
    struct stat own, its;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &its) == 0 &&
           (own.st_ino != its.st_ino || own.st_dev != its.st_dev);
}

static struct os_identity identity_of(const struct stat *st) {
    return (struct os_identity){
        st->st_dev,
        st->st_ino,
        (uint64_t)st->st_size,
        (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
    };
}

bool os_hold(void *ctx, const char *path, int32_t pid, struct os_held *out, struct err *err) {
    struct stat st;
    if (!os_answers(ctx, path, err))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        int why = fd < 0 ? errno : EINVAL;
        if (fd >= 0)
            close(fd);
        return err_errno(err, why, path, "cannot hold %s", path);
    }
    *out = (struct os_held){.handle = fd, .identity = identity_of(&st), .where = OS_HELD_ELSEWHERE};
    uint64_t root = mount_of(AT_FDCWD, "/");
    if (st.st_nlink == 0 || in_memory(fd) || foreign_mounts(pid))
        out->where = OS_HELD_PASSING;
    else if (root && mount_of(fd, "") == root)
        out->where = OS_HELD_HERE;
    return true;
}

bool os_held_image(void *ctx, const struct os_held *held, uint64_t most, struct os_image *out,
                   struct err *err) {
    (void)ctx;
    return os_image_of_fd(held->handle, "a file held open", most, out, err);
}

bool os_held_identity(void *ctx, const struct os_held *held, struct os_identity *out) {
    struct stat st;
    (void)ctx;
    if (fstat(held->handle, &st) != 0)
        return false;
    *out = identity_of(&st);
    return true;
}

void os_unhold(void *ctx, struct os_held *held) {
    (void)ctx;
    close(held->handle);
    held->handle = -1;
}
