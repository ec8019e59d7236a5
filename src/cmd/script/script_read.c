/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of the script command: records in the order of time, and which of them are shown. */
#include <inttypes.h>

#include "base/log.h"
#include "cmd/common/input.h"
#include "cmd/common/raw_dump.h"
#include "cmd/script/script.h"
#include "cmd/script/script_dlfilter.h"
#include "stream/stream_order.h"
#include "view/script/script_metric.h"

/* The machines of guests are needed ahead of their turn. False: out of memory. */
static bool note_guests(struct script *s, const struct stream_record *r) {
    struct perfdata_record rec;
    return r->raw.type != PERFDATA_RECORD_ID_INDEX || !recording_decode(&s->recording, r, &rec) ||
           script_guests_add(&s->guests, &rec.id_index);
}

/* So are, in a pipe, callchains that came later than their samples. */
static bool note_deferred(struct script *s, const struct stream_record *r) {
    struct perfdata_record rec;
    return r->raw.type != PERFDATA_RECORD_CALLCHAIN_DEFERRED || !recording_decode(&s->recording, r, &rec) ||
           resolve_deferred_note(&s->recording.deferred, rec.callchain_deferred.cookie, r->loc);
}

/* ---- records, in time order ---- */

/* The sample's line or (with `metric`) those of its group's figures. */
static void print_to_file(struct script *s, const struct script_sample *x,
                          const struct script_metric *metric) {
    struct out *file = s->failure.code ? NULL : script_files_of(s, x->event, &s->failure);
    if (!file)
        return;
    struct script_file *f = &s->files.items[x->event];
    file->ctx = &f->sink; /* the list may have moved */
    s->print.out = file;
    if (metric)
        script_metric_print(metric, &s->print, x);
    else
        script_print_sample(&s->print, x);
    s->print.out = &s->out;
    f->samples += !metric;
    if (file->failed)
        err_errno(&s->failure, f->sink.errnum, f->path, "cannot write");
}

static void print_sample(struct script *s, const struct script_sample *x) {
    if (s->as_json)
        script_json_sample(&s->json, x);
    else if (s->o->per_event)
        print_to_file(s, x, NULL);
    else if (s->waits)
        script_print_later(&s->print, x);
    else
        script_print_sample(&s->print, x);
}

/* True when the sample is to be shown as far as --switch-on and --switch-off decide. */
static bool switched_on(struct script *s, uint32_t event) {
    if (!s->on) {
        if (event != s->on_event)
            return false;
        s->on = true;
        return s->o->show_switches;
    }
    if (event == s->off_event) {
        /* Without --switch-on there is no way back. */
        s->on = false;
        return s->o->show_switches;
    }
    return true;
}

/* A reading of a group is one line per event that has moved since the last reading, as perf prints it; if
 * none has, the sample itself is still there to be shown. */
static void print_reading(struct script *s, const struct script_sample *recorded, struct perfdata_sample *x) {
    const struct perfdata_attr *attr = &s->recording.events->list.items[recorded->event].attr;
    uint64_t period = attr->sample_type & PERFDATA_SAMPLE_PERIOD ? x->period : attr->sample_period;
    struct script_sample each = *recorded;
    struct script_metric metric = {.count = 0};
    bool any = false;
    for (uint64_t i = 0; i < x->read.count; i++) {
        struct perfdata_read_value value = perfdata_read_at(&x->read, i);
        each.event = readings_take(&s->readings, s->recording.events, x->tid, &value, &x->period);
        if (each.event == PERFDATA_NO_EVENT || !x->period)
            continue;
        print_sample(s, &each);
        script_print_flush(&s->print);
        script_metric_add(&metric, &s->recording.events->list.items[each.event].attr, x->period);
        any = true;
    }
    x->period = period;
    if (!any)
        print_sample(s, recorded);
    else if (!s->as_json && s->o->per_event && metric.count)
        print_to_file(s, recorded, &metric);
    else if (!s->as_json)
        script_metric_print(&metric, &s->print, recorded);
}

/* Counters go on in samples that are not shown. */
static void skip_reading(struct script *s, const struct perfdata_sample *x) {
    uint64_t moved;
    for (uint64_t i = 0; i < x->read.count; i++) {
        struct perfdata_read_value value = perfdata_read_at(&x->read, i);
        readings_take(&s->readings, s->recording.events, x->tid, &value, &moved);
    }
}

