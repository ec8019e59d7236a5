/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/ordered.h"

struct reading {
    const struct recording_ordered *o;
    /* Where rounds ended, the latest last: all before the first was delivered. */
    uint64_t rounds[3];
    uint64_t given; /* bytes before this were given back */
    bool round_ended;
    bool failed; /* *err is set */
    struct err *err;
};

uint32_t recording_cpu(const struct recording *r, const struct stream_record *rec) {
    if (rec->event >= r->events->list.count)
        return UINT32_MAX;
    const struct perfdata_plan *plan = &r->events->list.items[rec->event].plan;
    if (rec->raw.type == PERFDATA_RECORD_SAMPLE) {
        struct perfdata_sample sample = {0};
        bool has = perfdata_sample_decode(plan, rec->raw.body, PERFDATA_SAMPLE_CPU, &sample) &&
                   sample.have & PERFDATA_SAMPLE_CPU;
        return has ? sample.cpu : UINT32_MAX;
    }
    struct perfdata_sample_id id = {0};
    perfdata_sample_id_decode(plan, rec->raw.body, &id);
    return id.have & PERFDATA_SAMPLE_CPU ? id.cpu : UINT32_MAX;
}

static uint32_t cpu_of(void *ctx, const struct stream_record *r) {
    const struct reading *x = ctx;
    return recording_cpu(x->o->r, r);
}

/* What the first pass would have taken: side-band, and the names of events that a pipe brings. */
static bool take_side(struct reading *x, const struct stream_record *r) {
    struct recording *rec = x->o->r;
    struct perfdata_record checked;
    if (x->o->m)
        return recording_apply(rec, x->o->m, r, x->err) && recording_name_events(rec, x->err);
    recording_decode(rec, r, &checked);
    return recording_name_events(rec, x->err);
}

static bool want(void *ctx, const struct stream_record *r) {
    struct reading *x = ctx;
    if (r->legacy || x->failed)
        return false;
    if (r->raw.type == PERFDATA_RECORD_FINISHED_ROUND) {
        x->rounds[0] = x->rounds[1];
        x->rounds[1] = x->rounds[2];
        x->rounds[2] = r->loc;
        x->round_ended = true;
    }
    if (r->raw.type != PERFDATA_RECORD_SAMPLE && !x->o->first_done)
        x->failed = !take_side(x, r);
    return !x->failed && x->o->want(x->o->ctx, r);
}

/* Gives back what the rounds before have read. */
static void give_back(struct reading *x) {
    x->round_ended = false;
    if (x->rounds[0] <= x->given)
        return;
    stream_forget(x->o->r->stream, x->given, x->rounds[0]);
    if (!x->o->again)
        stream_release(x->o->r->stream, x->rounds[0]);
    x->given = x->rounds[0];
}

bool recording_read_ordered(const struct recording_ordered *o, struct err *err) {
    struct reading x = {.o = o, .err = err};
    struct order order;
    struct stream_record r;
    enum stream_status status = STREAM_FAILED;
    bool ok = true;
    order_init(&order, o->r->stream, want, &x, false);
    order.tie = cpu_of;
    while (ok && (status = order_next(&order, &r, err)) == STREAM_RECORD) {
        ok = !x.failed && o->take(o->ctx, &r, err);
        if (x.round_ended)
            give_back(&x);
    }
    ok = ok && !x.failed && status == STREAM_END;
    order_fini(&order);
    return ok && (!o->m || o->first_done || model_freeze(o->m, err));
}
