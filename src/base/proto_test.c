/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/proto.h"

/* The examples of the encoding's description: field 1 = 150, field 2 = "testing", field 3 = {1: 150}. */
static void test_bytes_are_as_described(void **state) {
    static const char want[] = "\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01";
    struct out out, body;
    (void)state;
    assert_true(out_init(&out, NULL, NULL) && out_init(&body, NULL, NULL));
    proto_nonzero(&out, 9, 0);
    proto_number(&out, 1, 150);
    proto_bytes(&out, 2, "testing", 7);
    proto_number(&body, 1, 150);
    proto_message(&out, 3, &body);
    assert_int_equal(body.len, 0);
    assert_int_equal(out.len, sizeof want - 1);
    assert_memory_equal(out.buf, want, out.len);
    out_fini(&body);
    out_fini(&out);
}

static void test_what_is_written_is_read(void **state) {
    struct out out;
    struct proto_field f;
    (void)state;
    assert_true(out_init(&out, NULL, NULL));
    proto_number(&out, 1, UINT64_MAX);
    proto_bytes(&out, 1000, "x", 1);
    struct cursor c = cursor_make((struct bytes){(uint8_t *)out.buf, out.len}, BYTES_HOST_BIG);
    assert_true(proto_next(&c, &f) && f.number == 1 && f.value == UINT64_MAX && !f.is_bytes);
    assert_true(proto_next(&c, &f) && f.number == 1000 && f.is_bytes && f.bytes.size == 1);
    assert_false(proto_next(&c, &f));
    assert_true(cursor_ok(&c));
    out_fini(&out);
}

static void test_damage_is_noticed(void **state) {
    static const char *const broken[] = {"\x08",
                                         "\x12\x05"
                                         "abc",
                                         "\x03\x01", "\x01",
                                         "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                         "a"};
    struct proto_field f;
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct cursor c =
            cursor_make((struct bytes){(const uint8_t *)broken[i], strlen(broken[i])}, BYTES_HOST_BIG);
        while (proto_next(&c, &f)) {
        }
        assert_false(cursor_ok(&c));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_as_described),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
