/* SPDX-License-Identifier: Apache-2.0 */
#include "count/replay.h"

#include "count/sum.h"
#include "format/perfdata/cpu_map.h"
#include "format/perfdata/header/feature.h"

enum {
    ROUND_INTERVAL = 0,
    ROUND_FINAL = 1,
    TAG_LEVEL = 0,
    TAG_INTERVAL = 1,
    THREADS_MAX = 1 << 20,
    COUNTERS_MAX = 1 << 22,
    ANY = UINT32_MAX, /* in STAT records: not of one CPU */
};

struct replay {
    struct stream *stream;
    const struct count_replay_options *o;
    struct perf_target target;
    struct count_plan plan;
    struct count_counters counters;
    struct count_keys keys;
    struct hash_map by_id, cpus; /* -> counter; CPU -> index in the target */
    uint64_t level, interval_ms, before_ns, last_ns;
    bool has_maps, planned, any;
};

/* --- what is known before the counts --- */

static bool take_threads(struct replay *r, const struct perfdata_thread_map *m, struct err *err) {
    enum { ENTRY = 24 };
    bool swap = r->stream && stream_header(r->stream)->swap;
    uint64_t n = m->entries.size / ENTRY < m->nr ? m->entries.size / ENTRY : m->nr;
    for (uint64_t i = 0; i < n && r->target.threads.count < THREADS_MAX; i++) {
        const uint8_t *p = m->entries.data + i * ENTRY;
        struct perf_target_thread *th = vec_push(&r->target.threads);
        if (!th)
            return err_memory(err, "threads");
        th->tid = (int32_t)bytes_load64(p, swap);
        memcpy(th->comm, p + 8, ENTRY - 8); /* the rest is longer, and 0 */
        th->comm[ENTRY - 9] = 0;
    }
    return true;
}

static bool take_cpus(struct replay *r, const struct perfdata_cpu_map *m, struct err *err) {
    struct perfdata_cpu_iter it;
    uint32_t cpu;
    perfdata_cpu_iter_init(&it, m, stream_header(r->stream)->swap);
    while (perfdata_cpu_iter_next(&it, &cpu) && r->target.cpus.count < 1 << 16) {
        int32_t *slot = vec_push(&r->target.cpus);
        uint64_t key = cpu == PERFDATA_CPU_ANY ? ANY : cpu;
        if (!slot || !hash_map_set(&r->cpus, key, (uint32_t)r->target.cpus.count - 1))
            return err_memory(err, "CPUs");
        *slot = cpu == PERFDATA_CPU_ANY ? -1 : (int32_t)cpu;
    }
    return true;
}

static void take_config(struct replay *r, const struct perfdata_stat_config *c) {
    for (uint64_t i = 0; i + 1 < c->pairs.count && i / 2 < c->nr; i += 2) {
        uint64_t tag = perfdata_u64_at(&c->pairs, i), value = perfdata_u64_at(&c->pairs, i + 1);
        if (tag == TAG_LEVEL)
            r->level = value;
        else if (tag == TAG_INTERVAL)
            r->interval_ms = value;
    }
}

/* The numbers of levels changed with perf 6.5, which put clusters and caches among them; those up to dies did
 * not. */
static enum count_level recorded_level(const struct replay *r) {
    static const enum count_level OLD[] = {COUNT_CPU,  COUNT_ALL,    COUNT_SOCKET, COUNT_DIE,
                                           COUNT_CORE, COUNT_THREAD, COUNT_ALL,    COUNT_NODE};
    static const enum count_level NEW[] = {COUNT_CPU,   COUNT_ALL,  COUNT_SOCKET, COUNT_DIE, COUNT_CLUSTER,
                                           COUNT_CACHE, COUNT_CORE, COUNT_THREAD, COUNT_ALL, COUNT_NODE};
    char version[64] = "";
    perfdata_feature_text(stream_header(r->stream), PERFDATA_FEATURE_VERSION, version, sizeof version);
    char *rest;
    unsigned long major = strtoul(version, &rest, 10), minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
    bool old = major && (major < 6 || (major == 6 && minor < 5));
    uint64_t n = old ? sizeof OLD / sizeof *OLD : sizeof NEW / sizeof *NEW;
    return r->level >= n ? COUNT_ALL : old ? OLD[r->level] : NEW[r->level];
}

