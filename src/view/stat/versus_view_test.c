/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "view/stat/versus_view.h"

static const struct versus_measure cpu = {"cpu time", "ns", 1, 1, true},
                                   user = {"user time", "ns", 1, 1, false},
                                   faults = {"page-faults", "", 1, 1, false},
                                   energy = {"energy", "Joules", 0.5, 1, false};

static void says(const struct versus_measure *m, const struct verdict *v, const char *want) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    versus_print_verdict(v, m, 'B', &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
}

static struct verdict is(enum verdict_says what, double ratio, double low, double high) {
    return (struct verdict){.says = what, .ratio = ratio, .low = low, .high = high, .pairs = 40};
}

static void sentences(void **state) {
    (void)state;
    struct verdict less = is(VERDICT_LESS, 0.979, 0.973, 0.984), more = is(VERDICT_MORE, 1.25, 1.2, 1.31);
    says(&cpu, &less, "B is 2.1 % faster (1.6 to 2.7 %)");
    says(&cpu, &more, "B is 25 % slower (20 to 31 %)");
    says(&user, &less, "B takes 2.1 % less (1.6 to 2.7 %)");
    says(&faults, &less, "B has 2.1 % fewer (1.6 to 2.7 %)");
    says(&faults, &more, "B has 25 % more (20 to 31 %)");
    says(&energy, &less, "B has 2.1 % less (1.6 to 2.7 %)");
    struct verdict tiny = is(VERDICT_MORE, 1.0004, 1.0001, 1.0009), huge = is(VERDICT_MORE, 3, 2.9, 3.125);
    says(&cpu, &tiny, "B is 0.040 % slower (0.010 to 0.090 %)");
    says(&cpu, &huge, "B takes 3.00 times as long (2.90 to 3.12)");
    says(&faults, &huge, "B has 3.00 times as many (2.90 to 3.12)");
    says(&energy, &huge, "B has 3.00 times as much (2.90 to 3.12)");
    struct verdict none = is(VERDICT_NOTHING, 1.001, 0.996, 1.006), few = is(VERDICT_TOO_FEW, 1, 0, INFINITY);
    none.visible = 0.0083;
    says(&cpu, &none, "no difference seen; one of 0.83 % would have been");
    none.visible = 1.5;
    says(&cpu, &none, "no difference seen; 2.5 times as much would have been");
    none.visible = 0;
    none.equal = 33;
    says(&faults, &none, "no difference seen: equal in 33 pairs of 40");
    none.equal = 40;
    says(&faults, &none, "equal in all pairs");
    says(&cpu, &few, "too few pairs to tell");
}

/* A comparison of two commands in three measures. */
static struct versus_column columns[6];
static bool missing[3] = {false, false, true};
static struct verdict verdicts[3];
static const struct versus_measure measures[3] = {
    {"cpu time", "ns", 1, 1, true}, {"page-faults", "", 1, 1, false}, {"cycles", "", 1, 1, false}};
static const char *const commands[] = {"./a \"x\"", "./b | c"};
static const bool shells[] = {false, true};

static struct versus_view make(struct versus *v) {
    verdicts[0] = (struct verdict){.says = VERDICT_LESS,
                                   .a = 102.5e6,
                                   .b = 100.25e6,
                                   .ratio = 0.978,
                                   .low = 0.973,
                                   .high = 0.984,
                                   .level = 0.975,
                                   .p = 0.0001,
                                   .visible = 0.01,
                                   .pairs = 20};
    verdicts[1] = (struct verdict){.a = 12.5,
                                   .b = 120000,
                                   .ratio = 9000,
                                   .low = 0,
                                   .high = INFINITY,
                                   .level = 0.95,
                                   .p = 1,
                                   .visible = INFINITY,
                                   .pairs = 3};
    *v = (struct versus){.commands = 2,
                         .measures = 3,
                         .pairs = 20,
                         .columns = columns,
                         .missing = missing,
                         .verdicts = verdicts,
                         .precision = 0.0123,
                         .seconds = 4.25,
                         .end = VERSUS_TIME};
    return (struct versus_view){v, measures, commands, shells, 0.95, 0.01, false};
}

static void text(void **state) {
    (void)state;
    struct versus v;
    struct versus_view view = make(&v);
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    versus_print_text(&view, &o);
    assert_string_equal(
        out_text(&o),
        "\n A: ./a \"x\"\n B: ./b | c\n B needs a shell, whose start is measured too.\n\n"
        "                             A           B   B/A\n"
        " cpu time            102.50 ms   100.25 ms   0.978 (0.973 to 0.984)  B is 2.2 % faster (1.6 to 2.7 "
        "%)\n"
        " page-faults              12.5      120000   9000.00                 too few pairs to tell\n"
        " cycles             not counted here\n\n"
        " 20 pairs in 4.2 s, in random order; the time was over with intervals of 1.2 % to either side "
        "(--until "
        "1%)\n"
        " Medians of runs. The intervals of cpu time and elapsed time hold together in 95 % of comparisons; "
        "those of "
        "the others do, too.\n\n");
    out_fini(&o);
}

static void json(void **state) {
    (void)state;
    struct versus v;
    struct versus_view view = make(&v);
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    versus_print_json(&view, &o);
    assert_string_equal(
        out_text(&o),
        "{\"version\":1,\"commands\":[{\"command\":\"./a \\\"x\\\"\",\"shell\":false},"
        "{\"command\":\"./b | "
        "c\",\"shell\":true}],\"pairs\":20,\"seconds\":4.25,\"end\":\"time\",\"until\":0.01,"
        "\"precision\":0.0123,\"level\":0.95,\"regression\":false,\"comparisons\":[{\"command\":1,"
        "\"against\":0,"
        "\"measures\":[{\"name\":\"cpu "
        "time\",\"unit\":\"ns\",\"primary\":true,\"counted\":true,\"a\":102500000,"
        "\"b\":100250000,\"ratio\":0.978,\"low\":0.973,\"high\":0.984,\"level\":0.975,\"p\":0.0001,"
        "\"verdict\":\"less\",\"visible\":0.01,\"equal\":0},"
        "{\"name\":\"page-faults\",\"primary\":false,\"counted\":true,\"a\":12.5,\"b\":120000,\"ratio\":9000,"
        "\"low\":0,\"high\":null,\"level\":0.95,\"p\":1,\"verdict\":\"too few "
        "pairs\",\"visible\":null,\"equal\":0},"
        "{\"name\":\"cycles\",\"primary\":false,\"counted\":false}]}]}\n");
    out_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sentences), cmocka_unit_test(text),
                                       cmocka_unit_test(json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
