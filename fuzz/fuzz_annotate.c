/* SPDX-License-Identifier: Apache-2.0 */
/* A whole recording, annotated: its functions' code is out of the recording itself, as no file is there. */
#include "fuzz.h"

#include "annotate/listing.h"
#include "view/annotate/annotate_text.h"

enum { FUNCTIONS_MAX = 8, CODE_MOST = 1 << 16 };

static bool drop(void *ctx, const char *p, size_t n) {
    (void)ctx, (void)p, (void)n;
    return true;
}

/* The sums over a listing's instructions and over its lines must both equal the function's own sum. */
static void check_sums(const struct annotate_listing *l) {
    uint32_t n = l->events.count;
    for (uint32_t i = 0; i < n; i++) {
        struct annotate_sums rows = l->outside[i], lines = l->outside[i];
        for (size_t k = 0; k < l->rows.count; k++)
            annotate_sums_add(&rows, &l->row_sums[k * n + i]);
        for (size_t k = 0; k < l->lines.count; k++)
            annotate_sums_add(&lines, &l->line_sums[k * n + i]);
        annotate_sums_add(&lines, &l->no_line[i]);
        FUZZ_CHECK(rows.samples == l->self[i].samples && rows.period == l->self[i].period);
        FUZZ_CHECK(lines.samples == l->self[i].samples && lines.period == l->self[i].period);
    }
}

static void annotate_function(struct annotate_maker *m, const struct annotate_function *f,
                              struct annotate_events events, size_t how, struct out *out) {
    struct err err = ERR_INIT;
    struct annotate_listing l = {0};
    struct annotate_sources sources = {.symfs = "/nonexistent"};
    const struct annotate_text_options text = {.percent = how % 4,
                                               .column = how / 4 % 3,
                                               .source = how & 1,
                                               .raw = how & 2,
                                               .line_summary = how & 4,
                                               .inlines = how & 8,
                                               .jump = how & 16,
                                               .hide_empty = how & 32,
                                               .sources = &sources,
                                               .totals = &m->profile->totals.items[events.first],
                                               .event = "event",
                                               .object_path = "/object",
                                               .object = "object",
                                               .function = annotate_function_name(m->profile, f)};
    uint64_t hottest;
    if (f->end - f->start <= CODE_MOST && annotate_listing_make(m, f, events, &l, &err)) {
        check_sums(&l);
        FUZZ_CHECK(annotate_text_print(&l, &text, out, &hottest, &err));
    } else
        FUZZ_CHECK(err.code != ERR_MEMORY);
    annotate_listing_fini(&l);
    annotate_sources_fini(&sources);
}

static void annotate_all(const struct annotate_input *in, size_t how, struct out *out) {
    struct err err = ERR_INIT;
    struct annotate_profile p = {0};
    struct annotate_order order = {0};
    if (annotate_profile_collect(&p, in, &err) && p.totals.count) {
        const struct annotate_events events = {0, p.totals.count > 2 ? 2 : (uint32_t)p.totals.count};
        struct annotate_maker m = {
            .profile = &p, .options = {.intel = how & 64}, .no_objdump = true /* no child processes */};
        FUZZ_CHECK(annotate_profile_order(&p, events, &order, &err));
        for (size_t i = 0; i < order.list.count && i < FUNCTIONS_MAX; i++)
            annotate_function(&m, &p.functions.items[order.list.items[i]], events, how, out);
        annotate_maker_fini(&m);
    }
    vec_fini(&order.list);
    annotate_profile_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err err = ERR_INIT;
    struct recording r;
    struct recording_names names = {0};
    struct out out;
    const struct symbol_options options = {.symfs = "/nonexistent"};
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, &err);
    FUZZ_CHECK(m && out_init(&out, drop, NULL));
    if (recording_open(&r, stream_open_memory((struct bytes){data, size}, NULL, &err), NULL, &err) &&
        recording_first_pass(&r, m, NULL, NULL, NULL, &err) &&
        recording_names_open(&names, &r, m, &options, &err)) {
        const struct annotate_input in = {.recording = &r, .model = m, .naming = &names};
        annotate_all(&in, size, &out);
    }
    recording_names_close(&names);
    recording_close(&r);
    model_free(m);
    out_fini(&out);
    return 0;
}
