/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct perfdata_extent EXTENTS[] = {{0, 4}, {16, 2}};

static void put(struct writer *w, const struct perfdata_extent *extents, size_t count, uint64_t file_size) {
    const struct perfdata_kept k = {
        .kind = PERFDATA_KEPT_TABLES,
        .pid = 42,
        .name = {(const uint8_t *)"/bin/a", 6},
        .evidence = {.has_state = true, .state = {1, 2, 3, 4, 5}, .build_id_size = 3, .build_id = "abc"},
        .file_size = file_size,
        .kept_size = 6,
        .packed = {(const uint8_t *)"sixbyt", 6},
    };
    perfdata_kept_encode(&k, extents, count, w);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        struct perfdata_kept k;
        put(&w, EXTENTS, 2, 100);
        put(&w, EXTENTS, 2, 18);
        struct bytes rest = writer_bytes(&w);
        assert_true(perfdata_kept_next(&rest, swap, &k));
        assert_true(k.kind == PERFDATA_KEPT_TABLES && k.pid == 42 && k.file_size == 100);
        assert_true(k.name.size == 6 && memcmp(k.name.data, "/bin/a", 7) == 0);
        assert_true(k.evidence.has_state && k.evidence.state.ctime_ns == 5 && k.evidence.build_id_size == 3);
        assert_true(k.packed.size == 6 && memcmp(k.packed.data, "sixbyt", 6) == 0);
        assert_int_equal(k.extent_count, 2);
        assert_int_equal(perfdata_kept_extent(&k, swap, 1).offset, 16);
        assert_int_equal(perfdata_kept_extent(&k, swap, 1).size, 2);
        assert_true(perfdata_kept_next(&rest, swap, &k));
        assert_int_equal(k.file_size, 18);
        assert_false(perfdata_kept_next(&rest, swap, &k));
        writer_fini(&w);
    }
}

/* Extents must ascend, stay inside of the file, and be as long as is said. */
static void test_bad_extents(void **state) {
    (void)state;
    static const struct {
        struct perfdata_extent extents[2];
        uint64_t file_size;
    } BAD[] = {
        {{{16, 2}, {0, 4}}, 100}, {{{0, 4}, {3, 2}}, 100},
        {{{0, 4}, {16, 2}}, 17},  {{{0, 4}, {UINT64_MAX, 2}}, 100},
        {{{0, 4}, {16, 3}}, 100}, {{{0, 4}, {16, 2}}, PERFDATA_KEPT_FILE_MAX + 1},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct writer w = writer_make(false);
        struct perfdata_kept k;
        put(&w, BAD[i].extents, 2, BAD[i].file_size);
        struct bytes rest = writer_bytes(&w);
        assert_false(perfdata_kept_next(&rest, false, &k));
        writer_fini(&w);
    }
}

static void test_cut(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    struct perfdata_kept k;
    put(&w, EXTENTS, 2, 100);
    for (size_t cut = 0; cut < w.size; cut++) {
        uint8_t *exact = malloc(cut + 1); /* sanitizers see a step beyond it */
        memcpy(exact, w.data, cut);
        struct bytes rest = {exact, cut};
        assert_false(perfdata_kept_next(&rest, false, &k));
        free(exact);
    }
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad_extents),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
