/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/reading.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <time.h>

#include "base/hot.h"
#include "base/log.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/module_ends.h"
#include "format/perfdata/evidence.h"
#include "os/files.h"
#include "os/heap.h"
#include "resolve/late_modules.h"

bool reading_open(struct reading *r, const char *path, bool force, struct err *err) {
    *r = (struct reading){0};
    if (!input_check(path, force, err))
        return false;
    os_heap_prepare();
    r->stream = stream_open(path, &(struct stream_options){0}, err);
    if (!r->stream)
        return false;
    r->recorded.stream = r->stream;
    r->events = stream_events(r->stream);
    return input_read_head(r->stream, err) && reading_names(r, err);
}

/* The formats borrow from the namer. */
static void forget_names(struct reading *r) {
    tracefs_formats_free(r->formats);
    r->formats = NULL;
    perfdata_namer_fini(&r->namer);
}

void reading_close(struct reading *r) {
    forget_names(r);
    resolve_jit_free(r->jit);
    stream_close(r->stream);
    kmod_sections_fini(&r->kmod);
    resolve_recorded_fini(&r->recorded);
    resolve_deferred_fini(&r->deferred);
    *r = (struct reading){0};
}

bool reading_names(struct reading *r, struct err *err) {
    const struct perfdata_header *h = stream_header(r->stream);
    size_t events = r->events->list.count, features = h->features.count;
    if (r->named_events == events && r->named_features == features)
        return true;
    forget_names(r);
    r->named_events = events;
    r->named_features = features;
    if (!perfdata_namer_init(&r->namer, h) || !perfdata_feature_apply_names(h, r->events) ||
        !perfdata_event_name_rest(&r->namer, r->events))
        return err_memory(err, "event names");
    struct err absent = ERR_INIT;
    if (r->namer.tracing.events.count) {
        r->formats = tracefs_formats_new(&r->namer.tracing, r->symbol, r->symbol_ctx, &absent);
        if (!r->formats)
            log_line(LOG_WARN, "%s: %s", absent.where, absent.message);
    }
    return true;
}

bool reading_symbols(struct reading *r, tracefs_symbol_fn *symbol, void *ctx, struct err *err) {
    r->symbol = symbol;
    r->symbol_ctx = ctx;
    if (!r->formats)
        return true;
    tracefs_formats_free(r->formats);
    r->formats = tracefs_formats_new(&r->namer.tracing, symbol, ctx, err);
    return r->formats;
}

/* ---- jitdumps ---- */

bool reading_jitdumps(struct reading *r, const char *dump_dir, const char *symfs, struct err *err) {
    struct resolve_jit_options o = {.recording = stream_path(r->stream),
                                    .dump_dir = dump_dir,
                                    .symfs = symfs,
                                    .kept = resolve_recorded_kept(&r->recorded),
                                    .kept_swap = r->events->swap};
    if (!r->jit)
        r->jit = resolve_jit_new(&o, err);
    return r->jit;
}

static bool feed_jit(struct reading *r, struct model *m, struct err *err) {
    if (!r->jit)
        return true;
    resolve_jit_use_clock(r->jit, r->events);
    resolve_jit_use_pairs(r->jit, stream_part(r->stream, true, PERFDATA_PART_CLOCK),
                          stream_part(r->stream, false, PERFDATA_PART_CLOCK), r->events->swap);
    if (!resolve_jit_feed(r->jit, m, err))
        return false;
    reading_warn_jitdumps(r);
    return true;
}

bool reading_follow_jitdumps(struct reading *r, struct model *m, uint64_t now_ns, bool grown,
                             struct err *err) {
    if (!r->jit)
        return true;
    if (grown)
        resolve_jit_use_clock(r->jit, r->events);
    return resolve_jit_follow(r->jit, m, now_ns, grown, err);
}

void reading_warn_jitdumps(const struct reading *r) {
    enum { SHOWN = 3 };
    size_t bad = 0;
    for (size_t i = 0; r->jit && i < resolve_jit_count(r->jit); i++)
        if (resolve_jit_dump(r->jit, i)->why && bad++ < SHOWN)
            log_line(LOG_WARN, "%s", resolve_jit_dump(r->jit, i)->why);
    if (bad > SHOWN)
        log_line(LOG_WARN, "%zu more jitdumps cannot be used: sonde doctor tells", bad - SHOWN);
}

struct model_when reading_when(const struct reading *r, const struct stream_record *rec) {
    uint64_t time_ns = rec->has_time ? rec->time_ns : stream_when_ns(r->stream, rec);
    return (struct model_when){time_ns, rec->loc};
}

