/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "tests/support/fail_alloc.h"
#include "view/lists/stats.h"

enum {
    SAMPLE_TYPE = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                  PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_CALLCHAIN,
};

static void drop_log(void *ctx, enum log_level level, const char *line) {
    (void)ctx, (void)level, (void)line;
}

static void make_events(struct perfdata_events *events, uint64_t more, uint64_t read_format) {
    static const char *const names[] = {"cycles", "in\"structions", "dummy:u"};
    perfdata_events_init(events, false);
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = SAMPLE_TYPE | more,
                                 .read_format = read_format};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(perfdata_events_add(events, &attr, &(struct perfdata_u64s){0}), i);
        assert_true(perfdata_events_add_id(events, i, 7 + i));
        assert_true(perfdata_events_name(events, i, names[i], strlen(names[i])));
    }
}

static void put_sample(struct writer *w, const struct perfdata_events *events, uint16_t misc,
                       struct perfdata_sample s) {
    const struct perfdata_plan *plan = &events->list.items[0].plan;
    s.have = plan->sample_type;
    test_put_sample(w, plan, misc, &s);
}

static void put_lost_samples(struct writer *w, const struct perfdata_events *events, uint64_t id,
                             uint64_t lost) {
    struct perfdata_record rec = {.type = PERFDATA_RECORD_LOST_SAMPLES, .lost_samples = {lost}};
    rec.id = (struct perfdata_sample_id){
        .have = SAMPLE_TYPE & (PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_IDENTIFIER),
        .identifier = id};
    perfdata_record_encode(&rec, &events->list.items[0].plan, w);
}

/* 4 samples of the first event, one of the second, one of none; lost ones; one of simpleperf's types and an
 * unknown one; a COMM that is too short. */
static void put_records(struct writer *data, const struct perfdata_events *events) {
    const uint64_t chain[] = {PERFDATA_CONTEXT_USER, 0x1000, 0x2000};
    struct perfdata_sample s = {.identifier = 7, .time = 500, .period = 10};
    s.callchain = (struct perfdata_u64s){(const uint8_t *)chain, 3, false};
    test_put_zeros(data, PERFDATA_RECORD_HEADER_BUILD_ID, 40);
    for (unsigned i = 0; i < 4; i++, s.time += 100)
        put_sample(data, events, i ? PERFDATA_MISC_USER : PERFDATA_MISC_GUEST_USER, s);
    s.identifier = 8;
    s.time = 400;
    put_sample(data, events, PERFDATA_MISC_USER, s);
    s.identifier = 99;
    s.time = 1;
    put_sample(data, events, PERFDATA_MISC_USER, s);
    put_lost_samples(data, events, 7, 5);
    put_lost_samples(data, events, 9, 6);
    test_put_zeros(data, PERFDATA_RECORD_FINISHED_ROUND, 8);
    test_put_zeros(data, PERFDATA_RECORD_SIMPLEPERF_START + 3, 16);
    test_put_zeros(data, 100, 16);
    test_put_zeros(data, 100, 16);
    test_put_zeros(data, PERFDATA_RECORD_COMM, 8);
}

static struct writer make_file(const struct perfdata_events *events, const struct writer *data) {
    static const uint64_t no_bits[4];
    struct writer w = writer_make(false);
    perfdata_file_head_encode(events, &w);
    perfdata_file_head_finish(&w, data->size, no_bits);
    writer_bytes_put(&w, writer_bytes(data));
    assert_true(writer_ok(&w));
    return w;
}

/* Names the events: files have the names in features, which these do not have. */
static void name_events(struct stream *s, const struct perfdata_events *events) {
    for (uint32_t i = 0; i < events->list.count; i++) {
        const char *name = events->list.items[i].name;
        assert_true(perfdata_events_name(stream_events(s), i, name, strlen(name)));
    }
}

static void check(const struct perfdata_events *events, struct stream *s, bool json, const char *want) {
    struct stats t;
    struct out out;
    struct err err = ERR_INIT;
    assert_non_null(s);
    name_events(s, events);
    stats_init(&t, json);
    assert_true(stats_read(&t, s, &err));
    assert_true(out_init(&out, NULL, NULL));
    if (json)
        stats_print_json(&t, s, &out);
    else
        stats_print(&t, s, &out);
    assert_string_equal(out_text(&out), want);
    out_fini(&out);
    stats_fini(&t);
    stream_close(s);
}

static const char TEXT[] = "\nAggregated stats:\n"
                           "               TOTAL events:         10\n"
                           "              SAMPLE events:          6  (60.0%)\n"
                           "        LOST_SAMPLES events:          2  (20.0%)\n"
                           "            BUILD_ID events:          1  (10.0%)\n"
                           "      FINISHED_ROUND events:          1  (10.0%)\n"
                           "cycles stats:\n"
                           "              SAMPLE events:          4\n"
                           "        LOST_SAMPLES events:          1\n"
                           "in\"structions stats:\n"
                           "              SAMPLE events:          1\n"
                           "\nNot in perf's count:\n"
                           "             type100 events:          2\n"
                           "           SP_SYMBOL events:          1\n"
                           "     samples of unknown ids:          1\n"
                           "                bad records:          1\n";

