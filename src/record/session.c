/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "events/cgroups.h"
#include "os/limits.h"
#include "os/uevents.h"
#include "record/keep/build_id_cache.h"
#include "record/keep/kcore.h"
#include "record/plan/fallback.h"
#include "record/synth/opening.h"

enum {
    FILES_MAX = 1 << 16, /* that --switch-max-files can count */
    SINK_BYTES = 256 << 10,
    COMPRESS_BUFFERS = 2, /* one is filled while the other is compressed */
};

/* --- start --- */

/* Of the thread that writes; 0: the reader writes itself. */
static unsigned write_buffers(const struct record_options *o) {
    /* With --unwind=record the unwinding thread writes, and what it writes is small: no buffers are needed.
     */
    bool compresses = o->compression && !o->unwind;
    return o->threads ? 0 : o->write_buffers ? o->write_buffers : compresses ? COMPRESS_BUFFERS : 0;
}

static bool start_child(struct session *s, struct err *err) {
    static const int SIGNALS[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR2, SIGPIPE, SIGXFSZ, 0};
    const struct record_options *o = s->job->options;
    if (!os_signals_open(&s->signals, SIGNALS, err))
        return false;
    s->had_child = o->command != NULL;
    return !o->command || os_child_start(&s->child, o->command, &s->signals,
                                         o->to_pipe ? OS_CHILD_OUTPUT_ASIDE : OS_CHILD_OURS, err);
}

static bool plan_and_open(struct session *s, const struct perf_events *events, struct err *err) {
    const struct record_options *o = s->job->options;
    record_plan_fini(&s->config);
    if (!record_plan_init(&s->config, events, o, &s->target, err))
        return false;
    s->config.cgroup_folder = s->cgroup_folder[0] ? s->cgroup_folder : NULL;
    return record_open(&s->opened, s->job->perf, &s->config, &s->target, o, err);
}

/* Events that do not exist here have a fallback, or go. */
static bool open_events(struct session *s, struct err *err) {
    struct perf_events *events = s->job->events ? s->job->events : &s->defaults;
    if (!s->job->events && !perf_events_default(s->job->sources, PERF_EVENT_CYCLES, events, err))
        return false;
    while (!plan_and_open(s, events, err)) {
        uint32_t absent = s->opened.absent;
        if (!s->job->events && err->code == ERR_UNSUPPORTED)
            absent = 0; /* nobody asked for cycles */
        if (!record_fallback(events, absent, !s->target.system_wide, &s->notes, err))
            return false;
        *err = ERR_INIT;
    }
    return true;
}

static bool poll_events(struct session *s, struct err *err) {
    if ((s->poller = os_poller_open(err)) < 0 || !os_poller_add(s->poller, s->signals.fd, TAG_SIGNALS, err))
        return false;
    if (s->job->options->control && (!os_channel_open(&s->channel, s->job->options->control, err) ||
                                     !os_poller_add(s->poller, s->channel.in, TAG_CONTROL, err)))
        return false;
    if (s->job->consumer && s->job->consumer->fd >= 0 &&
        !os_poller_add(s->poller, s->job->consumer->fd, TAG_CONSUMER, err))
        return false;
    for (size_t i = 0; i < s->opened.fds.count && !s->job->options->threads; i++) {
        const struct record_fd *f = &s->opened.fds.items[i];
        if (s->opened.rings.items[f->ring].backward)
            continue; /* it tells of itself when nobody wants to read it */
        if (f->event != 0 && s->opened.rings.items[f->ring].fd != f->fd)
            continue;
        if (!os_poller_add(s->poller, f->fd, i, err))
            return false;
        s->polled++;
    }
    return true;
}

static bool open_trigger(struct session *s, struct err *err) {
    const struct record_job *job = s->job;
    if (!job->switch_events)
        return true;
    if (!record_trigger_open(&s->trigger, job->perf, job->switch_events, &s->target, job->options, err))
        return false;
    for (size_t i = 0; i < s->trigger.opened.rings.count; i++)
        if (!os_poller_add(s->poller, s->trigger.opened.rings.items[i].fd, TAG_TRIGGER, err))
            return false;
    return true;
}

