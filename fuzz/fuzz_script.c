/* SPDX-License-Identifier: Apache-2.0 */
/* A whole recording as text and as JSON: every field of every sample, a line for every other record. */
#include "fuzz.h"

#include "model/model.h"
#include "stream/stream_order.h"
#include "view/dump/dump_regs.h"
#include "view/export/json_convert.h"
#include "view/script/script_print.h"
#include "view/script/script_record.h"

enum { MAX_RECORDS = 20000 };

static bool drop(void *ctx, const char *p, size_t n) {
    (void)ctx, (void)p, (void)n;
    return true;
}

static const struct perfdata_plan *plan_of(struct stream *s, const struct stream_record *r) {
    return r->event == PERFDATA_NO_EVENT ? NULL : &stream_events(s)->list.items[r->event].plan;
}

static bool decode(struct stream *s, const struct stream_record *r, struct perfdata_record *rec) {
    return !r->legacy && r->raw.type != PERFDATA_RECORD_SAMPLE &&
           perfdata_record_decode(&r->raw, plan_of(s, r), stream_events(s)->swap, rec, NULL);
}

static struct model *first_pass(struct stream *s) {
    struct err err = ERR_INIT;
    struct stream_record r;
    struct perfdata_record rec;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, &err);
    for (size_t n = 0; n < MAX_RECORDS && stream_next(s, &r, &err) == STREAM_RECORD; n++)
        if (model_wants(m, r.raw.type) && decode(s, &r, &rec))
            FUZZ_CHECK(model_apply(m, &rec, (struct model_when){stream_when_ns(s, &r), r.loc}, &err));
    FUZZ_CHECK(model_freeze(m, &err));
    stream_rewind(s);
    return m;
}

static void print_sample(struct stream *s, struct script_print *p, struct json_convert *json,
                         const struct stream_record *r, struct model_when when) {
    struct err err = ERR_INIT;
    struct perfdata_sample sample = {.pid = UINT32_MAX, .tid = UINT32_MAX, .cpu = UINT32_MAX};
    if (r->event == PERFDATA_NO_EVENT || !script_print_plan(p, r->event, &err) ||
        !perfdata_sample_decode(plan_of(s, r), r->raw.body, ~0ull, &sample))
        return;
    struct script_sample x = {.s = &sample, .event = r->event, .misc = r->raw.misc, .when = when};
    script_print_sample(p, &x);
    const struct resolve_sample_at at = {&sample, &stream_events(s)->list.items[r->event].attr,
                                         r->raw.misc & PERFDATA_MISC_CPUMODE_MASK, when};
    json_convert_sample(json, &at);
}

static void second_pass(struct stream *s, struct script_print *p, struct json_convert *json) {
    struct err err = ERR_INIT;
    struct stream_record r;
    struct perfdata_record rec;
    struct order order;
    order_init(&order, s, NULL, NULL, false);
    for (size_t n = 0; n < MAX_RECORDS && order_next(&order, &r, &err) == STREAM_RECORD; n++) {
        struct model_when when = {stream_when_ns(s, &r), r.loc};
        uint32_t event = r.event == PERFDATA_NO_EVENT ? 0 : r.event;
        if (r.raw.type == PERFDATA_RECORD_SAMPLE)
            print_sample(s, p, json, &r, when);
        else if (script_record_shown(~0u, r.raw.type) && decode(s, &r, &rec) &&
                 (r.raw.type >= PERFDATA_RECORD_USER_START ||
                  (event < stream_events(s)->list.count && script_print_plan(p, event, &err))))
            script_record_print(p, event, &rec, when);
    }
    order_fini(&order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err err = ERR_INIT;
    uint8_t how = size ? data[size - 1] : 0;
    struct stream *s = stream_open_memory((struct bytes){data, size}, NULL, &err);
    if (!s)
        return 0;
    struct model *m = first_pass(s);
    struct out out;
    struct script_print p;
    struct script_print_options options = {.chains = how & 1,
                                           .latency = how & 2,
                                           .ns = how & 4,
                                           .reltime = how & 8,
                                           .deltatime = how & 16,
                                           .max_stack = how & 64 ? 3 : 127};
    script_fields_init(&options.fields);
    for (int kind = 0; kind < SCRIPT_KIND_COUNT; kind++)
        options.fields.chosen[kind] = (1ull << SCRIPT_FIELDS_MAX) - 1;
    FUZZ_CHECK(out_init(&out, drop, NULL));
    FUZZ_CHECK(script_print_init(&p, &out, stream_events(s), m, &options));
    p.regs = dump_regs_of(stream_header(s));
    struct json_convert json = {.out = &out, .model = m, .frames = &p.samples};
    json_convert_begin(&json, stream_header(s), 0);
    second_pass(s, &p, &json);
    json_convert_end(&json);
    script_print_fini(&p);
    out_fini(&out);
    model_free(m);
    stream_close(s);
    return 0;
}