static bool is_clock(const struct perfdata_attr *a) {
    return a->type == PERFDATA_TYPE_SOFTWARE && a->config <= 1; /* cpu-clock and task-clock */
}

static bool plan_events(struct replay *r, struct err *err) {
    const struct perfdata_events *events = stream_events(r->stream);
    for (size_t i = 0; i < events->list.count; i++) {
        const struct perfdata_event *e = &events->list.items[i];
        struct count_plan_event *planned = vec_push(&r->plan.events);
        struct count_event *shown = vec_push(&r->plan.shown);
        bool *supported = vec_push(&r->counters.supported);
        if (!planned || !shown || !supported)
            return err_memory(err, "events");
        bool clock = is_clock(&e->attr);
        *supported = e->id_count != 0;
        *planned = (struct count_plan_event){.attr = e->attr, .leader = (uint32_t)i};
        *shown = (struct count_event){.name = e->name ? e->name : "unknown",
                                      .unit = clock     ? "msec"
                                              : e->unit ? e->unit
                                                        : "",
                                      .scale = clock ? 1e-6 : e->scale,
                                      .type = e->attr.type,
                                      .config = e->attr.config,
                                      .clock = clock,
                                      .row_of = (uint32_t)i};
        planned->name = shown->name;
    }
    return true;
}

/* Once all that stands before the counts has been read. */
static bool plan(struct replay *r, struct err *err) {
    struct count_options o = {.level = r->o->level == COUNT_LEVELS ? recorded_level(r) : r->o->level,
                              .cache_level = r->o->cache_level};
    bool by_cpu = o.level == COUNT_CPU || (o.level > COUNT_CPU && o.level < COUNT_THREAD);
    if (r->planned)
        return true;
    r->planned = true;
    r->target.system_wide = r->target.threads.count == 1 && r->target.threads.items[0].tid == -1;
    if (!plan_events(r, err))
        return false;
    if (!r->o->sys && by_cpu && o.level != COUNT_CPU)
        return err_set(err, ERR_ABSENT, NULL,
                       "the file does not tell where CPUs lie: counts can be shown for all, or "
                       "with -A");
    if (o.level == COUNT_CLUSTER)
        return err_set(err, ERR_ABSENT, "--per-cluster",
                       "recordings do not tell of clusters: count with sonde stat --per-cluster, or show "
                       "--per-cache or --per-core");
    if (by_cpu && r->target.cpus.count == 1 && r->target.cpus.items[0] < 0)
        o.level = COUNT_ALL; /* per task: the counts do not say on which CPUs it ran */
    return count_keys_init(&r->keys, &o, &r->target, &r->plan, r->o->sys ? r->o->sys : &sysfs_system, err);
}

/* --- counts --- */

static bool take_stat(struct replay *r, const struct perfdata_stat *s, bool *fits, struct err *err) {
    uint32_t event = hash_map_get(&stream_events(r->stream)->by_id, s->id);
    uint32_t cpu = hash_map_get(&r->cpus, s->cpu), at = hash_map_get(&r->by_id, s->id);
    if (!plan(r, err))
        return false;
    *fits = event < r->plan.events.count && cpu != HASH_ABSENT && s->thread < r->target.threads.count &&
            r->counters.list.count < COUNTERS_MAX;
    if (!*fits)
        return true;
    if (at == HASH_ABSENT) {
        struct count_counter *k = vec_push(&r->counters.list);
        at = (uint32_t)r->counters.list.count - 1;
        if (!k || !hash_map_set(&r->by_id, s->id, at))
            return err_memory(err, "counters");
        *k = (struct count_counter){.fd = -1, .event = event, .cpu = cpu, .thread = s->thread};
    }
    r->any = true;
    r->counters.list.items[at].now = (struct count_reading){s->value, s->enabled, s->running};
    return true;
}