/* --threads and --kcore write a directory, once. */
static bool plan_folder(struct session *s, struct err *err) {
    const struct record_options *o = s->job->options;
    if (!o->threads && !o->kcore)
        return true;
    if (o->to_pipe || o->switch_output || (o->threads && o->overwrite))
        return err_set(err, ERR_USAGE, o->threads ? "--threads" : "--kcore", "it does not go with %s",
                       o->to_pipe         ? "a pipe, which is one file"
                       : o->switch_output ? "--switch-output"
                                          : "--overwrite");
    if ((size_t)snprintf(s->main_file, sizeof s->main_file, "%s/data", s->job->output) >= sizeof s->main_file)
        return err_set(err, ERR_USAGE, s->job->output, "the name is too long");
    return !o->threads || record_layout_init(&s->layout, o->threads, s->job->sys, s->target.cpus.items,
                                             s->target.cpus.count, err);
}

/* Before anything runs, and without touching an older recording: the command may not be there at all. */
static bool check_output(const char *path, struct err *err) {
    if (strcmp(path, "-") != 0)
        return os_output_possible(path, err);
    return !isatty(STDOUT_FILENO) ||
           err_set(err, ERR_USAGE, NULL, "a recording is not for a terminal: give a file with -o, or a pipe");
}

static bool create_output(struct session *s, struct os_output *out, struct err *err) {
    const char *path = s->job->output;
    const struct record_options *o = s->job->options;
    if (s->job->consumer) {
        *out = s->job->consumer->out;
        return true;
    }
    if (o->threads || o->kcore)
        return (o->kcore || (os_output_keep_old(path, err) && os_output_folder(path, err))) &&
               (!o->threads || record_readers_files(&s->layout, path, err)) &&
               os_output_create(s->main_file, out, err);
    if (strcmp(path, "-") != 0)
        return os_output_keep_old(path, err) && os_output_create(path, out, err);
    *out = os_output_fd(STDOUT_FILENO);
    return true;
}

/* --unwind=record needs what was mapped before the samples, and all of it in one place. */
static bool check_unwind(const struct session *s, struct err *err) {
    const struct record_options *o = s->job->options;
    const char *with = o->threads      ? "--threads"
                       : o->overwrite  ? "--overwrite"
                       : o->tail_synth ? "--tail-synthesize"
                                       : NULL;
    bool dumps = false;
    for (size_t i = 0; i < s->config.events.count; i++)
        dumps |= (s->config.events.items[i].attr.sample_type & PERFDATA_SAMPLE_STACK_USER) != 0;
    if (!o->unwind)
        return true;
    if (!dumps)
        return err_set(err, ERR_USAGE, "--unwind=record",
                       "there is nothing to unwind without --call-graph dwarf");
    return !with || err_set(err, ERR_USAGE, "--unwind=record", "it does not go with %s", with);
}

static struct record_box_sources box_sources(struct session *s) {
    const struct record_job *job = s->job;
    const struct record_options *o = job->options;
    return (struct record_box_sources){
        .options = o,
        .perf = job->perf,
        .proc = job->proc,
        .sys = job->sys,
        .opened = &s->opened,
        .modules = &s->modules,
        .kernel_facts = &s->kernel_facts,
        .identities = &s->identities,
        .keep = &s->keep,
        .unwound = writer_bytes(&s->unwound),
        .buffers = write_buffers(o),
        .interval_ns = (uint64_t)CHECKPOINT_MS * 1000000,
    };
}

static bool start_file(struct session *s, struct os_output out, struct err *err) {
    bool tracepoints = false;
    for (size_t i = 0; i < s->config.events.count; i++)
        tracepoints |= s->config.events.items[i].tracepoint;
    struct record_facts facts;
    const struct record_facts_input in = {
        .sys = s->job->sys,
        .host = &s->host,
        .options = s->job->options,
        .events = &s->events,
        .argv = s->job->argv,
        .ring_bytes = s->opened.pages * os_limits_page_bytes(),
        .plan = &s->config,
        .tracepoints = tracepoints,
    };
    bool ok = record_facts_early(&facts, &in) || err_memory(err, "facts");
    if (ok && !out.seekable) /* nothing can follow the data of a pipe */
        ok = record_facts_topology(&facts) || err_memory(err, "facts");
    const char *name = s->job->consumer                   ? "memory"
                       : strcmp(s->job->output, "-") == 0 ? "standard output"
                                                          : s->job->output;
    struct writer preamble = writer_make(false);
    const struct record_box_sources sources = box_sources(s);
    if (ok && out.seekable)
        ok = record_boxes_preamble(&sources, &preamble) || err_memory(err, "modules");
    if (ok) {
        s->file_open = true;
        s->result->started = true;
        const struct record_file_head head = {&s->events, facts.list.items, facts.list.count,
                                              writer_bytes(&preamble)};
        ok = record_file_start(&s->file, out, name, &head, err);
    }
    record_facts_fini(&facts);
    writer_fini(&preamble);
    return ok;
}