static const char JSON[] =
    "{\"samples\":6,\"period_sum\":50,\"records\":{\"SAMPLE\":6,\"LOST_SAMPLES\":2,"
    "\"HEADER_BUILD_ID\":1,"
    "\"FINISHED_ROUND\":1,\"type100\":2,\"SP_SYMBOL\":1},\"callchain_entries\":15,"
    "\"branch_entries\":0,"
    "\"user_stack_samples\":0,\"raw_samples\":0,\"lost\":0,\"lost_samples\":11,\"guest_samples\":1,"
    "\"first_time_ns\":400,\"last_time_ns\":800,\"events\":[{\"name\":\"cycles\",\"samples\":4},"
    "{\"name\":\"in\\\"structions\",\"samples\":1},{\"name\":\"dummy:u\",\"samples\":0}],"
    "\"losses\":{\"lost_records\":0,\"unknown_ids\":1,\"unknown_types\":2,\"bad_records\":1,"
    "\"skipped_bytes\":0,\"problems\":0,\"cut\":false,\"unfinished\":false,\"unread\":true}}\n";

/* In memory every record is looked at; in a file most are only skipped. */
static void test_text_and_json(void **state) {
    (void)state;
    char path[] = "/tmp/stats_test_XXXXXX";
    struct perfdata_events events;
    struct writer data = writer_make(false);
    log_set_sink(drop_log, NULL);
    make_events(&events, 0, 0);
    put_records(&data, &events);
    struct writer file = make_file(&events, &data);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file.data, file.size), file.size);
    for (int json = 0; json < 2; json++) {
        check(&events, stream_open_memory(writer_bytes(&file), NULL, NULL), json, json ? JSON : TEXT);
        check(&events, stream_open(path, NULL, NULL), json, json ? JSON : TEXT);
    }
    unlink(path);
    close(fd);
    log_set_sink(NULL, NULL);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

static void test_nothing(void **state) {
    (void)state;
    struct perfdata_events events;
    struct writer data = writer_make(false);
    make_events(&events, 0, 0);
    test_put_zeros(&data, 100, 16);
    struct writer file = make_file(&events, &data);
    check(&events, stream_open_memory(writer_bytes(&file), NULL, NULL), false,
          "\nNot in perf's count:\n             type100 events:          1\n");
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

/* A sample with readings counts for each event whose total changed. */
static void test_readings(void **state) {
    (void)state;
    const uint64_t values[][4] = {{5, 7, 6, 8}, {5, 7, 9, 8}, {6, 7, 9, 8}, {2, 7, 1, 8}};
    struct perfdata_events events;
    struct writer data = writer_make(false);
    make_events(&events, PERFDATA_SAMPLE_READ, PERFDATA_FORMAT_GROUP | PERFDATA_FORMAT_ID);
    for (size_t i = 0; i < 4; i++) {
        struct perfdata_sample s = {.identifier = 7};
        s.read = (struct perfdata_read){.format = PERFDATA_FORMAT_GROUP | PERFDATA_FORMAT_ID,
                                        .count = 2,
                                        .entries = (const uint8_t *)values[i]};
        put_sample(&data, &events, PERFDATA_MISC_USER, s);
    }
    struct writer file = make_file(&events, &data);
    check(&events, stream_open_memory(writer_bytes(&file), NULL, NULL), false,
          "\nAggregated stats:\n"
          "               TOTAL events:          4\n"
          "              SAMPLE events:          4  (100.0%)\n"
          "cycles stats:\n"
          "              SAMPLE events:          3\n"
          "in\"structions stats:\n"
          "              SAMPLE events:          3\n");
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

static void test_without_memory(void **state) {
    (void)state;
    struct perfdata_events events;
    struct writer data = writer_make(false);
    log_set_sink(drop_log, NULL);
    make_events(&events, 0, 0);
    put_records(&data, &events);
    struct writer file = make_file(&events, &data);
    struct stream *s = stream_open_memory(writer_bytes(&file), NULL, NULL);
    assert_non_null(s);
    bool ok = false;
    FAIL_EACH_ALLOC({
        struct stats t;
        struct err err = ERR_INIT;
        stats_init(&t, true);
        ok = stats_read(&t, s, &err);
        assert_true(ok || err.code == ERR_MEMORY);
        stats_fini(&t);
        stream_rewind(s);
    });
    assert_true(ok);
    stream_close(s);
    log_set_sink(NULL, NULL);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_and_json),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_readings),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
