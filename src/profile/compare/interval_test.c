/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of false alarms and what is found, by simulation with a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/compare/interval.h"

enum { ROWS = 12, SLOWED = 3, MOST = 6 };

/* What a simulated machine does. */
struct world {
    double samples;     /* of a recording, on average */
    double noise;       /* by how much a neighbour shifts shares of rows, */
    double lasting;     /* and for how many slices, on average */
    double slower;      /* row SLOWED costs so many times more on the new side */
    double between;     /* by how much shares differ from recording to recording */
    unsigned base, now; /* how many recordings there are */
};

struct simulation {
    float weights[MOST][ROWS * INTERVAL_SLICES];
    double against[MOST][INTERVAL_SLICES];
    uint64_t samples[MOST][ROWS];
    struct interval_recording recordings[MOST];
    struct interval rows[ROWS];
    struct interval_result result;
};

static double uniform(uint64_t *state) {
    *state += HASH_ODD;
    return (double)((hash_u64(*state) >> 11) + 1) / 9007199254740994.0; /* 2^53 + 2 */
}

static double normal(uint64_t *state) {
    double r = sqrt(-2 * log(uniform(state)));
    return r * cos(6.283185307179586 * uniform(state));
}

static unsigned poisson(uint64_t *state, double mean) {
    if (mean > 60) {
        double x = mean + sqrt(mean) * normal(state);
        return x > 0 ? (unsigned)(x + 0.5) : 0;
    }
    unsigned n = 0;
    for (double p = exp(-mean), at = uniform(state); at > p; at *= uniform(state))
        n++;
    return n;
}

/* The share of a row: a few large ones, and a tail. */
static double share_of(unsigned row) {
    static const double shares[ROWS] = {0.25, 0.2,  0.15,  0.12,  0.1,    0.08,
                                        0.05, 0.03, 0.015, 0.004, 0.0008, 0.0002};
    return shares[row];
}

static void simulate(const struct world *w, struct simulation *s, unsigned k, bool is_new, uint64_t *state) {
    struct interval_recording *r = &s->recordings[k];
    double own[ROWS], shift[ROWS] = {0};
    memset(s->weights[k], 0, sizeof s->weights[k]);
    memset(s->against[k], 0, sizeof s->against[k]);
    memset(s->samples[k], 0, sizeof s->samples[k]);
    *r = (struct interval_recording){.is_new = is_new,
                                     .weights = s->weights[k],
                                     .against = s->against[k],
                                     .samples = s->samples[k],
                                     .spread = 1};
    for (unsigned row = 0; row < ROWS; row++)
        own[row] = exp(w->between * normal(state));
    for (unsigned slice = 0; slice < INTERVAL_SLICES; slice++) {
        bool change = w->noise > 0 && uniform(state) < 1 / w->lasting;
        for (unsigned row = 0; row < ROWS; row++) {
            if (change)
                shift[row] = w->noise * normal(state);
            double mean = w->samples / INTERVAL_SLICES * share_of(row) * own[row] * exp(shift[row]);
            unsigned n = poisson(state, is_new && row == SLOWED ? mean * w->slower : mean);
            s->weights[k][row * INTERVAL_SLICES + slice] = (float)n;
            s->against[k][slice] += n;
            s->samples[k][row] += n;
            r->total_samples += n;
        }
    }
}

static void judge(const struct world *w, struct simulation *s, uint64_t *state) {
    for (unsigned k = 0; k < w->base + w->now; k++)
        simulate(w, s, k, k >= w->base, state);
    struct interval_input in = {
        .recordings = s->recordings, .count = w->base + w->now, .rows = ROWS, .level = 0.95};
    assert_true(interval_find(&in, s->rows, &s->result, NULL));
}

/* How many of `times` comparisons call any change proved; *first: in how many SLOWED is proved to have grown
 * most. */
static unsigned alarms(const struct world *w, unsigned times, unsigned *first) {
    struct simulation *s = malloc(sizeof *s);
    uint64_t state = 2026;
    unsigned alarms = 0;
    *first = 0;
    assert_non_null(s);
    for (unsigned i = 0; i < times; i++) {
        judge(w, s, &state);
        unsigned most = ROWS, any = 0;
        for (unsigned row = 0; row < ROWS; row++) {
            any |= s->rows[row].says == INTERVAL_MORE || s->rows[row].says == INTERVAL_LESS;
            if (s->rows[row].says == INTERVAL_MORE && (most == ROWS || s->rows[row].low > s->rows[most].low))
                most = row;
        }
        alarms += any;
        *first += most == SLOWED;
    }
    free(s);
    return alarms;
}

static unsigned tries = 200; /* or as the first argument says */

/* 5 %, and four standard errors of that many tries. */
static void check_false_alarms(const char *what, const struct world *w) {
    unsigned first, n = alarms(w, tries, &first);
    print_message("%s: some change called proved in %u of %u\n", what, n, tries);
    assert_true(n <= 0.05 * tries + 4 * sqrt(tries * 0.05 * 0.95));
}

