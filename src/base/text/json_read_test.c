/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/json_read.h"

static struct json_reader reader(const char *text) {
    return json_reader_make((struct bytes){(const uint8_t *)text, strlen(text)});
}

static void test_members_and_elements(void **state) {
    struct json_reader r =
        reader(" { \"a\" : [1, [2],null ,{}] , \"b\":{\"c\":[]}, \"d\": 18446744073709551615 } ");
    struct bytes key;
    (void)state;
    json_enter(&r, '{');
    assert_true(json_member(&r, &key) && key.size == 1 && *key.data == 'a');
    json_enter(&r, '[');
    assert_true(json_element(&r));
    assert_int_equal(json_read_number(&r), 1);
    assert_true(json_element(&r));
    json_skip(&r);
    assert_true(json_element(&r));
    assert_int_equal(json_read_number_or(&r, 7), 7);
    assert_true(json_element(&r));
    json_skip(&r);
    assert_false(json_element(&r));
    assert_true(json_member(&r, &key) && *key.data == 'b');
    json_skip(&r);
    assert_true(json_member(&r, &key) && *key.data == 'd');
    assert_true(json_read_number(&r) == UINT64_MAX);
    assert_false(json_member(&r, &key));
    assert_false(r.failed);
}

static void test_texts(void **state) {
    static const char *const cases[][2] = {{"\"plain\"", "plain"},
                                           {"\"\\\"\\\\\\/\\n\"", "\"\\/\n"},
                                           {"\"\\u00e9\\u20ac\"", "é€"},
                                           {"\"\\ud83d\\ude00!\"", "😀!"},
                                           {"\"\\ud83d.\"", "\xef\xbf\xbd."},
                                           {"\"a\\u0000b\"", "a"},
                                           {"\"\\uzz\"", "zz"},
                                           {"\"\"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_reader r = reader(cases[i][0]);
        struct out out;
        assert_true(out_init(&out, NULL, NULL));
        json_read_text(&r, &out);
        assert_false(r.failed);
        assert_string_equal(out_text(&out), cases[i][1]);
        out_fini(&out);
    }
}

static void test_damage_ends_everything(void **state) {
    static const char *const broken[] = {
        "{", "[1 2]", "[18446744073709551616]", "[1.5]", "[\"a]", "[-1]", "[,]", "{\"a\" 1}", "[nul]"};
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct json_reader r = reader(broken[i]);
        struct bytes key;
        json_enter(&r, *broken[i]);
        while (*broken[i] == '{' ? json_member(&r, &key) : json_element(&r))
            json_read_number_or(&r, 0);
        assert_true(r.failed || *broken[i] == '{');
    }
    char deep[200];
    memset(deep, '[', sizeof deep);
    struct json_reader r = json_reader_make((struct bytes){(uint8_t *)deep, sizeof deep});
    json_skip(&r);
    assert_true(r.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_and_elements),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_damage_ends_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
