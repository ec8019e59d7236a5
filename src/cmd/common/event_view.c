/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/event_view.h"

#include "base/log.h"
#include "cmd/common/raw_dump.h"

static bool has_stacks(const struct event_view *v) {
    const struct perfdata_events *events = v->recording.events;
    for (size_t i = 0; i < events->list.count; i++)
        if (events->list.items[i].attr.sample_type & PERFDATA_SAMPLE_CALLCHAIN)
            return true;
    return false;
}

/* Stacks of any event need all of its side-band first. */
static bool prepare_stacks(struct event_view *v, struct err *err) {
    struct recording *r = &v->recording;
    if (!recording_jitdumps(r, NULL, v->symbols->symfs, err))
        return false;
    r->kallsyms = v->symbols->host.kallsyms;
    r->symfs = v->symbols->symfs;
    if (!input_names(&v->naming, v->env, r, v->model, v->symbols, err) ||
        !input_first_pass(r, v->model, NULL, NULL, NULL, err))
        return false;
    recording_stacks_init(&v->stacks, r, v->model, &v->naming);
    v->has_stacks = has_stacks(v);
    return true;
}

/* What cannot be decoded was counted by the first pass, or is when it is read again. */
static bool dump(struct event_view *v, struct err *err) {
    const struct raw_dump d = {.recording = &v->recording, .model = v->model, .out = &v->out};
    if (!raw_dump_write(&d, err))
        return false;
    stream_rewind(v->recording.stream);
    return true;
}

/* Of a pipe it is not known yet. */
static bool may_have_stacks(const struct event_view *v) {
    return has_stacks(v) || stream_is_pipe(v->recording.stream);
}

/* Whether the formats of tracepoints come as a record, if at all, though this is no pipe: simpleperf writes
 * its files so. */
static bool lacks_formats(const struct event_view *v) {
    const struct perfdata_events *events = v->recording.events;
    for (size_t i = 0; i < events->list.count && !stream_is_pipe(v->recording.stream); i++) {
        const struct perfdata_attr *attr = &events->list.items[i].attr;
        if (attr->type == PERFDATA_TYPE_TRACEPOINT &&
            !perfdata_namer_tracepoint(&v->recording.namer, attr->config))
            return true;
    }
    return false;
}

bool event_view_open(struct event_view *v, struct err *err) {
    if (!input_open(&v->recording, input_path(v->input), v->force, err))
        return false;
    if (!v->names_addresses && !may_have_stacks(v))
        v->symbols = NULL;
    unsigned need = (v->symbols || v->dump ? MODEL_NEED_MAPS | MODEL_NEED_COMMS : 0) |
                    (v->wants_groups ? MODEL_NEED_EXTRAS : 0);
    v->first_pass = v->symbols || v->dump || lacks_formats(v);
    if (v->wants_model || v->first_pass)
        v->model = model_new(&(struct model_options){.need = need}, err);
    if ((v->wants_model || v->first_pass) && !v->model)
        return false;
    if (v->symbols ? !prepare_stacks(v, err)
                   : v->first_pass && !input_first_pass(&v->recording, v->model, NULL, NULL, NULL, err))
        return false;
    v->has_output = !v->other_output && command_output_to(v->env, v->output, &v->out);
    return (v->has_output || v->other_output) && (!v->dump || dump(v, err));
}

bool event_view_read(struct event_view *v, order_want_fn *want,
                     bool (*take)(void *ctx, const struct stream_record *r, struct err *err), void *ctx,
                     struct err *err) {
    const struct recording_ordered o = {
        .r = &v->recording,
        .m = v->model,
        .first_done = v->first_pass,
        .again = v->first_pass,
        .want = want,
        .take = take,
        .ctx = ctx,
    };
    return recording_read_ordered(&o, err);
}

struct passing {
    struct tracepoints *tracepoints;
    event_view_seen_fn *seen;
    void *ctx;
};

static bool is_loss(const struct stream_record *r) {
    return r->raw.type == PERFDATA_RECORD_LOST || r->raw.type == PERFDATA_RECORD_LOST_SAMPLES;
}

static bool want_tracepoint(void *ctx, const struct stream_record *r) {
    const struct passing *p = ctx;
    return is_loss(r) || tracepoints_want(p->tracepoints, r);
}

static bool take_tracepoint(void *ctx, const struct stream_record *r, struct err *err) {
    struct passing *p = ctx;
    struct tracepoint event;
    struct event_view_item item = {.record = r};
    if (!is_loss(r)) {
        if (!tracepoints_read(p->tracepoints, r, &event))
            return true; /* the stream has counted it */
        item.event = &event;
    }
    return p->seen(p->ctx, &item, err);
}

bool event_view_tracepoints(struct event_view *v, struct tracepoints *t, event_view_seen_fn *seen, void *ctx,
                            struct err *err) {
    struct passing p = {t, seen, ctx};
    return event_view_read(v, want_tracepoint, take_tracepoint, &p, err);
}

void event_view_warn_late(const struct event_view *v, uint64_t events) {
    if (events)
        log_line(LOG_WARN, "%s: %llu events come too late: they count as of the event before them",
                 stream_path(v->recording.stream), (unsigned long long)events);
}

const char *event_view_function(void *ctx, uint64_t address) {
    struct event_view *v = ctx;
    struct resolve_samples *r = &v->stacks.samples;
    if (!v->symbols || !resolve_sample_read_address(r, PERFDATA_MISC_KERNEL, 0, MODEL_WHEN_END, address) ||
        !r->frames.count)
        return NULL;
    return resolve_sample_name(r, &r->frames.items[0], NULL);
}

int event_view_close(struct event_view *v, bool ok, const struct err *err) {
    int status = EXIT_ERROR;
    if (ok)
        status = input_status(&v->recording);
    else if (err->code)
        status = command_fail(err);
    if (v->has_output)
        status = command_finish(v->env, &v->out, status);
    if (v->symbols)
        recording_stacks_fini(&v->stacks);
    recording_names_close(&v->naming);
    model_free(v->model);
    recording_close(&v->recording);
    return status;
}
