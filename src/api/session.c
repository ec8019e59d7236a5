/* SPDX-License-Identifier: Apache-2.0 */
#include "api/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "recording/late_modules.h"

unsigned sonde_version(void) {
    return SONDE_VERSION_MAJOR * 1000 + SONDE_VERSION_MINOR;
}

/* "where: message" */
static void say(const struct err *err, char *text, size_t size) {
    if (size)
        snprintf(text, size, "%s%s%s", err->where, *err->where ? ": " : "", err->message);
}

/* --- Opening ------------------------------------------------------------------------------------------- */

/* Options as far as the caller's version has them. */
static struct sonde_options take_options(const struct sonde_options *given) {
    struct sonde_options o = {0};
    if (given)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    return o;
}

static struct model_when when_of(const struct sonde_session *s, const struct stream_record *r) {
    return (struct model_when){r->has_time ? r->time_ns : stream_when_ns(s->stream, r), r->loc};
}

/* A record that is no sample, into what is known ahead of all samples. */
static bool take_in(struct sonde_session *s, const struct stream_record *r, struct err *err) {
    const struct perfdata_events *events = stream_events(s->stream);
    const struct perfdata_plan *plan =
        r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    const char *reason = NULL;
    struct perfdata_record rec;
    if (r->raw.type == PERFDATA_RECORD_SAMPLE)
        resolve_returns_note(&s->recorded.returns, r->loc);
    if (r->legacy || r->raw.type == PERFDATA_RECORD_SAMPLE)
        return true;
    if (!perfdata_record_decode(&r->raw, plan, events->swap, &rec, &reason)) {
        stream_bad_record(s->stream, r, reason);
        return true;
    }
    if (r->raw.type == PERFDATA_RECORD_CALLCHAIN_DEFERRED &&
        !resolve_deferred_note(&s->deferred, rec.callchain_deferred.cookie, r->loc))
        return err_memory(err, "deferred callchains");
    if (!resolve_jit_note_record(s->jit, &rec, when_of(s, r)))
        return err_memory(err, "jitdumps");
    resolve_recorded_see(&s->recorded, &rec);
    return !model_wants(s->model, r->raw.type) || model_apply(s->model, &rec, when_of(s, r), err);
}

/* Code that JITs announced. What cannot be found stays without names. */
static bool feed_jit(struct sonde_session *s, struct err *err) {
    resolve_jit_use_clock(s->jit, stream_events(s->stream));
    resolve_jit_use_pairs(s->jit, stream_part(s->stream, true, PERFDATA_PART_CLOCK),
                          stream_part(s->stream, false, PERFDATA_PART_CLOCK), stream_header(s->stream)->swap);
    return resolve_jit_feed(s->jit, s->model, err);
}

static bool name_events(struct sonde_session *s, struct err *err) {
    const struct perfdata_header *h = stream_header(s->stream);
    struct perfdata_events *events = stream_events(s->stream);
    return (perfdata_namer_init(&s->namer, h) && perfdata_feature_apply_names(h, events) &&
            perfdata_event_name_rest(&s->namer, events)) ||
           err_memory(err, "event names");
}

/* Everything that is no sample is read first: a mapping counts from its time on, however late its record is.
 */
static bool first_pass(struct sonde_session *s, const char *kallsyms, struct err *err) {
    struct stream_record r;
    enum stream_status status;
    while ((status = stream_next(s->stream, &r, err)) == STREAM_RECORD)
        if (!take_in(s, &r, err))
            return false;
    if (status != STREAM_END || !name_events(s, err) ||
        !resolve_recorded_apply(&s->recorded, s->model, err) ||
        !late_modules_map(&s->recorded, &os_files_real, kallsyms, s->model, err) || !feed_jit(s, err) ||
        !model_freeze(s->model, err))
        return false;
    resolve_deferred_sort(&s->deferred);
    stream_rewind(s->stream);
    return true;
}

static bool open_names(struct sonde_session *s, const struct sonde_options *o, struct err *err) {
    struct symbol_options symbols = {.symfs = o->symfs,
                                     .cache = o->build_id_cache,
                                     .host = {.vmlinux = o->vmlinux, .kallsyms = o->kallsyms},
                                     .raw_names = o->raw_names};
    resolve_recorded_options(&s->recorded, &symbols);
    s->store = symbol_store_new(&symbols, err);
    s->names = s->store ? resolve_names_new(s->model, s->store, s->recorded.release, err) : NULL;
    if (s->names)
        resolve_names_use_jit(s->names, s->jit);
    s->lines = s->names ? resolve_lines_new(s->names, s->store, err) : NULL;
    s->locator.model = s->model;
    s->samples = (struct resolve_samples){.locator = &s->locator, .names = s->names, .lines = s->lines};
    s->resolved = s->samples;
    s->samples.chain.o = (struct resolve_chain_options){.most = RESOLVE_CHAIN_USUAL,
                                                        .deferred = &s->deferred,
                                                        .stream = s->stream,
                                                        .events = stream_events(s->stream),
                                                        .names = s->names,
                                                        .header = stream_header(s->stream)};
    return s->lines;
}

