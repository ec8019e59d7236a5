/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "model/model_test_records.h"
#include "recording/hits.h"
#include "recording/naming.h"
#include "tests/support/fail_alloc.h"

enum { PID = 7, A = 0x10000, B = 0x20000, C = 0x30000, PAGE = 0x1000 };

static void put(struct writer *w, const struct perfdata_plan *plan, struct perfdata_record rec,
                uint64_t time_ns) {
    rec.id = (struct perfdata_sample_id){
        .have = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_IDENTIFIER, .time = time_ns, .id = 1};
    perfdata_record_encode(&rec, plan, w);
}

/* A sample in a, called from b; then a mapping of c that counts from before it. */
static struct writer make_file(void) {
    struct perfdata_events events;
    struct perfdata_attr attr = {.size = 112,
                                 .known_size = 112,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
                                                PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
                                                PERFDATA_SAMPLE_CALLCHAIN};
    uint64_t words[] = {PERFDATA_CONTEXT_USER, A + 8, B + 8}, bits[4];
    struct perfdata_sample s = {.have = attr.sample_type,
                                .identifier = 1,
                                .ip = A + 8,
                                .pid = PID,
                                .tid = PID,
                                .time = 5,
                                .callchain = {(const uint8_t *)words, 3, false}};
    struct writer data = writer_make(false), file = writer_make(false), tail = writer_make(false);
    perfdata_events_init(&events, false);
    assert_int_equal(perfdata_events_add(&events, &attr, &(struct perfdata_u64s){0}), 0);
    assert_true(perfdata_events_add_id(&events, 0, 1));
    const struct perfdata_plan *plan = &events.list.items[0].plan;
    put(&data, plan, rec_map(PID, A, PAGE, "/a"), 1);
    put(&data, plan, rec_map(PID, B, PAGE, "/b"), 2);
    test_put_sample(&data, plan, PERFDATA_MISC_USER, &s);
    put(&data, plan, rec_map(PID, C, PAGE, "/c"), 3);
    perfdata_file_head_encode(&events, &file);
    perfdata_file_tail_encode(NULL, 0, file.size + data.size, &tail, bits);
    perfdata_file_head_finish(&file, data.size, bits);
    writer_bytes_put(&file, writer_bytes(&data));
    writer_bytes_put(&file, writer_bytes(&tail));
    assert_true(writer_ok(&file));
    writer_fini(&data);
    writer_fini(&tail);
    perfdata_events_fini(&events);
    return file;
}

static bool open_it(struct recording *r, const struct writer *file, struct err *err) {
    return recording_open(r, stream_open_memory(writer_bytes(file), &(struct stream_options){0}, err), NULL,
                          err);
}

static struct model *make_model(struct err *err) {
    return model_new(&(struct model_options){.need = MODEL_NEED_MAPS | MODEL_NEED_COMMS}, err);
}

static bool see(void *ctx, const struct stream_record *r, struct err *err) {
    int *left = ctx;
    assert_int_not_equal(r->raw.type, PERFDATA_RECORD_SAMPLE);
    return (*left)-- > 0 || err_set(err, ERR_USAGE, "see", "enough");
}

static void test_no_stream(void **state) {
    (void)state;
    struct recording r;
    struct err err = ERR_INIT;
    err_set(&err, ERR_ABSENT, "x", "why");
    assert_false(recording_open(&r, NULL, NULL, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    recording_close(&r);
}

static void test_first_pass(void **state) {
    (void)state;
    struct writer file = make_file();
    struct recording r;
    struct recording_span span;
    struct err err = ERR_INIT;
    struct model *m = make_model(&err);
    int left = 3;
    assert_true(open_it(&r, &file, &err));
    assert_true(recording_first_pass(&r, m, &span, see, &left, &err));
    assert_int_equal(left, 0);
    assert_true(span.first_ns == 5 && span.last_ns == 5);
    struct model_hit hit;
    assert_true(model_find(m, PERFDATA_MISC_USER, PID, upto(5), C, &hit)); /* recorded after the sample */
    assert_false(model_find(m, PERFDATA_MISC_USER, PID, upto(2), C, &hit));
    uint8_t *hits = recording_hits(&r, m, &err); /* from the beginning again */
    assert_non_null(hits);
    for (uint32_t i = 0; i < model_image_count(m); i++) {
        const char *name = model_image(m, i)->name;
        assert_int_equal(hits[i], strcmp(name, "/a") == 0 || strcmp(name, "/b") == 0);
    }
    free(hits);
    model_free(m);
    recording_close(&r);
    writer_fini(&file);
}

static void test_stopped(void **state) {
    (void)state;
    struct writer file = make_file();
    struct recording r;
    struct err err = ERR_INIT;
    struct model *m = make_model(&err);
    int left = 1;
    assert_true(open_it(&r, &file, &err));
    assert_false(recording_first_pass(&r, m, NULL, see, &left, &err));
    assert_string_equal(err.message, "enough");
    model_free(m);
    recording_close(&r);
    writer_fini(&file);
}

/* Runs all of it with the memory for only a part. */
static void run_short(const struct writer *file) {
    struct recording r;
    struct recording_names names = {0};
    struct err err = ERR_INIT;
    struct model *m = make_model(&err);
    bool ok = open_it(&r, file, &err) && m && recording_jitdumps(&r, NULL, NULL, &err) &&
              recording_first_pass(&r, m, NULL, NULL, NULL, &err) &&
              recording_names_open(&names, &r, m, &(struct symbol_options){0}, &err);
    uint8_t *hits = ok ? recording_hits(&r, m, &err) : NULL;
    assert_true(hits || err.code == ERR_MEMORY);
    free(hits);
    recording_names_close(&names);
    model_free(m);
    recording_close(&r);
}

static void test_memory(void **state) {
    (void)state;
    struct writer file = make_file();
    FAIL_EACH_ALLOC(run_short(&file));
    writer_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_stream),
        cmocka_unit_test(test_first_pass),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