uint64_t record_session_file_size(struct session *s) {
    if (s->job->options->threads)
        return record_file_size(&s->file) + atomic_load(&s->readers.bytes);
    if (s->drain.unwind)
        return record_unwind_file_size(s->drain.unwind);
    return s->drain.outlet.thread ? record_write_thread_size(s->drain.outlet.thread)
                                  : record_file_size(&s->file);
}

bool record_session_flush_sink(struct session *s, struct err *err) {
    bool ok = writer_ok(&s->pending)
                  ? !s->pending.size || record_drain_put(&s->drain, writer_bytes(&s->pending), err)
                  : err_memory(err, "records");
    writer_clear(&s->pending);
    return ok;
}

static bool sink_put(void *ctx, struct bytes records, struct err *err) {
    struct session *s = ctx;
    writer_bytes_put(&s->pending, records);
    return s->hold || s->pending.size < SINK_BYTES || record_session_flush_sink(s, err);
}

/* The event whose records tell of processes and mappings. */
static const struct perfdata_event *side_band(const struct session *s) {
    for (size_t i = 1; i < s->config.events.count; i++)
        if (s->config.events.items[i].side_band)
            return &s->events.list.items[i];
    return &s->events.list.items[0];
}

static void init_sink(struct session *s) {
    const struct perfdata_event *e = side_band(s);
    const uint64_t tail = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID |
                          PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_IDENTIFIER;
    uint64_t id = e->id_count ? e->ids[0] : 0;
    s->sink = (struct record_sink){
        .put = sink_put,
        .ctx = s,
        .plan = &e->plan,
        .id = {.have = e->attr.sample_type & tail},
        .event_id = id,
        .build_ids = s->drain.build_ids,
        .kernel_facts = &s->kernel_facts,
        .bpf = s->file.out.seekable ? &s->bpf : NULL, /* nothing can follow the data of a pipe */
    };
}

/* What existed before, or with --tail-synthesize: what exists now. */
static bool tell_before(struct session *s, struct err *err) {
    const struct record_job *job = s->job;
    struct perf_target all = s->target;
    struct record_synth_request request = {job->options, &s->target,     job->sys,         os_host_pid(),
                                           false,        os_host_root(), &s->modules.known};
    if (s->later_file && s->target.exec) { /* the command has started, and who knows what */
        all.exec = false;
        all.system_wide = true;
        request.target = &all;
    }
    for (size_t i = 0; i < s->config.events.count; i++)
        request.kernel |= !s->config.events.items[i].side_band &&
                          !(s->config.events.items[i].attr.flags & PERFDATA_ATTR_EXCLUDE_KERNEL);
    return !job->synth || job->synth(job->synth_ctx, &request, &s->sink, err);
}

/* How much more may come from the rings until the file has --max-size. How much of it compressed data, or
 * stacks that are unwound, take is known afterwards only. */
void record_session_set_budget(struct session *s) {
    uint64_t max = s->job->options->max_bytes, size = record_session_file_size(s);
    s->drain.limited = max != 0;
    s->drain.budget_bytes = size >= max                                   ? 0
                            : s->drain.outlet.compress || s->drain.unwind ? UINT64_MAX
                                                                          : max - size;
}

/* Takes what is in the rings if one of them might overflow soon; who began another program is noted before.
 */
static bool relieve(struct session *s, struct hash_map *execs, struct err *err) {
    bool full = false, wrote;
    for (size_t i = 0; i < s->opened.rings.count; i++) {
        const struct record_ring *r = &s->opened.rings.items[i];
        full |= !r->backward && os_ring_head(&r->map) - os_ring_tail(&r->map) > r->map.data_bytes / 4;
    }
    if (full && !record_drain_execs(&s->drain, &s->opened, execs))
        return err_memory(err, "processes");
    record_session_set_budget(s);
    return !full || record_drain_pass(&s->drain, &s->opened, &wrote, err);
}

struct telling {
    struct session *session;
    pthread_t thread;
    bool ok;
    struct err err;
};

