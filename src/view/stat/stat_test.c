/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stat/stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "format/perfdata/abi.h"

enum { EVENTS = 5 };

/* Two seconds of a CPU's time, some of it shared; the last event is one that this machine lacks. */
static const struct count_event LIST[EVENTS] = {
    {"task-clock", "msec", NULL, 1e-6, PERFDATA_TYPE_SOFTWARE, 1, false, true, 0},
    {"cycles", "", NULL, 1, PERFDATA_TYPE_HARDWARE, 0, false, false, 1},
    {"instructions", "", NULL, 1, PERFDATA_TYPE_HARDWARE, 1, false, false, 2},
    {"power/energy-pkg/", "Joules", NULL, 0.5, 30, 2, false, false, 3},
    {"LLC-loads", "", NULL, 1, PERFDATA_TYPE_HW_CACHE, 2, false, false, 4},
};

static struct counts make(enum count_level level, const char *first, const char *second) {
    struct counts c = {
        .level = level, .events = LIST, .event_count = EVENTS, .elapsed_ns = 4e9, .user_ns = 1.5e9};
    const char *const texts[] = {first, second};
    size_t keys = second ? 2 : 1;
    c.cells = calloc(keys * EVENTS, sizeof *c.cells);
    for (size_t k = 0; k < keys; k++) {
        struct count_cell *cell = &c.cells[k * EVENTS];
        vec_push(&c.keys)->text = texts[k];
        cell[0] = (struct count_cell){COUNT_COUNTED, 2, 2e9, 2e9, 2e9, 0};
        cell[1] = (struct count_cell){COUNT_COUNTED, 2, 5e9, 2e9, 1e9, 0};
        cell[2] = (struct count_cell){COUNT_COUNTED, 2, 1234567890, 2e9, 2e9, 1.5};
        cell[3] = (struct count_cell){COUNT_NOT_COUNTED, 2, 0, 0, 0, 0};
        cell[4] = (struct count_cell){COUNT_NOT_SUPPORTED, 0, 0, 0, 0, 0};
    }
    return c;
}

static void check(const struct stat_view *v, struct counts c, bool sums, const char *want) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    stat_print_rows(v, &c, sums, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
    counts_fini(&c);
}

static void text(void **state) {
    const struct stat_view seven = {.columns = &STAT_COLUMNS_7, .thousands = "", .runs = 1};
    const struct stat_view six = {.columns = &STAT_COLUMNS_6, .thousands = ",", .runs = 2};
    (void)state;
    check(
        &seven, make(COUNT_ALL, "", NULL), false,
        "           2000.00 msec   task-clock                       #    0.500 CPUs utilized             \n"
        "        5000000000        cycles                           #    2.500 GHz                         "
        "(50.00%)\n"
        "        1234567890        instructions                     #    0.25  insn per cycle            \n"
        "     <not counted> Joules power/energy-pkg/                                                     \n"
        "   <not supported>        LLC-loads                                                             \n");
    check(&six, make(COUNT_ALL, "", NULL), false,
          "          2,000.00 msec   task-clock                       #    0.500 CPUs utilized          \n"
          "     5,000,000,000        cycles                           #    2.500 GHz                      "
          "(50.00%)\n"
          "     1,234,567,890        instructions                     #    0.25  insn per cycle           ( "
          "+-  1.50% )\n"
          "     <not counted> Joules power/energy-pkg/                                                  \n"
          "   <not supported>        LLC-loads                                                          \n");
}

static void keys(void **state) {
    const struct stat_view v = {.columns = &STAT_COLUMNS_7, .thousands = "", .runs = 1, .intervals = true};
    struct counts c = make(COUNT_CORE, "S0-D0-C0", NULL);
    (void)state;
    c.event_count = 1;
    c.time_ns = 1.5e9;
    check(&v, c, false,
          "     1.500000000 S0-D0-C0              2            2000.00 msec task-clock                       "
          "#    0.500 CPUs utilized             \n");
    c = make(COUNT_THREAD, "a-b-77", NULL);
    c.event_count = 1;
    check(&v, c, true,
          "             a-b-77                 2000.00 msec task-clock                       "
          "#    0.500 CPUs utilized             \n");
}

static void csv(void **state) {
    const struct stat_view v = {.form = STAT_CSV, .separator = ",", .columns = &STAT_COLUMNS_7, .runs = 1};
    const struct stat_view sums = {.form = STAT_CSV,
                                   .separator = ";",
                                   .columns = &STAT_COLUMNS_7,
                                   .intervals = true,
                                   .csv_summary = true,
                                   .runs = 2};
    struct counts c = make(COUNT_SOCKET, "S0", NULL);
    (void)state;
    check(&v, make(COUNT_ALL, "", NULL), false,
          "2000.00,msec,task-clock,2000000000,100.00,0.500,CPUs utilized\n"
          "5000000000,,cycles,1000000000,50.00,2.500,GHz\n"
          "1234567890,,instructions,2000000000,100.00,0.25,insn per cycle\n"
          "<not counted>,Joules,power/energy-pkg/,0,100.00,,\n"
          "<not supported>,,LLC-loads,0,100.00,,\n");
    c.event_count = 1;
    check(&sums, c, true,
          "summary;S0;2;2000.00;msec;task-clock;0.00%;2000000000;100.00;0.500;CPUs utilized\n");
}