/* What -S and --dsos say. */
static bool chosen(struct script *s, const struct script_sample *x) {
    struct model_hit hit;
    if (script_choice_is_all(&s->choice))
        return true;
    script_print_locate(&s->print, x, &hit);
    return x->s->have & PERFDATA_SAMPLE_IP &&
           script_choice_takes(&s->choice, &s->print.names, x->s->ip, &hit);
}

/* Whether the sample is to be shown: *shown. False with *err when a filter gives up. */
static bool ask_filters(struct script *s, const struct script_sample *x, bool *shown, struct err *err) {
    *shown = true;
    if (s->dlfilter && !script_dlfilter_ask(s->dlfilter, true, x, shown, err))
        return false;
    *shown = *shown && switched_on(s, x->event) && time_ranges_contain(&s->times, x->s->time) &&
             filter_sample(&s->filter, s->model, x->s, x->when) && chosen(s, x);
    return !*shown || !s->dlfilter || script_dlfilter_ask(s->dlfilter, false, x, shown, err);
}

static bool do_sample(struct script *s, const struct stream_record *r, struct err *err) {
    if (r->event == PERFDATA_NO_EVENT)
        return true;
    if (!script_print_plan(&s->print, r->event, err))
        return false;
    const struct perfdata_event *e = &s->recording.events->list.items[r->event];
    struct perfdata_sample *x = &s->samples[s->print.queued];
    x->pid = x->tid = x->cpu = UINT32_MAX; /* for those that lack them */
    x->time = x->id = 0;
    /* All of it: a sample with damage in what is not shown is no less damaged. */
    if (!perfdata_sample_decode(&e->plan, r->raw.body, ~0ull, x)) {
        stream_bad_record(s->recording.stream, r, "a sample is shorter than its fields");
        return true;
    }
    struct model_when when = recording_when(&s->recording, r);
    struct script_sample asked = {.s = x, .event = r->event, .misc = r->raw.misc, .when = when};
    bool shown;
    if (!ask_filters(s, &asked, &shown, err))
        return false;
    bool reads = e->attr.sample_type & PERFDATA_SAMPLE_READ;
    if (!shown && reads)
        skip_reading(s, x);
    if (!shown)
        return true;
    resolve_deferred_sort(&s->recording.deferred); /* a pipe's may have grown */
    if (reads)
        print_reading(s, &asked, x);
    else
        print_sample(s, &asked);
    if (s->failure.code)
        *err = s->failure;
    return !s->failure.code;
}

static bool do_shown(struct script *s, const struct stream_record *r, struct err *err) {
    struct perfdata_record rec;
    if (!recording_decode(&s->recording, r, &rec))
        return true;
    uint32_t event = r->event == PERFDATA_NO_EVENT ? 0 : r->event;
    if (r->raw.type < PERFDATA_RECORD_USER_START) {
        if (!s->recording.events->list.count)
            return true;
        if (!script_print_plan(&s->print, event, err))
            return false;
        if (!filter_cpu(&s->filter, rec.id.have & PERFDATA_SAMPLE_CPU ? rec.id.cpu : UINT32_MAX))
            return true;
    }
    if (s->as_json)
        script_json_record(&s->json, &rec, recording_when(&s->recording, r));
    else
        script_record_print(&s->print, event, &rec, recording_when(&s->recording, r));
    return true;
}

static bool do_record(struct script *s, const struct stream_record *r, struct err *err) {
    if (r->raw.type == PERFDATA_RECORD_SAMPLE) {
        s->misordered += r->has_time && r->time_ns < s->last_ns;
        s->last_ns = r->has_time && r->time_ns > s->last_ns ? r->time_ns : s->last_ns;
        return s->o->debug_mode || do_sample(s, r, err);
    }
    script_print_flush(&s->print);
    return !script_record_shown(s->show, r->raw.type) || do_shown(s, r, err);
}

/* ---- a file: everything into the model first, then the samples ---- */

bool script_see_record(void *ctx, const struct stream_record *r, struct err *err) {
    return note_guests(ctx, r) || err_memory(err, "script");
}

static bool want_printed(void *ctx, const struct stream_record *r) {
    const struct script *s = ctx;
    return !r->legacy && (r->raw.type == PERFDATA_RECORD_SAMPLE || script_record_shown(s->show, r->raw.type));
}

/* Rounds are shown where they are, so everything else is shown in the order of the file too, as in perf. */
static bool second_pass(struct script *s, struct err *err) {
    struct order order;
    struct stream_record r;
    enum stream_status status;
    bool ok = true;
    s->waits = !s->dlfilter;
    order_init(&order, s->recording.stream, want_printed, s, s->show & SCRIPT_SHOW_ROUND);
    while (ok && (status = order_next(&order, &r, err)) == STREAM_RECORD && !s->out.failed)
        ok = do_record(s, &r, err);
    script_print_flush(&s->print);
    ok = ok && (s->out.failed || status == STREAM_END);
    order_fini(&order);
    return ok;
}

