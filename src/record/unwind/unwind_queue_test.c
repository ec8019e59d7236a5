/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwind_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/fail_alloc.h"

enum { BYTES = 4096 };

/* Two spans, the first of which is to be compressed, with the number in them. */
static bool put(struct record_unwind_queue *q, uint32_t n, struct err *err) {
    static uint8_t room[2][BYTES];
    memset(room[0], (int)n, BYTES);
    memset(room[1], (int)n + 1, BYTES);
    const struct bytes spans[3] = {{room[0], BYTES}, {NULL, 0}, {room[1], 8}};
    return record_unwind_queue_put(q, spans, 3, 1, n % 2, err);
}

static void check(const struct record_chunk *chunk, uint32_t n) {
    assert_int_equal(chunk->bytes.size, BYTES + 8);
    assert_int_equal(chunk->packed, BYTES);
    assert_int_equal(chunk->round, n % 2);
    assert_int_equal(chunk->bytes.data[0], n);
    assert_int_equal(chunk->bytes.data[BYTES - 1], n);
    assert_int_equal(chunk->bytes.data[BYTES], n + 1);
}

/* First in, first out, whether there is room in memory or not. */
static void test_order(void **state) {
    (void)state;
    for (uint64_t most = BYTES; most <= 64 * BYTES; most *= 8) {
        struct record_unwind_queue q;
        struct record_chunk chunk;
        record_unwind_queue_init(&q, most);
        for (uint32_t n = 0; n < 100; n++) {
            assert_true(put(&q, n, NULL));
            assert_true(q.bytes <= most || q.bytes == BYTES + 8);
            if (n % 3)
                continue;
            assert_true(record_unwind_queue_try(&q, &chunk));
            check(&chunk, n / 3);
            record_unwind_queue_give_back(&q, &chunk);
        }
        for (uint32_t n = 34; n < 100; n++) {
            assert_true(record_unwind_queue_try(&q, &chunk));
            check(&chunk, n);
            record_unwind_queue_give_back(&q, &chunk);
        }
        assert_false(record_unwind_queue_try(&q, &chunk));
        assert_int_equal(q.bytes, 0);
        record_unwind_queue_fini(&q);
    }
}

/* A round may end without anything in it. */
static void test_empty(void **state) {
    (void)state;
    struct record_unwind_queue q;
    struct record_chunk chunk;
    record_unwind_queue_init(&q, BYTES);
    assert_true(record_unwind_queue_put(&q, NULL, 0, 0, true, NULL));
    assert_true(record_unwind_queue_try(&q, &chunk));
    assert_int_equal(chunk.bytes.size, 0);
    assert_true(chunk.round);
    record_unwind_queue_give_back(&q, &chunk);
    record_unwind_queue_fini(&q);
}

struct taker {
    struct record_unwind_queue *q;
    uint32_t taken;
    bool hurried;
};

/* Holds chunks back until it is told to hurry, as what unwinds does. */
static void *take(void *ctx) {
    struct taker *t = ctx;
    struct record_chunk held[8];
    size_t count = 0;
    for (bool hurry;;) {
        enum record_unwind_next next = record_unwind_queue_take(t->q, &held[count], &hurry);
        if (next == RECORD_UNWIND_STOP)
            break;
        count += next == RECORD_UNWIND_CHUNK;
        t->hurried |= hurry;
        for (size_t i = 0; i < count && (hurry || count == 8); i++) {
            check(&held[i], t->taken++);
            record_unwind_queue_give_back(t->q, &held[i]);
        }
        count = hurry || count == 8 ? 0 : count;
    }
    for (size_t i = 0; i < count; i++) {
        check(&held[i], t->taken++);
        record_unwind_queue_give_back(t->q, &held[i]);
    }
    return NULL;
}

/* Without a file whoever puts waits, and whoever takes is told to hurry: nothing is lost, nothing stands
 * still.
 */
static void test_hurry(void **state) {
    (void)state;
    struct record_unwind_queue q;
    struct record_chunk chunk;
    struct taker t = {.q = &q};
    pthread_t thread;
    record_unwind_queue_init(&q, 3 * BYTES);
    q.no_file = true;
    assert_int_equal(pthread_create(&thread, NULL, take, &t), 0);
    for (uint32_t n = 0; n < 100; n++)
        assert_true(put(&q, n, NULL));
    record_unwind_queue_stop(&q, NULL);
    pthread_join(thread, NULL);
    assert_true(t.hurried);
    while (record_unwind_queue_try(&q, &chunk)) { /* stopped, it left what waits */
        check(&chunk, t.taken++);
        record_unwind_queue_give_back(&q, &chunk);
    }
    assert_int_equal(t.taken, 100);
    record_unwind_queue_fini(&q);
}

/* Once it failed it takes nothing, and nobody waits. */
static void test_failed(void **state) {
    (void)state;
    struct record_unwind_queue q;
    const struct err why = {.code = ERR_IO, .message = "full"};
    struct err err = ERR_INIT;
    record_unwind_queue_init(&q, BYTES);
    assert_true(put(&q, 0, NULL));
    record_unwind_queue_stop(&q, &why);
    assert_false(put(&q, 1, &err));
    assert_int_equal(err.code, ERR_IO);
    record_unwind_queue_fini(&q);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC({
        struct record_unwind_queue q;
        struct record_chunk chunk;
        record_unwind_queue_init(&q, 16 * BYTES);
        uint32_t put_so_far = 0;
        for (uint32_t n = 0; n < 10; n++)
            put_so_far += put(&q, n, NULL);
        while (record_unwind_queue_try(&q, &chunk)) {
            record_unwind_queue_give_back(&q, &chunk);
            put_so_far--;
        }
        assert_int_equal(put_so_far, 0);
        assert_int_equal(q.bytes, 0);
        record_unwind_queue_fini(&q);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_empty),
                                       cmocka_unit_test(test_hurry), cmocka_unit_test(test_failed),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
