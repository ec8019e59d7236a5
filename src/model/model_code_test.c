/* SPDX-License-Identifier: Apache-2.0 */
/* Announced code: the layer above the mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_test_records.h"
#include "tests/support/fail_alloc.h"

/* Code of `pid` at a time; its name is the image's, its place in the image pgoff. An image of NULL: none. */
static void code(struct model *m, uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t size,
                 uint64_t pgoff, const char *image) {
    uint32_t id = image ? model_add_code_image(m, pid, image, 0) : MODEL_NONE;
    assert_true(!image || id != MODEL_NONE);
    struct model_code c = {start, size, pgoff, id};
    assert_true(model_add_code(m, pid, &c, (struct model_when){time_ns, 1}, NULL));
}

/* A map event that is newer than code and covers it, as the kernel makes them when it merges mappings. */
static void test_memory_hides_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"//anon", "/memfd:jit (deleted)", "[anon:v8]", "/dev/zero (deleted)",
                                        "[heap]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct model *m = batch();
        at(m, 10, rec_map(7, 0x10000, 0x1000, names[i]));
        code(m, 20, 7, 0x10100, 0x40, 0x1000, "/tmp/jitted-7.so");
        at(m, 30, rec_map(7, 0x10000, 0x2000, names[i]));
        freeze(m);
        const char *memory = dso(m, U, 7, 15, 0x10100);
        assert_dso(7, 20, 0x10100, "/tmp/jitted-7.so");
        assert_dso(7, 40, 0x10100, "/tmp/jitted-7.so");
        assert_dso(7, 40, 0x1013f, "/tmp/jitted-7.so");
        assert_int_equal(offset(m, U, 7, 40, 0x10110), 0x1010);
        assert_dso(7, 40, 0x10140, memory);
        assert_dso(7, 40, 0x100ff, memory);
        assert_dso(7, 40, 0x11800, memory);
        assert_true(model_has_code(m, 7) && !model_has_code(m, 8));
        struct model_hit hit;
        assert_true(model_find(m, U, 7, upto(40), 0x10100, &hit));
        assert_int_equal(model_image(m, hit.image)->kind, MODEL_IMAGE_CODE);
        assert_string_equal(model_image(m, hit.image)->short_name, "jitted-7.so");
        model_free(m);
    }
}

/* A file over it is evidence that the memory was replaced; so are exec and exit. */
static void test_what_ends_it(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(7, 0x10000, 0x4000, "//anon"));
    code(m, 20, 7, 0x10000, 0x100, 0x1000, "/jitted-7.so");
    code(m, 20, 7, 0x13000, 0x100, 0x2000, "/jitted-7.so");
    at(m, 30, rec_map(7, 0x10000, 0x1000, "/lib/x.so"));
    code(m, 40, 7, 0x13080, 0x10, 0, NULL);
    code(m, 50, 7, 0x10010, 0x10, 0x3000, "/jitted-7.so");
    at(m, 60, rec_exec(7, "other"));
    at(m, 70, rec_map(7, 0x10000, 0x4000, "//anon"));
    code(m, 80, 7, 0x10000, 0x10, 0x4000, "/jitted-7.so");
    at(m, 90, rec_exit(7, 7, 1));
    freeze(m);
    assert_dso(7, 25, 0x10000, "/jitted-7.so");
    assert_dso(7, 35, 0x10000, "/lib/x.so");
    assert_dso(7, 35, 0x13000, "/jitted-7.so");
    assert_dso(7, 45, 0x13080, "/tmp/perf-7.map");
    assert_dso(7, 45, 0x13090, "/jitted-7.so");
    assert_dso(7, 55, 0x10010, "/jitted-7.so");
    assert_dso(7, 55, 0x10020, "/lib/x.so");
    assert_dso(7, 65, 0x13000, "-");
    assert_dso(7, 75, 0x13000, "/tmp/perf-7.map");
    assert_dso(7, 85, 0x10000, "/jitted-7.so");
    assert_dso(7, 95, 0x10000, "-");
    model_free(m);
}

