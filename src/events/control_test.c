/* SPDX-License-Identifier: Apache-2.0 */
#include "events/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Feeds a text in pieces of `step` bytes; the commands that come out. */
static size_t feed(const char *text, size_t step, enum perf_command *out, char *last_name) {
    struct perf_control c = {0};
    size_t count = 0, len = strlen(text);
    for (size_t at = 0, taken; at < len; at += taken) {
        size_t n = len - at < step ? len - at : step;
        enum perf_command command = perf_control_take(&c, text + at, n, &taken);
        if (command == PERF_COMMAND_NONE)
            continue;
        out[count++] = command;
        strcpy(last_name, c.name);
    }
    return count;
}

static void lines_in_pieces(void **state) {
    (void)state;
    enum perf_command got[8];
    char name[256];
    for (size_t step = 1; step < 40; step++) {
        assert_int_equal(
            feed("enable\nping\nstopp\nstop x\nstop\nsnapshot\ndisable  sched:a b", step, got, name), 6);
        const enum perf_command want[] = {PERF_COMMAND_ENABLE,  PERF_COMMAND_PING, PERF_COMMAND_UNKNOWN,
                                          PERF_COMMAND_UNKNOWN, PERF_COMMAND_STOP, PERF_COMMAND_SNAPSHOT};
        assert_memory_equal(got, want, sizeof want);
        assert_int_equal(feed("disable  sched:a\n", step, got, name), 1);
        assert_int_equal(got[0], PERF_COMMAND_DISABLE);
        assert_string_equal(name, "sched:a");
    }
}

static void overlong(void **state) {
    (void)state;
    enum perf_command got[8];
    char text[1000], name[256];
    memset(text, 'x', sizeof text);
    memcpy(text, "enable ", 7);
    strcpy(text + 900, "\nping\n");
    assert_int_equal(feed(text, 100, got, name), 2);
    assert_int_equal(got[0], PERF_COMMAND_UNKNOWN);
    assert_int_equal(got[1], PERF_COMMAND_PING);
}

static void lists(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    const struct perfdata_attr freq = {.sample_period = 4000, .flags = PERFDATA_ATTR_FREQ};
    const struct perfdata_attr period = {.sample_period = 4000};
    const struct perf_control_event events[] = {
        {"one", &freq, 2}, {"two", &period, 0}, {"dummy:HG", &period, 1}};
    static const struct {
        const char *how, *text;
    } WANT[] = {{"", "one\ntwo\ndummy:HG\n"},
                {"-g", "{one,two}\ndummy:HG\n"},
                {"-F", "one: sample_freq=4000\ntwo: sample_period=4000\ndummy:HG: sample_period=4000\n"}};
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        writer_clear(&w);
        assert_true(perf_control_list(events, 3, WANT[i].how, &w));
        writer_u8(&w, 0);
        assert_string_equal((char *)w.data, WANT[i].text);
    }
    writer_clear(&w);
    assert_true(perf_control_list(events, 3, "-v", &w));
    writer_u8(&w, 0);
    assert_non_null(strstr((char *)w.data, "sample_type: 0x0"));
    assert_false(perf_control_list(events, 3, "-x", &w));
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(lines_in_pieces),
                                       cmocka_unit_test(overlong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
