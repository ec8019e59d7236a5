/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "profile/profile_test_session.h"
#include "view/top/top_text.h"

static const struct top_counts counts = {
    .seconds = 2, .samples = 16000, .kernel = 4000, .exact = 0, .lost = 3, .lost_ever = 7, .own = 0.0125};

static void test_counts(void **state) {
    (void)state;
    static const struct {
        struct top_source source;
        const char *end;
    } cases[] = {
        {{.event = "cycles", .freq_hz = 4000, .cpu_count = 2}, "[4000Hz cycles],  (all, 2 CPUs)"},
        {{.event = "cycles", .period = 100000, .cpu_count = 1}, "[100000 cycles],  (all, 1 CPU)"},
        {{.event = "faults", .pids = "1,2", .cpu_count = 2}, "[faults],  (target_pid: 1,2)"},
        {{.event = "faults", .tids = "3", .cpu_count = 2}, "[faults],  (target_tid: 3)"},
        {{.event = "faults", .user = "1000", .cpu_count = 2}, "[faults],  (uid: 1000, 2 CPUs)"},
        {{.event = "faults", .cpus = "1", .cpu_count = 2}, "[faults],  (all, CPU: 1)"},
        {{.event = "faults", .cpus = "0-1", .cpu_count = 2}, "[faults],  (all, CPUs: 0-1)"},
    };
    char expected[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct out out;
        assert_true(out_init(&out, NULL, NULL));
        top_text_counts(&counts, &cases[i].source, &out);
        snprintf(expected, sizeof expected,
                 "   PerfTop:    8000 irqs/sec  kernel:25.0%%  exact:  0.0%% lost: 3/7 drop: 0/0 %s, "
                 "sonde: 1.2%% of a CPU",
                 cases[i].end);
        assert_string_equal(out_text(&out), expected);
        out_fini(&out);
    }
    struct out cut;
    struct top_counts many = counts;
    many.stacks = 4000, many.stacks_cut = 12;
    assert_true(out_init(&cut, NULL, NULL));
    top_text_counts(&many, &cases[0].source, &cut);
    assert_non_null(strstr(out_text(&cut), "of a CPU, 12 of 4000 stacks cut: too many to unwind"));
    out_fini(&cut);
    struct out out; /* before anything came */
    assert_true(out_init(&out, NULL, NULL));
    top_text_counts(&(struct top_counts){.seconds = 0}, &cases[0].source, &out);
    assert_non_null(strstr(out_text(&out), "       0 irqs/sec  kernel: 0.0%  exact:  0.0%"));
    out_fini(&out);
}

static unsigned lines_of(const char *text, size_t *widest) {
    unsigned n = 1;
    size_t width = 0;
    *widest = 0;
    for (; *text; text++) {
        n += *text == '\n';
        width = *text == '\n' ? 0 : width + 1;
        *widest = width > *widest ? width : *widest;
    }
    return n;
}

/* What is printed fits on the screen. */
static void test_screens(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    session_start(&s);
    for (unsigned f = 0; f < FUNCTIONS; f++)
        for (unsigned i = 0; i <= f; i++)
            put_sample(&s, &(struct test_sample){
                               .tid = 7, .period = 10, .time_ns = 2 + f, .depth = 1, .chain = {f}});
    session_run(&s, (struct profile_options){.relative = true},
                (struct profile_column_options){.sort = "sym"});
    const struct report_text_options o = {
        .columns = &s.columns, .events = s.input.events, .program = "sonde", .socket = -1};
    const struct top_source source = {.event = "cycles", .freq_hz = 4000, .cpu_count = 2};
    static const struct {
        struct top_screen screen;
        unsigned rows;
    } cases[] = {
        {{.rows = 24, .cols = 80}, FUNCTIONS},
        {{.rows = 6, .cols = 200}, 3},
        {{.rows = 24, .cols = 80, .entries = 2}, 2},
        {{.rows = 0, .cols = 0}, FUNCTIONS},
        {{.rows = 1, .cols = 20}, 1},
        {{.rows = 0, .cols = 0, .entries = 4}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct out out;
        size_t widest;
        assert_true(out_init(&out, NULL, NULL));
        assert_true(top_text_print(s.profile, &o, &counts, &source, &cases[i].screen, &out, &err));
        const char *text = out_text(&out);
        unsigned lines = lines_of(text, &widest), rows = 0;
        for (const char *at = text; (at = strstr(at, "[k] ")); at++)
            rows++;
        assert_int_equal(cases[i].screen.cols == 20 ? cases[i].rows : rows, cases[i].rows);
        if (cases[i].screen.cols)
            assert_true(widest <= cases[i].screen.cols);
        if (cases[i].screen.rows > 4)
            assert_true(lines <= cases[i].screen.rows);
        assert_int_equal(strncmp(text, "   PerfTop: ", 12), 0);
        out_fini(&out);
    }
    session_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_screens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
