/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/exec_path.h"
#include "cmd/stat/stat.h"
#include "count/metric/choose.h"
#include "events/cgroups.h"
#include "os/files/files.h"

/* --- what is counted without -e --- */

/* An event of the default list, with the metric that stands behind it. */
struct listed {
    const char *event, *metric;
    bool optional;
    int detailed; /* from so many -d on */
};

/* Which clock, and where it stands, depends on what is counted. */
static const struct listed TASKS[] = {
    {"context-switches", "cs_per_second", false, 0},
    {"cpu-migrations", "migrations_per_second", false, 0},
    {"page-faults", "page_faults_per_second", false, 0},
    {"task-clock", "CPUs_utilized", false, 0},
    {NULL, NULL, false, 0},
};
static const struct listed CPUS[] = {
    {"context-switches", "cs_per_second", false, 0},
    {"cpu-clock", "CPUs_utilized", false, 0},
    {"cpu-migrations", "migrations_per_second", false, 0},
    {"page-faults", "page_faults_per_second", false, 0},
    {NULL, NULL, false, 0},
};
static const struct listed HARDWARE[] = {
    {"branch-misses", "branch_miss_rate", true, 0},
    {"branches", "branch_frequency", true, 0},
    {"cpu-cycles", "cycles_frequency", false, 0},
    {"instructions", "insn_per_cycle", true, 0},
    {"stalled-cycles-frontend", "frontend_cycles_idle", true, 0},
    {"stalled-cycles-backend", "backend_cycles_idle", true, 0},
    {"L1-dcache-loads", NULL, true, 1},
    {"L1-dcache-load-misses", "l1d_miss_rate", true, 1},
    {"LLC-loads", NULL, true, 1},
    {"LLC-load-misses", "llc_miss_rate", true, 1},
    {"L1-icache-loads", NULL, true, 2},
    {"L1-icache-load-misses", "l1i_miss_rate", true, 2},
    {"dTLB-loads", NULL, true, 2},
    {"dTLB-load-misses", "dtlb_miss_rate", true, 2},
    {"iTLB-loads", NULL, true, 2},
    {"iTLB-load-misses", "itlb_miss_rate", true, 2},
    {"L1-dcache-prefetches", NULL, true, 3},
    {"L1-dcache-prefetch-misses", "l1_prefetch_miss_rate", true, 3},
    {NULL, NULL, false, 0},
};

static bool add_listed(struct stat_events *s, const struct stat_cli *c, const struct listed *rows,
                       struct err *err) {
    for (const struct listed *l = rows; l->event; l++) {
        if (l->detailed > c->detailed)
            continue;
        if (!perf_events_parse(s->sources, l->event, &s->events, NULL, err))
            return false;
        while (s->optional.count < s->events.items.count) {
            bool *o = vec_push(&s->optional);
            if (!o)
                return err_memory(err, "events");
            *o = l->optional;
        }
    }
    return true;
}

static bool counts_cpus(const struct stat_cli *c) {
    const struct perf_target_options *t = &c->o.target;
    return !t->pids && !t->tids && !t->uid && (t->all_cpus || t->cpus || !c->o.command);
}

static struct metric_choice choice_of(struct stat_events *s, const struct stat_cli *c) {
    return (struct metric_choice){.table = &s->table,
                                  .sources = s->sources,
                                  .events = &s->events,
                                  .no_group = c->no_group,
                                  .target_cpu = counts_cpus(c)};
}

/* The metrics behind the events of the default list, from the event `from` on. */
static bool add_listed_metrics(struct stat_events *s, const struct stat_cli *c, size_t from,
                               struct err *err) {
    const struct listed *const LISTS[] = {counts_cpus(c) ? CPUS : TASKS, HARDWARE};
    struct metric_choice choice = choice_of(s, c);
    choice.from = from;
    for (size_t i = 0; i < 2; i++)
        for (const struct listed *l = LISTS[i]; l->event; l++)
            if (l->metric && l->detailed <= c->detailed &&
                !metric_choose_there(&choice, l->metric, &s->metrics))
                return err_memory(err, "metrics");
    return true;
}

