/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count/verdict/versus.h"
#include "tests/support/fail_alloc.h"

/* A machine whose time passes only while something runs: 100 ms a run, times `slow` of the command. */
struct machine {
    double slow[3];
    double noise; /* runs differ by up to this much */
    uint64_t seed, now_ns;
    size_t runs, stop_at, fail_at; /* 0: never */
    size_t last_command, repeats, firsts;
    unsigned paddings; /* how many runs had another one than the run before */
    unsigned padding;
    size_t told;
};

static enum versus_ran run(void *ctx, size_t command, unsigned padding, double *values, struct err *err) {
    struct machine *m = ctx;
    double noise = 1 + m->noise * (verdict_draw(&m->seed, 1000000) / 5e5 - 1);
    m->runs++;
    if (m->runs == m->stop_at)
        return VERSUS_RAN_STOPPED;
    if (m->runs == m->fail_at) {
        err_set(err, ERR_ABSENT, "B", "it is gone");
        return VERSUS_RAN_NOT;
    }
    m->paddings += padding != m->padding;
    m->padding = padding;
    assert_true(padding < VERSUS_PADDING_BYTES);
    values[0] = 1e8 * m->slow[command] * noise;
    values[1] = 120;
    values[2] = NAN;
    m->now_ns += (uint64_t)values[0];
    m->repeats += m->runs > 1 && m->last_command == command;
    m->last_command = command;
    return VERSUS_RAN;
}

static uint64_t now_ns(void *ctx) {
    return ((struct machine *)ctx)->now_ns;
}

static void progress(void *ctx, const struct versus *v) {
    (void)v;
    ((struct machine *)ctx)->told++;
}

static const struct versus_measure measures[3] = {
    {"cpu time", "ns", 1, 1, true}, {"page-faults", "", 1, 1, false}, {"cycles", "", 1, 1, false}};

static struct versus_job job_for(struct machine *m) {
    return (struct versus_job){.commands = 2,
                               .measures = measures,
                               .measure_count = 3,
                               .level = 0.95,
                               .until = 0.01,
                               .budget_ns = 60000000000,
                               .seed = 5,
                               .run = run,
                               .now_ns = now_ns,
                               .progress = progress,
                               .ctx = m};
}

static void precise(void **state) {
    (void)state;
    struct machine m = {.slow = {1, 1.05}, .noise = 0.05, .seed = 1};
    struct versus_job job = job_for(&m);
    struct versus v;
    struct err e = ERR_INIT;
    assert_true(versus_run(&job, &v, &e));
    assert_int_equal(v.end, VERSUS_PRECISE);
    assert_true(v.precision <= 0.01 && v.seconds < 60);
    assert_int_equal(m.runs, 2 * (v.pairs + 1)); /* the first round does not count */
    assert_int_equal(versus_verdict(&v, 1, 0)->says, VERDICT_MORE);
    assert_true(versus_verdict(&v, 1, 0)->low < 1.05 && versus_verdict(&v, 1, 0)->high > 1.05);
    assert_int_equal(versus_verdict(&v, 1, 1)->says, VERDICT_NOTHING);
    assert_true(v.missing[2] && !v.missing[1]);
    assert_true(versus_regressed(&job, &v, 0) && !versus_regressed(&job, &v, 0.1));
    assert_true(versus_decided(&job, &v));
    assert_true(m.repeats > 0 && m.repeats < v.pairs); /* the order is not always the same */
    assert_true(m.paddings > v.pairs);
    assert_true(m.told >= v.pairs);
    versus_fini(&v);
}

static void ends(void **state) {
    (void)state;
    struct machine m = {.slow = {1, 1.0}, .noise = 0.9, .seed = 1};
    struct versus_job job = job_for(&m);
    struct versus v;
    struct err e = ERR_INIT;
    job.budget_ns = 10000000000;
    assert_true(versus_run(&job, &v, &e)); /* too noisy for 1 % */
    assert_int_equal(v.end, VERSUS_TIME);
    assert_true(v.seconds > 9 && v.seconds < 11 && v.precision > 0.01);
    versus_fini(&v);

    m = (struct machine){.slow = {100, 100}, .seed = 1}; /* 10 s each: enough for a verdict in any case */
    job.budget_fixed = false;
    assert_true(versus_run(&job, &v, &e));
    assert_int_equal(v.end, VERSUS_TIME);
    assert_int_equal(v.pairs, VERSUS_PAIRS_FEW);
    assert_true(versus_decided(&job, &v) && !versus_regressed(&job, &v, 0));
    versus_fini(&v);

    m = (struct machine){.slow = {100, 200}, .seed = 1};
    job.budget_fixed = true; /* no */
    assert_true(versus_run(&job, &v, &e));
    assert_int_equal(v.pairs, 0);
    assert_false(versus_decided(&job, &v));
    assert_false(versus_regressed(&job, &v, 0));
    versus_fini(&v);

    m = (struct machine){.slow = {1, 2}, .seed = 1};
    job.pairs = 9; /* so many, though nothing differs from run to run */
    assert_true(versus_run(&job, &v, &e));
    assert_int_equal(v.end, VERSUS_PAIRS);
    assert_int_equal(v.pairs, 9);
    assert_true(versus_regressed(&job, &v, 0.5));
    versus_fini(&v);

    m = (struct machine){.slow = {1, 2}, .seed = 1, .stop_at = 22}; /* in the middle of a round */
    job.pairs = 0;
    assert_true(versus_run(&job, &v, &e));
    assert_int_equal(v.end, VERSUS_STOPPED);
    assert_int_equal(v.pairs, 9);
    assert_int_equal(versus_verdict(&v, 1, 0)->says, VERDICT_MORE);
    versus_fini(&v);

    m = (struct machine){.slow = {1, 2}, .seed = 1, .fail_at = 1};
    assert_false(versus_run(&job, &v, &e));
    assert_string_equal(e.message, "it is gone");
    versus_fini(&v);
}

static void three(void **state) {
    (void)state;
    struct machine m = {.slow = {1, 0.9, 1}, .noise = 0.02, .seed = 1};
    struct versus_job job = job_for(&m);
    struct versus v;
    struct err e = ERR_INIT;
    job.commands = 3;
    assert_true(versus_run(&job, &v, &e));
    assert_int_equal(versus_verdict(&v, 1, 0)->says, VERDICT_LESS);
    assert_int_equal(versus_verdict(&v, 2, 0)->says, VERDICT_NOTHING);
    assert_true(versus_verdict(&v, 2, 0)->visible < 0.02);
    versus_fini(&v);
    FAIL_EACH_ALLOC({
        m.runs = 0;
        job.pairs = 9;
        if (!versus_run(&job, &v, &e))
            assert_int_equal(e.code, ERR_MEMORY);
        versus_fini(&v);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(precise), cmocka_unit_test(ends),
                                       cmocka_unit_test(three)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
