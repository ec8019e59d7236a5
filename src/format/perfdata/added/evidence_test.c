/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct perfdata_evidence FULL = {
    .has_state = true,
    .state = {1, 2, 3, -4, 5},
    .build_id_size = 3,
    .build_id = "abc",
    .has_cookie = true,
    .cookie = "0123456789abcde",
    .id_later = true,
    .kernel = {(const uint8_t *)"boot\t1\n", 7},
};

static void check_full(const struct perfdata_evidence *e) {
    assert_true(e->has_state && e->state.dev == 1 && e->state.ino == 2 && e->state.size == 3);
    assert_true(e->state.mtime_ns == -4 && e->state.ctime_ns == 5);
    assert_true(e->build_id_size == 3 && memcmp(e->build_id, "abc", 3) == 0);
    assert_true(e->id_later && bytes_equal(e->kernel, FULL.kernel));
    assert_true(e->has_cookie && memcmp(e->cookie, FULL.cookie, sizeof e->cookie) == 0);
}

/* Behind names of every length modulo 8, in both byte orders. */
static void test_tail(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++)
        for (size_t n = 0; n < 17; n++) {
            struct writer w = writer_make(swap);
            struct perfdata_evidence e;
            for (size_t i = 0; i < n; i++)
                writer_u8(&w, 'x');
            writer_u8(&w, 0);
            writer_align(&w, 8);
            assert_false(perfdata_evidence_decode(writer_bytes(&w), swap, &e));
            perfdata_evidence_encode(&FULL, &w);
            assert_int_equal(w.size % 8, 0);
            assert_true(perfdata_evidence_decode(writer_bytes(&w), swap, &e));
            check_full(&e);
            assert_false(perfdata_evidence_decode(writer_bytes(&w), !swap, &e));
            for (size_t cut = 0; cut < w.size; cut++) {
                uint8_t *exact = malloc(cut + 1); /* sanitizers see a step beyond it */
                memcpy(exact, w.data, cut);
                assert_false(perfdata_evidence_decode((struct bytes){exact, cut}, swap, &e));
                free(exact);
            }
            writer_fini(&w);
        }
}

/* An item of a later sonde is stepped over. */
static void test_unknown(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    struct perfdata_evidence e;
    writer_put(&w, "name\0\0\0", 8);
    perfdata_evidence_encode(&(struct perfdata_evidence){.build_id_size = 3, .build_id = "abc"}, &w);
    writer_u32(&w, 99);
    writer_u32(&w, 1);
    writer_u64(&w, 7);
    writer_patch16(&w, 14, (uint16_t)(w.size - 8));
    assert_true(perfdata_evidence_decode(writer_bytes(&w), false, &e));
    assert_true(e.build_id_size == 3 && !e.has_state);
    writer_fini(&w);
}

static void test_box(void **state) {
    (void)state;
    static const struct perfdata_part PARTS[] = {
        {1, {(const uint8_t *)"one", 3}}, {9, {NULL, 0}}, {2, {(const uint8_t *)"twelve bytes", 12}}};
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        struct perfdata_part p;
        writer_u64(&w, 0x1234); /* what lies before */
        perfdata_box_encode(PARTS, 3, &w);
        struct bytes all = writer_bytes(&w);
        assert_int_equal(perfdata_box_size(all, swap), w.size - 8);
        assert_int_equal(perfdata_box_size(all, !swap), 0);
        struct bytes box = {all.data + 8, all.size - 8};
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(perfdata_box_part(box, swap, i, &p));
            assert_int_equal(p.tag, PARTS[i].tag);
            assert_true(bytes_equal(p.content, PARTS[i].content));
        }
        assert_false(perfdata_box_part(box, swap, 3, &p));
        for (size_t at = 8; at < w.size; at++) { /* one bad byte anywhere */
            w.data[at] ^= 0x40;
            assert_int_equal(perfdata_box_size(writer_bytes(&w), swap), 0);
            perfdata_box_part(box, swap, 2, &p);
            w.data[at] ^= 0x40;
        }
        writer_fini(&w);
    }
    struct writer none = writer_make(false);
    perfdata_box_encode(PARTS, 0, &none);
    assert_int_equal(none.size, 0);
    assert_int_equal(perfdata_box_size(writer_bytes(&none), false), 0);
}

static void test_images(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    struct perfdata_evidence e;
    struct bytes name, rest;
    perfdata_image_evidence_encode((struct bytes){(const uint8_t *)"/bin/a", 6}, &FULL, &w);
    perfdata_image_evidence_encode((struct bytes){(const uint8_t *)"/bin/abc", 8},
                                   &(struct perfdata_evidence){0}, &w);
    rest = writer_bytes(&w);
    assert_true(perfdata_image_evidence_next(&rest, false, &name, &e));
    assert_true(name.size == 6 && memcmp(name.data, "/bin/a", 6) == 0);
    check_full(&e);
    assert_true(perfdata_image_evidence_next(&rest, false, &name, &e));
    assert_true(name.size == 8 && !e.has_state && !e.has_cookie);
    assert_false(perfdata_image_evidence_next(&rest, false, &name, &e));
    for (size_t cut = 0; cut < w.size; cut++) {
        rest = (struct bytes){w.data, cut};
        while (perfdata_image_evidence_next(&rest, false, &name, &e))
            assert_true(name.data + name.size <= w.data + cut);
    }
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tail),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
