/* SPDX-License-Identifier: Apache-2.0 */
#include "os/core.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int64_t file_read(void *ctx, uint64_t at, uint8_t *to, size_t n) {
    ssize_t got = TEMP_FAILURE_RETRY(pread((int)(intptr_t)ctx, to, n, (off_t)at));
    return got < 0 ? -errno : got;
}

static void file_close(void *ctx) {
    close((int)(intptr_t)ctx);
}

bool os_core_open(const char *path, struct os_core *out, struct err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        *out = (struct os_core){(void *)(intptr_t)fd, file_read, file_close};
        return true;
    }
    bool own = strcmp(path, "/proc/kcore") == 0;
    if (own && errno == ENOENT)
        return err_set(err, ERR_ABSENT, path,
                       "this kernel does not show its memory (it is built without CONFIG_PROC_KCORE)");
    if (own && (errno == EPERM || errno == EACCES))
        return err_set(
            err, ERR_PERMISSION, path,
            "only root may read the kernel's memory (CAP_SYS_RAWIO, and no kernel lockdown): sudo");
    return err_errno(err, errno, path, "cannot open");
}

static int64_t fake_read(void *ctx, uint64_t at, uint8_t *to, size_t n) {
    const struct bytes *all = ctx;
    if (at >= all->size)
        return 0;
    n = n < all->size - at ? n : (size_t)(all->size - at);
    memcpy(to, all->data + at, n);
    return (int64_t)n;
}

static void fake_close(void *ctx) {
    (void)ctx;
}

struct os_core os_core_fake(const struct bytes *content) {
    return (struct os_core){(void *)content, fake_read, fake_close};
}
