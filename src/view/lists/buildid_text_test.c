/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/lists/buildid_text.h"

#define TEXT(s) ((struct bytes){(const uint8_t *)(s), strlen(s)})

static void assert_list(bool unique, const char *want) {
    static const struct perfdata_feature_build_id FEATURE[] = {
        {.pid = -1, .id = {1, 2}, .id_size = 2, .name = {(const uint8_t *)"/b\0\0", 4}},
        {.pid = -1, .id = {3}, .id_size = 20, .name = {(const uint8_t *)"[kernel]", 8}},
    };
    const struct perfdata_feature_build_ids ids = {(struct perfdata_feature_build_id *)FEATURE, 2};
    struct buildid_list list = {0};
    assert_true(buildid_list_push(&list, TEXT("\xff"), TEXT("/guest"), 77));
    assert_true(buildid_list_push(&list, TEXT(""), TEXT("/b/longer"), -1));
    assert_true(buildid_list_push(&list, TEXT("\x99"), TEXT("/b"), -1));
    assert_true(buildid_list_add(&list, &ids));
    assert_true(buildid_list_push(&list, TEXT("\x01"), TEXT("/zero"), 0));
    buildid_list_sort(&list, unique);
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    buildid_text_write(&list, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
    buildid_list_fini(&list);
}

#define BLANK36 "                                    "

static void test_lists(void **state) {
    (void)state;
    assert_list(false, "99" BLANK36 "   /b\n"
                       "0102" BLANK36 " /b\n"
                       "    " BLANK36 " /b/longer\n"
                       "0300000000000000000000000000000000000000 [kernel]\n"
                       "01" BLANK36 "   /zero\n"
                       "ff" BLANK36 "   /guest\n");
    assert_list(true, "0102" BLANK36 " /b\n"
                      "    " BLANK36 " /b/longer\n"
                      "0300000000000000000000000000000000000000 [kernel]\n"
                      "01" BLANK36 "   /zero\n"
                      "ff" BLANK36 "   /guest\n");
}

static void test_empty(void **state) {
    (void)state;
    struct buildid_list list = {0};
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    buildid_list_sort(&list, true);
    buildid_text_write(&list, &o);
    assert_string_equal(out_text(&o), "");
    out_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
