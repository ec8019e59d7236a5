/* SPDX-License-Identifier: Apache-2.0 */
/* A whole recording through the raw views: dump, statistics, tasks and maps. */
#include "fuzz.h"

#include "format/perfdata/header/feature.h"
#include "model/model.h"
#include "view/dump/dump.h"
#include "view/lists/mmaps.h"
#include "view/lists/stats.h"
#include "view/lists/task_tree.h"

enum { MAX_RECORDS = 20000 };

static bool drop(void *ctx, const char *p, size_t n) {
    (void)ctx, (void)p, (void)n;
    return true;
}

static void apply(struct stream *s, struct model *m, const struct stream_record *r) {
    struct perfdata_record rec;
    struct err err = ERR_INIT;
    const struct perfdata_events *events = stream_events(s);
    const struct perfdata_plan *plan =
        r->event == PERFDATA_NO_EVENT ? NULL : &events->list.items[r->event].plan;
    if (!r->legacy && model_wants(m, r->raw.type) &&
        perfdata_record_decode(&r->raw, plan, events->swap, &rec, NULL))
        FUZZ_CHECK(model_apply(m, &rec, (struct model_when){stream_when_ns(s, r), r->loc}, &err));
}

static void dump_all(struct stream *s, const struct model *m, struct out *out) {
    struct perfdata_namer names;
    struct dump dump;
    struct stream_record r;
    struct err err = ERR_INIT;
    FUZZ_CHECK(perfdata_feature_apply_names(stream_header(s), stream_events(s)) &&
               perfdata_namer_init(&names, stream_header(s)));
    dump_init(&dump, stream_events(s), stream_header(s), &names, m, "fuzz");
    stream_rewind(s);
    for (size_t n = 0; n < MAX_RECORDS && stream_next(s, &r, &err) == STREAM_RECORD; n++) {
        const char *reason = dump_record(&dump, &r, out);
        FUZZ_CHECK(!reason || *reason);
    }
    dump_fini(&dump);
    perfdata_namer_fini(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err err = ERR_INIT;
    struct stream *s = stream_open_memory((struct bytes){data, size}, NULL, &err);
    if (!s)
        return 0;
    struct out out;
    struct stats stats;
    struct stream_record r;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, &err);
    FUZZ_CHECK(m && out_init(&out, drop, NULL));
    stats_init(&stats, size % 2);
    FUZZ_CHECK(stats_read(&stats, s, &err));
    stats_print(&stats, s, &out);
    if (size % 2)
        stats_print_json(&stats, s, &out);
    stats_fini(&stats);
    stream_rewind(s);
    for (size_t n = 0; n < MAX_RECORDS && stream_next(s, &r, &err) == STREAM_RECORD; n++)
        apply(s, m, &r);
    FUZZ_CHECK(model_freeze(m, &err));
    uint64_t left_out;
    FUZZ_CHECK(tasks_print(m, NULL, NULL, &out, &err));
    FUZZ_CHECK(mmaps_print(m, s, &out, &left_out, &err));
    dump_all(s, m, &out);
    out_fini(&out);
    model_free(m);
    stream_close(s);
    return 0;
}
