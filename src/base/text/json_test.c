/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/text/json.h"

static void test_nesting(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    struct json j = {.out = &o};
    json_open(&j, NULL, '{');
    json_open(&j, "a", '[');
    json_number(&j, NULL, UINT64_MAX);
    json_open(&j, NULL, '{');
    json_close(&j, '}');
    json_open(&j, NULL, '{');
    json_int(&j, "b", INT64_MIN);
    json_null(&j, "c");
    json_close(&j, '}');
    json_close(&j, ']');
    json_bool(&j, "d", true);
    json_bool(&j, "e", false);
    json_hex(&j, "f", 0xfffff);
    json_digits(&j, "g", (const uint8_t *)"\x01\xab", 2);
    json_open(&j, "h", '[');
    json_close(&j, ']');
    json_bytes(&j, "i", NULL, 0);
    json_real(&j, "j", 0.1);
    json_real(&j, "k", 1.0 / 3);
    json_real(&j, "l", -1e300);
    json_real(&j, "m", 1.0 / 0.0);
    json_real(&j, "n", 12);
    json_close(&j, '}');
    json_open(&j, NULL, '['); /* a second value is a second line */
    json_text(&j, NULL, "x");
    json_close(&j, ']');
    assert_string_equal(
        out_text(&o), "{\"a\":[18446744073709551615,{},{\"b\":-9223372036854775808,\"c\":null}],"
                      "\"d\":true,\"e\":false,\"f\":\"0xfffff\",\"g\":\"01ab\",\"h\":[],\"i\":\"\",\"j\":0.1,"
                      "\"k\":0.3333333333333333,\"l\":-1e+300,\"m\":null,\"n\":12}\n"
                      "[\"x\"]\n");
    out_fini(&o);
}

static void test_escapes(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    struct json j = {.out = &o};
    static const char text[] = "a\"\\\n\xc3\xa9\xff\xc0\xaf\xed\xa0\x80";
    json_open(&j, NULL, '{');
    json_bytes(&j, "plain \"key\"\t", text, sizeof text - 1);
    json_bytes(&j, "n", "a\0\x1f\x7f~", 5);
    json_bytes(&j, "cut", "\xf0\x9f\x90", 3);
    json_text(&j, "whole", "\b\f\r\xf0\x9f\x90\x9d.");
    json_close(&j, '}');
#define BAD "\xef\xbf\xbd"
    assert_string_equal(out_text(&o),
                        "{\"plain \\\"key\\\"\\t\":\"a\\\"\\\\\\n\xc3\xa9" BAD BAD BAD BAD BAD BAD
                        "\",\"n\":\"a\\u0000\\u001f\\u007f~\",\"cut\":\"" BAD BAD BAD
                        "\",\"whole\":\"\\b\\f\\r\xf0\x9f\x90\x9d.\"}\n");
    out_fini(&o);
}

/* Every byte at every place of short texts: they are checked several bytes at a time. */
static void test_each_place(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    for (size_t n = 1; n <= 25; n++)
        for (size_t at = 0; at < n; at++)
            for (unsigned c = 1; c < 256; c++) {
                char text[32] = {0}, want[64];
                bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
                struct json j = {.out = &o, .depth = 1};
                memset(text, 'x', n);
                text[at] = (char)c;
                snprintf(want, sizeof want, "\"%s\"", text);
                o.len = 0;
                json_text(&j, NULL, text);
                assert_true((strcmp(out_text(&o), want) == 0) == plain);
            }
    out_fini(&o);
}

/* Texts and depths beyond the room of a sink that hands its bytes on. */
static bool count_writes(void *ctx, const char *p, size_t n) {
    (void)p;
    *(size_t *)ctx += n;
    return true;
}

static void test_large(void **state) {
    (void)state;
    enum { DEPTH = 300000 };
    static char text[100000];
    struct out o;
    size_t total = 0;
    assert_true(out_init(&o, count_writes, &total));
    struct json j = {.out = &o};
    memset(text, 'x', sizeof text);
    text[70000] = '\n';
    for (int i = 0; i < DEPTH; i++)
        json_open(&j, NULL, '[');
    json_bytes(&j, NULL, text, sizeof text);
    for (int i = 0; i < DEPTH; i++)
        json_close(&j, ']');
    assert_true(out_flush(&o));
    assert_int_equal(total, 2 * DEPTH + sizeof text + 1 + 2 + 1);
    assert_int_equal(j.depth, 0);
    out_fini(&o);
}

static void test_tabs(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    struct json j = {.out = &o, .tabs = true};
    json_open(&j, NULL, '{');
    json_number(&j, "a", 1);
    json_open(&j, "b", '[');
    json_text(&j, NULL, "x");
    json_open(&j, NULL, '[');
    json_close(&j, ']');
    json_close(&j, ']');
    json_close(&j, '}');
    assert_string_equal(out_text(&o), "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t\"x\",\n\t\t[\n\t\t]\n\t]\n}\n");
    o.len = 0;
    j.flush = 1;
    json_open(&j, NULL, '[');
    for (uint64_t i = 1; i < 3; i++) {
        json_open(&j, NULL, '{');
        json_number(&j, "c", i);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    assert_string_equal(out_text(&o), "[\n{\n\t\"c\": 1\n},\n{\n\t\"c\": 2\n}\n]\n");
    out_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting), cmocka_unit_test(test_escapes), cmocka_unit_test(test_each_place),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_tabs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
