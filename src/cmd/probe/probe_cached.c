/* SPDX-License-Identifier: Apache-2.0 */
/* --cache: probes that are kept in the build-id cache. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "cmd/probe/probe_run.h"
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

static bool find_entry(const struct command_env *env, const struct probe_cli *c, const struct probe_image *i,
                       struct entry *e, struct err *err) {
    struct object_build_id id;
    if (!env->buildid_dir)
        return err_set(err, ERR_USAGE, "--cache", "there is no build-id cache: name one with --buildid-dir");
    if (c->module || (i && i->module))
        return err_set(err, ERR_UNSUPPORTED, "--cache", "probes of modules are not kept: leave it out");
    if (!i || i->text) {
        if (!kernel_maps_kernel_id(&os_files_real, &id, err))
            return false;
    } else if (!object_build_id_read(i->code, &id) || id.size < 2) {
        return err_set(err, ERR_ABSENT, i->path, "has no build-id, which probes are kept by");
    }
    for (unsigned k = 0; k < id.size; k++)
        snprintf(e->id + 2 * k, 3, "%02x", id.bytes[k]);
    return (size_t)snprintf(e->probes, sizeof e->probes, "%s/.build-id/%.2s/%s/probes", env->buildid_dir,
                            e->id, e->id + 2) < sizeof e->probes ||
           err_set(err, ERR_USAGE, env->buildid_dir, "the path is too long");
}

/* Reads a file of the cache; one that is not there is empty. False and *err. */
static bool read_file(const char *path, struct probe_cache *out, struct err *err) {
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

bool probe_run_cache_read(const struct command_env *env, const struct probe_cli *c,
                          const struct probe_image *i, struct probe_cache *out, struct err *err) {
    struct entry e;
    *out = (struct probe_cache){.bad_lines = 0};
    return find_entry(env, c, i, &e, err) && read_file(e.probes, out, err);
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

/* The path as the process itself has it. */
static const char *own_name(const struct probe_cli *c, const char *path) {
    static const char root[] = "/root/";
    const char *within = c->target_ns ? strstr(path, root) : NULL;
    if (!within)
        return path;
    path = within + sizeof root - 2;
    return path + (path[1] == '/');
}

bool probe_run_cache_write(const struct command_env *env, const struct probe_cli *c, struct probe_image *i,
                           struct probe_cache *cache, struct err *err) {
    struct entry e;
    bool kernel = !i || i->text;
    if (!find_entry(env, c, i, &e, err))
        return false;
    if (!os_place_taken(e.probes)) {
        char folder[PATH_ROOM]; /* that a link leads to */
        snprintf(folder, sizeof folder, "%.*s/.", (int)(strrchr(e.probes, '/') - e.probes), e.probes);
        bool there = os_place_taken(folder) ||
                     record_cache_put(env->buildid_dir, kernel ? KERNEL : own_name(c, i->path), e.id,
                                      kernel ? "kallsyms" : "elf", kernel ? "/proc/kallsyms" : i->path, err);
        /* Whoever reads the file looks for markers in it alone. */
        if (!there || (!kernel && !probe_cache_put_markers(cache, i, err)))
            return false;
    }
    return write_file(e.probes, cache, err);
}

/* ---- listing and removing ---- */

/* perf's way: a pattern is one of names, or of how the probe was written. */
static bool is_listed(const struct probe_cached *p, const char *pattern) {
    return !*pattern || probe_cached_matches(p, pattern) || fnmatch(pattern, p->heading, 0) == 0;
}

/* *failed: the file could not be read wholly. */
static bool list_entry(struct out *o, const char *folder, const struct record_cache_entry *e,
                       const char *pattern, bool *failed) {
    char path[PATH_ROOM];
    struct probe_cache cache = {.bad_lines = 0};
    struct err err = ERR_INIT;
    snprintf(path, sizeof path, "%s/.build-id/%.2s/%s/probes", folder, e->id, e->id + 2);
    bool there = os_place_taken(path), ok = read_file(path, &cache, &err);
    if (!ok)
        log_line(LOG_WARN, "%s: %s", err.where, err.message);
    *failed |= !ok || cache.bad_lines;
    if (ok && there) {
        out_plain(o, e->name, strlen(e->name));
        out_printf(o, " (%s):\n", e->id);
    }
    for (size_t i = 0; i < cache.list.count; i++)
        if (is_listed(&cache.list.items[i], pattern)) {
            out_plain(o, cache.list.items[i].heading, strlen(cache.list.items[i].heading));
            out_char(o, '\n');
        }
    probe_cache_fini(&cache);
    return err.code != ERR_MEMORY;
}

int probe_run_list_cached(struct command_env *env, const struct probe_cli *c) {
    struct record_cache_entries entries = {0};
    struct err err = ERR_INIT;
    struct out out;
    bool failed = false;
    bool ok = !env->buildid_dir || record_cache_list(env->buildid_dir, &entries, &err);
    int status = EXIT_ERROR;
    if (!ok) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        for (size_t i = 0; ok && i < entries.list.count; i++)
            ok = list_entry(&out, env->buildid_dir, &entries.list.items[i], c->list, &failed);
        status = command_finish(env, &out, ok && !failed ? EXIT_OK : EXIT_ERROR);
    }
    record_cache_entries_fini(&entries);
    return status;
}

static bool delete_matching(struct probe_cache *cache, const char *pattern, bool quiet, struct out *out,
                            struct err *err) {
    bool any = false;
    for (size_t i = 0; i < cache->list.count;) {
        const struct probe_cached *p = &cache->list.items[i];
        if (!probe_cached_matches(p, pattern)) {
            i++;
            continue;
        }
        any = true;
        if (!quiet) {
            out_str(out, "Removed cached event: ");
            out_plain(out, p->heading, strlen(p->heading));
            out_char(out, '\n');
        }
        probe_cache_remove(cache, i);
    }
    return any || err_set(err, ERR_ABSENT, NULL, "\"%s\" does not hit any cached event.", pattern);
}

static bool delete_all(struct command_env *env, const struct probe_cli *c, const struct probe_image *i,
                       struct out *out, struct err *err) {
    struct probe_cache cache;
    struct entry e;
    bool ok = probe_run_cache_read(env, c, i, &cache, err) && find_entry(env, c, i, &e, err);
    for (size_t k = 0; ok && k < c->del.count; k++)
        ok = delete_matching(&cache, c->del.items[k], c->quiet, out, err);
    ok = ok && (c->dry_run ||
                (cache.list.count ? write_file(e.probes, &cache, err) : os_place_remove(e.probes, err)));
    probe_cache_fini(&cache);
    return ok;
}

int probe_run_delete_cached(struct command_env *env, const struct probe_cli *c) {
    struct probe_image image = {.path = NULL};
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct out out;
    bool by_name;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    bool ok = probe_run_open(env, c, &a, &image, &by_name, &err) &&
              delete_all(env, c, by_name ? NULL : &image, &out, &err);
    int status = command_finish(env, &out, EXIT_OK);
    probe_image_fini(&image);
    arena_fini(&a);
    return ok ? status : command_fail(&err);
}
