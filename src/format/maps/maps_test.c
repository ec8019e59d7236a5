/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/maps/maps.h"

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void test_lines(void **state) {
    (void)state;
    struct bytes rest =
        span("55f0a0-55f0b0 r-xp 00002000 fe:1f 248139                     /usr/bin/my prog (deleted)\n"
             "7f0-800 rw-s 00000000 00:01 1024 /memfd:a\\012b (deleted)\n"
             "garbage\n"
             "900-800 r-xp 0 00:00 0 \n"
             "a00-b00 rwxp 00000000 00:00 0 \n"
             "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
             "c00-d00 r-xp 00000000 00:00 0 /cut");
    struct maps_entry e;
    char name[64];
    assert_true(maps_next(&rest, &e));
    assert_true(e.start == 0x55f0a0 && e.end == 0x55f0b0 && e.offset == 0x2000);
    assert_true(e.maj == 0xfe && e.min == 0x1f && e.ino == 248139);
    assert_true(e.read && !e.write && e.execute && !e.shared);
    assert_true(bytes_equal(e.name, span("/usr/bin/my prog (deleted)")));
    assert_true(maps_next(&rest, &e));
    assert_true(e.write && e.shared && !e.execute);
    maps_name(&e, name, sizeof name);
    assert_string_equal(name, "/memfd:a\nb (deleted)");
    maps_name(&e, name, 5);
    assert_string_equal(name, "/mem");
    assert_true(maps_next(&rest, &e));
    assert_true(e.start == 0xa00 && e.name.size == 0);
    assert_true(maps_next(&rest, &e));
    assert_true(e.start == 0xffffffffff600000 && !e.read && e.execute);
    assert_true(bytes_equal(e.name, span("[vsyscall]")));
    assert_false(maps_next(&rest, &e));
}

/* Every cut of a line, and every byte of it replaced, ends without reading beyond it (sanitizers watch). */
static void test_damage(void **state) {
    (void)state;
    static const char LINE[] = "55f0a0-55f0b0 r-xp 00002000 fe:1f 248139  /usr/bin/x\n";
    char text[sizeof LINE];
    struct maps_entry e;
    for (size_t n = 0; n < sizeof LINE; n++) {
        memcpy(text, LINE, sizeof LINE);
        text[n] = n % 2 ? '-' : 'g';
        struct bytes all = {(const uint8_t *)text, sizeof LINE - 1}, cut = {(const uint8_t *)LINE, n};
        while (maps_next(&all, &e))
            assert_true(e.start < e.end);
        assert_int_equal(maps_next(&cut, &e), n == sizeof LINE - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
