/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/probe/probe_kept.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "object/build_id.h"
#include "os/files/files.h"
#include "os/files/map.h"
#include "os/files/place.h"
#include "record/keep/cache_entries.h"
#include "recording/kernel/kernel_maps.h"

enum { PATH_ROOM = 8192, FILE_MAX = 16 << 20 };

static const char KERNEL[] = "[kernel.kallsyms]";

/* Where an image has its place in the cache. */
struct entry {
    char id[2 * OBJECT_BUILD_ID_MAX + 1];
    char probes[PATH_ROOM]; /* the file */
};

void probe_kept_fini(struct probe_kept *k) {
    probe_cache_fini(&k->cache);
}

static bool is_kernel(const struct probe_kept *k) {
    return !k->image || k->image->text;
}

static bool find_entry(const struct probe_kept *k, struct entry *e, struct err *err) {
    const char *folder = k->env->buildid_dir;
    struct object_build_id id;
    if (!folder)
        return err_set(err, ERR_USAGE, "--cache", "there is no build-id cache: name one with --buildid-dir");
    if (k->module || (k->image && k->image->module))
        return err_set(err, ERR_UNSUPPORTED, "--cache", "probes of modules are not kept: leave it out");
    if (is_kernel(k)) {
        if (!kernel_maps_kernel_id(&os_files_real, &id, err))
            return false;
    } else if (!object_build_id_read(k->image->code, &id) || id.size < 2) {
        return err_set(err, ERR_ABSENT, k->image->path, "has no build-id, which probes are kept by");
    }
    for (unsigned i = 0; i < id.size; i++)
        snprintf(e->id + 2 * i, 3, "%02x", id.bytes[i]);
    return (size_t)snprintf(e->probes, sizeof e->probes, "%s/.build-id/%.2s/%s/probes", folder, e->id,
                            e->id + 2) < sizeof e->probes ||
           err_set(err, ERR_USAGE, folder, "the path is too long");
}

bool probe_kept_read_file(const char *path, struct probe_cache *out, struct err *err) {
    struct os_file file;
    struct os_map map = {{NULL, 0}};
    if (!os_place_taken(path))
        return true;
    if (!os_file_open_regular(path, &file, err))
        return false;
    bool ok = file.size <= FILE_MAX ? os_map_file(&file, path, &map, err)
                                    : err_set(err, ERR_BROKEN, path,
                                              "is too large for cached probes, and is not read: remove it");
    ok = ok && probe_cache_read(out, map.bytes, err);
    os_map_fini(&map);
    os_file_close(&file);
    if (ok && out->bad_lines)
        log_line(LOG_WARN, "%s: %zu line%s of the cached probes could not be read, and %s left out", path,
                 out->bad_lines, plural(out->bad_lines), out->bad_lines == 1 ? "is" : "are");
    return ok;
}

bool probe_kept_read(struct probe_kept *k, struct err *err) {
    struct entry e;
    if (!k->was_read && find_entry(k, &e, &k->err))
        probe_kept_read_file(e.probes, &k->cache, &k->err);
    k->was_read = true;
    if (k->err.code != ERR_NONE)
        *err = k->err;
    return k->err.code == ERR_NONE;
}

bool probe_kept_take(struct probe_kept *k, const struct probe_spec *spec, struct arena *a, probe_events *out,
                     struct err *err) {
    struct err why = ERR_INIT;
    bool by_name = spec->sdt_name != NULL;
    bool no_marker = by_name && spec->cached_group && !spec->sdt_provider;
    if (err->code == ERR_MEMORY || (!by_name && k->image && probe_image_debug(k->image)))
        return false;
    if (!probe_kept_read(k, &why)) {
        if (no_marker || why.code == ERR_MEMORY)
            *err = why;
        return false;
    }
    bool ok = probe_cache_take(&k->cache, k->image, spec, a, out, &why);
    if (ok || no_marker || why.code != ERR_ABSENT)
        *err = why;
    return ok;
}

static bool write_file(const char *path, const struct probe_cache *cache, struct err *err) {
    struct out o;
    if (!out_init(&o, NULL, NULL))
        return err_memory(err, "cached probes");
    probe_cache_print(cache, &o);
    bool ok = !o.failed || err_memory(err, "cached probes");
    ok = ok && os_place_write(path, (struct bytes){(const uint8_t *)out_text(&o), o.len}, err);
    out_fini(&o);
    return ok;
}

bool probe_kept_write(struct probe_kept *k, const char *name, struct err *err) {
    const char *top = k->env->buildid_dir;
    struct entry e;
    bool kernel = is_kernel(k);
    if (!find_entry(k, &e, err))
        return false;
    if (!k->cache.list.count)
        return os_place_remove(e.probes, err);
    if (!os_place_taken(e.probes)) {
        char folder[PATH_ROOM]; /* that a link leads to */
        snprintf(folder, sizeof folder, "%.*s/.", (int)(strrchr(e.probes, '/') - e.probes), e.probes);
        bool there = os_place_taken(folder) ||
                     (kernel ? record_cache_put(top, KERNEL, e.id, "kallsyms", "/proc/kallsyms", err)
                             : record_cache_put(top, name, e.id, "elf", k->image->path, err));
        /* Whoever reads the file looks for markers in it alone. */
        if (!there || (!kernel && !probe_cache_put_markers(&k->cache, k->image, err)))
            return false;
    }
    return write_file(e.probes, &k->cache, err);
}