static void test_forks(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(7, 0x10000, 0x4000, "//anon"));
    at(m, 15, rec_fork(8, 8, 7, 7));
    for (unsigned i = 0; i < 40; i++) /* more than a log holds */
        code(m, 20 + i, 7, 0x10000 + 0x10 * (uint64_t)i, 0x10, 0x1000 + 0x10 * (uint64_t)i, "/jitted-7.so");
    at(m, 70, rec_fork(9, 9, 7, 7));
    code(m, 80, 7, 0x10000, 0x10, 0x9000, "/jitted-7.so");
    freeze(m);
    assert_dso(8, 75, 0x10000, "/tmp/perf-7.map");
    assert_dso(9, 75, 0x10000, "/jitted-7.so");
    assert_int_equal(offset(m, U, 9, 90, 0x10005), 0x1005);
    assert_int_equal(offset(m, U, 7, 90, 0x10005), 0x9005);
    assert_int_equal(offset(m, U, 7, 59, 0x10270), 0x1270);
    assert_dso(7, 58, 0x10270, "/tmp/perf-7.map");
    model_free(m);
}

/* States: equal ids, equal answers; each lasts until either layer changes. */
static void test_states(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(7, 0x10000, 0x1000, "//anon"));
    code(m, 20, 7, 0x10000, 0x10, 0x1000, "/jitted-7.so");
    at(m, 30, rec_map(7, 0x20000, 0x1000, "/lib/x.so"));
    code(m, 40, 7, 0x10020, 0x10, 0x2000, "/jitted-7.so");
    freeze(m);
    struct model_state last = {.id = MODEL_NONE - 1};
    for (uint64_t t = 5; t < 50; t += 5) {
        struct model_state s;
        struct model_hit by_state, by_time;
        model_state_at(m, MODEL_SPACE_USER, 7, upto(t), &s);
        assert_false(model_when_before(upto(t), s.from));
        assert_true(model_when_before(upto(t), s.until));
        assert_int_equal(s.id == last.id, t % 10 == 5 && t > 5);
        for (uint64_t a = 0x10000; a < 0x10040; a += 8) {
            bool found = model_state_find(m, &s, a, &by_state);
            assert_int_equal(found, model_find(m, U, 7, upto(t), a, &by_time));
            assert_int_equal(by_state.mapping, by_time.mapping);
            assert_int_equal(by_state.offset, by_time.offset);
        }
        last = s;
    }
    assert_true(last.until.time_ns == UINT64_MAX);
    model_free(m);
}

/* The callers of an execve call that came from announced code. */
static void test_before_exec(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(7, 0x10000, 0x1000, "//anon"));
    code(m, 20, 7, 0x10000, 0x10, 0x1000, "/jitted-7.so");
    at(m, 30, rec_exec(7, "other"));
    freeze(m);
    struct model_hit hit;
    struct model_state s;
    assert_dso(7, 30, 0x10000, "-");
    assert_true(model_find_before_exec(m, U, 7, upto(30), 0x10008, &hit) && hit.offset == 0x1008);
    model_state_at(m, MODEL_SPACE_USER, 7, upto(30), &s);
    assert_true(model_state_find_before_exec(m, &s, 0x10008, &hit) && hit.offset == 0x1008);
    model_free(m);
}

static void test_images(void **state) {
    (void)state;
    struct model *m = batch();
    uint32_t a = model_add_code_image(m, 7, "/d/jitted-7.so", 0),
             b = model_add_code_image(m, 7, "/d/jitted-7.so", 1);
    assert_int_not_equal(a, b);
    assert_int_equal(a, model_add_code_image(m, 7, "/d/jitted-7.so", 0));
    assert_string_equal(model_image(m, b)->short_name, "jitted-7.so");
    model_free(m);
}

