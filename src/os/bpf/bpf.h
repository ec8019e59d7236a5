/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bpf(2) interface as a struct of functions, so that what is built on it can be tested on a fake
 * (bpf_fake.h).
 */
#ifndef SONDE_OS_BPF_BPF_H
#define SONDE_OS_BPF_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

union bpf_attr; /* linux/bpf.h */

struct os_bpf {
    void *ctx;
    /* bpf(2): a descriptor that closes on exec, or 0; a negative errno on failure. `bytes`: how much of
     * `attr` there is. */
    int (*call)(void *ctx, int command, union bpf_attr *attr, size_t bytes);
    /* Maps `bytes` of a BPF map from `offset` on into memory that is shared with the kernel; NULL: failed. */
    void *(*map)(void *ctx, int fd, size_t offset, size_t bytes, bool writable);
    void (*unmap)(void *ctx, void *p, size_t bytes);
    /* read(2), of iterators: how many bytes came, or a negative errno. */
    int64_t (*read)(void *ctx, int fd, void *p, size_t n);
    /* poll(2) for reading: whether data arrive within `ms`; -1: waits until they do, or a signal comes. */
    bool (*wait)(void *ctx, int fd, int ms);
    void (*close)(void *ctx, int fd);
    /* Whether the kernel publishes its types (/sys/kernel/btf/vmlinux), without which programs cannot be
     * fitted to it. */
    bool (*has_types)(void *ctx);
    /* How many possible CPUs there are: a value of a per-CPU map has one element for each, padded to 8 bytes;
     * 0: not known. */
    uint32_t (*cpus)(void *ctx);
};

/* The running kernel's. */
extern const struct os_bpf os_bpf_system;

#endif