static void *tell(void *ctx) {
    struct telling *t = ctx;
    t->ok = tell_before(t->session, &t->err);
    return NULL;
}

/* Asks /proc and the kernel in a thread, while rings are emptied here. What is told waits in s->pending. */
static bool tell_aside(struct session *s, struct hash_map *execs, struct err *err) {
    enum { LOOK_NS = 4000000 };
    struct telling t = {.session = s, .err = ERR_INIT};
    struct record_build_ids ids = {0}; /* the thread's own */
    struct timespec until;
    bool ok = true;
    s->sink.build_ids = s->drain.build_ids ? &ids : NULL;
    if (pthread_create(&t.thread, NULL, tell, &t) != 0) {
        tell(&t);
    } else {
        do {
            ok = ok && relieve(s, execs, err);
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += LOOK_NS;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
        } while (pthread_timedjoin_np(t.thread, NULL, &until) == ETIMEDOUT);
    }
    s->sink.build_ids = s->drain.build_ids;
    writer_bytes_put(&s->build_ids.content, writer_bytes(&ids.content));
    s->build_ids.count += ids.count;
    record_build_ids_fini(&ids);
    if (ok && !t.ok)
        *err = t.err;
    return ok && t.ok;
}

/* Puts what was told piece by piece: to look at its files takes time, too. */
static bool put_told(struct session *s, struct hash_map *execs, struct err *err) {
    bool ok = writer_ok(&s->pending) || err_memory(err, "records");
    struct bytes rest = writer_bytes(&s->pending);
    while (ok && rest.size) {
        size_t n = 0;
        while (n < SINK_BYTES && rest.size - n >= PERFDATA_HEADER_SIZE) {
            uint16_t size = bytes_load16(rest.data + n + 6, false);
            if (size < PERFDATA_HEADER_SIZE || size > rest.size - n)
                break;
            n += size;
        }
        n = n ? n : rest.size;
        ok = record_drain_put(&s->drain, (struct bytes){rest.data, n}, err) && relieve(s, execs, err);
        rest = (struct bytes){rest.data + n, rest.size - n};
    }
    writer_clear(&s->pending);
    return ok;
}

/*
 * While we ask /proc, events count already, and a process may begin another program: what is told of it then
 * would be put at the time before, where the old one ran. So all waits until the rings have said who did. No
 * round ends before it is put: its time is before all others.
 */
static bool tell_before_events(struct session *s, struct err *err) {
    struct hash_map execs = {0};
    bool no_rounds = s->drain.no_rounds, ok = true;
    s->drain.no_rounds = s->hold = true;
    if (s->target.exec && !s->later_file)
        ok = tell_before(s, err);
    else
        ok = tell_aside(s, &execs, err);
    s->hold = false;
    if (ok && !record_drain_execs(&s->drain, &s->opened, &execs))
        ok = err_memory(err, "processes");
    if (ok && execs.count && writer_ok(&s->pending))
        record_drain_forget(&s->pending, &execs);
    ok = ok && put_told(s, &execs, err);
    s->drain.no_rounds = no_rounds;
    hash_map_fini(&execs);
    return ok;
}

/* What readers must know before the first event of a ring. */
static bool put_opening(struct session *s, struct err *err) {
    const struct record_job *job = s->job;
    init_sink(s);
    record_opening_encode(&s->opened, &s->target, &s->sink, s->later_file ? NULL : s->host.clone,
                          &s->pending);
    if (!record_session_flush_sink(s, err) || (!job->options->tail_synth && !tell_before_events(s, err)))
        return false;
    record_opening_mark(PERFDATA_RECORD_FINISHED_INIT, &s->pending);
    return record_session_flush_sink(s, err);
}

/* Their state now, and to be told when it changes; a kernel that has none tells nothing. */
static bool watch_modules(struct session *s, struct err *err) {
    struct record_module_events events = {0};
    /* First: what comes while we read is looked at again. */
    if (s->target.system_wide)
        record_module_events_open(&events, s->job->perf, s->job->sys, &s->target, s->job->options);
    if (!events.rings.count)
        s->uevents = os_uevents_open();
    bool ok = s->uevents < 0 || os_poller_add(s->poller, s->uevents, TAG_MODULES, err);
    for (size_t i = 0; ok && i < events.rings.count; i++)
        ok = os_poller_add(s->poller, events.rings.items[i].load_fd, TAG_MODULES, err);
    ok = ok &&
         (record_module_watch_init(&s->modules, s->job->proc, s->job->sys, s->job->options->build_id_mmap) ||
          err_memory(err, "modules"));
    s->modules.events = events;
    return ok;
}

