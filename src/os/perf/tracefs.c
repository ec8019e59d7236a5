/* SPDX-License-Identifier: Apache-2.0 */
#include "os/perf/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files/files.h"

enum { PATH_ROOM = 512 };

/* Where it is mounted; the second is where it was before it had a place of its own. */
static const char *root(void) {
    static const char NEW[] = "/sys/kernel/tracing", OLD[] = "/sys/kernel/debug/tracing";
    if (access("/sys/kernel/tracing/trace", F_OK) != 0 && sysfs_system.mount_tracefs)
        sysfs_system.mount_tracefs(&sysfs_system);
    return access("/sys/kernel/tracing/trace", F_OK) != 0 &&
                   access("/sys/kernel/debug/tracing/trace", F_OK) == 0
               ? OLD
               : NEW;
}

static bool full_path(char out[PATH_ROOM], const char *path) {
    return snprintf(out, PATH_ROOM, "%s/%s", root(), path) < PATH_ROOM;
}

static bool real_read(void *ctx, const char *path, struct writer *into, struct err *err) {
    char full[PATH_ROOM];
    (void)ctx;
    if (!full_path(full, path))
        return err_set(err, ERR_ABSENT, path, "no file has so long a name");
    return os_files_real.read(os_files_real.ctx, full, into, err);
}

static int real_write(void *ctx, const char *path, const char *text, bool append) {
    char full[PATH_ROOM];
    size_t n = strlen(text);
    (void)ctx;
    int fd = full_path(full, path) ? open(full, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC)) : -1;
    if (fd < 0)
        return errno;
    int why = n && write(fd, text, n) < 0 ? errno : 0;
    if (close(fd) != 0 && !why) /* filters take effect, and can fail, then */
        why = errno;
    return why;
}

static int real_make(void *ctx, const char *path) {
    char full[PATH_ROOM];
    (void)ctx;
    return full_path(full, path) && mkdir(full, 0700) == 0 ? 0 : errno;
}

static int real_remove(void *ctx, const char *path) {
    char full[PATH_ROOM];
    (void)ctx;
    return full_path(full, path) && rmdir(full) == 0 ? 0 : errno;
}

static bool real_list(void *ctx, const char *path, struct arena *a, struct sysfs_names *out,
                      struct err *err) {
    char full[PATH_ROOM];
    (void)ctx;
    return full_path(full, path) && sysfs_system.list(&sysfs_system, full, a, out, err);
}

static int real_open_ring(void *ctx, const char *path) {
    char full[PATH_ROOM];
    (void)ctx;
    int fd = full_path(full, path) ? open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    return fd < 0 ? -errno : fd;
}

static bool real_is_alive(void *ctx, pid_t pid) {
    (void)ctx;
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

const struct os_tracefs os_tracefs_system = {.read = real_read,
                                             .write = real_write,
                                             .make = real_make,
                                             .remove = real_remove,
                                             .list = real_list,
                                             .open_ring = real_open_ring,
                                             .is_alive = real_is_alive};
