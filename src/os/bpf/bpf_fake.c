/* SPDX-License-Identifier: Apache-2.0 */
#include "os/bpf/bpf_fake.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>

enum { HEAD_BYTES = 24, MAP_BYTES = 16 }; /* of the loader's arguments (bpf_object.c) */

static struct os_bpf_fake_fd *fd_of(struct os_bpf_fake *f, uint32_t fd) {
    uint32_t i = fd - OS_BPF_FAKE_FD;
    return fd >= OS_BPF_FAKE_FD && i < f->fds.count && !f->fds.items[i].closed ? &f->fds.items[i] : NULL;
}

static int new_fd(struct os_bpf_fake *f, int command) {
    struct os_bpf_fake_fd *d = vec_push(&f->fds);
    if (!d)
        return -ENOMEM;
    d->command = command;
    return OS_BPF_FAKE_FD + (int)f->fds.count - 1;
}

static int make_map(struct os_bpf_fake *f, const struct os_bpf_map_kind *kind) {
    int fd = new_fd(f, BPF_MAP_CREATE);
    if (fd < 0)
        return fd;
    struct os_bpf_fake_fd *d = fd_of(f, (uint32_t)fd);
    d->type = kind->type;
    d->key_bytes = kind->key_bytes;
    d->value_bytes = kind->value_bytes;
    d->max_entries = kind->entries;
    return fd;
}

static size_t find(const struct os_bpf_fake_fd *d, const void *key) {
    size_t i = 0;
    while (i < d->entries.count && memcmp(d->entries.items[i].key, key, d->key_bytes) != 0)
        i++;
    return i;
}

static void free_entry(struct os_bpf_fake_entry *x) {
    free(x->key);
    free(x->value);
}

static int update(struct os_bpf_fake_fd *d, const void *key, const void *value) {
    size_t i = find(d, key);
    if (i == d->entries.count) {
        if (i >= d->max_entries)
            return -E2BIG;
        struct os_bpf_fake_entry x = {malloc(d->key_bytes), malloc(d->value_bytes)};
        struct os_bpf_fake_entry *added = x.key && x.value ? vec_push(&d->entries) : NULL;
        if (!added) {
            free_entry(&x);
            return -ENOMEM;
        }
        memcpy(x.key, key, d->key_bytes);
        *added = x;
    }
    memcpy(d->entries.items[i].value, value, d->value_bytes);
    return 0;
}

static int element(struct os_bpf_fake *f, int command, const union bpf_attr *attr) {
    struct os_bpf_fake_fd *d = fd_of(f, attr->map_fd);
    const void *key = (const void *)(uintptr_t)attr->key;
    void *value = (void *)(uintptr_t)attr->value;
    if (!d || d->command != BPF_MAP_CREATE)
        return -EBADF;
    if (command == BPF_MAP_UPDATE_ELEM)
        return update(d, key, value);
    size_t i = find(d, key);
    if (i == d->entries.count)
        return -ENOENT;
    if (command == BPF_MAP_LOOKUP_ELEM) {
        memcpy(value, d->entries.items[i].value, d->value_bytes);
        return 0;
    }
    free_entry(&d->entries.items[i]);
    d->entries.items[i] = d->entries.items[--d->entries.count];
    return 0;
}

static int lookup_batch(struct os_bpf_fake *f, union bpf_attr *attr) {
    struct os_bpf_fake_fd *d = fd_of(f, attr->batch.map_fd);
    uint32_t at = 0, n = 0;
    if (!d || d->command != BPF_MAP_CREATE)
        return -EBADF;
    if (attr->batch.in_batch)
        memcpy(&at, (const void *)(uintptr_t)attr->batch.in_batch, sizeof at);
    for (; n < attr->batch.count && at < d->entries.count; n++, at++) {
        memcpy((uint8_t *)(uintptr_t)attr->batch.keys + n * d->key_bytes, d->entries.items[at].key,
               d->key_bytes);
        memcpy((uint8_t *)(uintptr_t)attr->batch.values + n * d->value_bytes, d->entries.items[at].value,
               d->value_bytes);
    }
    attr->batch.count = n;
    memcpy((void *)(uintptr_t)attr->batch.out_batch, &at, sizeof at);
    return at < d->entries.count ? 0 : -ENOENT;
}

