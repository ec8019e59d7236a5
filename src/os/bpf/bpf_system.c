/* SPDX-License-Identifier: Apache-2.0 */
#include "os/bpf/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int system_call(void *ctx, int command, union bpf_attr *attr, size_t bytes) {
    (void)ctx;
    long got;
    do
        got = syscall(SYS_bpf, command, attr, bytes);
    while (got < 0 && errno == EAGAIN && command == BPF_PROG_LOAD); /* a signal came while it was verified */
    return got < 0 ? -errno : (int)got;
}

static void *system_map(void *ctx, int fd, size_t offset, size_t bytes, bool writable) {
    (void)ctx;
    void *p = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, (off_t)offset);
    return p == MAP_FAILED ? NULL : p;
}

static void system_unmap(void *ctx, void *p, size_t bytes) {
    (void)ctx;
    munmap(p, bytes);
}

static int64_t system_read(void *ctx, int fd, void *p, size_t n) {
    (void)ctx;
    ssize_t got = read(fd, p, n);
    return got < 0 ? -errno : got;
}

static bool system_wait(void *ctx, int fd, int ms) {
    (void)ctx;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) > 0;
}

static void system_close(void *ctx, int fd) {
    (void)ctx;
    close(fd);
}

static bool system_has_types(void *ctx) {
    (void)ctx;
    return access("/sys/kernel/btf/vmlinux", F_OK) == 0;
}

static uint32_t system_cpus(void *ctx) {
    (void)ctx;
    FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
    unsigned first = 0, last = 0, max = 0;
    if (!f)
        return 0;
    for (int n;
         (n = fscanf(f, "%u-%u", &first, &last)) > 0;) { /* "0-3,8": per-CPU values count up to the last */
        max = n == 2 ? last : first;
        if (fgetc(f) != ',')
            break;
    }
    fclose(f);
    return max < 1u << 16 ? max + 1 : 0;
}

const struct os_bpf os_bpf_system = {
    .call = system_call,
    .map = system_map,
    .unmap = system_unmap,
    .read = system_read,
    .wait = system_wait,
    .close = system_close,
    .has_types = system_has_types,
    .cpus = system_cpus,
};
