/* SPDX-License-Identifier: Apache-2.0 */
/* `stat report`: prints the counts in a file of `stat record`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/input.h"
#include "cmd/stat/stat.h"
#include "count/replay.h"
#include "events/target.h"
#include "format/perfdata/header/feature.h"

struct report {
    const struct stat_cli *cli;
    struct stat_view view;
    struct stat_sink to;
    struct stream *stream;
    struct arena arena;
    unsigned lines;
    bool intervals; /* some have been printed */
};

/* The command line that made the file. */
static void print_title(struct report *r) {
    struct perfdata_feature_value v;
    struct out what;
    if (!out_init(&what, NULL, NULL)) {
        r->to.out.failed = true;
        return;
    }
    out_char(&what, '\'');
    if (perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_CMDLINE, &r->arena, &v))
        for (uint32_t i = 0; i < v.cmdline.count; i++) {
            const struct bytes *word = &v.cmdline.items[i];
            out_str(&what, i ? " " : "");
            if (word->size)
                out_mem(&what, (const char *)word->data, strnlen((const char *)word->data, word->size));
        }
    out_char(&what, '\'');
    stat_print_title(&r->view, out_text(&what), &r->to.out);
    out_fini(&what);
}

static void print_round(void *ctx, const struct counts *c, bool last) {
    struct report *r = ctx;
    struct out *o = &r->to.out;
    if (!last) {
        r->intervals = r->view.intervals = true;
        stat_interval_heading(&r->view, c, &r->lines, o);
        stat_print_rows(&r->view, c, false, o);
    } else if (!r->intervals) {
        print_title(r);
        stat_print_rows(&r->view, c, false, o);
        stat_print_times(&r->view, c, &(struct stat_times){.runs = 1}, o);
    }
}

typedef VEC(struct sysfs_fake_file) tree_files;

static bool add_file(tree_files *files, const char *path, const char *text) {
    struct sysfs_fake_file *f = path ? vec_push(files) : NULL;
    if (f)
        *f = (struct sysfs_fake_file){path, text};
    return f != NULL;
}

struct node_cpus {
    struct report *report;
    tree_files *files;
    uint32_t node;
};

static bool add_to_node(void *ctx, uint32_t cpu) {
    const struct node_cpus *n = ctx;
    return add_file(n->files,
                    arena_printf(&n->report->arena, "/sys/devices/system/cpu/cpu%u/node%u/", cpu, n->node),
                    NULL);
}

static bool add_nodes(struct report *r, tree_files *files) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_NUMA_TOPOLOGY, &r->arena, &v))
        return true;
    for (uint32_t i = 0; i < v.numa.count; i++) {
        struct node_cpus n = {r, files, v.numa.items[i].node};
        char *list = arena_printf(&r->arena, "%.*s", (int)v.numa.items[i].cpus.size,
                                  v.numa.items[i].cpus.size ? (const char *)v.numa.items[i].cpus.data : "");
        if (!list)
            return false;
        if (*list)
            perf_target_list(list, add_to_node, &n);
    }
    return true;
}

struct cache_cpus {
    struct report *report;
    tree_files *files;
    const struct perfdata_cache_level *cache;
    uint32_t cpu_count;
    uint8_t *seen; /* of each CPU: how many caches it has so far */
};

static bool add_to_cache(void *ctx, uint32_t cpu) {
    enum { CACHES_MAX = 10 /* of a CPU */ };
    struct cache_cpus *c = ctx;
    struct arena *a = &c->report->arena;
    if (cpu >= c->cpu_count || c->seen[cpu] == CACHES_MAX)
        return true;
    unsigned n = c->seen[cpu]++;
    const char *folder = arena_printf(a, "/sys/devices/system/cpu/cpu%u/cache/index%u", cpu, n);
    char *level = arena_printf(a, "%u", c->cache->level);
    char *cpus = arena_printf(a, "%.*s", (int)c->cache->map.size, (const char *)c->cache->map.data);
    return folder && level && cpus && add_file(c->files, arena_printf(a, "%s/level", folder), level) &&
           add_file(c->files, arena_printf(a, "%s/shared_cpu_list", folder), cpus);
}

/* Caches that say which CPUs share them; a list that is none costs that cache. */
static bool add_caches(struct report *r, tree_files *files, uint32_t cpu_count) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_CACHE, &r->arena, &v))
        return true;
    struct cache_cpus c = {r, files, NULL, cpu_count, calloc((size_t)cpu_count + 1, 1)};
    for (uint32_t i = 0; c.seen && i < v.caches.count; i++) {
        c.cache = &v.caches.items[i];
        char *list = c.cache->map.size ? arena_printf(&r->arena, "%.*s", (int)c.cache->map.size,
                                                      (const char *)c.cache->map.data)
                                       : NULL;
        if (list)
            perf_target_list(list, add_to_cache, &c);
    }
    bool ok = c.seen;
    free(c.seen);
    return ok;
}

