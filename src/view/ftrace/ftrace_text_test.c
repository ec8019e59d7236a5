/* SPDX-License-Identifier: Apache-2.0 */
#include "view/ftrace/ftrace_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void print(struct out *o) {
    assert_true(out_init(o, NULL, NULL));
}

static bool has(struct out *o, const char *line) {
    return strstr(out_text(o), line) != NULL;
}

static void powers(void **state) {
    struct ftrace_histogram h = {.unit_ns = 1000};
    struct out o;
    (void)state;
    print(&o);
    ftrace_histogram_print(&h, false, &o);
    assert_string_equal(out_text(&o), "No data found\n");
    out_fini(&o);
    static const uint64_t NS[] = {0, 999, 1000, 3999, 4000, 1048576000, 5000000000};
    for (size_t i = 0; i < sizeof NS / sizeof *NS; i++)
        ftrace_histogram_add(&h, NS[i]);
    print(&o);
    ftrace_histogram_print(&h, false, &o);
    assert_true(
        has(&o, "#   DURATION     |      COUNT | GRAPH                                          |\n"));
    assert_true(
        has(&o, "     0 - 1    us |          2 | #############                                  |\n"));
    assert_true(has(&o, "     1 - 2    us |          1 | ######  "));
    assert_true(has(&o, "     2 - 4    us |          1 |"));
    assert_true(has(&o, "     4 - 8    us |          1 |"));
    assert_true(has(&o, "   512 - 1024 us |          0 |  "));
    assert_true(has(&o, "     1 - 2    ms |          0 |  "));
    assert_true(has(&o, "     1 - ...   s |          2 |"));
    assert_true(has(&o, "\n# statistics  (in usec)\n  total time:              6048586\n"));
    assert_true(has(&o, "    min time:                    0\n       count:                    7\n"));
    out_fini(&o);
    print(&o);
    ftrace_histogram_print(&h, true, &o);
    assert_false(has(&o, "|          0 |"));
    out_fini(&o);
}

static void ranges(void **state) {
    struct ftrace_histogram h = {.unit_ns = 1, .range = 100, .least = 50, .largest = 350};
    struct out o;
    (void)state;
    assert_int_equal(ftrace_histogram_size(&h), 1 + 3 + 1);
    static const uint64_t NS[] = {49, 50, 149, 150, 349, 350, 10000};
    for (size_t i = 0; i < sizeof NS / sizeof *NS; i++)
        ftrace_histogram_add(&h, NS[i]);
    print(&o);
    ftrace_histogram_print(&h, false, &o);
    assert_true(has(&o, "     0 - 50   ns |          1 |"));
    assert_true(has(&o, "    50 - 150  ns |          2 |"));
    assert_true(has(&o, "   150 - 250  ns |          1 |"));
    assert_true(has(&o, "   250 - 350  ns |          1 |"));
    assert_true(has(&o, "   350 - ...  ns |          2 |"));
    out_fini(&o);
    assert_int_equal(h.min_ns, 49);
    assert_int_equal(h.max_ns, 10000);
    assert_int_equal(h.total_ns, 49 + 50 + 149 + 150 + 349 + 350 + 10000);
    h = (struct ftrace_histogram){.unit_ns = 1, .range = 10};
    assert_int_equal(ftrace_histogram_size(&h), FTRACE_BUCKETS);
    ftrace_histogram_add(&h, UINT64_MAX / 2);
    assert_int_equal(h.buckets[FTRACE_BUCKETS - 1], 1);
}

static void calls(void **state) {
    static struct ftrace_function functions[] = {
        {0xa, {1, 9000, 2000, 9000}}, {0xb, {3, 8000, 8000, 4000}}, {0xc, {0}}};
    static struct ftrace_node nodes[] = {{UINT32_MAX, 1, {1, 1000, 1000, 1000}},
                                         {UINT32_MAX, 0, {1, 9000, 2000, 9000}},
                                         {1, 1, {2, 7000, 7000, 4000}}};
    static const char *const NAMES[] = {"outer", "inner", "never"};
    struct ftrace_calls c = {0};
    struct out o;
    (void)state;
    c.functions.items = functions;
    c.functions.count = 3;
    c.nodes.items = nodes;
    c.nodes.count = 3;
    print(&o);
    assert_true(ftrace_profile_print(&c, NAMES, FTRACE_BY_TOTAL, &o));
    assert_string_equal(out_text(&o), "# Total (us)   Avg (us)   Max (us)      Count   Function\n"
                                      "       9.000      9.000      9.000          1   outer\n"
                                      "       8.000      2.667      4.000          3   inner\n");
    out_fini(&o);
    print(&o);
    assert_true(ftrace_profile_print(&c, NAMES, FTRACE_BY_COUNT, &o));
    assert_true(strstr(out_text(&o), "inner") < strstr(out_text(&o), "outer"));
    out_fini(&o);
    print(&o);
    assert_true(ftrace_tree_print(&c, NAMES, &o));
    assert_string_equal(out_text(&o), "# Total (us)    Self (us)      Count   Function\n"
                                      "       9.000        2.000          1   outer\n"
                                      "       7.000        7.000          2     inner\n"
                                      "       1.000        1.000          1   inner\n");
    out_fini(&o);
    print(&o);
    assert_true(ftrace_folded_print(&c, NAMES, &o));
    assert_string_equal(out_text(&o), "outer 2000\nouter;inner 7000\ninner 1000\n");
    out_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers),
        cmocka_unit_test(ranges),
        cmocka_unit_test(calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