static bool tell(struct replay *r, uint64_t time_ns, bool deltas, struct err *err) {
    const struct count_tool_times tool = {.sys = &sysfs_system};
    const struct count_source s = {
        .counters = &r->counters, .plan = &r->plan, .keys = &r->keys, .tool = &tool, .deltas = deltas};
    struct counts c;
    if (!count_sum(&s, &c))
        return err_memory(err, "counts");
    c.time_ns = (double)time_ns;
    c.elapsed_ns = deltas ? (double)(time_ns - r->before_ns) : (double)time_ns;
    c.cpus = r->target.system_wide;
    r->o->round(r->o->ctx, &c, !deltas);
    counts_fini(&c);
    return true;
}

static bool take_round(struct replay *r, const struct perfdata_stat_round *round, struct err *err) {
    if (!plan(r, err))
        return false;
    r->last_ns = round->time;
    if (r->interval_ms && !tell(r, round->time, true, err))
        return false;
    for (size_t i = 0; i < r->counters.list.count; i++)
        r->counters.list.items[i].before = r->counters.list.items[i].now;
    r->before_ns = round->time;
    return true;
}

static bool take(struct replay *r, const struct stream_record *raw, struct err *err) {
    struct perfdata_record rec;
    const char *reason = NULL;
    bool fits = true, ok = true;
    if (raw->raw.type != PERFDATA_RECORD_STAT && raw->raw.type != PERFDATA_RECORD_STAT_ROUND &&
        raw->raw.type != PERFDATA_RECORD_STAT_CONFIG && raw->raw.type != PERFDATA_RECORD_THREAD_MAP &&
        raw->raw.type != PERFDATA_RECORD_CPU_MAP)
        return true;
    if (!perfdata_record_decode(&raw->raw, NULL, stream_header(r->stream)->swap, &rec, &reason)) {
        stream_bad_record(r->stream, raw, reason);
        return true;
    }
    if (raw->raw.type == PERFDATA_RECORD_STAT)
        ok = take_stat(r, &rec.stat, &fits, err);
    else if (raw->raw.type == PERFDATA_RECORD_STAT_ROUND)
        ok = take_round(r, &rec.stat_round, err);
    else if (r->planned)
        reason = "it comes after the counts";
    else if (raw->raw.type == PERFDATA_RECORD_STAT_CONFIG)
        take_config(r, &rec.stat_config);
    else if (raw->raw.type == PERFDATA_RECORD_THREAD_MAP)
        ok = take_threads(r, &rec.thread_map, err);
    else
        ok = take_cpus(r, &rec.cpu_map, err);
    if (ok && (!fits || reason))
        stream_bad_record(r->stream, raw,
                          fits ? reason : "its counter, CPU or thread is not among those told before");
    return ok;
}

bool count_replay(struct stream *s, const struct count_replay_options *o, struct err *err) {
    struct replay r = {.stream = s, .o = o, .level = 1};
    struct stream_record raw;
    enum stream_status status;
    bool ok = true;
    while (ok && (status = stream_next(s, &raw, err)) == STREAM_RECORD)
        ok = take(&r, &raw, err);
    ok = ok && status == STREAM_END;
    if (ok && !r.any)
        ok = err_set(err, ERR_ABSENT, stream_path(s),
                     "there are no counts in it: sonde stat record makes such files");
    ok = ok && tell(&r, r.last_ns, false, err);
    vec_fini(&r.target.threads);
    vec_fini(&r.target.cpus);
    count_plan_fini(&r.plan);
    count_counters_fini(&r.counters);
    count_keys_fini(&r.keys);
    hash_map_fini(&r.by_id);
    hash_map_fini(&r.cpus);
    return ok;
}
