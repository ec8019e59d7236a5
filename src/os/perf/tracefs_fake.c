/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os/perf/tracefs.h"

static struct os_tracefs_fake_file *find(const struct os_tracefs_fake *f, const char *path) {
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i].path, path) == 0)
            return (struct os_tracefs_fake_file *)&f->files[i];
    return NULL;
}

void os_tracefs_fake_put(struct os_tracefs_fake *f, const char *path, const char *text) {
    struct os_tracefs_fake_file *file = find(f, path);
    if (!file && f->count < OS_TRACEFS_FAKE_FILES)
        file = &f->files[f->count++];
    if (!file)
        return;
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->text, sizeof file->text, "%s", text);
}

const char *os_tracefs_fake_text(const struct os_tracefs_fake *f, const char *path) {
    const struct os_tracefs_fake_file *file = find(f, path);
    return file ? file->text : NULL;
}

static bool fake_read(void *ctx, const char *path, struct writer *into, struct err *err) {
    const char *text = os_tracefs_fake_text(ctx, path);
    if (!text)
        return err_set(err, ERR_ABSENT, path, "No such file or directory");
    writer_bytes_put(into, (struct bytes){(const uint8_t *)text, strlen(text)});
    return true;
}

static int fake_write(void *ctx, const char *path, const char *text, bool append) {
    struct os_tracefs_fake *f = ctx;
    struct os_tracefs_fake_file *file = find(f, path);
    if (!file)
        return ENOENT;
    f->writes++;
    if ((f->refused && strcmp(f->refused, path) == 0) || (f->fail_after && f->writes > f->fail_after))
        return f->refused_with;
    size_t n = append ? strlen(file->text) : 0;
    snprintf(file->text + n, sizeof file->text - n, "%s", text);
    return 0;
}

static int fake_make(void *ctx, const char *path) {
    struct os_tracefs_fake *f = ctx;
    char name[96];
    snprintf(name, sizeof name, "%.90s/", path);
    if (find(f, name))
        return EEXIST;
    os_tracefs_fake_put(f, name, "");
    return 0;
}

static int fake_remove(void *ctx, const char *path) {
    struct os_tracefs_fake *f = ctx;
    char name[96];
    snprintf(name, sizeof name, "%.90s/", path);
    size_t n = strlen(name), kept = 0, had = f->count;
    for (size_t i = 0; i < had; i++)
        if (strncmp(f->files[i].path, name, n) != 0)
            f->files[kept++] = f->files[i];
    f->count = kept;
    return kept < had ? 0 : ENOENT;
}

static bool fake_list(void *ctx, const char *path, struct arena *a, struct sysfs_names *out,
                      struct err *err) {
    struct os_tracefs_fake *f = ctx;
    size_t n = strlen(path);
    *out = (struct sysfs_names){arena_alloc(a, (f->count + 1) * sizeof *out->items), 0};
    if (!out->items)
        return err_memory(err, path);
    for (size_t i = 0; i < f->count; i++) {
        const char *rest = f->files[i].path + n + 1;
        if (strncmp(f->files[i].path, path, n) != 0 || f->files[i].path[n] != '/' || !*rest)
            continue;
        size_t len = strcspn(rest, "/");
        if (rest[len] == '\0' || rest[len + 1] == '\0')
            out->items[out->count++] = arena_strndup(a, rest, len);
    }
    return true;
}

static int fake_open_ring(void *ctx, const char *path) {
    (void)ctx, (void)path;
    return -ENOENT;
}

static bool fake_is_alive(void *ctx, pid_t pid) {
    return pid == ((struct os_tracefs_fake *)ctx)->alive;
}

struct os_tracefs os_tracefs_fake(struct os_tracefs_fake *f) {
    return (struct os_tracefs){.ctx = f,
                               .read = fake_read,
                               .write = fake_write,
                               .make = fake_make,
                               .remove = fake_remove,
                               .list = fake_list,
                               .open_ring = fake_open_ring,
                               .is_alive = fake_is_alive};
}
