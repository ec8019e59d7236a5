/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/cache_entries.h"

#include <stdio.h>
#include <string.h>

#include "os/files/place.h"
#include "os/sysfs.h"

enum { PATH_ROOM = 8192 };

/* ---- listing ---- */

/* The name in a link's target: "../../usr/lib/libx.so/ID" is /usr/lib/libx.so, "../../[x]/ID" [x]. NULL: it
 * is no link of the cache's. */
static const char *name_of(const char *target, struct arena *texts) {
    static const char up[] = "../../";
    const char *slash = strrchr(target, '/');
    size_t skip = sizeof up - 1;
    if (strncmp(target, up, skip) || !slash || slash < target + skip || strstr(target + skip, "../"))
        return NULL;
    skip -= target[skip] != '[';
    return arena_strndup(texts, target + skip, (size_t)(slash - target) - skip);
}

/* Sizes and times of the files in an entry's folder. False: there are none. */
static bool measure(const char *folder, struct record_cache_entry *e) {
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    bool any = false;
    if (sysfs_system.list(&sysfs_system, folder, &scratch, &names, NULL))
        for (size_t i = 0; i < names.count; i++) {
            char path[PATH_ROOM];
            uint64_t bytes;
            int64_t used_ns;
            if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, names.items[i]) >= sizeof path ||
                !os_place_measure(path, &bytes, &used_ns))
                continue;
            e->bytes += bytes;
            e->used_ns = used_ns > e->used_ns ? used_ns : e->used_ns;
            any |= strcmp(names.items[i], "probes") != 0;
        }
    arena_fini(&scratch);
    return any;
}

static bool list_link(const char *folder, const char *first, const char *rest,
                      struct record_cache_entries *out) {
    char link[PATH_ROOM], target[PATH_ROOM], id[128];
    struct record_cache_entry e = {0};
    if ((size_t)snprintf(link, sizeof link, "%s/.build-id/%s/%s", folder, first, rest) >= sizeof link ||
        (size_t)snprintf(id, sizeof id, "%s%s", first, rest) >= sizeof id ||
        !os_place_target(link, target, sizeof target, NULL) || !(e.name = name_of(target, &out->texts)) ||
        !measure(link, &e))
        return true;
    e.id = arena_strndup(&out->texts, id, strlen(id));
    struct record_cache_entry *slot = e.id ? vec_push(&out->list) : NULL;
    if (slot)
        *slot = e;
    return slot;
}

bool record_cache_list(const char *folder, struct record_cache_entries *out, struct err *err) {
    struct arena scratch = ARENA_INIT;
    struct sysfs_names firsts, rests;
    char path[PATH_ROOM];
    bool ok = true;
    snprintf(path, sizeof path, "%s/.build-id", folder);
    if (!sysfs_system.list(&sysfs_system, path, &scratch, &firsts, NULL))
        firsts.count = 0;
    for (size_t i = 0; ok && i < firsts.count; i++) {
        snprintf(path, sizeof path, "%s/.build-id/%s", folder, firsts.items[i]);
        if (strlen(firsts.items[i]) != 2 || !sysfs_system.list(&sysfs_system, path, &scratch, &rests, NULL))
            continue;
        for (size_t k = 0; ok && k < rests.count; k++)
            ok = list_link(folder, firsts.items[i], rests.items[k], out);
    }
    arena_fini(&scratch);
    return ok || err_memory(err, "build-id cache");
}

void record_cache_entries_fini(struct record_cache_entries *e) {
    vec_fini(&e->list);
    arena_fini(&e->texts);
}

const struct record_cache_entry *record_cache_find(const struct record_cache_entries *e, const char *id) {
    for (size_t i = 0; i < e->list.count; i++)
        if (!strcmp(e->list.items[i].id, id))
            return &e->list.items[i];
    return NULL;
}

/* ---- changing ---- */

bool record_cache_put(const char *folder, const char *name, const char *id, const char *kind,
                      const char *from, struct err *err) {
    const char *slash = *name == '/' ? "" : "/";
    char to[PATH_ROOM], link[PATH_ROOM], target[PATH_ROOM];
    uint64_t copied;
    if (strlen(id) < 3 || strstr(name, "/../"))
        return err_set(err, ERR_USAGE, name, "it cannot have a place in the cache");
    if ((size_t)snprintf(to, sizeof to, "%s%s%s/%s/%s", folder, slash, name, id, kind) >= sizeof to)
        return err_set(err, ERR_USAGE, name, "the name is too long");
    snprintf(link, sizeof link, "%s/.build-id/%.2s/%s", folder, id, id + 2);
    snprintf(target, sizeof target, "../..%s%s/%s", slash, name, id);
    return os_place_folders(to, err) && os_place_folders(link, err) &&
           os_place_copy(from, to, UINT64_MAX, &copied, err) && os_place_link(target, link, err);
}

/* The folders that `path` lies in, from the innermost up to `top`, as far as they are empty. */
static void prune(char *path, size_t top) {
    for (char *slash; (slash = strrchr(path, '/')) && (size_t)(slash - path) > top;) {
        *slash = 0;
        if (!os_place_remove(path, NULL))
            return;
    }
}

bool record_cache_drop(const char *folder, const struct record_cache_entry *e, struct err *err) {
    const char *slash = *e->name == '/' ? "" : "/";
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    char inside[PATH_ROOM], path[PATH_ROOM];
    bool ok = true;
    snprintf(inside, sizeof inside, "%s%s%s/%s", folder, slash, e->name, e->id);
    if (!sysfs_system.list(&sysfs_system, inside, &scratch, &names, NULL))
        names.count = 0;
    for (size_t i = 0; ok && i < names.count; i++) {
        snprintf(path, sizeof path, "%.4096s/%s", inside, names.items[i]);
        ok = os_place_remove(path, err);
    }
    arena_fini(&scratch);
    if (!ok)
        return false;
    snprintf(path, sizeof path, "%s/.build-id/%.2s/%s", folder, e->id, e->id + 2);
    ok = os_place_remove(path, err);
    prune(path, strlen(folder));
    snprintf(path, sizeof path, "%.4096s/x", inside);
    prune(path, strlen(folder));
    return ok;
}
