/* SPDX-License-Identifier: Apache-2.0 */
/* --list --cache and --del --cache. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/probe/probe_kept.h"
#include "cmd/probe/probe_run.h"
#include "os/files/place.h"
#include "record/keep/cache_entries.h"

enum { PATH_ROOM = 8192 };

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
    bool there = os_place_taken(path), ok = probe_kept_read_file(path, &cache, &err);
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

static bool delete_all(struct probe_kept *k, const struct probe_cli *c, struct out *out, struct err *err) {
    bool ok = probe_kept_read(k, err);
    for (size_t i = 0; ok && i < c->del.count; i++)
        ok = delete_matching(&k->cache, c->del.items[i], c->quiet, out, err);
    return ok && (c->dry_run || probe_kept_write(k, NULL, err));
}

int probe_run_delete_cached(struct command_env *env, const struct probe_cli *c) {
    struct probe_image image = {.path = NULL};
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct out out;
    bool by_name;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    struct probe_kept kept = {.env = env, .module = c->module != NULL};
    bool ok = probe_run_open(env, c, &a, &image, &by_name, &err);
    kept.image = by_name ? NULL : &image;
    ok = ok && delete_all(&kept, c, &out, &err);
    int status = command_finish(env, &out, EXIT_OK);
    probe_kept_fini(&kept);
    probe_image_fini(&image);
    arena_fini(&a);
    return ok ? status : command_fail(&err);
}