/* The threads between the rings and the file. */
static bool start_writing(struct session *s, struct err *err) {
    const struct record_options *o = s->job->options;
    struct record_outlet *out = &s->drain.outlet;
    *out = (struct record_outlet){.file = &s->file, .compress = o->compression ? &s->compress : NULL};
    if (write_buffers(o) && record_write_thread_start(&s->thread, &s->file, out->compress, write_buffers(o)))
        out->thread = &s->thread;
    writer_clear(&s->unwound);
    if (o->unwind)
        s->drain.unwind = record_unwind_start(out, &s->events, s->host.machine, s->host.name, err);
    return !o->unwind || s->drain.unwind;
}

/* Ends them; what they had is written, unless that failed. */
static bool stop_writing(struct session *s, struct err *err) {
    bool unwound = !s->drain.unwind || record_unwind_stop(s->drain.unwind, &s->unwound, err);
    s->drain.unwind = NULL;
    struct record_write_thread *thread = s->drain.outlet.thread;
    bool written = !thread || record_write_thread_stop(thread, unwound ? err : NULL);
    s->drain.outlet.thread = NULL;
    return unwound && written;
}

/* Begins a file, the first one or a later one. `since_ns`: wall clock, what comes from the rings is newer. */
static bool open_file(struct session *s, uint64_t since_ns, struct err *err) {
    const struct record_options *o = s->job->options;
    struct os_output out;
    if (o->compression && !record_compress_init(&s->compress, o->compression, err))
        return false;
    if (!create_output(s, &out, err) || !start_file(s, out, err))
        return false;
    s->drain.events = &s->events;
    s->drain.build_ids = o->no_build_ids ? NULL : &s->build_ids;
    if (!start_writing(s, err))
        return false;
    s->drain.identities = &s->identities;
    s->keep.proc = out.seekable ? s->job->proc : NULL; /* nothing can follow the data of a pipe */
    s->keep.what = o->keep;
    s->drain.keep = &s->keep;
    s->drain.travel = (struct record_travel){.near = o->affinity == RECORD_AFFINITY_NODE,
                                             .cautious = o->affinity == RECORD_AFFINITY_AUTO};
    if (o->affinity != RECORD_AFFINITY_SYSTEM)
        s->drain.travel.mover = os_affinity_mover(&s->affinity);
    s->drain.flush_bytes = o->flush_bytes;
    s->drain.no_rounds = o->overwrite || o->threads;
    s->drain.id_bytes = side_band(s)->plan.tail_size;
    s->drain.pass_ns = (int64_t)since_ns;
    s->drain.since_ns = 0; /* of what exists already, the file tells as it is now */
    s->identities.proc = s->job->proc;
    s->identities.build_ids = s->drain.build_ids;
    s->file_start_ns = os_clock_ns();
    if (!put_opening(s, err))
        return false;
    if (!o->threads)
        return true;
    bool ok = record_readers_start(&s->readers, &s->layout, &s->opened, &s->drain, s->job->output,
                                   o->compression, err);
    s->drain.shared = &s->readers.lock;
    return ok;
}

static bool start_probes(struct session *s, struct err *err) {
    const struct record_job *job = s->job;
    const struct record_probes_sources from = {.bpf = job->bpf,
                                               .perf = job->perf,
                                               .target = &s->target,
                                               .opened = &s->opened,
                                               .plan = &s->config,
                                               .inherit = job->options->inherit,
                                               .verbose = job->options->verbose};
    return !record_probes_wanted(&s->config) || (s->probes = record_probes_start(&from, err)) != NULL;
}

static bool start_filters(struct session *s, struct err *err) {
    const struct record_job *job = s->job;
    return !record_filters_wanted(&s->config) ||
           (s->filters = record_filters_start(job->bpf, &s->config, &s->opened, job->options->verbose, err));
}

