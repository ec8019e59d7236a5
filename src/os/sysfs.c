/* SPDX-License-Identifier: Apache-2.0 */
#include "os/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/vec.h"

/* Files of these trees do not say their size: read until nothing comes. */
static const char *read_all(int fd, const char *path, struct arena *a, struct err *err) {
    VEC(char) text = {0};
    const char *copy = NULL;
    for (;;) {
        if (!vec_reserve(&text, text.count + 4096)) {
            err_memory(err, path);
            break;
        }
        ssize_t n = read(fd, text.items + text.count, text.cap - text.count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            err_errno(err, errno, path, "cannot read %s", path);
            break;
        }
        text.count += (size_t)n;
        if (text.count > SYSFS_TEXT_MAX) {
            err_set(err, ERR_BROKEN, path, "%s is larger than %d bytes", path, SYSFS_TEXT_MAX);
            break;
        }
        if (n == 0) {
            while (text.count && text.items[text.count - 1] == '\n')
                text.count--;
            copy = arena_strndup(a, text.items, text.count);
            if (!copy)
                err_memory(err, path);
            break;
        }
    }
    vec_fini(&text);
    return copy;
}

static const char *system_read(const struct sysfs *s, const char *path, struct arena *a, struct err *err) {
    (void)s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        err_errno(err, errno, path, "cannot open %s", path);
        return NULL;
    }
    const char *text = read_all(fd, path, a, err);
    close(fd);
    return text;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef VEC(const char *) names_vec;

/* Takes over the names into `a`, sorted. */
static bool finish(names_vec *v, struct arena *a, struct sysfs_names *out) {
    const char **items = arena_alloc(a, v->count * sizeof *items);
    if (!items)
        return false;
    if (v->count) {
        memcpy(items, v->items, v->count * sizeof *items);
        qsort(items, v->count, sizeof *items, by_name);
    }
    *out = (struct sysfs_names){items, v->count};
    return true;
}

static bool add(names_vec *v, struct arena *a, const char *name, size_t n) {
    const char *copy = arena_strndup(a, name, n);
    const char **slot = copy ? vec_push(v) : NULL;
    if (slot)
        *slot = copy;
    return slot != NULL;
}

static bool system_list(const struct sysfs *s, const char *path, struct arena *a, struct sysfs_names *out,
                        struct err *err) {
    (void)s;
    DIR *d = opendir(path);
    if (!d)
        return err_errno(err, errno, path, "cannot open %s", path);
    names_vec v = {0};
    bool ok = true;
    for (struct dirent *e; ok && v.count < SYSFS_NAMES_MAX && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = add(&v, a, e->d_name, strlen(e->d_name));
    closedir(d);
    ok = (ok && finish(&v, a, out)) || err_memory(err, path);
    vec_fini(&v);
    return ok;
}

static bool system_mount_tracefs(const struct sysfs *s) {
    (void)s;
    return mount("nodev", "/sys/kernel/tracing", "tracefs", 0, NULL) == 0 || errno == EBUSY;
}

const struct sysfs sysfs_system = {NULL, system_read, system_list, system_mount_tracefs};

const char SYSFS_FAKE_DENIED[] = "denied";

static bool is_there(const struct sysfs_fake *tree, const struct sysfs_fake_file *f) {
    static const char TRACEFS[] = "/sys/kernel/tracing/";
    return !tree->mounted || *tree->mounted || strncmp(f->path, TRACEFS, sizeof TRACEFS - 1) != 0;
}

static const char *fake_read(const struct sysfs *s, const char *path, struct arena *a, struct err *err) {
    const struct sysfs_fake *tree = s->ctx;
    for (size_t i = 0; i < tree->count; i++) {
        const struct sysfs_fake_file *f = &tree->files[i];
        if (!f->text || strcmp(f->path, path) != 0 || !is_there(tree, f))
            continue;
        if (f->text == SYSFS_FAKE_DENIED) {
            err_errno(err, EACCES, path, "cannot open %s", path);
            return NULL;
        }
        const char *copy = arena_strndup(a, f->text, strlen(f->text));
        if (!copy)
            err_memory(err, path);
        return copy;
    }
    err_errno(err, ENOENT, path, "cannot open %s", path);
    return NULL;
}

static bool fake_list(const struct sysfs *s, const char *path, struct arena *a, struct sysfs_names *out,
                      struct err *err) {
    const struct sysfs_fake *tree = s->ctx;
    size_t len = strlen(path);
    names_vec v = {0};
    bool ok = true, there = false;
    for (size_t i = 0; ok && i < tree->count; i++) {
        const char *p = tree->files[i].path;
        if (strncmp(p, path, len) != 0 || p[len] != '/' || !is_there(tree, &tree->files[i]))
            continue;
        there = true;
        size_t n = strcspn(p + len + 1, "/");
        bool seen = n == 0;
        for (size_t j = 0; !seen && j < v.count; j++)
            seen = strlen(v.items[j]) == n && memcmp(v.items[j], p + len + 1, n) == 0;
        ok = seen || add(&v, a, p + len + 1, n);
    }
    if (!there)
        ok = err_errno(err, ENOENT, path, "cannot open %s", path);
    else
        ok = (ok && finish(&v, a, out)) || err_memory(err, path);
    vec_fini(&v);
    return ok;
}

static bool fake_mount_tracefs(const struct sysfs *s) {
    const struct sysfs_fake *tree = s->ctx;
    if (tree->mounted)
        *tree->mounted = true;
    return tree->mounted;
}

struct sysfs sysfs_fake(const struct sysfs_fake *tree) {
    return (struct sysfs){tree, fake_read, fake_list, fake_mount_tracefs};
}
