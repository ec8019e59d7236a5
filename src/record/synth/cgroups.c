/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/cgroups.h"

#include <stdio.h>

#include "events/cgroups.h"

enum { PATH_ROOM = 4096, GROUPS_MAX = 1 << 17 };

static bool put(const struct os_proc *proc, const struct record_sink *sink, const char *mount,
                const char *path, struct writer *w) {
    char full[PATH_ROOM + PATH_ROOM], room[PATH_ROOM + 8];
    struct os_identity id;
    size_t len = strlen(path), size = (len + 8) & ~(size_t)7;
    snprintf(full, sizeof full, "%s%s", mount, path);
    if (!proc->identity(proc->ctx, full, &id, NULL))
        return true; /* gone since */
    memset(room, 0, size);
    memcpy(room, path, len);
    /* A group's id is its folder's inode number (cgroups(7), bpf_get_current_cgroup_id of bpf-helpers(7)). */
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_CGROUP,
        .cgroup = {id.ino, {(const uint8_t *)room, size}},
    };
    record_sink_encode(sink, &rec, w);
    return writer_ok(w);
}

bool record_cgroups_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w) {
    char mount[PATH_ROOM], path[PATH_ROOM];
    struct arena a = ARENA_INIT;
    os_names queue = {0};
    if (!perf_cgroups_mount(proc, mount, sizeof mount))
        return true;
    const char **root = vec_push(&queue);
    bool ok = root != NULL && put(proc, sink, mount, "/", w);
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
            ok = ok && put(proc, sink, mount, queue.items[k], w);
        }
    }
    vec_fini(&queue);
    arena_fini(&a);
    return ok;
}