/* --- other sets --- */

/* TSX: what it needs is among the core PMU's events (perf-stat(1), -T). */
static bool add_transaction(struct stat_events *s, struct err *err) {
    struct err why = ERR_INIT;
    if (perf_events_parse(s->sources,
                          "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,cpu/cycles-ct/}",
                          &s->events, NULL, &why))
        return true;
    return why.code == ERR_MEMORY ? err_memory(err, "events")
                                  : err_set(err, ERR_ABSENT, "-T",
                                            "this machine has no events of transactions "
                                            "(/sys/bus/event_source/devices/cpu/events/"
                                            "tx-start)");
}

/* A level that a metric file tells of, as Intel names it. */
static bool level_of_files(struct stat_events *s, const struct stat_cli *c, uint64_t level, bool *any,
                           struct err *err) {
    struct metric_choice choice = choice_of(s, c);
    char group[32];
    int n = snprintf(group, sizeof group, "TopdownL%llu", (unsigned long long)level);
    *any = false;
    for (size_t i = 0; i < s->table.items.count; i++)
        *any |= metric_matches(&s->table.items.items[i], group, (size_t)n);
    return !*any || metric_choose(&choice, group, &s->metrics, err);
}

/* The core PMU's topdown events, as sysfs has them; where there are slots, these lead the group. */
static bool add_topdown(struct stat_events *s, const struct stat_cli *c, struct err *err) {
    static const struct {
        uint64_t level;
        const char *events, *metrics;
    } SETS[] = {
        {2,
         "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound,topdown-heavy-ops,"
         "topdown-br-mispredict,topdown-fetch-lat,topdown-mem-bound}",
         "TopdownSlots2"},
        {1, "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}", "TopdownSlots"},
        {1,
         "{topdown-total-slots,topdown-slots-retired,topdown-recovery-bubbles,topdown-fetch-bubbles,"
         "topdown-slots-issued}",
         "TopdownTotal"},
    };
    struct metric_choice choice = choice_of(s, c);
    bool any;
    s->has_metrics = true;
    if (!level_of_files(s, c, c->td_level, &any, err))
        return false;
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS && !any; i++) {
        struct err why = ERR_INIT;
        if (c->td_level && SETS[i].level != c->td_level)
            continue;
        if (perf_events_parse(s->sources, SETS[i].events, &s->events, NULL, &why))
            return metric_choose(&choice, SETS[i].metrics, &s->metrics, err);
        if (why.code == ERR_MEMORY)
            return err_memory(err, "events");
    }
    if (any)
        return true;
    if (c->td_level > 1)
        return err_set(err, ERR_ABSENT, "--td-level",
                       "this machine's core PMU has no topdown events of level %llu: its vendor's metric "
                       "files may know others, see --metric-folder",
                       (unsigned long long)c->td_level);
    return err_set(
        err, ERR_ABSENT, "--topdown",
        "this machine's core PMU has no topdown events (in /sys/bus/event_source/devices/*/events): "
        "its vendor's metric files may know others, see --metric-folder");
}

/* --- metric files --- */

static bool read_file(struct metric_table *t, const char *path, struct err *err) {
    enum { FILE_MAX = 64 << 20 };
    struct writer w = writer_make(false);
    bool ok = os_files_real.read(os_files_real.ctx, path, &w, err);
    if (ok && w.size > FILE_MAX)
        ok = err_set(err, ERR_BROKEN, path, "it is too large for a list of metrics");
    ok = ok && metric_table_read(t, writer_bytes(&w), path, err);
    writer_fini(&w);
    return ok;
}