static struct sonde_session *open_session(struct stream *stream, const struct sonde_options *given,
                                          struct err *err) {
    struct sonde_options o = take_options(given);
    struct sonde_session *s = calloc(1, sizeof *s);
    if (!s) {
        stream_close(stream);
        err_memory(err, "a session");
        return NULL;
    }
    s->stream = s->recorded.stream = stream;
    s->file_order = o.file_order;
    s->record.session = s;
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_COMMS | MODEL_NEED_MAPS}, err);
    const struct resolve_jit_options jit = {.recording = stream_path(stream),
                                            .symfs = o.symfs,
                                            .kept = resolve_recorded_kept(&s->recorded),
                                            .kept_swap = stream_header(stream)->swap};
    s->jit = s->model ? resolve_jit_new(&jit, err) : NULL;
    if (s->jit && first_pass(s, o.kallsyms, err) && open_names(s, &o, err))
        return s;
    sonde_close(s);
    return NULL;
}

static struct sonde_session *opened(struct stream *stream, const struct sonde_options *options,
                                    struct err *err, char *error, size_t error_size) {
    struct sonde_session *s = stream ? open_session(stream, options, err) : NULL;
    if (s && error_size)
        *error = 0;
    else if (!s)
        say(err, error, error_size);
    return s;
}

struct sonde_session *sonde_open(const char *path, const struct sonde_options *options, char *error,
                                 size_t error_size) {
    struct err err = ERR_INIT;
    struct stream *stream = stream_open(path, &(struct stream_options){0}, &err);
    return opened(stream, options, &err, error, error_size);
}

struct sonde_session *sonde_open_memory(const void *data, size_t size, const struct sonde_options *options,
                                        char *error, size_t error_size) {
    struct err err = ERR_INIT;
    struct stream *stream = stream_open_memory((struct bytes){data, size}, &(struct stream_options){0}, &err);
    return opened(stream, options, &err, error, error_size);
}

void sonde_close(struct sonde_session *s) {
    if (!s)
        return;
    if (s->ordering)
        order_fini(&s->order);
    vec_fini(&s->record.frames);
    resolve_samples_fini(&s->samples);
    resolve_samples_fini(&s->resolved);
    resolve_locator_fini(&s->locator);
    resolve_lines_free(s->lines);
    resolve_names_free(s->names);
    symbol_store_free(s->store);
    resolve_jit_free(s->jit);
    resolve_deferred_fini(&s->deferred);
    perfdata_namer_fini(&s->namer);
    model_free(s->model);
    resolve_recorded_fini(&s->recorded);
    stream_close(s->stream);
    free(s);
}

/* --- Reading ------------------------------------------------------------------------------------------- */

/* False: the sample is bad, and counted. */
static bool decode_sample(struct sonde_session *s, struct sonde_record *r) {
    const struct perfdata_events *events = stream_events(s->stream);
    r->sample.have = 0;
    if (r->raw.raw.type != PERFDATA_RECORD_SAMPLE || r->raw.event >= events->list.count)
        return true;
    r->sample = (struct perfdata_sample){.pid = UINT32_MAX, .tid = UINT32_MAX};
    if (perfdata_sample_decode(&events->list.items[r->raw.event].plan, r->raw.raw.body, ~0ull, &r->sample))
        return true;
    stream_bad_record(s->stream, &r->raw, "a sample is shorter than its fields");
    return false;
}

const struct sonde_record *sonde_next(struct sonde_session *s) {
    struct sonde_record *r = &s->record;
    enum stream_status status;
    if (s->err.code)
        return NULL;
    if (!s->ordering) {
        order_init(&s->order, s->stream, NULL, NULL, s->file_order);
        s->ordering = true;
    }
    while ((status = order_next(&s->order, &r->raw, &s->err)) == STREAM_RECORD) {
        r->framed = false;
        r->when = when_of(s, &r->raw);
        if (decode_sample(s, r))
            return r;
    }
    if (status == STREAM_FAILED)
        say(&s->err, s->message, sizeof s->message);
    return NULL;
}

void sonde_rewind(struct sonde_session *s) {
    if (s->ordering)
        order_fini(&s->order);
    s->ordering = false;
    stream_rewind(s->stream);
}

const char *sonde_error(const struct sonde_session *s) {
    return s->err.code ? s->message : NULL;
}

uint64_t sonde_loss(const struct sonde_session *s, enum sonde_loss which) {
    const struct stream_losses *l = stream_losses(s->stream);
    const uint64_t counts[] = {
        [SONDE_LOST_EVENTS] = l->lost_events,    [SONDE_LOST_SAMPLES] = l->lost_samples,
        [SONDE_BAD_RECORDS] = l->bad_records,    [SONDE_SKIPPED_BYTES] = l->skipped_bytes,
        [SONDE_UNKNOWN_EVENTS] = l->unknown_ids,
    };
    return (unsigned)which < sizeof counts / sizeof *counts ? counts[which] : 0;
}