/* -D: each record in hex and decoded, what script makes of it after it. */
static bool show_dumped(void *ctx, const struct stream_record *r, const char *reason, struct err *err) {
    (void)reason;
    return r->legacy || do_record(ctx, r, err);
}

static bool dump_pass(struct script *s, struct err *err) {
    const struct raw_dump d = {
        .recording = &s->recording,
        .model = s->model,
        .out = &s->out,
        .unsorted = s->o->dump_unsorted || s->show & SCRIPT_SHOW_ROUND,
        .for_script = true,
        .each = show_dumped,
        .ctx = s,
    };
    return raw_dump_write(&d, err);
}

/* ---- a pipe: as it comes, round by round ---- */

/* Called as records are read, ahead of their turn. */
static bool want_streamed(void *ctx, const struct stream_record *r) {
    struct script *s = ctx;
    if (r->legacy)
        return false;
    if (r->raw.type == PERFDATA_RECORD_FINISHED_ROUND) {
        s->round_locs[0] = s->round_locs[1];
        s->round_locs[1] = s->round_locs[2];
        s->round_locs[2] = r->loc;
        s->round_ended = true;
    }
    if (!note_guests(s, r) || !note_deferred(s, r))
        s->failed = true;
    struct perfdata_record rec;
    bool wanted = r->raw.type == PERFDATA_RECORD_SAMPLE || model_wants(s->model, r->raw.type) ||
                  r->raw.type == PERFDATA_RECORD_TIME_CONV || script_record_shown(s->show, r->raw.type);
    if (!wanted)
        recording_decode(&s->recording, r, &rec); /* only to find damage */
    return wanted;
}

/* Code that JITs announced until now: they write it down before the samples in it come here. */
static bool follow(struct script *s, uint64_t now_ns, struct err *err) {
    if (s->round_ended && s->naming.names && resolve_names_refresh(s->naming.names))
        script_names_forget(&s->print.names);
    return recording_follow_jitdumps(&s->recording, s->model, now_ns, s->round_ended, err);
}

/* A round's end delivers the rounds before it, so what lies before the last but one is done with: its bytes
 * go, and the states that only it saw. */
static bool forget(struct script *s, struct model_when when, struct err *err) {
    uint64_t loc = s->round_locs[0];
    s->round_ended = false;
    resolve_deferred_forget(&s->recording.deferred, loc);
    stream_release(s->recording.stream, loc);
    return model_retire(s->model, when, err);
}

static bool stream_pass(struct script *s, struct err *err) {
    struct order order;
    struct stream_record r;
    enum stream_status status;
    uint64_t now_ns = 0;
    bool ok = true;
    order_init(&order, s->recording.stream, want_streamed, s, s->show & SCRIPT_SHOW_ROUND);
    while (ok && (status = order_next(&order, &r, err)) == STREAM_RECORD && !s->out.failed) {
        if (s->failed)
            ok = err_memory(err, "script");
        /* A record without a time is given as it is read, ahead of what waits: it counts from now. */
        if (r.has_time && r.time_ns > now_ns)
            now_ns = r.time_ns;
        else if (!r.has_time)
            r.time_ns = now_ns;
        r.has_time = true;
        ok = ok && follow(s, now_ns, err);
        if (ok && s->round_ended)
            ok = forget(s, recording_when(&s->recording, &r), err);
        if (r.raw.type != PERFDATA_RECORD_SAMPLE)
            ok = ok && recording_apply(&s->recording, s->model, &r, err);
        else
            model_asked(s->model, r.time_ns);
        if (r.raw.type < PERFDATA_RECORD_USER_START)
            ok = ok && recording_name_events(&s->recording, err);
        ok = ok && do_record(s, &r, err);
    }
    ok = ok && (s->out.failed || status == STREAM_END);
    input_warn_jitdumps(&s->recording);
    uint64_t late = model_unordered(s->model);
    if (late)
        log_line(LOG_WARN, "%" PRIu64 " records came later than their round and counted from there", late);
    order_fini(&order);
    return ok;
}

bool script_read(struct script *s, struct err *err) {
    if (script_is_dump(s->o))
        return dump_pass(s, err);
    return stream_is_pipe(s->recording.stream) ? stream_pass(s, err) : second_pass(s, err);
}
