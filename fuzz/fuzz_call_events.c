/* SPDX-License-Identifier: Apache-2.0 */
/* What a whole recording says about system calls, in the order of the file. */
#include "fuzz.h"

#include "calls/summary.h"
#include "calls/values.h"
#include "states/call_events.h"

struct play {
    struct calls_values values;
    struct calls_summary summary;
    struct out out;
};

static bool take(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    struct play *p = ctx;
    (void)c;
    p->out.len = 0;
    calls_values_args(&p->values, call, &p->out);
    calls_values_result(&p->values, call, &p->out);
    return calls_summary_add(&p->summary, call->tid, call, end);
}

static void play(struct recording *r) {
    struct play p = {0};
    struct call_events events;
    struct call_events_read x;
    struct stream_record rec;
    struct calls c;
    struct err err = ERR_INIT;
    FUZZ_CHECK(out_init(&p.out, NULL, NULL));
    calls_init(&c, "x86_64", take, &p);
    p.values.calls = &c;
    call_events_init(&events, r);
    while (stream_next(r->stream, &rec, &err) == STREAM_RECORD) {
        FUZZ_CHECK(recording_name_events(r, &err) && call_events_update(&events, &err));
        if (!call_events_want(&events, &rec))
            continue;
        call_events_read(&events, &rec, &x);
        FUZZ_CHECK(call_events_apply(&c, &x));
    }
    FUZZ_CHECK(calls_finish(&c));
    calls_summary_sort(&p.summary);
    calls_summary_fini(&p.summary);
    call_events_fini(&events);
    calls_fini(&c);
    out_fini(&p.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err err = ERR_INIT;
    struct recording r = {0};
    if (recording_open(&r, stream_open_memory((struct bytes){data, size}, &(struct stream_options){0}, &err),
                       NULL, &err))
        play(&r);
    recording_close(&r);
    return 0;
}
