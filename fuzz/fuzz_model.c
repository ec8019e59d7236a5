/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole recording through the timeline: in file order and frozen, then as it streams. Every sample's
 * address and thread is asked for. The texts made of header and events are written too.
 */
#include "fuzz.h"

#include "format/perfdata/events/event_name.h"
#include "format/perfdata/header/feature.h"
#include "model/model.h"
#include "stream/stream_order.h"
#include "view/lists/evlist_text.h"
#include "view/lists/header_text.h"

enum { MAX_RECORDS = 100000 };

static void ask(const struct model *m, const struct perfdata_plan *plan, const struct stream_record *r,
                struct model_when when) {
    struct perfdata_sample s = {0};
    if (!perfdata_sample_decode(plan, r->raw.body,
                                PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_CALLCHAIN, &s))
        return;
    unsigned cpumode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    struct model_hit hit;
    if (model_find(m, cpumode, s.pid, when, s.ip, &hit)) {
        const struct model_mapping mapping = model_mapping(m, hit.mapping);
        const struct model_image *image = model_image(m, hit.image);
        /* What lies after a kernel's map may count as the kernel's. */
        FUZZ_CHECK(mapping.start <= s.ip && (s.ip <= mapping.last || image->kind == MODEL_IMAGE_KERNEL));
        FUZZ_CHECK(image->name && model_image_dso(m, image));
    }
    const char *comm = model_comm(m, s.pid, s.tid, when, NULL);
    FUZZ_CHECK(!comm || strlen(comm) < UINT16_MAX);
    struct model_namespaces spaces;
    model_namespaces_at(m, s.pid, s.tid, when, &spaces);
}

static const struct perfdata_plan *plan_of(struct stream *s, const struct stream_record *r) {
    return r->event == PERFDATA_NO_EVENT ? NULL : &stream_events(s)->list.items[r->event].plan;
}

static void apply(struct stream *s, struct model *m, const struct stream_record *r, struct model_when when) {
    struct perfdata_record rec;
    struct err err = ERR_INIT;
    if (r->legacy || r->raw.type == PERFDATA_RECORD_SAMPLE || !model_wants(m, r->raw.type) ||
        !perfdata_record_decode(&r->raw, plan_of(s, r), stream_events(s)->swap, &rec, NULL))
        return;
    FUZZ_CHECK(model_apply(m, &rec, when, &err));
}

static void batch(struct stream *s) {
    struct err err = ERR_INIT;
    struct stream_record r;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, &err);
    for (size_t n = 0; n < MAX_RECORDS && stream_next(s, &r, &err) == STREAM_RECORD; n++)
        apply(s, m, &r, (struct model_when){stream_when_ns(s, &r), r.loc});
    FUZZ_CHECK(model_freeze(m, &err));
    stream_rewind(s);
    for (size_t n = 0; n < MAX_RECORDS && stream_next(s, &r, &err) == STREAM_RECORD; n++)
        if (r.raw.type == PERFDATA_RECORD_SAMPLE && plan_of(s, &r))
            ask(m, plan_of(s, &r), &r, (struct model_when){stream_when_ns(s, &r), r.loc});
    for (uint32_t i = 0; i < model_process_count(m); i++) {
        struct model_pieces pieces = {0};
        const struct model_process *p = model_process(m, i);
        FUZZ_CHECK(model_pieces_at(m, MODEL_SPACE_USER, p->pid, model_when_prior(p->ended), &pieces));
        for (size_t k = 1; k < pieces.list.count; k++)
            FUZZ_CHECK(pieces.list.items[k - 1].last < pieces.list.items[k].start);
        vec_fini(&pieces.list);
    }
    model_free(m);
}

static void streaming(struct stream *s) {
    struct err err = ERR_INIT;
    struct stream_record r;
    struct order o;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, &err);
    stream_rewind(s);
    order_init(&o, s, NULL, NULL, false);
    for (size_t n = 0; n < MAX_RECORDS && order_next(&o, &r, &err) == STREAM_RECORD; n++) {
        struct model_when when = {r.time_ns, r.loc};
        if (r.raw.type != PERFDATA_RECORD_SAMPLE)
            apply(s, m, &r, when);
        else if (plan_of(s, &r))
            ask(m, plan_of(s, &r), &r, when);
        if (n % 64 == 63)
            FUZZ_CHECK(model_retire(m, when, &err));
    }
    order_fini(&o);
    model_free(m);
}

static void write_texts(struct stream *s) {
    struct perfdata_namer names;
    struct out o;
    FUZZ_CHECK(out_init(&o, NULL, NULL) && perfdata_feature_apply_names(stream_header(s), stream_events(s)));
    FUZZ_CHECK(perfdata_namer_init(&names, stream_header(s)));
    FUZZ_CHECK(perfdata_event_name_rest(&names, stream_events(s)));
    header_text_write(stream_header(s), &names, &(struct header_text_options){.full = true}, &o);
    evlist_text_write(stream_events(s), &names, &(struct evlist_text_options){0}, &o);
    perfdata_namer_fini(&names);
    out_fini(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err err = ERR_INIT;
    struct stream *s = stream_open_memory((struct bytes){data, size}, NULL, &err);
    if (!s)
        return 0;
    batch(s);
    streaming(s);
    write_texts(s);
    stream_close(s);
    return 0;
}