/* What the file tells of CPUs, as a tree that looks like sysfs. NULL: it does not tell; or memory ran out. */
static const struct sysfs *topology(struct report *r, tree_files *files, struct sysfs_fake *tree,
                                    struct sysfs *sys) {
    static const char *const FILES[] = {"physical_package_id", "die_id", "core_id"};
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_CPU_TOPOLOGY, &r->arena, &v) ||
        !v.cpu_topology.cpu_count)
        return NULL;
    const struct perfdata_cpu_topology *t = &v.cpu_topology;
    for (uint32_t i = 0; i < t->cpu_count; i++) {
        const uint32_t values[] = {t->cpus[i].socket, t->has_dies ? t->cpus[i].die : 0, t->cpus[i].core};
        for (unsigned k = 0; k < sizeof FILES / sizeof *FILES; k++) {
            char *text = arena_printf(&r->arena, "%d", (int)values[k]);
            if (!text ||
                !add_file(files,
                          arena_printf(&r->arena, "/sys/devices/system/cpu/cpu%u/topology/%s", i, FILES[k]),
                          text))
                return NULL;
        }
    }
    if (!add_nodes(r, files) || !add_caches(r, files, t->cpu_count))
        return NULL;
    *tree = (struct sysfs_fake){.files = files->items, .count = files->count};
    *sys = sysfs_fake(tree);
    return sys;
}

static const struct option options[] = {
    INPUT_OPTION(struct stat_cli, input),
    INPUT_FORCE_OPTION(struct stat_cli, force),
    OPTION_BOOL('B', "big-num", struct stat_cli, big_num, "print large numbers with thousands' separators"),
    OPTION_BOOL('j', "json-output", struct stat_cli, json, "print counts in JSON format"),
    OPTION_STRING('o', "output", struct stat_cli, output, "file", "output file name"),
    OPTION_STRING('x', "field-separator", struct stat_cli, separator, "separator",
                  "print counts with custom separator"),
    STAT_LEVEL('A', "no-aggr", "disable aggregation across CPUs or PMUs"),
    OPTION_CALL(0, "per-cache", struct stat_cli, o, "cache level",
                "aggregate count at this cache level (Default: LLC)", stat_set_level,
                .flags = OPTION_VALUE_OPTIONAL),
    STAT_LEVEL(0, "per-cluster", "aggregate counts per processor cluster"),
    STAT_LEVEL(0, "per-core", "aggregate counts per physical processor core"),
    STAT_LEVEL(0, "per-die", "aggregate counts per processor die"),
    STAT_LEVEL(0, "per-node", "aggregate counts per numa node"),
    STAT_LEVEL(0, "per-socket", "aggregate counts per processor socket"),
    STAT_LEVEL(0, "per-thread", "aggregate counts per thread"),
    OPTION_END,
};
static const char *const USAGE[] = {"stat report [<options>]", NULL};

static bool replay(struct report *r, struct err *err) {
    struct sysfs_fake tree;
    struct sysfs sys;
    tree_files files = {0};
    const struct count_replay_options o = {
        .level = r->cli->level_given ? r->cli->o.level : COUNT_LEVELS,
        .cache_level = r->cli->o.cache_level,
        .sys = topology(r, &files, &tree, &sys),
        .round = print_round,
        .ctx = r,
    };
    bool ok = (perfdata_feature_apply_names(stream_header(r->stream), stream_events(r->stream)) ||
               err_memory(err, "events")) &&
              count_replay(r->stream, &o, err);
    vec_fini(&files);
    return ok;
}

int stat_report(struct command_env *env, struct stat_cli *c, int argc, char **argv) {
    struct err err = ERR_INIT;
    struct report r = {.cli = c};
    char thousands[STAT_THOUSANDS];
    int status;
    if (!command_verb_options(env, options, USAGE, c, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, NULL);
    r.view = stat_view_of(env, c, thousands);
    const char *path = input_path(c->input);
    r.stream =
        input_check(path, c->force, &err) ? stream_open(path, &(struct stream_options){0}, &err) : NULL;
    if (!r.stream || !stat_sink_open(&r.to, c, STDERR_FILENO, &err)) {
        stream_close(r.stream);
        return command_fail(&err);
    }
    status = replay(&r, &err) ? EXIT_OK : EXIT_ERROR;
    if (status == EXIT_OK && !stream_all_read(r.stream))
        status = EXIT_ERROR;
    if (!stat_sink_close(&r.to, c, err.code == ERR_NONE ? &err : NULL))
        status = EXIT_ERROR;
    if (err.code != ERR_NONE)
        status = command_fail(&err);
    stream_close(r.stream);
    arena_fini(&r.arena);
    return status;
}
