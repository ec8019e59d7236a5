/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/gzip.h"
#include "config.h"
#include "tests/support/fail_alloc.h"

enum { LINES = 40000, LARGE = 1 << 24 };

static bool pack(struct out *to) {
    struct gzip_out *g = gzip_out_new(to);
    for (unsigned i = 0; g && i < LINES; i++)
        out_printf(gzip_out_sink(g), "line %u\n", i);
    bool ok = g && gzip_out_end(g);
    gzip_out_free(g);
    return ok;
}

static void test_round_trip(void **state) {
    struct out packed, plain;
    struct bytes b = {0};
    struct err err = ERR_INIT;
    (void)state;
#ifndef HAVE_ZLIB
    skip();
#endif
    assert_true(out_init(&packed, NULL, NULL) && out_init(&plain, NULL, NULL) && pack(&packed));
    for (unsigned i = 0; i < LINES; i++)
        out_printf(&plain, "line %u\n", i);
    struct bytes all = {(uint8_t *)packed.buf, packed.len};
    assert_true(gzip_is(all) && packed.len < plain.len / 2);
    assert_true(gzip_read(all, LARGE, &b, &err));
    assert_int_equal(b.size, plain.len);
    assert_memory_equal(b.data, plain.buf, b.size);
    free((void *)(uintptr_t)b.data);
    assert_false(gzip_read(all, plain.len - 1, &b, &err));
    assert_string_equal(err.message, "too large");
    all.size -= 9;
    assert_false(gzip_read(all, LARGE, &b, &err));
    assert_int_equal(err.code, ERR_BROKEN);
    out_fini(&packed);
    out_fini(&plain);
}

static void fail_once(void) {
    struct out packed;
    struct bytes b = {0};
    struct err err = ERR_INIT;
    if (out_init(&packed, NULL, NULL) && pack(&packed) && !packed.failed &&
        gzip_read((struct bytes){(uint8_t *)packed.buf, packed.len}, LARGE, &b, &err))
        free((void *)(uintptr_t)b.data);
    out_fini(&packed);
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(fail_once());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
