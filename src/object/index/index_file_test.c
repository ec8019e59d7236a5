/* SPDX-License-Identifier: Apache-2.0 */
#include "object/index/index_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct bytes key = {(const uint8_t *)"build-id", 8},
                          other_key = {(const uint8_t *)"build-ie", 8};

/* A file with two units, of which the second was made, and a range of it. */
static struct writer made(void) {
    static const uint8_t block[16] = "sixteen bytes..";
    static const uint32_t rangeless[1] = {0};
    const struct index_range ranges[1] = {{0x1000, 0x2000, 0x2000, 1}};
    const struct bytes blocks[2] = {{NULL, 0}, {block, sizeof block}};
    const struct index_file_content c = {.ranges = ranges,
                                         .rangeless = rangeless,
                                         .blocks = blocks,
                                         .unit_count = 2,
                                         .range_count = 1,
                                         .rangeless_count = 1};
    struct writer w = writer_make(false);
    index_file_encode(&c, key, &w);
    writer_bytes_put(&w, blocks[1]);
    assert_true(writer_ok(&w));
    return w;
}

static void what_was_kept_is_there(void **state) {
    (void)state;
    struct writer w = made();
    struct index_file f;
    assert_true(index_file_open(writer_bytes(&w), key, &f));
    assert_int_equal(f.unit_count, 2);
    assert_int_equal(f.range_count, 1);
    assert_int_equal(f.ranges[0].unit, 1);
    assert_int_equal(f.rangeless_count, 1);
    assert_int_equal(index_file_block(&f, 0).size, 0);
    struct bytes block = index_file_block(&f, 1);
    assert_int_equal(block.size, 16);
    assert_memory_equal(block.data, "sixteen bytes..", 16);
    assert_false(index_file_open(writer_bytes(&w), other_key, &f));
    writer_fini(&w);
}

/* Every cut and every changed byte is noticed: in the tables, or when the block is asked for. */
static void damage_is_noticed(void **state) {
    (void)state;
    struct writer w = made();
    struct index_file f;
    for (size_t n = 0; n < w.size; n++)
        assert_true(!index_file_open((struct bytes){w.data, n}, key, &f) || !index_file_block(&f, 1).size);
    for (size_t i = 0; i < w.size; i++) {
        w.data[i] ^= 0x10;
        assert_true(!index_file_open(writer_bytes(&w), key, &f) || !index_file_block(&f, 1).size);
        w.data[i] ^= 0x10;
    }
    assert_true(index_file_open(writer_bytes(&w), key, &f));
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_kept_is_there),
                                       cmocka_unit_test(damage_is_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
