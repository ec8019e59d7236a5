/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/live.h"

#include <errno.h>

bool recording_live_init(struct recording_live *l, unsigned need, struct err *err) {
    *l = (struct recording_live){.feed = stream_feed_new(err),
                                 .need = need,
                                 .head = writer_make(false),
                                 .lasting = writer_make(false)};
    if (l->feed)
        l->model = model_new(&(struct model_options){.need = need, .streaming = true}, err);
    return l->model;
}

void recording_live_close(struct recording_live *l) {
    if (l->recording.stream)
        order_fini(&l->order);
    recording_close(&l->recording);
    model_free(l->model);
    stream_feed_free(l->feed);
    vec_fini(&l->samples);
    writer_fini(&l->head);
    writer_fini(&l->lasting);
    *l = (struct recording_live){0};
}

/* Whether a record says something that does not end with a process: about the kernel, control groups. */
static bool lasts(const struct stream_record *r) {
    unsigned mode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    switch (r->raw.type) {
    case PERFDATA_RECORD_MMAP:
    case PERFDATA_RECORD_MMAP2:
        return mode == PERFDATA_MISC_KERNEL || mode == PERFDATA_MISC_GUEST_KERNEL;
    case PERFDATA_RECORD_KSYMBOL:
    case PERFDATA_RECORD_BPF_EVENT:
    case PERFDATA_RECORD_CGROUP:
        return true;
    default:
        return false;
    }
}

/* Whether it describes the recording. */
static bool describes(uint32_t type) {
    switch (type) {
    case PERFDATA_RECORD_HEADER_ATTR:
    case PERFDATA_RECORD_HEADER_EVENT_TYPE:
    case PERFDATA_RECORD_HEADER_TRACING_DATA:
    case PERFDATA_RECORD_HEADER_BUILD_ID:
    case PERFDATA_RECORD_HEADER_FEATURE:
    case PERFDATA_RECORD_EVENT_UPDATE:
    case PERFDATA_RECORD_ID_INDEX:
    case PERFDATA_RECORD_TIME_CONV:
        return true;
    default:
        return false;
    }
}

/* Keeps what another epoch is to begin with. */
static void keep_for_later(struct recording_live *l, const struct stream_record *r) {
    const uint8_t *at = stream_feed_base(l->feed) + r->loc;
    if (describes(r->raw.type))
        writer_put(&l->head, at, r->raw.size + r->raw.payload.size);
    else if (lasts(r))
        writer_put(&l->lasting, at, r->raw.size);
}

/* Called as records are read, ahead of their turn: whether they get one. */
static bool want(void *ctx, const struct stream_record *r) {
    struct recording_live *l = ctx;
    struct perfdata_record rec;
    if (r->legacy)
        return false;
    if (r->raw.type == PERFDATA_RECORD_FINISHED_ROUND) {
        l->round_locs[0] = l->round_locs[1];
        l->round_locs[1] = l->round_locs[2];
        l->round_locs[2] = r->loc;
        l->rounds++;
        return false;
    }
    if (r->raw.type != PERFDATA_RECORD_SAMPLE)
        keep_for_later(l, r);
    if (r->raw.type == PERFDATA_RECORD_CALLCHAIN_DEFERRED && recording_decode(&l->recording, r, &rec) &&
        !resolve_deferred_note(&l->recording.deferred, rec.callchain_deferred.cookie, r->loc))
        l->failed = true;
    return true;
}

/* Bytes in front of a pipe's records. */
enum { PIPE_HEADER_BYTES = 16 };

bool recording_live_open(struct recording_live *l, const struct recording_owner *owner, struct err *err) {
    struct stream *s = stream_open_feed(l->feed, NULL, err);
    if (s)
        writer_put(&l->head, stream_feed_base(l->feed), PIPE_HEADER_BYTES);
    if (!recording_open(&l->recording, s, owner, err))
        return false;
    order_init(&l->order, s, want, l, false);
    return true;
}

static bool take_sample(struct recording_live *l, const struct stream_record *r) {
    struct recording_live_sample *sample = vec_push(&l->samples);
    if (sample)
        *sample = (struct recording_live_sample){r->loc, r->time_ns};
    return sample;
}

/* Code that JITs announced until now: they write it down before the samples in it come here. */
static bool take_other(struct recording_live *l, const struct stream_record *r, struct err *err) {
    return (!l->seen || l->seen(l->seen_ctx, r, err)) && recording_apply(&l->recording, l->model, r, err) &&
           (r->raw.type < PERFDATA_RECORD_USER_START || recording_name_events(&l->recording, err));
}

static int64_t put_all(void *ctx, uint64_t at, const struct bytes *spans, size_t count) {
    struct recording_live_sink *s = ctx;
    int64_t n = 0;
    (void)at;
    for (size_t i = 0; i < count; i++)
        n += (int64_t)spans[i].size;
    if (recording_live_put(*s->live, spans, count, &s->failure))
        return n;
    s->failed = true;
    return -ENOMEM;
}

static int close_nothing(void *ctx) {
    (void)ctx;
    return 0;
}

struct os_output recording_live_output(struct recording_live_sink *s) {
    return (struct os_output){.ctx = s, .write = put_all, .close = close_nothing};
}

bool recording_live_take(struct recording_live *l, struct err *err) {
    struct stream_record r;
    enum stream_status status;
    uint64_t rounds = l->rounds;
    while ((status = order_next(&l->order, &r, err)) == STREAM_RECORD) {
        /* A record without a time is given as it is read, ahead of what waits: it counts from now. */
        if (r.has_time && r.time_ns > l->now_ns)
            l->now_ns = r.time_ns;
        else if (!r.has_time)
            r.time_ns = l->now_ns;
        r.has_time = true;
        bool ok = r.raw.type == PERFDATA_RECORD_SAMPLE ? take_sample(l, &r) || err_memory(err, "samples")
                                                       : take_other(l, &r, err);
        if (!ok)
            return false;
    }
    if (l->failed)
        return err_memory(err, "records");
    resolve_deferred_sort(&l->recording.deferred);
    return status == STREAM_END &&
           recording_follow_jitdumps(&l->recording, l->model, l->now_ns, l->rounds > rounds, err);
}

bool recording_live_settle(struct recording_live *l, struct err *err) {
    struct writer w = writer_make(l->recording.events->swap);
    for (unsigned i = 0; i < 2; i++) { /* what came before the last but one waits for nothing */
        writer_u32(&w, PERFDATA_RECORD_FINISHED_ROUND);
        writer_u16(&w, 0);
        writer_u16(&w, PERFDATA_HEADER_SIZE);
    }
    struct bytes marks = writer_bytes(&w);
    bool ok = (writer_ok(&w) || err_memory(err, "records")) && stream_feed_put(l->feed, &marks, 1, err);
    writer_fini(&w);
    return ok;
}

void recording_live_forget(struct recording_live *l) {
    vec_clear(&l->samples);
    /* A round's end delivers the rounds before it, so what lies before the last but one is done with. */
    resolve_deferred_forget(&l->recording.deferred, l->round_locs[0]);
    stream_release(l->recording.stream, l->round_locs[0]);
    model_asked(l->model, l->now_ns);
}

bool recording_live_retire(struct recording_live *l, uint64_t linger_ns, struct err *err) {
    struct model_when when = {l->now_ns > linger_ns ? l->now_ns - linger_ns : 0, UINT64_MAX};
    return model_retire(l->model, when, err);
}
