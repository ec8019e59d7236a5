/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_test_records.h"

#include <stdio.h>

static void test_streaming_answers_at_once(void **state) {
    (void)state;
    struct model *m = new_model(MODEL_NEED_ALL, true);
    at(m, 10, rec_comm(1, 1, "one"));
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    assert_dso(1, 10, 0x1000, "/a");
    assert_comm(1, 1, 10, "one");
    at(m, 20, rec_map(1, 0x1000, 0x1000, "/b"));
    assert_dso(1, 20, 0x1000, "/b");
    assert_dso(1, 15, 0x1000, "/a"); /* nothing was retired yet */
    struct model_state early, late, again;
    struct model_hit hit;
    model_state_at(m, MODEL_SPACE_USER, 1, upto(15), &early);
    model_state_at(m, MODEL_SPACE_USER, 1, upto(20), &late);
    model_state_at(m, MODEL_SPACE_USER, 1, upto(30), &again);
    assert_int_not_equal(early.id, late.id);
    assert_int_equal(late.id, again.id);
    assert_true(model_state_find(m, &early, 0x1000, &hit));
    assert_string_equal(model_image_dso(m, model_image(m, hit.image)), "/a");
    assert_true(model_state_find(m, &late, 0x1000, &hit));
    assert_string_equal(model_image_dso(m, model_image(m, hit.image)), "/b");
    assert_int_equal(model_generation(m), 0);
    assert_int_equal(model_unordered(m), 0);
    at(m, 15, rec_map(1, 0x2000, 0x1000, "/late"));
    assert_int_equal(model_unordered(m), 1);
    assert_dso(1, 19, 0x2000, "-");
    assert_dso(1, 20, 0x2000, "/late");
    assert_true(model_mapping(m, model_mapping_count(m) - 1).late);
    at(m, 21, rec_map(1, 0x3000, 0x1000, "/in-time"));
    assert_false(model_mapping(m, model_mapping_count(m) - 1).late);
    model_asked(m, 40);
    at(m, 39, rec_map(1, 0x4000, 0x1000, "/later-than-asked"));
    assert_true(model_mapping(m, model_mapping_count(m) - 1).late);
    assert_int_equal(model_unordered(m), 2);
    freeze(m);
    assert_dso(1, 15, 0x1000, "/a");
    assert_dso(1, 20, 0x1000, "/b");
    model_free(m);
}

/* A million short processes, and what is left of them: bounded memory. Long-lived ones stay. */
static void test_retire_bounds_memory(void **state) {
    (void)state;
    struct model *m = new_model(MODEL_NEED_ALL, true);
    at(m, 1, rec_comm(1, 1, "shell"));
    at(m, 1, rec_map(1, 0x1000, 0x100000, "/shell"));
    size_t most = 0;
    uint64_t t = 10;
    for (uint32_t i = 0; i < 100000; i++, t += 10) {
        uint32_t pid = 2 + i % 30000;
        at(m, t, rec_fork(pid, pid, 1, 1));
        at(m, t + 1, rec_exec(pid, i % 2 ? "odd" : "even"));
        for (uint64_t k = 0; k < 3; k++)
            at(m, t + 2, rec_map(pid, 0x1000 + (k << 12), 0x1000, "/tool"));
        at(m, t + 3, rec_map(1, 0x1000 + (uint64_t)(i % 200) * 0x1000, 0x1000, "/jit"));
        assert_string_equal(name_of(m, pid, pid, t + 3), i % 2 ? "odd" : "even");
        at(m, t + 4, rec_exit(pid, pid, 1));
        if (i % 50 == 0) {
            assert_true(model_retire(m, upto(t + 3), NULL));
            assert_dso(pid, t + 3, 0x2000, "/tool"); /* still visible at that instant */
            assert_dso(1, t + 3, 0x100fff, "/shell");
            assert_before_exec(pid, t + 3, 0x100fff, "/shell");
            most = model_memory_bytes(m) > most ? model_memory_bytes(m) : most;
        }
    }
    assert_true(most < 4 << 20);
    assert_true(model_generation(m) > 10);
    assert_comm(1, 1, t, "shell");
    assert_dso(1, t, 0x1000 + 199 * 0x1000, "/jit");
    assert_true(model_process_count(m) < 10000);
    assert_true(model_mapping_count(m) < 20000);
    model_free(m);
}

static void test_retire_forgets_threads(void **state) {
    (void)state;
    struct model *m = new_model(MODEL_NEED_ALL, true);
    at(m, 1, rec_comm(1, 1, "pool"));
    for (uint32_t i = 0; i < 50000; i++) {
        at(m, 10 + i, rec_fork(1, 100 + i, 1, 1));
        at(m, 10 + i, rec_exit(1, 100 + i, 1));
        if (i % 100 == 0)
            assert_true(model_retire(m, upto(10 + i), NULL));
    }
    assert_true(model_thread_count(m) < 10000);
    assert_int_equal(model_process_count(m), 1);
    assert_comm(1, 1, 60009, "pool");
    model_free(m);
}

/* A leader that went before its threads is still known as the leader. */
static void test_retire_keeps_leaders(void **state) {
    (void)state;
    struct model *m = new_model(MODEL_NEED_ALL, true);
    for (uint32_t i = 0; i < 5000; i++) {
        at(m, 1, rec_fork(100 + i, 100 + i, 1, 1));
        at(m, 1, rec_exit(100 + i, 100 + i, 1));
    }
    at(m, 2, rec_fork(50, 50, 1, 1));
    at(m, 2, rec_fork(50, 51, 50, 50));
    at(m, 3, rec_exit(50, 50, 1));
    assert_true(model_retire(m, upto(3), NULL));
    assert_int_equal(model_thread_count(m), 2); /* 1 and 51 */
    at(m, 4, rec_exit(50, 51, 1));
    at(m, 5, rec_comm(50, 51, "again")); /* the pid was used again: its leader must live */
    at(m, 6, rec_map(50, 0x1000, 0x1000, "/a"));
    at(m, 7, rec_exit(50, 51, 50));
    assert_dso(50, 7, 0x1000, "/a");
    assert_int_equal(model_thread(m, model_thread_at(m, 50, 50, upto(7)))->born.time_ns, 5);
    at(m, 8, rec_exit(50, 50, 1));
    assert_dso(50, 8, 0x1000, "-");
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streaming_answers_at_once),
        cmocka_unit_test(test_retire_bounds_memory),
        cmocka_unit_test(test_retire_forgets_threads),
        cmocka_unit_test(test_retire_keeps_leaders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
