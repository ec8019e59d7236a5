/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record/record_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t pages; /* 0: an error */
    } cases[] = {{"1", 1},       {"128", 128}, {"100", 128},    {"512K", 128},
                 {"4M", 1024},   {"1B", 1},    {"5000B", 2},    {"0", 0},
                 {"", 0},        {"12X", 0},   {"4M,8M", 1024}, {"4M,", 0},
                 {"4M,8M,1", 0}, {",x", 0},    {"-1", 0},       {"99999999999999G", 0}};
    struct err e;
    uint64_t n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(record_args_pages(cases[i].text, 4096, &n, &e), cases[i].pages != 0);
        if (cases[i].pages)
            assert_int_equal(n, cases[i].pages);
    }
    assert_true(record_args_pages(",8", 4096, &n, &e));
    assert_int_equal(n, 0);
    assert_true(record_args_bytes("3k", &n, &e));
    assert_int_equal(n, 3072);
    assert_true(record_args_bytes("2G", &n, &e));
    assert_int_equal(n, 2ull << 30);
    assert_false(record_args_bytes("10", &n, &e)); /* perf wants a unit, too */
    assert_false(record_args_bytes("99999999999G", &n, &e));
}

static void callgraphs(void **state) {
    (void)state;
    struct err e;
    struct record_options o = {0};
    assert_true(record_args_callgraph("fp,32", &o, &e));
    assert_int_equal(o.callgraph, RECORD_CALLGRAPH_FP);
    assert_int_equal(o.max_stack, 32);
    assert_false(o.defer_callchain);
    assert_true(record_args_callgraph("fp,defer", &o, &e));
    assert_true(o.defer_callchain);
    o = (struct record_options){0};
    assert_true(record_args_callgraph("fp,16,defer", &o, &e));
    assert_true(o.defer_callchain && o.max_stack == 16);
    assert_true(record_args_callgraph("dwarf,1024", &o, &e));
    assert_int_equal(o.callgraph, RECORD_CALLGRAPH_DWARF);
    assert_int_equal(o.stack_bytes, 1024);
    assert_true(record_args_callgraph("lbr", &o, &e));
    static const char *const bad[] = {"", "fpx", "dwarf,x", "dwarf,70000", "dwarf,0", "lbr,1", "fp,no"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(record_args_callgraph(bad[i], &o, &e));
}

static void words(void **state) {
    (void)state;
    struct err e;
    uint64_t bits;
    int32_t clock;
    assert_true(record_args_branches("any_call,u,save_type", &bits, &e));
    assert_int_equal(bits, 1 << 4 | 1 << 0 | 1 << 16);
    assert_true(record_args_branches("k", &bits, &e));
    assert_int_equal(bits, 1 << 1 | 1 << 3); /* levels alone mean any branch there */
    assert_false(record_args_branches("any,", &bits, &e));
    assert_false(record_args_branches("anyx", &bits, &e));
    assert_false(record_args_registers("no_such", &bits, &e));
    assert_false(record_args_registers("?", &bits, &e));
    assert_non_null(strstr(e.message, "sp"));
    assert_true(record_args_clock("CLOCK_MONOTONIC_RAW", &clock, &e));
    assert_int_equal(clock, CLOCK_MONOTONIC_RAW);
    assert_true(record_args_clock("boot", &clock, &e));
    assert_int_equal(clock, CLOCK_BOOTTIME);
    assert_true(record_args_clock("11", &clock, &e));
    assert_int_equal(clock, 11);
    assert_false(record_args_clock("sundial", &clock, &e));
}

static void delays(void **state) {
    (void)state;
    static const char *const BAD[] = {"soon",        "",      "5-",    "-5", "20-10", "10-20,",
                                      "10-20,15-30", "1-2,3", "10-20x"};
    struct record_options o = {0};
    struct err e = ERR_INIT;
    assert_true(record_args_delay("-1", &o, &e));
    assert_int_equal(o.delay_ms, -1);
    assert_true(record_args_delay("250", &o, &e));
    assert_true(o.delay_ms == 250 && o.range_count == 0);
    assert_true(record_args_delay("10-20,30-40", &o, &e));
    assert_true(o.delay_ms == 10 && o.range_count == 2);
    assert_true(o.ranges[0].end_ms == 20 && o.ranges[1].start_ms == 30 && o.ranges[1].end_ms == 40);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(record_args_delay(BAD[i], &o, &e));
}

static void switches(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes, ms;
    } WANT[] = {{"signal", 0, 0},   {"10M", 10 << 20, 0},       {"5s", 0, 5000}, {"2m", 0, 120000},
                {"1h", 0, 3600000}, {"3d", 0, 3 * 86400000ull}, {"100B", 100, 0}};
    static const char *const BAD[] = {"", "0s", "5x", "s", "often", "1.5G"};
    struct record_options o = {0};
    struct err e = ERR_INIT;
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        assert_true(record_args_switch(WANT[i].text, &o, &e));
        assert_true(o.switch_bytes == WANT[i].bytes && o.switch_ms == WANT[i].ms);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(record_args_switch(BAD[i], &o, &e));
}

static void synth(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool tasks, mappings, cgroups;
    } WANT[] = {{"no", false, false, false},        {"task", true, false, false},
                {"mmap", true, true, false},        {"cgroup", false, false, true},
                {"task,cgroup", true, false, true}, {"all", true, true, true}};
    struct record_options o = {0};
    struct err e = ERR_INIT;
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        assert_true(record_args_synth(WANT[i].text, &o, &e));
        assert_int_equal(o.no_tasks, !WANT[i].tasks);
        assert_int_equal(o.no_mappings, !WANT[i].mappings);
        assert_int_equal(o.no_cgroups, !WANT[i].cgroups);
    }
    assert_false(record_args_synth("task,foo", &o, &e));
    assert_non_null(strstr(e.message, "'foo'"));
    assert_false(record_args_synth("", &o, &e));
}

static void choices(void **state) {
    (void)state;
    struct err e = ERR_INIT;
    enum record_keep_what keep;
    enum record_affinity affinity;
    assert_true(record_args_keep("none", &keep, &e) && keep == RECORD_KEEP_NONE);
    assert_true(record_args_keep("unwind", &keep, &e) && keep == RECORD_KEEP_UNWIND);
    assert_true(record_args_keep("full", &keep, &e) && keep == RECORD_KEEP_FULL);
    assert_false(record_args_keep("all", &keep, &e));
    assert_true(record_args_affinity("cpu", &affinity, &e) && affinity == RECORD_AFFINITY_CPU);
    assert_true(record_args_affinity("node", &affinity, &e) && affinity == RECORD_AFFINITY_NODE);
    assert_true(record_args_affinity("sys", &affinity, &e) && affinity == RECORD_AFFINITY_SYSTEM);
    assert_false(record_args_affinity("", &affinity, &e));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),  cmocka_unit_test(callgraphs),
                                       cmocka_unit_test(words),  cmocka_unit_test(synth),
                                       cmocka_unit_test(delays), cmocka_unit_test(switches),
                                       cmocka_unit_test(choices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
