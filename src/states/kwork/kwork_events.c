/* SPDX-License-Identifier: Apache-2.0 */
#include "states/kwork/kwork_events.h"

/* A row's kind: its class and its kind of event. */
#define KIND(class, event) ((class) << 4 | (event))

enum { ID, OWN, NAME = OWN, FUNCTION = OWN };
static const struct tracepoint_row ROWS[] = {
    {"irq", "irq_handler_entry", KIND(KWORK_IRQ, KWORK_ENTRY), 1, {"irq", "name"}},
    {"irq", "irq_handler_exit", KIND(KWORK_IRQ, KWORK_EXIT), 1, {"irq"}},
    {"irq", "softirq_raise", KIND(KWORK_SOFTIRQ, KWORK_RAISE), 1, {"vec"}},
    {"irq", "softirq_entry", KIND(KWORK_SOFTIRQ, KWORK_ENTRY), 1, {"vec"}},
    {"irq", "softirq_exit", KIND(KWORK_SOFTIRQ, KWORK_EXIT), 1, {"vec"}},
    {"workqueue", "workqueue_activate_work", KIND(KWORK_WORKQUEUE, KWORK_RAISE), 1, {"work"}},
    {"workqueue", "workqueue_execute_start", KIND(KWORK_WORKQUEUE, KWORK_ENTRY), 2, {"work", "function"}},
    {"workqueue", "workqueue_execute_end", KIND(KWORK_WORKQUEUE, KWORK_EXIT), 1, {"work"}},
};

void kwork_events_init(struct kwork_events *e, struct stream *stream, const struct perfdata_namer *names) {
    *e = (struct kwork_events){.described = 0};
    tracepoints_init(&e->tracepoints, stream, names, ROWS, sizeof ROWS / sizeof *ROWS, 0);
}

void kwork_events_fini(struct kwork_events *e) {
    tracepoints_fini(&e->tracepoints);
}

bool kwork_events_update(struct kwork_events *e, struct err *err) {
    if (!tracepoints_update(&e->tracepoints, err))
        return false;
    for (; e->described < e->tracepoints.list.count; e->described++) {
        const struct tracepoint_event *t = &e->tracepoints.list.items[e->described];
        if (t->row && t->row->kind == KIND(KWORK_SOFTIRQ, KWORK_ENTRY) && !e->vector_count)
            e->vector_count =
                print_names_read(t->format, "__print_symbolic(REC->vec", e->vectors, KWORK_VECTORS);
    }
    return true;
}

bool kwork_events_any(const struct kwork_events *e) {
    for (size_t i = 0; i < e->tracepoints.list.count; i++)
        if (e->tracepoints.list.items[i].row)
            return true;
    return false;
}

bool kwork_events_want(void *ctx, const struct stream_record *r) {
    struct kwork_events *e = ctx;
    return r->raw.type == PERFDATA_RECORD_LOST || r->raw.type == PERFDATA_RECORD_LOST_SAMPLES ||
           tracepoints_want(&e->tracepoints, r);
}

static bool apply_lost(struct kwork_events *e, struct kwork *k, const struct stream_record *r) {
    struct perfdata_sample_id id = {0};
    const struct perfdata_events *events = e->tracepoints.events;
    if (r->event < events->list.count)
        perfdata_sample_id_decode(&events->list.items[r->event].plan, r->raw.body, &id);
    const struct kwork_event lost = {.kind = KWORK_LOST,
                                     .time_ns = stream_when_ns(e->tracepoints.stream, r),
                                     .cpu = id.have & PERFDATA_SAMPLE_CPU ? id.cpu : KWORK_NONE};
    return kwork_apply(k, &lost);
}

static struct bytes vector_name(const struct kwork_events *e, uint64_t vec) {
    for (size_t i = 0; i < e->vector_count; i++)
        if (e->vectors[i].number == vec)
            return e->vectors[i].text;
    return (struct bytes){NULL, 0};
}

static bool apply_sample(struct kwork_events *e, struct kwork *k, const struct tracepoint *t, uint64_t loc) {
    struct kwork_event x = {.kind = (enum kwork_event_kind)(t->kind & 15),
                            .class = (enum kwork_class)(t->kind >> 4),
                            .time_ns = t->sample.time,
                            .cpu = t->sample.cpu,
                            .id = (uint64_t)tracepoint_int(t, ID, 0),
                            .loc = loc};
    if (x.kind == KWORK_ENTRY && x.class == KWORK_IRQ)
        x.name = tracepoint_text(t, NAME);
    else if (x.kind == KWORK_ENTRY && x.class == KWORK_SOFTIRQ)
        x.name = vector_name(e, x.id);
    else if (x.kind == KWORK_ENTRY)
        x.function = (uint64_t)tracepoint_int(t, FUNCTION, 0);
    return kwork_apply(k, &x);
}

bool kwork_events_apply(struct kwork_events *e, struct kwork *k, const struct stream_record *r,
                        struct err *err) {
    struct tracepoint t;
    if (!kwork_events_update(e, err))
        return false;
    if (!kwork_events_want(e, r))
        return true;
    if (r->raw.type != PERFDATA_RECORD_SAMPLE)
        return apply_lost(e, k, r) || err_memory(err, "the kernel's work");
    return !tracepoints_read(&e->tracepoints, r, &t) || apply_sample(e, k, &t, r->loc) ||
           err_memory(err, "the kernel's work");
}
