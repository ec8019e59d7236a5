/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/relay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THINGS = 20000 };

/* What was written, and where it ends or fails. */
struct written {
    struct out text;
    uint64_t most; /* bytes; then writing fails */
};

static bool keep(void *ctx, const char *p, size_t n) {
    struct written *w = ctx;
    if (w->text.len + n > w->most)
        return false;
    out_mem(&w->text, p, n);
    return true;
}

/* Each thing is its number; some are long. */
static bool put_numbers(void *ctx, uint32_t from, uint32_t end, unsigned thread, struct out *text,
                        struct err *err) {
    const uint32_t *bad = ctx;
    (void)thread;
    assert_int_equal(text->len, 0);
    for (uint32_t i = from; i < end; i++) {
        if (i == *bad)
            return err_set(err, ERR_BROKEN, "", "thing %u", i);
        out_dec(text, i, i % 1000 == 7 ? 70000 : 0);
        out_char(text, ' ');
    }
    return true;
}

static bool run(unsigned threads, uint32_t n, uint32_t bad, struct written *w, struct err *err) {
    struct pool *pool = pool_new(threads);
    struct out to;
    assert_true(out_init(&w->text, NULL, NULL));
    assert_true(out_init(&to, keep, w));
    bool ok = relay_run(pool, n, put_numbers, &bad, &to, err);
    assert_int_equal(out_flush(&to), w->most == UINT64_MAX);
    out_fini(&to);
    pool_free(pool);
    return ok;
}

static void test_order(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, 5, 100, THINGS};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct out want;
        struct err err = ERR_INIT;
        uint32_t none = UINT32_MAX;
        assert_true(out_init(&want, NULL, NULL));
        assert_true(put_numbers(&none, 0, counts[k], 0, &want, &err));
        for (unsigned threads = 1; threads < 5; threads++) {
            struct written w = {.most = UINT64_MAX};
            assert_true(run(threads, counts[k], none, &w, &err));
            assert_int_equal(w.text.len, want.len);
            assert_memory_equal(w.text.buf, want.buf, want.len);
            out_fini(&w.text);
        }
        out_fini(&want);
    }
}

static void test_failed_write_ends_it(void **state) {
    (void)state;
    for (unsigned threads = 1; threads < 5; threads++) {
        struct err err = ERR_INIT;
        struct written w = {.most = 200000};
        assert_true(run(threads, THINGS, UINT32_MAX, &w, &err)); /* who asked sees it in `to` */
        out_fini(&w.text);
    }
}

static void test_failed_piece(void **state) {
    (void)state;
    for (unsigned threads = 1; threads < 5; threads++) {
        struct err err = ERR_INIT;
        struct written w = {.most = UINT64_MAX};
        assert_false(run(threads, THINGS, 12345, &w, &err));
        assert_string_equal(err.message, "thing 12345");
        out_fini(&w.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_failed_write_ends_it),
        cmocka_unit_test(test_failed_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