static bool start(struct session *s, struct err *err) {
    const struct record_job *job = s->job;
    uint64_t start_ns = 0, unused;
    os_clock_read(CLOCK_REALTIME, &start_ns, &unused);
    os_host_read(&s->host);
    os_affinity_init(&s->affinity);
    if (job->proc)
        perf_cgroups_mount(job->proc, s->cgroup_folder, sizeof s->cgroup_folder);
    if (!start_child(s, err) ||
        !perf_target_init(&s->target, &job->options->target, job->sys, s->child.pid, err) ||
        !plan_folder(s, err) || !open_events(s, err) || !check_unwind(s, err) || !poll_events(s, err) ||
        !open_trigger(s, err))
        return false;
    if (!record_open_events(&s->opened, &s->config, &s->events))
        return err_memory(err, "events");
    if (job->dry_run) {
        record_fallback_tell(&s->notes);
        return true;
    }
    if ((!job->consumer && !check_output(job->output, err)) ||
        (job->options->kcore && !record_kcore_begin(job->options->kcore, job->output, err)))
        return false;
    if (job->ready && !job->ready(job->ready_ctx, &s->target, err))
        return false;
    const struct record_off_cpu_sources off_cpu = {job->bpf,     job->perf,  job->proc,
                                                   job->options, &s->target, s->host.machine};
    if ((job->options->off_cpu && !(s->off_cpu = record_off_cpu_start(&off_cpu, err))) ||
        !start_probes(s, err) || !start_filters(s, err))
        return false;
    s->start_ns = os_clock_ns();
    if (!job->options->delay_ms &&
        !(s->target.exec ? record_session_off_cpu(s, true, err) : record_session_enable(s, true, false, err)))
        return false;
    if (job->switch_events && !s->target.exec)
        record_open_enable(&s->trigger.opened, &s->trigger.plan, true);
    /* From here on the command runs; what it does waits in the rings. */
    if (s->child.pid && !os_child_go(&s->child, job->options->command[0], err))
        return false;
    record_fallback_tell(&s->notes); /* there is something to say it of */
    return (!job->proc || watch_modules(s, err)) && open_file(s, start_ns, err);
}

/* --- closing a file --- */

static bool update_facts(struct session *s, struct err *err) {
    uint64_t time[2] = {s->drain.first_ns, s->drain.last_ns};
    if (s->drain.has_time && !record_file_update(&s->file, PERFDATA_FEATURE_SAMPLE_TIME,
                                                 (struct bytes){(uint8_t *)time, sizeof time}, err))
        return false;
    if (!s->drain.outlet.compress || !s->compress.written)
        return true;
    uint32_t ratio = (uint32_t)(s->compress.in / s->compress.written);
    uint32_t z[5] = {1, 1, (uint32_t)s->job->options->compression, ratio ? ratio : 1,
                     record_compress_decoded(s->opened.pages * os_limits_page_bytes())};
    return record_file_update(&s->file, PERFDATA_FEATURE_COMPRESSED, (struct bytes){(uint8_t *)z, sizeof z},
                              err);
}

static void put_bpf(struct session *s, struct record_facts *late) {
    const struct perfdata_feature_value values[] = {
        {.id = PERFDATA_FEATURE_BPF_PROG_INFO,
         .bpf_progs = {s->bpf.programs.items, (uint32_t)s->bpf.programs.count}},
        {.id = PERFDATA_FEATURE_BPF_BTF, .btfs = {s->bpf.types.items, (uint32_t)s->bpf.types.count}},
    };
    for (size_t i = 0; i < 2; i++)
        if (i ? s->bpf.types.count : s->bpf.programs.count)
            record_facts_add(late, &values[i]);
}

/* For the mark: why the file ends, if not as it should, and what stays in the rings. */
static void note_ending(struct session *s) {
    struct perfdata_ending e = {.how = s->max_reached ? PERFDATA_ENDING_MAX_SIZE : s->readers.how};
    for (size_t i = 0; i < s->opened.rings.count && s->failed; i++) {
        const struct record_ring *r = &s->opened.rings.items[i];
        e.missing_bytes += r->backward ? r->map.data_bytes : os_ring_head(&r->map) - os_ring_tail(&r->map);
    }
    record_file_stopped(&s->file, e);
}

