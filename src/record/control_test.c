/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Feeds a text in pieces of `step` bytes; the commands that come out. */
static size_t feed(const char *text, size_t step, enum record_command *out, char *last_name) {
    struct record_control c = {0};
    size_t count = 0, len = strlen(text);
    for (size_t at = 0, taken; at < len; at += taken) {
        size_t n = len - at < step ? len - at : step;
        enum record_command command = record_control_take(&c, text + at, n, &taken);
        if (command == RECORD_COMMAND_NONE)
            continue;
        out[count++] = command;
        strcpy(last_name, c.name);
    }
    return count;
}

static void lines_in_pieces(void **state) {
    (void)state;
    enum record_command got[8];
    char name[256];
    for (size_t step = 1; step < 40; step++) {
        assert_int_equal(
            feed("enable\nping\nstopp\nstop x\nstop\nsnapshot\ndisable  sched:a b", step, got, name), 6);
        const enum record_command want[] = {RECORD_COMMAND_ENABLE,  RECORD_COMMAND_PING,
                                            RECORD_COMMAND_UNKNOWN, RECORD_COMMAND_UNKNOWN,
                                            RECORD_COMMAND_STOP,    RECORD_COMMAND_UNKNOWN};
        assert_memory_equal(got, want, sizeof want);
        assert_int_equal(feed("disable  sched:a\n", step, got, name), 1);
        assert_int_equal(got[0], RECORD_COMMAND_DISABLE);
        assert_string_equal(name, "sched:a");
    }
}

static void overlong(void **state) {
    (void)state;
    enum record_command got[8];
    char text[1000], name[256];
    memset(text, 'x', sizeof text);
    memcpy(text, "enable ", 7);
    strcpy(text + 900, "\nping\n");
    assert_int_equal(feed(text, 100, got, name), 2);
    assert_int_equal(got[0], RECORD_COMMAND_UNKNOWN);
    assert_int_equal(got[1], RECORD_COMMAND_PING);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_in_pieces), cmocka_unit_test(overlong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