static void test_independent(void **state) {
    (void)state;
    check_false_alarms("independent samples",
                       &(struct world){.samples = 5000, .slower = 1, .base = 1, .now = 1});
    check_false_alarms("few samples", &(struct world){.samples = 400, .slower = 1, .base = 1, .now = 1});
}

static void test_bursts(void **state) {
    (void)state;
    check_false_alarms(
        "short bursts",
        &(struct world){.samples = 5000, .noise = 0.3, .lasting = 1, .slower = 1, .base = 1, .now = 1});
    check_false_alarms(
        "bursts of two slices",
        &(struct world){.samples = 20000, .noise = 0.3, .lasting = 2, .slower = 1, .base = 1, .now = 1});
    check_false_alarms(
        "bursts of a sixteenth",
        &(struct world){.samples = 20000, .noise = 0.3, .lasting = 4, .slower = 1, .base = 1, .now = 1});
}

static void test_several_recordings(void **state) {
    (void)state;
    check_false_alarms("recordings that differ",
                       &(struct world){.samples = 10000, .between = 0.05, .slower = 1, .base = 3, .now = 3});
}

static void test_slower(void **state) {
    unsigned first;
    (void)state;
    alarms(&(struct world){.samples = 45000, .slower = 1.1, .base = 1, .now = 1}, tries, &first);
    print_message("10 %% slower, 45000 samples: named first in %u of %u\n", first, tries);
    assert_true(first * 10 >= tries * 9);
    alarms(&(struct world){.samples = 60000, .noise = 0.1, .lasting = 1, .slower = 1.1, .base = 1, .now = 1},
           tries, &first);
    print_message("and bursts, 60000 samples: named first in %u of %u\n", first, tries);
    assert_true(first * 2 >= tries); /* it takes more samples to tell */
}

static void test_same_on_threads(void **state) {
    struct world w = {.samples = 5000, .slower = 1.1, .base = 2, .now = 1};
    struct simulation *s = malloc(sizeof *s);
    struct interval again[ROWS];
    struct interval_result result;
    uint64_t seed = 7;
    (void)state;
    assert_non_null(s);
    judge(&w, s, &seed);
    struct pool *pool = pool_new(3);
    struct interval_input in = {
        .recordings = s->recordings, .count = 3, .rows = ROWS, .level = 0.95, .pool = pool};
    assert_true(interval_find(&in, again, &result, NULL));
    assert_memory_equal(again, s->rows, sizeof again);
    assert_true(result.reach == s->result.reach);
    pool_free(pool);
    free(s);
}

static void test_gate(void **state) {
    (void)state;
    struct interval_result result = {.reach = 3, .base_total = 1};
    struct interval grown = {.base = 0.10,
                             .now = 0.12,
                             .low = 0.014,
                             .high = 0.026,
                             .base_error = 0.001,
                             .now_error = 0.001,
                             .says = INTERVAL_MORE};
    assert_true(interval_grew(&grown, 0, &result));
    assert_true(interval_grew(&grown, 0.10, &result));
    assert_false(interval_grew(&grown, 0.18, &result)); /* 20 % more, but not by 3 errors more than 18 % */
    assert_false(interval_grew(&grown, 0.25, &result));
    struct interval fresh = {.now = 0.02, .low = 0.015, .high = 0.025, .says = INTERVAL_MORE};
    assert_true(interval_grew(&fresh, 0.01, &result));
    assert_false(interval_grew(&fresh, 0.016, &result)); /* of all, as there is no base */
    grown.says = INTERVAL_NOTHING;
    assert_false(interval_grew(&grown, 0, &result));
}

/* No samples, all samples in one slice, no rows: costs are finite numbers. */
static void test_degenerate(void **state) {
    struct simulation *s = calloc(1, sizeof *s);
    struct interval_input in = {.recordings = s->recordings, .count = 2, .rows = ROWS, .level = 0.95};
    (void)state;
    assert_non_null(s);
    for (unsigned k = 0; k < 2; k++)
        s->recordings[k] = (struct interval_recording){.is_new = k == 1,
                                                       .weights = s->weights[k],
                                                       .against = s->against[k],
                                                       .samples = s->samples[k],
                                                       .spread = 1};
    assert_true(interval_find(&in, s->rows, &s->result, NULL));
    assert_int_equal(s->rows[0].says, INTERVAL_TOO_FEW);
    s->samples[0][0] = s->recordings[0].total_samples = 50; /* all in one moment, all of them */
    s->weights[0][0] = 50;
    s->against[0][0] = 50;
    assert_true(interval_find(&in, s->rows, &s->result, NULL));
    assert_true(isfinite(s->rows[0].base) && s->rows[0].now == 0);
    in.rows = 0;
    assert_true(interval_find(&in, s->rows, &s->result, NULL));
    free(s);
}

int main(int argc, char **argv) {
    if (argc > 1 && atoi(argv[1]) > 0)
        tries = (unsigned)atoi(argv[1]);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent),        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_several_recordings), cmocka_unit_test(test_slower),
        cmocka_unit_test(test_same_on_threads),    cmocka_unit_test(test_gate),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