/* What the loader does: maps and programs, their descriptors in its arguments. */
static int run_loader(struct os_bpf_fake *f, union bpf_attr *attr) {
    uint8_t *arguments = (uint8_t *)(uintptr_t)attr->test.ctx_in;
    const struct os_bpf_code *code = f->code;
    uint64_t log;
    memcpy(&log, arguments + 16, sizeof log);
    int refused = f->refuse ? f->refuse(f->refuse_ctx, BPF_BTF_LOAD) : 0; /* in the loader */
    if (log && f->log)
        strcpy((char *)(uintptr_t)log, f->log);
    attr->test.retval = (uint32_t)-refused;
    for (uint32_t i = 0; i < code->map_count && !refused; i++) {
        static const struct os_bpf_map_kind PLAIN = {.key_bytes = 4, .value_bytes = 8, .entries = 1};
        struct os_bpf_map_kind kind = f->kinds ? f->kinds[i] : PLAIN;
        uint32_t entries;
        memcpy(&entries, arguments + HEAD_BYTES + i * MAP_BYTES + 4, sizeof entries);
        kind.entries = entries ? entries : kind.entries;
        int fd = make_map(f, &kind);
        memcpy(arguments + HEAD_BYTES + i * MAP_BYTES, &fd, sizeof fd);
    }
    for (uint32_t i = 0; i < code->program_count && !refused; i++) {
        int fd = new_fd(f, BPF_PROG_LOAD);
        memcpy(arguments + HEAD_BYTES + code->map_count * MAP_BYTES + i * sizeof fd, &fd, sizeof fd);
    }
    return 0;
}

static int fake_call(void *ctx, int command, union bpf_attr *attr, size_t bytes) {
    struct os_bpf_fake *f = ctx;
    int refused = f->refuse ? f->refuse(f->refuse_ctx, command) : 0;
    (void)bytes;
    if (refused)
        return -refused;
    switch (command) {
    case BPF_MAP_CREATE: {
        struct os_bpf_map_kind kind = {.type = attr->map_type,
                                       .key_bytes = attr->key_size,
                                       .value_bytes = attr->value_size,
                                       .entries = attr->max_entries};
        return make_map(f, &kind);
    }
    case BPF_MAP_LOOKUP_ELEM:
    case BPF_MAP_UPDATE_ELEM:
    case BPF_MAP_DELETE_ELEM:
        return element(f, command, attr);
    case BPF_MAP_LOOKUP_BATCH:
        return lookup_batch(f, attr);
    case BPF_PROG_RUN:
        if (attr->test.flags & BPF_F_TEST_RUN_ON_CPU)
            return f->run_on ? f->run_on(f->run_ctx, attr->test.cpu) : 0;
        return run_loader(f, attr);
    case BPF_PROG_LOAD:
    case BPF_RAW_TRACEPOINT_OPEN:
    case BPF_LINK_CREATE:
    case BPF_ITER_CREATE:
        return new_fd(f, command);
    default:
        return -EINVAL;
    }
}

static void *fake_map(void *ctx, int fd, size_t offset, size_t bytes, bool writable) {
    (void)offset, (void)writable;
    return fd_of(ctx, (uint32_t)fd) ? calloc(1, bytes) : NULL;
}

static void fake_unmap(void *ctx, void *p, size_t bytes) {
    (void)ctx, (void)bytes;
    free(p);
}

static int64_t fake_read(void *ctx, int fd, void *p, size_t n) {
    struct os_bpf_fake *f = ctx;
    struct os_bpf_fake_fd *d = fd_of(f, (uint32_t)fd);
    if (!d || d->command != BPF_ITER_CREATE)
        return -EBADF;
    size_t left = f->iterated.size - d->at;
    n = n < left ? n : left;
    n = f->read_most && n > f->read_most ? f->read_most : n;
    if (n)
        memcpy(p, f->iterated.data + d->at, n);
    d->at += n;
    return (int64_t)n;
}

static bool fake_wait(void *ctx, int fd, int ms) {
    (void)ms;
    return fd_of(ctx, (uint32_t)fd) != NULL;
}

static void fake_close(void *ctx, int fd) {
    struct os_bpf_fake_fd *d = fd_of(ctx, (uint32_t)fd);
    if (d)
        d->closed = true;
}

static bool fake_has_types(void *ctx) {
    return !((struct os_bpf_fake *)ctx)->no_types;
}

static uint32_t fake_cpus(void *ctx) {
    return ((struct os_bpf_fake *)ctx)->cpu_count;
}

void os_bpf_fake_init(struct os_bpf_fake *f, const struct os_bpf_code *code) {
    *f = (struct os_bpf_fake){.code = code, .cpu_count = 2};
    f->bpf = (struct os_bpf){.ctx = f,
                             .call = fake_call,
                             .map = fake_map,
                             .unmap = fake_unmap,
                             .read = fake_read,
                             .wait = fake_wait,
                             .close = fake_close,
                             .has_types = fake_has_types,
                             .cpus = fake_cpus};
}

void os_bpf_fake_fini(struct os_bpf_fake *f) {
    for (size_t i = 0; i < f->fds.count; i++) {
        for (size_t k = 0; k < f->fds.items[i].entries.count; k++)
            free_entry(&f->fds.items[i].entries.items[k]);
        vec_fini(&f->fds.items[i].entries);
    }
    vec_fini(&f->fds);
}

uint32_t os_bpf_fake_open(const struct os_bpf_fake *f) {
    uint32_t n = 0;
    for (size_t i = 0; i < f->fds.count; i++)
        n += !f->fds.items[i].closed;
    return n;
}