bool reading_decode(struct reading *r, const struct stream_record *raw, struct perfdata_record *out) {
    const struct perfdata_plan *plan = NULL;
    const char *reason = NULL;
    if (raw->event < r->events->list.count)
        plan = &r->events->list.items[raw->event].plan;
    if (perfdata_record_decode(&raw->raw, plan, r->events->swap, out, &reason))
        return true;
    stream_bad_record(r->stream, raw, reason);
    return false;
}

static bool take_in(struct reading *r, struct model *m, const struct stream_record *raw,
                    struct perfdata_record *rec, struct err *err) {
    if (!kmod_sections_see(&r->kmod, rec))
        return err_memory(err, "modules");
    resolve_recorded_see(&r->recorded, rec);
    if (r->jit && !resolve_jit_note_record(r->jit, rec, reading_when(r, raw)))
        return err_memory(err, "jitdumps");
    if (!model_wants(m, raw->raw.type))
        return true;
    return model_apply(m, rec, reading_when(r, raw), err);
}

bool reading_apply(struct reading *r, struct model *m, const struct stream_record *raw, struct err *err) {
    struct perfdata_record rec;
    /* Decoded in any case: damage is damage whoever looks. */
    return raw->legacy || !reading_decode(r, raw, &rec) || take_in(r, m, raw, &rec, err);
}

/* In the first pass, where nothing of a callchain that came later has been asked for yet. */
static bool take_first(struct reading *r, struct model *m, const struct stream_record *raw, struct err *err) {
    struct perfdata_record rec;
    if (!reading_decode(r, raw, &rec))
        return true;
    if (rec.type == PERFDATA_RECORD_CALLCHAIN_DEFERRED &&
        !resolve_deferred_note(&r->deferred, rec.callchain_deferred.cookie, raw->loc))
        return err_memory(err, "deferred callchains");
    return take_in(r, m, raw, &rec, err);
}

struct resolve_chain_options reading_chains(const struct reading *r, struct resolve_names *names,
                                            uint64_t most) {
    return (struct resolve_chain_options){.most = most,
                                          .deferred = &r->deferred,
                                          .stream = r->stream,
                                          .events = r->events,
                                          .names = names,
                                          .header = stream_header(r->stream)};
}

static void end_modules(const struct reading *r, struct model *m) {
    const struct module_ends from = {r->recorded.module_lines, r->kallsyms, r->symfs, r->recorded.release};
    module_ends_find(&from, m);
}

/* The next record that needs a look; some samples among them. */
static enum stream_status next_of_first_pass(struct reading *r, struct reading_span *times,
                                             struct stream_record *rec, struct err *err) {
    struct stream_passed passed = {times->first_ns, times->last_ns};
    resolve_returns_pass(&r->recorded.returns,
                         stream_pass_samples(r->stream, resolve_returns_left(&r->recorded.returns), &passed));
    *times = (struct reading_span){passed.first_ns, passed.last_ns};
    return stream_next(r->stream, rec, err);
}

struct first_pass {
    struct reading *r;
    struct model *m;
    struct reading_span *span; /* NULL, or to be filled in */
    reading_seen_fn *seen;
    void *ctx;
    atomic_uint_fast64_t at; /* loc of the last record that was no sample */
    atomic_bool over;
};

static bool read_records(struct first_pass *x, struct err *err) {
    enum { STEP = 16 << 20 };
    struct reading *r = x->r;
    uint64_t chosen = 0;
    struct stream_record rec;
    struct reading_span times = {UINT64_MAX, 0};
    enum stream_status status;
    while ((status = next_of_first_pass(r, &times, &rec, err)) == STREAM_RECORD) {
        if (rec.raw.type == PERFDATA_RECORD_SAMPLE) {
            if (rec.has_time) {
                times.first_ns = rec.time_ns < times.first_ns ? rec.time_ns : times.first_ns;
                times.last_ns = rec.time_ns > times.last_ns ? rec.time_ns : times.last_ns;
            }
            resolve_returns_note(&r->recorded.returns, rec.loc);
            continue;
        }
        atomic_store_explicit(&x->at, rec.loc, memory_order_relaxed);
        if (rec.loc > chosen && rec.loc - chosen >= STEP) {
            os_heap_choose_pages();
            chosen = rec.loc;
        }
        if (rec.legacy)
            continue;
        if ((x->seen && !x->seen(x->ctx, &rec, err)) || !take_first(r, x->m, &rec, err))
            return false;
    }
    if (x->span)
        *x->span = times;
    if (times.first_ns <= times.last_ns)
        r->recorded.span = (struct symbol_span){times.first_ns, times.last_ns};
    return status == STREAM_END;
}