/* Ends a file. False and *err when it could not be written; it is closed in any case. */
static bool close_file(struct session *s, struct err *err) {
    struct record_facts late = {.sys = s->job->sys};
    struct writer trailer = writer_make(false);
    bool written = stop_writing(s, err);
    s->failed |= !written;
    note_ending(s);
    record_readers_compressed(&s->readers, &s->compress.in, &s->compress.written);
    update_facts(s, NULL);
    bool facts = !s->file.out.seekable || record_facts_topology(&late);
    put_bpf(s, &late);
    struct perfdata_feature *ids = s->build_ids.count ? vec_push(&late.list) : NULL;
    if (ids)
        *ids = (struct perfdata_feature){.id = PERFDATA_FEATURE_BUILD_ID,
                                         .content = writer_bytes(&s->build_ids.content)};
    const struct record_box_sources sources = box_sources(s);
    if (s->file.out.seekable)
        record_boxes_trailer(&sources, &trailer);
    bool ok = record_file_finish(&s->file, late.list.items, late.list.count, writer_bytes(&trailer),
                                 written ? err : NULL);
    ok = ok && written;
    writer_fini(&trailer);
    record_facts_fini(&late);
    if (s->job->cache_folder && s->job->proc && ok)
        record_cache_add(&(struct record_cache){s->job->cache_folder, s->job->proc, RECORD_CACHE_FILE_MAX,
                                                RECORD_CACHE_ALL_MAX},
                         &s->build_ids);
    s->result->file_bytes = record_session_file_size(s);
    s->result->raw_bytes = s->compress.in;
    s->file_open = false;
    return (facts || err_memory(err, "facts")) && ok;
}

/* --- several files --- */

/* Remembers a finished file; with a limit the oldest goes. */
static void keep_newest(struct session *s, const char *name) {
    uint64_t keep = s->job->options->switch_files;
    if (!keep || keep > FILES_MAX)
        return;
    if (!s->finished && !(s->finished = calloc(keep, sizeof *s->finished)))
        return;
    char **slot = &s->finished[s->finished_count++ % keep];
    if (*slot)
        unlink(*slot);
    free(*slot);
    *slot = strdup(name);
}

/* The finished file gets its name: the time, to hundredths of a second, after the name it was written
 * under, as perf has it. */
static bool name_after_time(struct session *s, struct err *err) {
    const char *path = s->job->output;
    char name[4096], stamp[32];
    if (!s->job->options->timestamp_names || strcmp(path, "-") == 0)
        return true;
    do { /* one that was finished in the same hundredth of a second stays */
        os_clock_stamp(stamp, sizeof stamp);
        if ((size_t)snprintf(name, sizeof name, "%s.%s", path, stamp) >= sizeof name)
            return err_set(err, ERR_USAGE, path, "the name is too long");
    } while (os_place_taken(name));
    if (rename(path, name) != 0)
        return err_errno(err, errno, path, "cannot rename it to %s", name);
    keep_newest(s, name);
    if (s->job->file_done)
        s->job->file_done(s->job->file_done_ctx, name);
    return true;
}

void record_session_forget(struct session *s) {
    const struct os_proc *proc = s->identities.proc;
    record_build_ids_fini(&s->build_ids);
    s->build_ids = (struct record_build_ids){0};
    record_identities_fini(&s->identities);
    s->identities = (struct record_identities){.proc = proc, .build_ids = s->drain.build_ids};
    record_keep_fini(&s->keep);
    s->keep = (struct record_keep){0};
    writer_clear(&s->modules.log);
    if (s->off_cpu)
        record_off_cpu_forget(s->off_cpu);
    record_drain_restart(&s->drain);
}

/* Goes on in a new file that can be read without the others. */
bool record_session_switch_file(struct session *s, struct err *err) {
    uint64_t now_ns = 0, unused;
    os_clock_read(CLOCK_REALTIME, &now_ns, &unused);
    if (!record_drain_backward(&s->drain, &s->opened, err) || !record_session_take_off_cpu(s, err))
        return false;
    if (s->job->options->tail_synth && !(tell_before(s, err) && record_session_flush_sink(s, err)))
        return false;
    if (!close_file(s, err) || !name_after_time(s, err))
        return false;
    record_compress_fini(&s->compress);
    record_bpf_fini(&s->bpf);
    s->bpf = (struct record_bpf){0};
    record_session_forget(s);
    s->switch_asked = false;
    s->later_file = true;
    return open_file(s, now_ns, err);
}

/* --- run --- */

/* Losses that no LOST record told of, because nothing came after them in their ring. */
static bool put_lost(struct session *s, struct err *err) {
    uint64_t all = record_open_lost(&s->opened, &s->config);
    if (all > s->drain.lost) {
        record_opening_lost(&s->sink, all - s->drain.lost, s->drain.last_ns, &s->pending);
        s->drain.lost = all;
    }
    return record_session_flush_sink(s, err);
}