/* All files of a folder whose names end with .json. */
static bool read_folder(struct metric_table *t, const char *folder, struct err *err) {
    struct arena a = ARENA_INIT;
    struct sysfs_names names;
    bool ok = sysfs_system.list(&sysfs_system, folder, &a, &names, err);
    for (size_t i = 0; ok && i < names.count; i++) {
        size_t n = strlen(names.items[i]);
        if (n < 5 || strcmp(names.items[i] + n - 5, ".json") != 0)
            continue;
        char *path = arena_printf(&a, "%s/%s", folder, names.items[i]);
        ok = path ? read_file(t, path, err) : err_memory(err, folder);
    }
    arena_fini(&a);
    return ok;
}

/* The folder that was given, else the one beside our scripts, which need not be there. */
static bool read_metrics(struct stat_events *s, const struct stat_cli *c, struct err *err) {
    char path[4096], folder[4200];
    struct err none = ERR_INIT;
    if (c->metric_folder)
        return read_folder(&s->table, c->metric_folder, err);
    if (!c->metrics || !exec_path_own(path, sizeof path, &none))
        return true;
    snprintf(folder, sizeof folder, "%s/metrics", path);
    return read_folder(&s->table, folder, &none) || none.code == ERR_ABSENT || (*err = none, false);
}

/* --- control groups --- */

static bool copy_events(struct stat_events *s, size_t n, const char *cgroup, struct err *err) {
    size_t from = s->events.items.count;
    const char *name = arena_strndup(&s->events.arena, cgroup, strlen(cgroup));
    if (!name)
        return err_memory(err, "events");
    for (size_t i = 0; i < n; i++) {
        struct perf_event *e = vec_push(&s->events.items);
        bool *optional = s->optional.count > i ? vec_push(&s->optional) : NULL;
        if (!e || (s->optional.count > i && !optional))
            return err_memory(err, "events");
        *e = s->events.items.items[i];
        e->leader += (uint32_t)from;
        e->cgroup = name;
        if (optional)
            *optional = s->optional.items[i];
    }
    return true;
}

struct groups {
    const struct os_proc *proc;
    const char *mount;
    struct arena arena;
    os_names all; /* paths below the mount: "", "/a", "/a/b" */
};

static bool list_groups(struct groups *g) {
    enum { GROUPS_MAX = 1 << 16 };
    const char **root = vec_push(&g->all);
    if (!root)
        return false;
    *root = "";
    for (size_t i = 0; i < g->all.count && g->all.count < GROUPS_MAX; i++) {
        size_t from = g->all.count;
        const char *parent = g->all.items[i];
        char *path = arena_printf(&g->arena, "%s%s", g->mount, parent);
        if (!path)
            return false;
        if (!g->proc->folders(g->proc->ctx, path, &g->arena, &g->all, NULL))
            continue;
        for (size_t k = from; k < g->all.count; k++)
            if (!(g->all.items[k] = arena_printf(&g->arena, "%s/%s", parent, g->all.items[k])))
                return false;
    }
    return true;
}

/* All groups whose path, without the leading slash, a regular expression matches. */
static bool match_groups(struct stat_events *s, struct groups *g, const char *pattern, size_t n, bool *any,
                         struct err *err) {
    regex_t re;
    bool ok = true;
    *any = false;
    if (!g->all.count && !list_groups(g))
        return err_memory(err, "control groups");
    if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return true;
    for (size_t i = 1; i < g->all.count && ok; i++) {
        const char *name = g->all.items[i] + 1;
        if (regexec(&re, name, 0, NULL, 0) != 0)
            continue;
        ok = copy_events(s, n, name, err);
        *any = true;
    }
    regfree(&re);
    return ok;
}

static bool is_group(const struct groups *g, const char *name) {
    struct os_identity unused;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", g->mount, name);
    return g->proc->identity(g->proc->ctx, path, &unused, NULL);
}