/* Has the recording's pages brought into memory, not too far ahead of who reads them. */
static void read_ahead(struct first_pass *x) {
    enum { STEP = 4 << 20, AHEAD = 16 << 20, NAP_NS = 200 * 1000 };
    for (uint64_t at = 0; !atomic_load(&x->over);) {
        uint64_t reader = atomic_load_explicit(&x->at, memory_order_relaxed);
        at = at > reader ? at : reader; /* what lies behind may have gone out again */
        if (at > reader + AHEAD)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        else if (stream_expect(x->r->stream, at, at + STEP))
            at += STEP;
        else
            return;
    }
}

/* The pass itself, and what helps it on a second thread; if there is none after all, that comes too late and
 * ends at once. */
HOT static bool pass_job(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct first_pass *x = ctx;
    (void)thread;
    if (job) {
        read_ahead(x);
        return true;
    }
    bool ok = read_records(x, err);
    atomic_store(&x->over, true);
    return ok;
}

/* What a model needed more than it keeps is worth giving back from this size on; and before it is frozen,
 * what its tables left behind while they grew. */
enum { LARGE_MODEL = 32 << 20, LARGE_PASS = 128 << 20 };

bool reading_first_pass(struct reading *r, struct model *m, struct reading_span *span, reading_seen_fn *seen,
                        void *ctx, struct err *err) {
    struct first_pass x = {.r = r, .m = m, .span = span, .seen = seen, .ctx = ctx};
    if (!pool_run(r->pool, r->pool ? 2 : 1, pass_job, &x, err) || !reading_names(r, err) ||
        !resolve_recorded_apply(&r->recorded, m, err) || !kmod_sections_finish(&r->kmod, m, err) ||
        !resolve_late_modules(&r->recorded, &os_files_real, r->kallsyms, m, err))
        return false;
    if (!r->recorded.module_lines[0].size)
        r->recorded.module_lines[0] = writer_bytes(&r->kmod.lines);
    end_modules(r, m);
    if (!feed_jit(r, m, err))
        return false;
    if (model_memory_bytes(m) >= LARGE_PASS)
        os_heap_give_back();
    if (!model_freeze(m, err))
        return false;
    if (model_memory_bytes(m) >= LARGE_MODEL)
        os_heap_give_back();
    resolve_deferred_sort(&r->deferred);
    stream_rewind(r->stream);
    return true;
}

int64_t reading_captured_s(const struct reading *r) {
    const struct os_file *f = stream_file(r->stream);
    return stream_is_pipe(r->stream) || f->fd < 0 ? (int64_t)time(NULL) : f->mtime_s;
}

void reading_header_span(const struct reading *r, struct reading_span *span) {
    stream_header_times(r->stream, &span->first_ns, &span->last_ns);
}

/* Of all samples; first_ns > last_ns when none has a time, or reading failed: the next pass says why. */
static struct reading_span sample_span(struct stream *s) {
    struct stream_passed passed = {UINT64_MAX, 0};
    struct stream_record rec;
    struct err ignored = ERR_INIT;
    do {
        stream_pass_samples(s, UINT64_MAX, &passed);
        if (stream_next(s, &rec, &ignored) != STREAM_RECORD)
            break;
        if (rec.raw.type != PERFDATA_RECORD_SAMPLE || !rec.has_time)
            continue;
        passed.first_ns = rec.time_ns < passed.first_ns ? rec.time_ns : passed.first_ns;
        passed.last_ns = rec.time_ns > passed.last_ns ? rec.time_ns : passed.last_ns;
    } while (true);
    stream_rewind(s);
    return (struct reading_span){passed.first_ns, passed.last_ns};
}

struct header_text_options reading_header_options(struct reading *r, bool full) {
    struct header_text_options h = {
        .full = full, .captured_s = reading_captured_s(r), .ending = stream_ending(r->stream)};
    if (stream_is_pipe(r->stream) || stream_header_times(r->stream, &h.first_ns, &h.last_ns) ||
        !perfdata_header_feature(stream_header(r->stream), PERFDATA_FEATURE_SAMPLE_TIME))
        return h;
    struct reading_span span = sample_span(r->stream);
    if (span.first_ns <= span.last_ns) {
        h.first_ns = span.first_ns;
        h.last_ns = span.last_ns;
    }
    return h;
}

int reading_status(const struct reading *r) {
    const struct stream_losses *l = stream_losses(r->stream);
    char lost[STREAM_LOST_ROOM];
    if (l->lost_events || l->lost_samples)
        log_line(LOG_WARN, "%s: the recorder lost %s", stream_path(r->stream), stream_lost_text(l, lost));
    if (l->unknown_ids)
        log_line(LOG_WARN, "%s: %" PRIu64 " samples belong to no known event and are not shown",
                 stream_path(r->stream), l->unknown_ids);
    return stream_all_read(r->stream) ? EXIT_OK : EXIT_ERROR;
}
