/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sonde trace COMMAND`, -p, -a: record's session with a consumer; what comes is shown after each turn. Where
 * BPF is allowed, and nothing but system calls is asked for, these come from bpf/trace.bpf.c, and the session
 * tells of threads only; else they are its tracepoints.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/map_guard.h"
#include "cmd/trace/trace_bpf.h"
#include "cmd/trace/trace_feed.h"
#include "cmd/trace/trace_shapes.h"
#include "os/proc/host.h"
#include "os/proc/mounts.h"
#include "record/session.h"
#include "record/synth/synth.h"

enum { TURN_MS = 100, RING_PAGES = 1024, IDS_MAX = 32 };

struct live {
    struct trace trace;
    struct trace_feed feed;
    struct trace_sink sink;
    struct hash_map cgroups; /* by id: the path, in `cgroup_paths` */
    struct strpool cgroup_paths;
    struct trace_bpf bpf;
    struct trace_shapes shapes;
    struct trace_texts texts; /* of TRACE_RECORDS, if BPF is there */
    enum trace_way { TRACE_RECORDS, TRACE_BPF_LINES, TRACE_BPF_SUMS } way;
    const char *machine;
    struct recording_live_sink records;
};

/* False: out of memory. */
static bool note_cgroup(struct live *l, const struct stream_record *r) {
    struct perfdata_record x;
    if (r->raw.type != PERFDATA_RECORD_CGROUP || !recording_decode(&l->feed.live->recording, r, &x))
        return true;
    struct bytes path = x.cgroup.path;
    uint32_t id =
        strpool_add(&l->cgroup_paths, path.size ? (const char *)path.data : "", bytes_text_len(path));
    return id != STRPOOL_NONE && hash_map_set(&l->cgroups, x.cgroup.id, id);
}

/* A thread that ended needs no room any more. What BPF reports comes earlier: the number may be another's by
 * now. False: out of memory. */
static bool note_end(struct live *l, const struct stream_record *r) {
    struct perfdata_record x;
    if (r->raw.type != PERFDATA_RECORD_EXIT || !recording_decode(&l->feed.live->recording, r, &x))
        return true;
    const struct calls_thread *t = calls_thread(&l->trace.calls, x.task.tid);
    return !t || t->call.enter_ns > r->time_ns || t->call.exit_ns > r->time_ns ||
           calls_gone(&l->trace.calls, x.task.tid);
}

/* A record that is no sample: those listed so far came before it. */
static bool seen(void *ctx, const struct stream_record *r, struct err *err) {
    struct live *l = ctx;
    if (!note_cgroup(l, r))
        return err_memory(err, "control groups");
    if (!l->feed.begun || l->trace.done)
        return true;
    if (l->way == TRACE_BPF_LINES) /* BPF tells the names, and the rest */
        return note_end(l, r) || err_memory(err, "threads");
    return trace_feed_show(&l->feed, err) &&
           (!trace_want(&l->trace, r) || trace_take(&l->trace, r, err) || l->trace.done);
}

static bool keep_half(void *ctx, const struct bpf_trace_half *half, struct bytes memory) {
    struct live *l = ctx;
    return trace_texts_put(&l->texts, half, memory);
}

static bool take(struct live *l, bool all, struct err *err) {
    if (l->trace.texts && !trace_bpf_each(&l->bpf, keep_half, l, err))
        return false;
    if (!trace_feed_take(&l->feed, all, err))
        return false;
    if (l->way == TRACE_BPF_LINES && !trace_bpf_take(&l->bpf, &l->trace, err) && !l->trace.done)
        return false;
    return out_flush(&l->sink.out) || err_set(err, ERR_IO, "output", "cannot write");
}

static bool turn(void *ctx, const struct record_progress *now, struct record_turn *next, struct err *err) {
    struct live *l = ctx;
    (void)now;
    if (l->records.failed) {
        *err = l->records.failure;
        return false;
    }
    l->trace.out = &l->sink.out;
    if (!trace_feed_begin(&l->feed, l->machine, err) || !take(l, false, err) ||
        !trace_feed_turn(&l->feed, &next->forget, err))
        return false;
    next->wait_ms = TURN_MS;
    next->stop = l->trace.done;
    return out_flush(&l->sink.out) || err_set(err, ERR_IO, "output", "cannot write");
}

/* ---- events ---- */

/* "id == 0 || id == 257": few calls are picked by the kernel. NULL in `text`: all come. */
static void pick_calls(const struct trace_select *s, const struct calls_table *const tables[2], char *text,
                       size_t size) {
    size_t at = 0, count = 0;
    text[0] = 0;
    if (s->all_but || !s->calls.count)
        return;
    for (size_t k = 0; k < 2 && tables[k]; k++)
        for (size_t i = 0; i < tables[k]->count && count <= IDS_MAX; i++) {
            const char *name = tables[k]->entries[i].name;
            if (!name || (!trace_select_call(s, name) && !trace_files_need(name)))
                continue;
            int n = snprintf(text + at, size - at, "%sid == %zu", at ? " || " : "", i);
            if (n < 0 || (size_t)n >= size - at)
                count = IDS_MAX;
            else
                at += (size_t)n;
            count++;
        }
    if (count > IDS_MAX)
        text[0] = 0;
}

static bool add_filter(struct perf_event_sources *src, struct perf_events *events, const char *text,
                       struct err *err) {
    return !*text || perf_events_filter(src, text, events, err);
}

static bool add_syscalls(const struct live *l, struct perf_event_sources *src, struct perf_events *events,
                         struct err *err) {
    const struct calls_table *const tables[] = {calls_table(l->machine, false),
                                                calls_table(l->machine, true)};
    char ids[1024], self[64] = "";
    pick_calls(l->trace.select, tables, ids, sizeof ids);
    if (!l->trace.o->record.command)
        snprintf(self, sizeof self, "common_pid != %d", (int)getpid());
    return perf_events_parse(src, "raw_syscalls:sys_enter,raw_syscalls:sys_exit", events, NULL, err) &&
           add_filter(src, events, ids, err) && add_filter(src, events, self, err);
}

static bool add_faults(const struct trace_options *o, struct perf_event_sources *src,
                       struct perf_events *events, struct err *err) {
    return (!(o->faults & TRACE_MAJOR) || perf_events_parse(src, "major-faults", events, NULL, err)) &&
           (!(o->faults & TRACE_MINOR) || perf_events_parse(src, "minor-faults", events, NULL, err));
}

/* What -e names besides calls, with --filter and -G as they stood. */
static bool add_events(const struct live *l, struct perf_event_sources *src, struct perf_events *events,
                       struct err *err) {
    const struct trace_select *s = l->trace.select;
    for (size_t i = 0; i < s->events.count; i++)
        if (!perf_events_parse(src, s->events.items[i], events, NULL, err))
            return false;
    for (size_t i = 0; i < l->trace.o->selected.count; i++) {
        const struct event_choice *c = &l->trace.o->selected.items[i];
        if (c->what == EVENT_CHOICE_FILTER && !perf_events_filter(src, c->text, events, err))
            return false;
        if (c->what == EVENT_CHOICE_CGROUPS && !perf_events_cgroups(events, c->text, err))
            return false;
    }
    for (size_t i = 0; i < events->items.count; i++)
        if (events->items.items[i].kind != PERF_EVENT_TRACEPOINT &&
            !events->items.items[i].attr.sample_period &&
            !(events->items.items[i].terms.given & (PERF_TERM_PERIOD | PERF_TERM_FREQ)))
            events->items.items[i].attr.sample_period = 1;
    return true;
}

static bool choose_events(const struct live *l, struct perf_event_sources *src, struct perf_events *events,
                          struct err *err) {
    if (l->way != TRACE_RECORDS)
        return perf_events_parse(src, "dummy:u", events, NULL, err);
    bool ok = (!l->trace.select->syscalls || add_syscalls(l, src, events, err)) &&
              add_faults(l->trace.o, src, events, err) && add_events(l, src, events, err);
    if (ok && !events->items.count)
        return err_set(err, ERR_USAGE, NULL, "nothing to trace: --no-syscalls needs -e or -F");
    return ok;
}

/* ---- by BPF ---- */

/* Why calls cannot come from BPF; NULL: they can. */
static const char *needs_records(const struct trace_options *o, const struct trace_select *s) {
    if (!s->syscalls)
        return "no system calls are asked for";
    if (s->events.count || o->faults)
        return "other events are asked for";
    if (o->callgraph || o->print_sample)
        return "callchains are asked for";
    if (o->record.target.cpus)
        return "CPUs are chosen";
    if (o->switch_on || o->switch_off || o->record.delay_ms || o->record.range_count)
        return "only a part of the time is asked for";
    for (size_t i = 0; i < o->selected.count; i++)
        if (o->selected.items[i].what != EVENT_CHOICE_EVENT)
            return "filters of events, or control groups, are chosen";
    return NULL;
}

/* Sums come from the kernel if nothing is asked that only single calls tell. */
static bool can_sum(const struct trace_options *o) {
    return o->summary && !o->failure && o->least_ms <= 0 && !o->filter_pids;
}

static bool choose_way(struct live *l, const struct trace_options *o, struct err *err) {
    const char *why = needs_records(o, l->trace.select);
    bool must = o->bpf_summary || (o->any_summary && o->table.mode == TRACE_SUMMARY_CGROUP);
    struct err refused = ERR_INIT;
    if (!why && must && !can_sum(o))
        why = "single calls are asked for";
    if (why && must)
        return err_set(err, ERR_USAGE, o->bpf_summary ? "--bpf-summary" : "--summary-mode",
                       "cannot add up in the kernel: %s", why);
    if (why && (o->summary || !l->trace.select->syscalls))
        return true;
    bool sums = !why && can_sum(o);
    const struct trace_bpf_plan plan = {o, l->trace.select, calls_table(l->machine, false), l->shapes.items,
                                        !sums};
    if (!sums)
        trace_shapes_read(&l->shapes, &os_files_real);
    l->trace.shapes = sums ? NULL : l->shapes.items;
    if (trace_bpf_open(&l->bpf, &os_bpf_system, &plan, &refused)) {
        l->way = why ? TRACE_RECORDS : sums ? TRACE_BPF_SUMS : TRACE_BPF_LINES;
        l->trace.texts = why ? &l->texts : NULL;
        return true;
    }
    trace_bpf_close(&l->bpf);
    if (must) {
        *err = refused;
        return false;
    }
    if (!o->summary)
        log_line(LOG_WARN, "paths and texts are shown as addresses, as BPF is not to be had: %s",
                 refused.message);
    return true;
}

static bool start(void *ctx, const struct perf_target *target, struct err *err) {
    struct live *l = ctx;
    return (l->way == TRACE_RECORDS && !l->trace.texts) || trace_bpf_start(&l->bpf, target, err);
}

/* False: out of memory. */
static bool name_cgroups(struct live *l) {
    for (size_t i = 0; i < l->trace.summary.groups.count; i++) {
        uint64_t key = l->trace.summary.groups.items[i].key;
        uint32_t id = hash_map_get(&l->cgroups, key);
        if (id != HASH_ABSENT &&
            !calls_summary_name(&l->trace.summary, key, strpool_text(&l->cgroup_paths, id)))
            return false;
    }
    return true;
}

static bool add_sums(struct live *l, struct err *err) {
    uint64_t lost = 0;
    trace_bpf_stop(&l->bpf);
    if (!trace_bpf_sums(&l->bpf, l->trace.o->table.mode, &l->trace.summary, &lost, err))
        return false;
    if (l->trace.o->table.mode == TRACE_SUMMARY_CGROUP && !name_cgroups(l))
        return err_memory(err, "control groups");
    if (lost)
        log_line(LOG_WARN, "%" PRIu64 " calls are missing: too many threads for the kernel's tables", lost);
    return true;
}

/* ---- all ---- */

static bool run_session(struct live *l, struct trace_options *o, char *const *argv, int *status,
                        struct err *err) {
    struct perf_events events = PERF_EVENTS_INIT;
    struct perf_event_sources *src = perf_event_sources_new(&sysfs_system);
    struct os_mounts *mounts = os_mounts_new();
    struct os_proc proc = os_proc_wary(mounts);
    struct record_result result = {0};
    const struct record_consumer consumer = {.ctx = l,
                                             .out = recording_live_output(&l->records),
                                             .fd = l->way == TRACE_BPF_LINES ? l->bpf.ring.fd : -1,
                                             .turn = turn};
    const struct record_job job = {.options = &o->record,
                                   .sources = src,
                                   .events = &events,
                                   .sys = &sysfs_system,
                                   .perf = &os_perf_system,
                                   .proc = &proc,
                                   .argv = argv,
                                   .output = "-",
                                   .consumer = &consumer,
                                   .ready = start,
                                   .ready_ctx = l,
                                   .synth = record_synth,
                                   .synth_ctx = &proc};
    bool ok = (src || err_memory(err, "events")) && choose_events(l, src, &events, err) &&
              record_run(&job, &result, err);
    *status = result.status;
    if (l->way == TRACE_BPF_LINES || l->trace.texts)
        trace_bpf_stop(&l->bpf);
    if (ok && l->feed.begun && !l->trace.done)
        ok = take(l, true, err);
    if (ok && l->feed.begun && l->way == TRACE_BPF_SUMS)
        ok = add_sums(l, err);
    if (l->way == TRACE_RECORDS && l->bpf.lost)
        log_line(LOG_WARN, "%" PRIu64 " times what arguments point to was lost, and is shown as addresses",
                 l->bpf.lost);
    else
        result.lost += l->bpf.lost;
    if (result.lost)
        log_line(LOG_WARN, "%" PRIu64 " events were lost: use a larger -m, fewer events (-e), or -s",
                 result.lost);
    os_mounts_free(mounts);
    perf_events_fini(&events);
    perf_event_sources_free(src);
    return ok;
}

int trace_live(struct command_env *env, struct trace_options *o, char *const *argv) {
    struct os_host host;
    struct trace_select select = {0};
    struct live l = {.trace = {.env = env, .o = o, .select = &select}};
    struct err err = ERR_INIT;
    int status = EXIT_OK;
    struct record_options *r = &o->record;
    l.records.live = &l.feed.live;
    map_guard_install();
    os_host_read(&host);
    l.machine = host.machine;
    l.trace.files = trace_files_new();
    r->target.all_cpus |=
        !r->command && !r->target.pids && !r->target.tids && !r->target.uid && !r->target.cpus;
    r->pages = r->pages ? r->pages : os_host_root() ? RING_PAGES : 0;
    r->period = 1;
    r->addresses |= o->faults != TRACE_NO_FAULTS;
    r->data_mmap |= o->faults != TRACE_NO_FAULTS;
    bool ok =
        trace_sink_open(&l.sink, o->output, &err) &&
        trace_select_parse(&select, o, calls_table(l.machine, false), calls_table(l.machine, true), &err) &&
        trace_feed_init(&l.feed, &l.trace, o->callgraph || o->faults, seen, &l, &err);
    ok = ok && choose_way(&l, o, &err);
    r->use_clockid = l.way == TRACE_BPF_LINES || l.trace.texts; /* times are compared with BPF's */
    r->clockid = CLOCK_MONOTONIC;
    r->all_cgroups = l.way == TRACE_BPF_SUMS && o->table.mode == TRACE_SUMMARY_CGROUP;
    ok = ok && run_session(&l, o, argv, &status, &err);
    if (ok && l.feed.begun) {
        ok = trace_finish(&l.trace, &err);
        trace_faults(&l.trace);
    }
    if (l.feed.begun)
        trace_fini(&l.trace);
    trace_select_fini(&select);
    trace_feed_close(&l.feed);
    trace_bpf_close(&l.bpf);
    trace_shapes_fini(&l.shapes);
    trace_texts_fini(&l.texts);
    hash_map_fini(&l.cgroups);
    strpool_fini(&l.cgroup_paths);
    trace_files_free(l.trace.files);
    if (!trace_sink_close(&l.sink) && ok)
        ok = err_set(&err, ERR_IO, o->output ? o->output : "standard error", "cannot write");
    return ok ? status : command_fail(&err);
}
