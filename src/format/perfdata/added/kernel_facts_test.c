/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/kernel_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void test_there_and_back(void **state) {
    (void)state;
    struct perfdata_kernel_facts f = {.boot_id = "0b1c-2",
                                      .start = 0x1000,
                                      .end = 0xffffffff81234567,
                                      .build_id_size = 3,
                                      .build_id = {0xab, 0, 0x7f},
                                      .symbol_count = 2,
                                      .symbols = {{0x1000, "_text"}, {0x2000, "do.cold"}}},
                                 got;
    struct writer w = writer_make(false);
    perfdata_kernel_facts_encode(&f, &w);
    perfdata_kernel_facts_decode(writer_bytes(&w), &got);
    assert_memory_equal(&got, &f, sizeof f);
    writer_clear(&w);
    perfdata_kernel_facts_encode(&(struct perfdata_kernel_facts){0}, &w);
    perfdata_kernel_facts_decode(writer_bytes(&w), &got);
    assert_true(got.start == 0 && got.build_id_size == 0 && got.symbol_count == 0 && !*got.boot_id);
    writer_fini(&w);
}

static void test_hostile(void **state) {
    (void)state;
    struct perfdata_kernel_facts f;
    char many[64 * 20] = "";
    for (int i = 0; i < 64; i++)
        strcat(many, "symbol\t1\tx\n");
    perfdata_kernel_facts_decode(text(many), &f);
    assert_int_equal(f.symbol_count, PERFDATA_KERNEL_SYMBOLS);
    perfdata_kernel_facts_decode(
        text("\n\t\nboot\t0123456789012345678901234567890123456789\nkernel\t1\nkernel\tx\t2\t-\n"
             "kernel\t1\t2\tabababababababababababababababababababababab\nsymbol\t\tx\nsymbol\t1z\tx\nsymbol"
             "\t7\n"
             "what\t1\nsymbol\t7\tlast"),
        &f);
    assert_true(!*f.boot_id && f.start == 0 && f.build_id_size == 0);
    assert_int_equal(f.symbol_count, 1);
    assert_string_equal(f.symbols[0].name, "last");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
