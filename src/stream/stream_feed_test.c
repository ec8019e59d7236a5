/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "stream/stream_feed.h"
#include "stream/stream_order.h"

static void drop_log(void *ctx, enum log_level level, const char *line) {
    (void)ctx, (void)level, (void)line;
}

static void make_events(struct perfdata_events *events) {
    perfdata_events_init(events, false);
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .sample_period = 1000,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD};
    assert_int_equal(perfdata_events_add(events, &attr, &(struct perfdata_u64s){0}), 0);
}

static void put_sample(struct writer *w, const struct perfdata_events *events, uint64_t time_ns) {
    const struct perfdata_plan *plan = &events->list.items[0].plan;
    test_put_sample(
        w, plan, PERFDATA_MISC_USER,
        &(struct perfdata_sample){
            .have = plan->sample_type, .ip = 0x1000, .pid = 7, .tid = 8, .time = time_ns, .period = 3});
}

static void put_round(struct writer *w) {
    writer_u32(w, PERFDATA_RECORD_FINISHED_ROUND);
    writer_u16(w, 0);
    writer_u16(w, PERFDATA_HEADER_SIZE);
}

static void give(struct stream_feed *f, struct writer *w) {
    struct err err = ERR_INIT;
    struct bytes b = writer_bytes(w);
    assert_true(writer_ok(w));
    assert_true(stream_feed_put(f, &b, 1, &err));
    writer_clear(w);
}

static struct stream_feed *with_head(const struct perfdata_events *events) {
    struct err err = ERR_INIT;
    struct stream_feed *f = stream_feed_new(&err);
    struct writer w = writer_make(false);
    uint32_t left;
    assert_non_null(f);
    perfdata_pipe_head_encode(&(struct perfdata_header){.swap = false}, events, &w, &left);
    give(f, &w);
    writer_fini(&w);
    return f;
}

/* What is put later is read later, in the order of time, and the end comes when it is said. */
static void test_goes_on(void **state) {
    (void)state;
    struct perfdata_events events;
    struct err err = ERR_INIT;
    struct writer w = writer_make(false);
    struct stream_record r;
    struct order order;
    make_events(&events);
    struct stream_feed *f = with_head(&events);
    struct stream *s = stream_open_feed(f, NULL, &err);
    assert_non_null(s);
    assert_true(stream_is_pipe(s));
    order_init(&order, s, NULL, NULL, false);
    while (order_next(&order, &r, &err) == STREAM_RECORD)
        assert_true(r.raw.type >= PERFDATA_RECORD_USER_START);
    assert_int_equal(stream_events(s)->list.count, 1);
    uint64_t expected = 1, rounds = 0;
    for (uint64_t i = 0; i < 50; i++) { /* two rings, each in order */
        put_sample(&w, &events, 2 * i + 2);
        put_sample(&w, &events, 2 * i + 1);
        put_round(&w);
        give(f, &w);
        while (order_next(&order, &r, &err) == STREAM_RECORD) {
            if (r.raw.type != PERFDATA_RECORD_SAMPLE) {
                rounds++;
                continue;
            }
            assert_int_equal(r.time_ns, expected);
            expected++;
        }
        assert_true(stream_goes_on(s));
        assert_int_equal(expected, 2 * i + 1); /* the last round waits for the next */
    }
    assert_int_equal(rounds, 50);
    stream_feed_end(f);
    while (order_next(&order, &r, &err) == STREAM_RECORD)
        if (r.raw.type == PERFDATA_RECORD_SAMPLE)
            assert_int_equal(r.time_ns, expected++);
    assert_false(stream_goes_on(s));
    assert_int_equal(expected, 101);
    assert_true(stream_all_read(s));
    order_fini(&order);
    stream_close(s);
    stream_feed_free(f);
    writer_fini(&w);
    perfdata_events_fini(&events);
}

/* Any amount passes through little memory. */
static void test_release(void **state) {
    (void)state;
    enum { PIECES = 200, SAMPLES = 4000, STEP = 4 << 20 };
    struct perfdata_events events;
    struct err err = ERR_INIT;
    struct writer w = writer_make(false);
    struct stream_record r;
    make_events(&events);
    struct stream_feed *f = with_head(&events);
    struct stream *s = stream_open_feed(f, NULL, &err);
    uint64_t samples = 0, most = 0, time_ns = 0;
    assert_non_null(s);
    for (unsigned i = 0; i < PIECES; i++) {
        for (unsigned k = 0; k < SAMPLES; k++)
            put_sample(&w, &events, ++time_ns);
        uint64_t piece = w.size;
        give(f, &w);
        uint64_t held = stream_feed_held(f);
        most = held > most ? held : most;
        while (stream_next(s, &r, &err) == STREAM_RECORD)
            samples += r.raw.type == PERFDATA_RECORD_SAMPLE;
        stream_release(s, r.loc);
        assert_true(stream_feed_held(f) <= STEP + piece);
    }
    assert_int_equal(samples, (uint64_t)PIECES * SAMPLES);
    assert_true(most < 3 * (uint64_t)STEP);
    assert_true(stream_feed_size(f) > 2 * most);
    stream_close(s);
    stream_feed_free(f);
    writer_fini(&w);
    perfdata_events_fini(&events);
}

/* Damage ends where the bytes do, and what comes afterwards is read. */
static void test_damage(void **state) {
    (void)state;
    struct perfdata_events events;
    struct err err = ERR_INIT;
    struct writer w = writer_make(false);
    struct stream_record r;
    unsigned samples = 0;
    make_events(&events);
    log_set_sink(drop_log, NULL);
    struct stream_feed *f = with_head(&events);
    struct stream *s = stream_open_feed(f, NULL, &err);
    assert_non_null(s);
    for (unsigned i = 0; i < 8; i++)
        writer_u64(&w, 0); /* records without a size */
    give(f, &w);
    while (stream_next(s, &r, &err) == STREAM_RECORD)
        ;
    put_sample(&w, &events, 5);
    put_sample(&w, &events, 6);
    give(f, &w);
    while (stream_next(s, &r, &err) == STREAM_RECORD)
        samples += r.raw.type == PERFDATA_RECORD_SAMPLE;
    assert_int_equal(samples, 2);
    assert_false(stream_all_read(s));
    stream_close(s);
    stream_feed_free(f);
    log_set_sink(NULL, NULL);
    writer_fini(&w);
    perfdata_events_fini(&events);
}

/* Without a head there is nothing to open. */
static void test_no_head(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    struct stream_feed *f = stream_feed_new(&err);
    assert_non_null(f);
    assert_null(stream_open_feed(f, NULL, &err));
    assert_int_not_equal(err.code, ERR_NONE);
    stream_feed_free(f);
    stream_feed_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