/* Told as it comes; what is told of late counts from the newest record on. */
static void test_streaming(void **state) {
    (void)state;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    at(m, 10, rec_map(7, 0x10000, 0x1000, "//anon"));
    code(m, 20, 7, 0x10000, 0x10, 0x1000, "/jitted-7.so");
    at(m, 30, rec_map(7, 0x10000, 0x2000, "//anon"));
    assert_dso(7, 30, 0x10000, "/jitted-7.so");
    code(m, 15, 7, 0x10000, 0x10, 0x2000, "/jitted-7.so");
    assert_int_equal(offset(m, U, 7, 29, 0x10000), 0x1000);
    assert_int_equal(offset(m, U, 7, 30, 0x10000), 0x2000);
    code(m, 40, 7, 0x10000, 0x8, 0, NULL);
    assert_dso(7, 40, 0x10000, "/tmp/perf-7.map");
    assert_dso(7, 40, 0x10008, "/jitted-7.so");
    at(m, 50, rec_exit(7, 7, 1));
    assert_dso(7, 50, 0x10008, "-");
    assert_int_equal(model_unordered(m), 0);
    at(m, 45, rec_map(7, 0x10000, 0x1000, "//anon"));
    assert_int_equal(model_unordered(m), 1);
    code(m, 60, 7, 0x10000, 0x10, 0, "/jitted-7.so"); /* only that record was late */
    assert_false(model_mapping(m, model_mapping_count(m) - 1).late);
    model_free(m);
}

/* What retires is the past, not the code of those that live; it goes with its process. */
static void test_retire(void **state) {
    (void)state;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    for (uint32_t pid = 6; pid < 9; pid++) {
        at(m, 10, rec_map(pid, 0x10000, 0x1000, "//anon"));
        code(m, 20, pid, 0x10000, 0x10, 0x1000 * (uint64_t)pid, "/jitted.so");
    }
    at(m, 30, rec_exit(7, 7, 1));
    for (uint64_t i = 0; i < 9000; i++)
        code(m, 40 + i, 8, 0x20000 + 16 * (i % 50), 0x10, i, "/jitted.so");
    uint32_t before = model_mapping_count(m);
    assert_true(model_retire(m, (struct model_when){9039, 1}, NULL));
    assert_int_equal(model_generation(m), 1);
    assert_true(model_mapping_count(m) < before / 10);
    assert_true(model_has_code(m, 6) && !model_has_code(m, 7) && model_has_code(m, 8));
    assert_int_equal(offset(m, U, 6, 10000, 0x10001), 0x6001);
    assert_int_equal(offset(m, U, 8, 10000, 0x10001), 0x8001);
    assert_int_equal(offset(m, U, 8, 10000, 0x20000 + 16 * (8999 % 50)), 8999);
    code(m, 10000, 8, 0x10000, 0x10, 0x9000, "/jitted.so");
    assert_int_equal(offset(m, U, 8, 10000, 0x10001), 0x9001);
    code(m, 10000, 7, 0x10000, 0x10, 0x9000, "/jitted.so");
    assert_int_equal(offset(m, U, 7, 10000, 0x10001), 0x9001);
    model_free(m);
}

static void try_memory(void) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    struct perfdata_record anon = rec_map(7, 0x10000, 0x1000, "//anon");
    struct perfdata_record file = rec_map(7, 0x10000, 0x1000, "/x");
    struct perfdata_record fork = rec_fork(8, 8, 7, 7);
    uint32_t image = m ? model_add_code_image(m, 7, "/jitted-7.so", 0) : MODEL_NONE;
    struct model_code c = {0x10000, 16, 0, image};
    if (image != MODEL_NONE && model_apply(m, &anon, (struct model_when){1, 1}, NULL) &&
        model_add_code(m, 7, &c, (struct model_when){2, 2}, NULL) &&
        model_apply(m, &fork, (struct model_when){3, 3}, NULL) &&
        model_apply(m, &file, (struct model_when){4, 4}, NULL))
        model_freeze(m, NULL);
    model_free(m);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(try_memory());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_hides_nothing),
        cmocka_unit_test(test_what_ends_it),
        cmocka_unit_test(test_forks),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_before_exec),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_streaming),
        cmocka_unit_test(test_retire),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
