/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/trigger.h"

#include "format/perfdata/record.h"

bool record_trigger_open(struct record_trigger *t, const struct os_perf *perf,
                         const struct perf_events *events, const struct perf_target *target,
                         const struct record_options *o, struct err *err) {
    /* What they carry is not looked at; but whose they are, and when they begin, is the recording's. */
    const struct record_options few = {.inherit = o->inherit,
                                       .target.per_thread = o->target.per_thread,
                                       .all_user = o->all_user,
                                       .all_kernel = o->all_kernel,
                                       .no_bpf_event = true,
                                       .no_buffering = true,
                                       .pages = 1};
    return record_plan_init(&t->plan, events, &few, target, err) &&
           record_open(&t->opened, perf, &t->plan, target, &few, err);
}

void record_trigger_fini(struct record_trigger *t) {
    if (t->opened.perf)
        record_opened_fini(&t->opened);
    record_plan_fini(&t->plan);
}

static bool take_ring(struct os_ring *r) {
    uint64_t at = os_ring_tail(r), end = os_ring_head(r), mask = r->data_bytes - 1;
    bool any = false;
    while (end - at >= PERFDATA_HEADER_SIZE) {
        const uint8_t *h = r->data + (at & mask);
        uint16_t size = bytes_load16(h + 6, false);
        any |= bytes_load32(h, false) == PERFDATA_RECORD_SAMPLE;
        if (size < PERFDATA_HEADER_SIZE || size > end - at)
            break;
        at += size;
    }
    os_ring_consume(r, end);
    return any;
}

bool record_trigger_fired(struct record_trigger *t) {
    bool any = false;
    for (size_t i = 0; i < t->opened.rings.count; i++)
        any |= take_ring(&t->opened.rings.items[i].map);
    return any;
}
