/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/recording.h"

#include <time.h>

#include "recording/head.h"

bool recording_open(struct recording *r, struct stream *stream, const struct recording_owner *owner,
                    struct err *err) {
    *r = (struct recording){.stream = stream, .recorded.stream = stream};
    if (owner)
        r->owner = *owner;
    if (!stream)
        return false;
    r->events = stream_events(stream);
    return recording_read_head(stream, err) && recording_name_events(r, err);
}

/* Frees the formats first, as they borrow from the namer. */
static void forget_names(struct recording *r) {
    tracefs_formats_free(r->formats);
    r->formats = NULL;
    perfdata_namer_fini(&r->namer);
}

void recording_close(struct recording *r) {
    forget_names(r);
    resolve_jit_free(r->jit);
    stream_close(r->stream);
    kmod_sections_fini(&r->kmod);
    resolve_recorded_fini(&r->recorded);
    resolve_deferred_fini(&r->deferred);
    *r = (struct recording){0};
}

bool recording_name_events(struct recording *r, struct err *err) {
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
        if (!r->formats && r->owner.warn)
            r->owner.warn(r->owner.ctx, &absent);
    }
    return true;
}

bool recording_name_functions(struct recording *r, tracefs_symbol_fn *symbol, void *ctx, struct err *err) {
    r->symbol = symbol;
    r->symbol_ctx = ctx;
    if (!r->formats)
        return true;
    tracefs_formats_free(r->formats);
    r->formats = tracefs_formats_new(&r->namer.tracing, symbol, ctx, err);
    return r->formats;
}

/* ---- jitdumps ---- */

bool recording_jitdumps(struct recording *r, const char *dump_dir, const char *symfs, struct err *err) {
    struct resolve_jit_options o = {.recording = stream_path(r->stream),
                                    .dump_dir = dump_dir,
                                    .symfs = symfs,
                                    .kept = resolve_recorded_kept(&r->recorded),
                                    .kept_swap = r->events->swap};
    if (!r->jit)
        r->jit = resolve_jit_new(&o, err);
    return r->jit;
}

bool recording_follow_jitdumps(struct recording *r, struct model *m, uint64_t now_ns, bool grown,
                               struct err *err) {
    if (!r->jit)
        return true;
    if (grown)
        resolve_jit_use_clock(r->jit, r->events);
    return resolve_jit_follow(r->jit, m, now_ns, grown, err);
}

struct model_when recording_when(const struct recording *r, const struct stream_record *rec) {
    uint64_t time_ns = rec->has_time ? rec->time_ns : stream_when_ns(r->stream, rec);
    return (struct model_when){time_ns, rec->loc};
}

bool recording_decode(struct recording *r, const struct stream_record *raw, struct perfdata_record *out) {
    const struct perfdata_plan *plan = NULL;
    const char *reason = NULL;
    if (raw->event < r->events->list.count)
        plan = &r->events->list.items[raw->event].plan;
    if (perfdata_record_decode(&raw->raw, plan, r->events->swap, out, &reason))
        return true;
    stream_bad_record(r->stream, raw, reason);
    return false;
}

struct resolve_chain_options recording_chains(const struct recording *r, struct resolve_names *names,
                                              uint64_t most) {
    return (struct resolve_chain_options){.most = most,
                                          .deferred = &r->deferred,
                                          .stream = r->stream,
                                          .events = r->events,
                                          .names = names,
                                          .header = stream_header(r->stream)};
}

int64_t recording_captured_s(const struct recording *r) {
    const struct os_file *f = stream_file(r->stream);
    return stream_is_pipe(r->stream) || f->fd < 0 ? (int64_t)time(NULL) : f->mtime_s;
}

void recording_header_span(const struct recording *r, struct recording_span *span) {
    stream_header_times(r->stream, &span->first_ns, &span->last_ns);
}

struct recording_span recording_sample_span(struct recording *r) {
    struct stream *s = r->stream;
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
    return (struct recording_span){passed.first_ns, passed.last_ns};
}
