/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/library.h"

static void test_loaded(void **state) {
    (void)state;
    double (*square_root)(double) = NULL;
    struct err err = ERR_INIT;
    void *library = library_load("libm.so.6", (struct library_function[]){{"sqrt", &square_root}}, 1, &err);
    assert_non_null(library);
    assert_true(square_root(9) == 3);
    library_unload(library);
    library_unload(NULL);
}

static void test_absent(void **state) {
    (void)state;
    void (*function)(void) = NULL;
    struct library_function f[] = {{"no_such_function", &function}};
    struct err err = ERR_INIT;
    assert_null(library_load("libno-such-library.so.1", f, 1, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.where, "libno-such-library.so.1"));
    err = ERR_INIT;
    assert_null(library_load("libm.so.6", f, 1, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no_such_function"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loaded), cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
