/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/timeline.h"

static struct model_when when(uint64_t time_ns) {
    return (struct model_when){time_ns, 0};
}

/* Owner 0 has none, 1 three, 2 two, 3 none, 4 a hundred. */
static void fill(struct timeline *t) {
    static const struct {
        uint32_t owner;
        uint64_t time_ns;
        uint32_t value;
    } rows[] = {{1, 10, 100}, {2, 20, 200}, {1, 40, 101}, {2, 70, 201}, {1, 90, 102}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(timeline_push(t, rows[i].owner, when(rows[i].time_ns), rows[i].value));
    for (uint32_t i = 0; i < 100; i++)
        assert_true(timeline_push(t, 4, when(2 * i + 2), i));
}

static void ask(const struct timeline *t) {
    assert_int_equal(timeline_at(t, 0, when(99)), MODEL_NONE);
    assert_int_equal(timeline_at(t, 1, when(9)), MODEL_NONE);
    assert_int_equal(timeline_at(t, 1, when(10)), 100);
    assert_int_equal(timeline_at(t, 1, when(39)), 100);
    assert_int_equal(timeline_at(t, 1, when(40)), 101);
    assert_int_equal(timeline_at(t, 1, when(89)), 101);
    assert_int_equal(timeline_at(t, 1, when(90)), 102);
    assert_int_equal(timeline_at(t, 1, MODEL_WHEN_END), 102);
    assert_int_equal(timeline_at(t, 2, when(19)), MODEL_NONE);
    assert_int_equal(timeline_at(t, 2, when(69)), 200);
    assert_int_equal(timeline_at(t, 2, when(70)), 201);
    assert_int_equal(timeline_at(t, 3, when(99)), MODEL_NONE);
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(timeline_at(t, 4, when(i)), i < 2 ? MODEL_NONE : i / 2 - 1 < 100 ? i / 2 - 1 : 99);
    assert_int_equal(timeline_at(t, 5, when(99)), MODEL_NONE); /* beyond the last owner */
    assert_int_equal(timeline_at(t, 1000, when(99)), MODEL_NONE);
    uint32_t entry = timeline_find(t, 1, MODEL_WHEN_END), count = 0;
    for (; entry != MODEL_NONE; entry = timeline_previous(t, 1, entry), count++)
        assert_int_equal(timeline_value(t, entry), 102 - count);
    assert_int_equal(count, 3);
}

static void test_growing_and_frozen(void **state) {
    (void)state;
    struct timeline t = {0};
    fill(&t);
    assert_int_equal(timeline_newest(&t, 1), 102);
    assert_int_equal(timeline_newest(&t, 0), MODEL_NONE);
    assert_int_equal(timeline_newest(&t, 99), MODEL_NONE);
    ask(&t);
    assert_true(timeline_freeze(&t));
    ask(&t);
    timeline_fini(&t);
}

static void test_empty(void **state) {
    (void)state;
    struct timeline t = {0};
    assert_int_equal(timeline_at(&t, 0, when(1)), MODEL_NONE);
    assert_true(timeline_freeze(&t));
    assert_int_equal(timeline_at(&t, 0, when(1)), MODEL_NONE);
    timeline_fini(&t);
}

static void test_order_decides_ties(void **state) {
    (void)state;
    struct timeline t = {0};
    for (uint32_t i = 0; i < 5; i++)
        assert_true(timeline_push(&t, 0, (struct model_when){7, 10 * i}, i));
    for (int frozen = 0; frozen < 2; frozen++) {
        for (uint64_t order = 0; order < 50; order++)
            assert_int_equal(timeline_at(&t, 0, (struct model_when){7, order}), order / 10);
        assert_int_equal(timeline_at(&t, 0, (struct model_when){6, 99}), MODEL_NONE);
        assert_true(frozen || timeline_freeze(&t));
    }
    timeline_fini(&t);
}

static void test_copy(void **state) {
    (void)state;
    struct timeline t = {0}, to = {0};
    fill(&t);
    /* Everything, renamed: owners change places. */
    assert_true(timeline_copy(&t, 1, MODEL_NONE, NULL, &to, 2));
    assert_true(timeline_copy(&t, 2, timeline_find(&t, 2, when(75)), NULL, &to, 1));
    assert_true(timeline_copy(&t, 3, MODEL_NONE, NULL, &to, 0));
    assert_int_equal(timeline_at(&to, 2, when(10)), 100);
    assert_int_equal(timeline_at(&to, 2, when(90)), 102);
    assert_int_equal(timeline_at(&to, 1, when(69)), MODEL_NONE); /* left out */
    assert_int_equal(timeline_at(&to, 1, when(70)), 201);
    assert_int_equal(timeline_newest(&to, 0), MODEL_NONE);
    /* With translated values, of which one is gone. */
    uint32_t ids[103];
    for (uint32_t i = 0; i < 103; i++)
        ids[i] = i == 101 ? MODEL_NONE : i + 1000;
    assert_true(timeline_copy(&t, 1, MODEL_NONE, ids, &to, 3));
    assert_int_equal(timeline_at(&to, 3, when(50)), 1100);
    assert_int_equal(timeline_at(&to, 3, when(90)), 1102);
    assert_true(timeline_push(&to, 3, when(95), 7)); /* it goes on growing */
    assert_true(timeline_freeze(&to));
    assert_int_equal(timeline_at(&to, 3, when(94)), 1102);
    assert_int_equal(timeline_at(&to, 3, when(95)), 7);
    timeline_fini(&t);
    timeline_fini(&to);
}

/* What is read goes on the way, before all is in its place. */
static void test_many(void **state) {
    enum { MANY = (1 << 20) + 70000, OWNERS = 1000 };
    (void)state;
    struct timeline t = {0};
    timeline_room(&t, MANY, OWNERS);
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(timeline_push(&t, i * 7 % OWNERS, when(i), i));
    assert_true(timeline_freeze(&t));
    for (uint32_t i = 0; i < MANY; i += 13)
        assert_int_equal(timeline_at(&t, i * 7 % OWNERS, when(i)), i);
    timeline_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing_and_frozen),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_order_decides_ties),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