/* --for-each-cgroup: all events once more for each group. */
static bool for_each_cgroup(struct stat_events *s, const struct stat_cli *c, struct err *err) {
    char mount[512], name[512];
    struct groups g = {.proc = &os_proc_system, .mount = mount};
    size_t n = s->events.items.count;
    if (!perf_cgroups_mount(g.proc, mount, sizeof mount))
        return err_set(err, ERR_ABSENT, "--for-each-cgroup",
                       "no hierarchy of control groups is mounted: mount -t cgroup2 none /sys/fs/cgroup");
    bool ok = true;
    for (const char *p = c->for_each_cgroup; ok;) {
        size_t len = strcspn(p, ",");
        bool any = true;
        snprintf(name, sizeof name, "%.*s", (int)len, p);
        if (len && is_group(&g, name))
            ok = copy_events(s, n, name, err);
        else if (len)
            ok = match_groups(s, &g, name, n, &any, err);
        if (ok && !any)
            ok = err_set(err, ERR_ABSENT, "--for-each-cgroup", "there is no control group '%s' in %s", name,
                         mount);
        if (!p[len])
            break;
        p += len + 1;
    }
    arena_fini(&g.arena);
    vec_fini(&g.all);
    if (!ok)
        return false;
    /* Those without a group were only to be copied; leaders are counted from the first copy on. */
    size_t copies = s->events.items.count - n;
    memmove(s->events.items.items, s->events.items.items + n, copies * sizeof *s->events.items.items);
    s->events.items.count = copies;
    for (size_t i = 0; i < copies; i++)
        s->events.items.items[i].leader -= (uint32_t)n;
    if (s->optional.count)
        s->optional.count = copies;
    return true;
}

/* --- all together --- */

static bool wants_default(const struct stat_cli *c) {
    return !c->chosen.count && !c->null && !c->metrics && !c->topdown && !c->transaction;
}

/* -G may stand alone, for the default list. */
static bool only_cgroups(const struct stat_cli *c) {
    for (size_t i = 0; i < c->chosen.count; i++)
        if (c->chosen.items[i].what != EVENT_CHOICE_CGROUPS)
            return false;
    return c->chosen.count && !c->metrics && !c->topdown && !c->transaction;
}

static bool choose_events(struct stat_events *s, const struct stat_cli *c, struct err *err) {
    bool vs = c->vs.others.count > 0, listed = !vs && (wants_default(c) || only_cgroups(c));
    if (vs && !c->null && !perf_events_parse(s->sources, STAT_VS_EVENTS, &s->events, NULL, err))
        return false;
    if (listed && !(add_listed(s, c, counts_cpus(c) ? CPUS : TASKS, err) && add_listed(s, c, HARDWARE, err)))
        return false;
    if (!event_choices_parse(&c->chosen, s->sources, &s->events, NULL, err))
        return false;
    if ((c->transaction && !add_transaction(s, err)) || (c->topdown && !add_topdown(s, c, err)))
        return false;
    if (c->metrics) {
        struct metric_choice choice = choice_of(s, c);
        s->has_metrics = true;
        if (!metric_choose(&choice, c->metrics, &s->metrics, err))
            return false;
    }
    size_t n = s->events.items.count;
    if (c->for_each_cgroup && !for_each_cgroup(s, c, err))
        return false;
    s->has_metrics |= listed;
    for (size_t from = 0; listed && n && from < s->events.items.count; from += n)
        if (!add_listed_metrics(s, c, from, err))
            return false;
    return true;
}

bool stat_events_make(struct stat_events *s, const struct stat_cli *c, struct err *err) {
    *s = (struct stat_events){.sources = perf_event_sources_new(&sysfs_system), .metrics.sys = &sysfs_system};
    if (!s->sources || !metric_table_init(&s->table))
        return err_memory(err, "events");
    perf_event_sources_pmu(s->sources, c->pmu_filter);
    if (c->cputype && !perf_event_sources_cores(s->sources, c->cputype))
        return err_set(err, ERR_USAGE, NULL, "--cputype %s is not supported!", c->cputype);
    return read_metrics(s, c, err) && choose_events(s, c, err);
}

void stat_events_fini(struct stat_events *s) {
    metric_set_fini(&s->metrics);
    metric_table_fini(&s->table);
    perf_events_fini(&s->events);
    perf_event_sources_free(s->sources);
    vec_fini(&s->optional);
}
