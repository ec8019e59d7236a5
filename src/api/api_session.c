/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api_session.h"

#include <stdio.h>
#include <stdlib.h>

unsigned sonde_version(void) {
    return SONDE_VERSION_MAJOR * 1000 + SONDE_VERSION_MINOR;
}

/* Writes an error as "where: message". */
static void say(const struct err *err, char *text, size_t size) {
    if (size)
        snprintf(text, size, "%s%s%s", err->where, *err->where ? ": " : "", err->message);
}

/* --- Opening ------------------------------------------------------------------------------------------- */

/* Returns the options, with defaults for those that the caller's version does not have. */
static struct sonde_options take_options(const struct sonde_options *given) {
    struct sonde_options o = {0};
    if (given)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    return o;
}

static bool open_names(struct sonde_session *s, const struct sonde_options *o, struct err *err) {
    const struct symbol_options symbols = {
        .symfs = o->symfs,
        .cache = o->build_id_cache,
        .own_cache = o->own_cache,
        .debuginfod_urls = o->debuginfod_urls,
        .host = {.vmlinux = o->vmlinux, .kallsyms = o->kallsyms},
        .guest = {.vmlinux = o->guest_vmlinux, .kallsyms = o->guest_kallsyms, .modules = o->guest_modules},
        .force_images = o->force_images,
        .raw_names = o->raw_names,
        .demangle_kernel = o->demangle_kernel};
    if (!recording_names_open(&s->names, &s->recording, s->model, &symbols, err))
        return false;
    if (o->strict)
        resolve_names_be_strict(s->names.names);
    s->locator.model = s->model;
    s->samples =
        (struct resolve_samples){.locator = &s->locator, .names = s->names.names, .lines = s->names.lines};
    s->resolved = s->samples;
    s->samples.chain.o =
        recording_chains(&s->recording, s->names.names, o->max_stack ? o->max_stack : RESOLVE_CHAIN_USUAL);
    return true;
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
    s->file_order = o.file_order;
    s->record.session = s;
    bool ok = recording_open(&s->recording, stream, NULL, err);
    s->recording.kallsyms = o.kallsyms;
    s->recording.symfs = o.symfs;
    s->model =
        ok ? model_new(&(struct model_options){.need = MODEL_NEED_COMMS | MODEL_NEED_MAPS}, err) : NULL;
    if (s->model && recording_jitdumps(&s->recording, o.jitdump_dir, o.symfs, err) &&
        recording_first_pass(&s->recording, s->model, NULL, NULL, NULL, err) && open_names(s, &o, err))
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
    recording_names_close(&s->names);
    model_free(s->model);
    recording_close(&s->recording);
    free(s);
}

/* --- Reading ------------------------------------------------------------------------------------------- */

/* Decodes a sample. False: it is damaged, and counted. */
static bool decode_sample(struct sonde_session *s, struct sonde_record *r) {
    const struct perfdata_events *events = s->recording.events;
    r->sample.have = 0;
    if (r->raw.raw.type != PERFDATA_RECORD_SAMPLE || r->raw.event >= events->list.count)
        return true;
    r->sample = (struct perfdata_sample){.pid = UINT32_MAX, .tid = UINT32_MAX};
    if (perfdata_sample_decode(&events->list.items[r->raw.event].plan, r->raw.raw.body, ~0ull, &r->sample))
        return true;
    stream_bad_record(s->recording.stream, &r->raw, "a sample is shorter than its fields");
    return false;
}

const struct sonde_record *sonde_next(struct sonde_session *s) {
    struct sonde_record *r = &s->record;
    enum stream_status status;
    if (s->err.code)
        return NULL;
    if (!s->ordering) {
        order_init(&s->order, s->recording.stream, NULL, NULL, s->file_order);
        s->ordering = true;
    }
    while ((status = order_next(&s->order, &r->raw, &s->err)) == STREAM_RECORD) {
        r->framed = false;
        r->when = recording_when(&s->recording, &r->raw);
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
    stream_rewind(s->recording.stream);
}

const char *sonde_error(const struct sonde_session *s) {
    return s->err.code ? s->message : NULL;
}

uint64_t sonde_loss(const struct sonde_session *s, enum sonde_loss which) {
    const struct stream_losses *l = stream_losses(s->recording.stream);
    const uint64_t counts[] = {
        [SONDE_LOST_EVENTS] = l->lost_events,    [SONDE_LOST_SAMPLES] = l->lost_samples,
        [SONDE_BAD_RECORDS] = l->bad_records,    [SONDE_SKIPPED_BYTES] = l->skipped_bytes,
        [SONDE_UNKNOWN_EVENTS] = l->unknown_ids,
    };
    return (unsigned)which < sizeof counts / sizeof *counts ? counts[which] : 0;
}
