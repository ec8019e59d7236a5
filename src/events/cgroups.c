/* SPDX-License-Identifier: Apache-2.0 */
#include "events/cgroups.h"

#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096, GROUPS_MAX = 1 << 17 };

struct word {
    const char *p;
    size_t n;
};

static struct word take(const char **p, const char *end) {
    struct word w = {*p, 0};
    while (*p < end && **p != ' ' && **p != '\n')
        ++*p;
    w.n = (size_t)(*p - w.p);
    *p += *p < end && **p == ' ';
    return w;
}

static bool is(struct word w, const char *text) {
    return w.n == strlen(text) && memcmp(w.p, text, w.n) == 0;
}

/* "DEVICE FOLDER TYPE OPTIONS 0 0" (proc_mounts(5)); a folder with odd characters in its name has them
 * escaped, and is not looked for. */
bool perf_cgroups_mount(const struct os_proc *proc, char *room, size_t cap) {
    struct writer text = writer_make(false);
    bool found = false, first = false;
    if (proc->read(proc->ctx, "/proc/self/mounts", &text, NULL) && text.size) {
        const char *p = (const char *)text.data, *end = p + text.size;
        while (p < end && !first) {
            const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
            take(&p, stop);
            struct word folder = take(&p, stop), type = take(&p, stop), options = take(&p, stop);
            first = is(type, "cgroup") && memmem(options.p, options.n, "perf_event", 10);
            if ((first || (!found && is(type, "cgroup2"))) && folder.n < cap) {
                memcpy(room, folder.p, folder.n);
                room[folder.n] = 0;
                found = true;
            }
            p = stop + 1;
        }
    }
    writer_fini(&text);
    return found;
}

static bool tell(const struct os_proc *proc, const char *mount, const char *path, cgroups_fn *fn, void *ctx) {
    char full[PATH_ROOM + PATH_ROOM];
    struct os_identity id;
    snprintf(full, sizeof full, "%s%s", mount, path);
    return !proc->identity(proc->ctx, full, &id, NULL) /* gone since */ || fn(ctx, id.ino, path);
}

bool perf_cgroups_each(const struct os_proc *proc, cgroups_fn *fn, void *ctx) {
    char mount[PATH_ROOM], path[PATH_ROOM];
    struct arena a = ARENA_INIT;
    os_names queue = {0};
    if (!perf_cgroups_mount(proc, mount, sizeof mount))
        return true;
    const char **root = vec_push(&queue);
    bool ok = root != NULL && tell(proc, mount, "/", fn, ctx);
    if (root)
        *root = "";
    for (size_t i = 0; ok && i < queue.count && queue.count < GROUPS_MAX; i++) {
        size_t from = queue.count;
        const char *parent = queue.items[i];
        snprintf(path, sizeof path, "%s%s", mount, parent);
        if (!proc->folders(proc->ctx, path, &a, &queue, NULL))
            continue;
        for (size_t k = from; ok && k < queue.count; k++) {
            int n = snprintf(path, sizeof path, "%s/%s", parent, queue.items[k]);
            ok = n > 0 && (queue.items[k] = arena_strndup(&a, path, (size_t)n < sizeof path ? (size_t)n : 0));
            ok = ok && tell(proc, mount, queue.items[k], fn, ctx);
        }
    }
    vec_fini(&queue);
    arena_fini(&a);
    return ok;
}

bool perf_cgroups_find(const struct os_proc *proc, const char *path, uint64_t *id) {
    char mount[PATH_ROOM], full[PATH_ROOM + PATH_ROOM];
    struct os_identity found;
    path += strspn(path, "/");
    if (!perf_cgroups_mount(proc, mount, sizeof mount) ||
        (size_t)snprintf(full, sizeof full, "%s/%s", mount, path) >= sizeof full ||
        !proc->identity(proc->ctx, full, &found, NULL))
        return false;
    *id = found.ino;
    return true;
}