static void advise_lost(struct session *s) {
    const struct record_drain *d = &s->drain;
    char cpus[200] = "";
    size_t at = 0;
    if (!d->lost)
        return;
    for (size_t i = 0; i < s->opened.rings.count && at < sizeof cpus; i++)
        if (s->opened.rings.items[i].lost)
            at += (size_t)snprintf(cpus + at, sizeof cpus - at, "%sCPU %d: %llu", at ? ", " : " (",
                                   (int)s->opened.rings.items[i].cpu,
                                   (unsigned long long)s->opened.rings.items[i].lost);
    uint64_t more = 4 * s->opened.pages * os_limits_page_bytes() / 1024;
    log_line(LOG_WARN, "lost %llu event%s, %.1f %%%s%s: use larger rings (-m %lluK) or a lower rate (-F, -c)",
             (unsigned long long)d->lost, plural(d->lost),
             100.0 * (double)d->lost / (double)(d->lost + d->samples), cpus, at ? ")" : "",
             (unsigned long long)more);
}

/* Closes the file, whatever happened before; the first error is the one that is told. */
static bool finish(struct session *s, bool ok, struct err *err) {
    struct err more = ERR_INIT;
    if (s->child.pid)
        s->result->status = os_child_stop(&s->child); /* a signal ended us: the command goes too */
    ok = record_session_enable(s, false, false, ok ? err : NULL) && ok;
    if (s->job->options->threads)
        ok = record_readers_stop(&s->readers, &s->drain, &s->opened, ok ? err : NULL) && ok;
    s->drain.flush_bytes = 0;
    s->modules_changed |= s->uevents >= 0 && os_uevents_modules(s->uevents);
    if (ok)
        ok = record_session_look_at_modules(s, err) && record_session_drain(s, err) &&
             record_session_take_off_cpu(s, err) && record_drain_backward(&s->drain, &s->opened, err) &&
             (!s->job->options->tail_synth || (tell_before(s, err) && record_session_flush_sink(s, err))) &&
             put_lost(s, err);
    advise_lost(s);
    if (s->off_cpu)
        record_off_cpu_tell(s->off_cpu);
    if (s->probes)
        record_probes_tell(s->probes);
    if (s->filters)
        s->result->filtered = record_filters_tell(s->filters);
    s->failed = !ok;
    bool closed = close_file(s, &more) && name_after_time(s, &more);
    if (ok && !closed)
        *err = more;
    s->result->samples = s->drain.samples;
    s->result->lost = s->drain.lost;
    return ok && closed;
}

static void release(struct session *s) {
    stop_writing(s, NULL);
    writer_fini(&s->unwound);
    record_readers_fini(&s->readers);
    record_layout_fini(&s->layout);
    os_child_stop(&s->child);
    record_drain_fini(&s->drain);
    record_off_cpu_free(s->off_cpu);
    record_filters_free(s->filters);
    record_probes_free(s->probes);
    record_compress_fini(&s->compress);
    record_build_ids_fini(&s->build_ids);
    record_bpf_fini(&s->bpf);
    record_identities_fini(&s->identities);
    record_keep_fini(&s->keep);
    record_module_watch_fini(&s->modules);
    os_close(s->uevents);
    writer_fini(&s->pending);
    writer_fini(&s->notes);
    os_channel_close(&s->channel);
    os_close(s->poller);
    record_opened_fini(&s->opened);
    record_trigger_fini(&s->trigger);
    perfdata_events_fini(&s->events);
    record_plan_fini(&s->config);
    perf_events_fini(&s->defaults);
    perf_target_fini(&s->target);
    for (uint64_t i = 0; s->finished && i < s->job->options->switch_files; i++)
        free(s->finished[i]);
    free(s->finished);
    os_signals_close(&s->signals);
}

bool record_run(const struct record_job *job, struct record_result *result, struct err *err) {
    struct session s = {.job = job,
                        .result = result,
                        .signals = {.fd = -1},
                        .poller = -1,
                        .channel = {-1, -1, false},
                        .uevents = -1,
                        .readers.stop_fd = -1};
    *result = (struct record_result){0};
    perfdata_events_init(&s.events, false);
    bool ok = start(&s, err) && (job->dry_run || record_session_run(&s, err));
    if (s.file_open)
        ok = finish(&s, ok, err);
    release(&s);
    return ok;
}