static void json(void **state) {
    const struct stat_view v = {.form = STAT_JSON, .columns = &STAT_COLUMNS_7, .runs = 1, .intervals = true};
    const struct stat_view six = {.form = STAT_JSON, .columns = &STAT_COLUMNS_6, .runs = 2};
    struct counts c = make(COUNT_CPU, "CPU3", NULL);
    (void)state;
    c.event_count = 1;
    c.time_ns = 5e8;
    check(&v, c, false,
          "{\"interval\" : 0.500000000, \"cpu\" : \"3\", \"counter-value\" : \"2000.000000\", \"unit\" : "
          "\"msec\", "
          "\"event\" : \"task-clock\", \"event-runtime\" : 2000000000, \"pcnt-running\" : 100.00, "
          "\"metric-value\" : \"0.500000\", \"metric-unit\" : \"CPUs utilized\"}\n");
    c = make(COUNT_DIE, "S0-D1", NULL);
    c.event_count = 1;
    check(
        &six, c, false,
        "{\"die\" : \"S0-D1\", \"aggregate-number\" : 2, \"counter-value\" : \"2000.000000\", \"unit\" : "
        "\"msec\", "
        "\"event\" : \"task-clock\", \"variance\" : 0.00, \"event-runtime\" : 2000000000, \"pcnt-running\" : "
        "100.00, \"metric-value\" : 0.500000, \"metric-unit\" : \"CPUs utilized\"}\n");
}

/* Metrics instead of rates; one of them has no value. */
static void metrics(void **state) {
    static const struct metric IPC = {"ipc", "", "instructions / cycles", "1insn", ""};
    static const struct metric NONE = {"none", "", "LLC / cycles", "100%", ""};
    struct metric_set set = {0};
    struct stat_view v = {
        .columns = &STAT_COLUMNS_7, .thousands = "", .metrics = &set, .runs = 1, .metric_only = true};
    (void)state;
    struct metric_use *u = metric_set_add(&set, &IPC, NULL);
    u->events.items[0] = u->shown_at = 2;
    u->events.items[1] = 1;
    u = metric_set_add(&set, &NONE, NULL);
    u->events.items[0] = u->shown_at = 4;
    u->events.items[1] = 1;
    check(&v, make(COUNT_CPU, "CPU0", "CPU1"), false,
          "                  insn  ipc              %  none \n"
          "CPU0                    0.2                      \n"
          "CPU1                    0.2                      \n");
    v.form = STAT_JSON;
    check(&v, make(COUNT_ALL, "", NULL), false, "{\"insn  ipc\" : \"0.2\", \"%  none\" : \"\"}\n");
    v.form = STAT_CSV;
    v.separator = ",";
    check(&v, make(COUNT_ALL, "", NULL), false, "insn  ipc,%  none,\n0.2,,\n");
    v.metric_only = false;
    check(&v, make(COUNT_ALL, "", NULL), false,
          "2000.00,msec,task-clock,2000000000,100.00,,\n"
          "5000000000,,cycles,1000000000,50.00,,\n"
          "1234567890,,instructions,2000000000,100.00,0.2,insn  ipc\n"
          "<not counted>,Joules,power/energy-pkg/,0,100.00,,\n"
          "<not supported>,,LLC-loads,0,100.00,,\n");
    metric_set_fini(&set);
}

static void times(void **state) {
    static const double RUNS[] = {1e9, 1.2e9};
    struct counts c = make(COUNT_ALL, "", NULL);
    struct stat_times t = {RUNS, 1, false, true};
    struct stat_view v = {.columns = &STAT_COLUMNS_7, .runs = 2};
    struct out o;
    (void)state;
    assert_true(out_init(&o, NULL, NULL));
    stat_print_title(&v, "'true'", &o);
    stat_print_times(&v, &c, &t, &o);
    assert_string_equal(out_text(&o),
                        "\n Performance counter stats for 'true' (2 runs):\n\n"
                        "\n       4.000000000 seconds time elapsed\n\n"
                        "       1.500000000 seconds user\n       0.000000000 seconds sys\n\n\n");
    out_fini(&o);
    assert_true(out_init(&o, NULL, NULL));
    t = (struct stat_times){RUNS, 2, true, true};
    stat_print_times(&v, &c, &t, &o);
    assert_string_equal(out_text(&o),
                        "\n       # Table of individual measurements:\n"
                        "       1.000000000 (-0.100000000) ###\n"
                        "       1.200000000 (+0.100000000) ##\n\n"
                        "       # Final result:\n"
                        "       1.100000000 +- 0.100000000 seconds time elapsed  ( +-  9.09% )\n\n");
    out_fini(&o);
    counts_fini(&c);
}

static void headings(void **state) {
    struct stat_view v = {.columns = &STAT_COLUMNS_7, .runs = 1, .intervals = true};
    static const struct {
        enum count_level level;
        const char *text;
    } CASES[] = {
        {COUNT_ALL, "#           time             counts unit events\n"},
        {COUNT_CPU, "#           time cpu                counts unit events\n"},
        {COUNT_CORE, "#           time core               ctrs             counts unit events\n"},
        {COUNT_SOCKET, "#           time socket ctrs             counts unit events\n"},
        {COUNT_THREAD, "#           time             comm-pid                 counts unit events\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct counts c = make(CASES[i].level, "x", NULL);
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        stat_print_interval_heading(&v, &c, &o);
        assert_string_equal(out_text(&o), CASES[i].text);
        out_fini(&o);
        counts_fini(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),    cmocka_unit_test(keys),  cmocka_unit_test(csv),     cmocka_unit_test(json),
        cmocka_unit_test(metrics), cmocka_unit_test(times), cmocka_unit_test(headings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
