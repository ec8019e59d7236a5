/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc/proc_fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct os_proc_fake_file *find(const struct os_proc_fake *f, const char *path, struct err *err) {
    for (size_t i = 0; i < f->file_count; i++) {
        const struct os_proc_fake_file *file = &f->files[i];
        if (strcmp(file->path, path) != 0)
            continue;
        if (!file->denied && !file->gone)
            return file;
        err_errno(err, file->denied ? EACCES : ESRCH, path, "cannot open %s", path);
        return NULL;
    }
    err_errno(err, ENOENT, path, "cannot open %s", path);
    return NULL;
}

static bool fake_read(void *ctx, const char *path, struct writer *into, struct err *err) {
    const struct os_proc_fake_file *file = find(ctx, path, err);
    if (file)
        writer_bytes_put(into, file->content);
    return file != NULL;
}

/* One line at a time: the smallest pieces that the contract allows. */
static bool fake_lines(void *ctx, const char *path, os_lines_fn *fn, void *fn_ctx, struct err *err) {
    const struct os_proc_fake_file *file = find(ctx, path, err);
    if (!file)
        return false;
    for (struct bytes rest = file->content; rest.size;) {
        const uint8_t *nl = memchr(rest.data, '\n', rest.size);
        size_t n = nl ? (size_t)(nl - rest.data) + 1 : rest.size;
        if (!fn(fn_ctx, (struct bytes){rest.data, n}))
            return true;
        rest = (struct bytes){rest.data + n, rest.size - n};
    }
    return true;
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool fake_numbers(void *ctx, const char *path, os_numbers *out, struct err *err) {
    const struct os_proc_fake *f = ctx;
    size_t len = strlen(path);
    for (size_t i = 0; i < f->file_count; i++) {
        const char *p = f->files[i].path;
        char *end;
        if (strncmp(p, path, len) != 0 || p[len] != '/' || p[len + 1] < '0' || p[len + 1] > '9')
            continue;
        int32_t n = (int32_t)strtol(p + len + 1, &end, 10);
        bool seen = *end && *end != '/';
        for (size_t k = 0; k < out->count; k++)
            seen |= out->items[k] == n;
        int32_t *slot = seen ? NULL : vec_push(out);
        if (slot)
            *slot = n;
    }
    if (!out->count)
        return err_errno(err, ENOENT, path, "cannot open %s", path);
    qsort(out->items, out->count, sizeof *out->items, ascending);
    return true;
}

/* Folders: paths that end in a slash, and those that lie in them. */
static bool fake_folders(void *ctx, const char *path, struct arena *a, os_names *out, struct err *err) {
    const struct os_proc_fake *f = ctx;
    size_t len = strlen(path), before = out->count;
    for (size_t i = 0; i < f->file_count; i++) {
        const char *p = f->files[i].path;
        if (strncmp(p, path, len) != 0 || p[len] != '/')
            continue;
        size_t n = strcspn(p + len + 1, "/");
        bool seen = n == 0 || p[len + 1 + n] != '/';
        for (size_t k = before; !seen && k < out->count; k++)
            seen = strlen(out->items[k]) == n && memcmp(out->items[k], p + len + 1, n) == 0;
        const char **slot = seen ? NULL : vec_push(out);
        if (slot && !(*slot = arena_strndup(a, p + len + 1, n)))
            return err_memory(err, path);
    }
    return true;
}

static bool fake_link(void *ctx, const char *path, char *to, size_t room, struct err *err) {
    const struct os_proc_fake_file *file = find(ctx, path, err);
    size_t n = file ? file->content.size : 0;
    n = n < room ? n : room - 1;
    if (n)
        memcpy(to, file->content.data, n);
    to[n] = 0;
    return file != NULL;
}

static bool fake_unix_sockets(void *ctx, os_unix_sockets *out, struct err *err) {
    const struct os_proc_fake *f = ctx;
    for (size_t i = 0; i < f->unix_count; i++) {
        struct os_unix_socket *slot = vec_push(out);
        if (!slot)
            return err_memory(err, "sockets");
        *slot = f->unix_sockets[i];
    }
    return true;
}

static bool fake_memory(void *ctx, int32_t pid, uint64_t address, void *to, size_t n, struct err *err) {
    const struct os_proc_fake *f = ctx;
    for (size_t i = 0; i < f->memory_count; i++) {
        const struct os_proc_fake_memory *m = &f->memory[i];
        if (m->pid != pid || address < m->address || address - m->address > m->content.size ||
            n > m->content.size - (address - m->address))
            continue;
        if (m->denied)
            return err_errno(err, EPERM, NULL, "cannot read memory");
        if (n)
            memcpy(to, m->content.data + (address - m->address), n);
        return true;
    }
    return err_errno(err, EFAULT, NULL, "cannot read memory");
}

static bool fake_identity(void *ctx, const char *path, struct os_identity *out, struct err *err) {
    const struct os_proc_fake_file *file = find(ctx, path, err);
    if (file)
        *out = file->identity;
    return file != NULL;
}

static bool fake_image(void *ctx, const char *path, uint64_t most, struct os_image *out, struct err *err) {
    const struct os_proc_fake_file *file = find(ctx, path, err);
    *out = (struct os_image){.bytes = file ? file->content : (struct bytes){0}};
    if (out->bytes.size > most)
        out->bytes.size = (size_t)most;
    return file != NULL;
}

static void fake_release(void *ctx, struct os_image *image) {
    (void)ctx;
    *image = (struct os_image){0};
}

/* Handles are numbers of files in the table. */
static bool fake_hold(void *ctx, const char *path, int32_t pid, struct os_held *out, struct err *err) {
    const struct os_proc_fake *f = ctx;
    const struct os_proc_fake_file *file = find(f, path, err);
    (void)pid;
    if (!file)
        return false;
    *out = (struct os_held){.handle = (int)(file - f->files), .identity = file->identity};
    out->where = file->where;
    return true;
}

static bool fake_held_image(void *ctx, const struct os_held *held, uint64_t most, struct os_image *out,
                            struct err *err) {
    const struct os_proc_fake *f = ctx;
    (void)err;
    *out = (struct os_image){.bytes = f->files[held->handle].content};
    if (out->bytes.size > most)
        out->bytes.size = (size_t)most;
    return true;
}

static bool fake_held_identity(void *ctx, const struct os_held *held, struct os_identity *out) {
    *out = ((const struct os_proc_fake *)ctx)->files[held->handle].identity;
    return true;
}

static void fake_unhold(void *ctx, struct os_held *held) {
    (void)ctx;
    held->handle = -1;
}

static int fake_maps_open(void *ctx, int32_t pid) {
    const struct os_proc_fake *f = ctx;
    for (size_t i = 0; i < f->mapping_count; i++)
        if (f->mappings[i].pid == pid)
            return f->mappings_denied ? -EACCES : pid;
    return -ENOENT;
}

static int fake_maps_next(void *ctx, int pid, uint64_t from, bool executable, struct os_mapping *out) {
    enum { EXECUTE = 4 };
    const struct os_proc_fake *f = ctx;
    if (f->no_query)
        return -ENOTTY;
    for (size_t i = 0; i < f->mapping_count; i++) {
        const struct os_proc_fake_mapping *m = &f->mappings[i];
        if (m->pid == pid && m->mapping.end > from && (!executable || m->mapping.prot & EXECUTE)) {
            *out = m->mapping;
            return 1;
        }
    }
    return 0;
}

static void fake_maps_build_id(void *ctx, int handle, int32_t pid, const struct os_mapping *m,
                               struct os_build_id *out) {
    const struct os_proc_fake *f = ctx;
    (void)handle;
    *out = (struct os_build_id){0};
    if (f->id_queries)
        ++*f->id_queries;
    for (size_t i = 0; i < f->mapping_count; i++)
        if (f->mappings[i].pid == pid && f->mappings[i].mapping.start == m->start)
            *out = f->mappings[i].build_id;
}

static int fake_bpf_next(void *ctx, uint32_t after, struct os_bpf_program *out) {
    static const uint8_t NONE[OS_BPF_TAG];
    const struct os_proc_fake *f = ctx;
    for (size_t i = 0; i < f->program_count; i++)
        if (f->programs[i].id > after) {
            *out = f->programs[i];
            return memcmp(out->tag, NONE, sizeof NONE) ? 1 : -1;
        }
    return 0;
}

static bool fake_bpf_info(void *ctx, uint32_t id, struct os_bpf_info *out) {
    (void)ctx, (void)id, (void)out;
    return false;
}

static bool fake_bpf_btf(void *ctx, uint32_t id, struct writer *into) {
    (void)ctx, (void)id, (void)into;
    return false;
}

static void fake_maps_close(void *ctx, int handle) {
    (void)ctx;
    (void)handle;
}

struct os_proc os_proc_fake(const struct os_proc_fake *fake) {
    return (struct os_proc){
        .ctx = (void *)fake,
        .read = fake_read,
        .read_once = fake_read,
        .lines = fake_lines,
        .numbers = fake_numbers,
        .folders = fake_folders,
        .link = fake_link,
        .unix_sockets = fake_unix_sockets,
        .memory = fake_memory,
        .identity = fake_identity,
        .image = fake_image,
        .release = fake_release,
        .hold = fake_hold,
        .held_image = fake_held_image,
        .held_identity = fake_held_identity,
        .unhold = fake_unhold,
        .maps_open = fake_maps_open,
        .maps_next = fake_maps_next,
        .maps_build_id = fake_maps_build_id,
        .maps_close = fake_maps_close,
        .bpf_next = fake_bpf_next,
        .bpf_info = fake_bpf_info,
        .bpf_btf = fake_bpf_btf,
    };
}
