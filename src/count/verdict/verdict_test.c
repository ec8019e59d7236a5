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

#include "count/verdict/verdict.h"
#include "count/verdict/verdict_rank.h"
#include "tests/support/fail_alloc.h"

static const struct verdict_options plain = {0.95, 1};

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
        fail_msg("%.17g is not %.17g", got, want);
}

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The probability by its definition: all 2^n choices of signs. */
static double p_by_hand(const double *sorted, size_t n) {
    double rank[16], sum = 0, positive = 0;
    for (size_t i = 0; i < n; i++) {
        double smaller = 0, equal = 0;
        for (size_t j = 0; j < n; j++) {
            smaller += fabs(sorted[j]) < fabs(sorted[i]);
            equal += fabs(sorted[j]) == fabs(sorted[i]);
        }
        rank[i] = sorted[i] == 0 ? 0 : smaller + (equal + 1) / 2;
        sum += rank[i];
        positive += sorted[i] > 0 ? rank[i] : 0;
    }
    unsigned extreme = 0;
    for (unsigned signs = 0; signs < 1u << n; signs++) {
        double t = 0;
        for (size_t i = 0; i < n; i++)
            t += signs >> i & 1 ? rank[i] : 0;
        extreme += fabs(t - sum / 2) >= fabs(positive - sum / 2) - 1e-9;
    }
    return (double)extreme / (double)(1u << n);
}

static void rank_probabilities(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        double d[12];
        size_t n = 1 + verdict_draw(&seed, 12);
        unsigned few = 1 + verdict_draw(&seed, 40); /* the fewer values, the more ties and zeros */
        for (size_t i = 0; i < n; i++)
            d[i] = (double)verdict_draw(&seed, few + 1) - (double)(few / 2);
        qsort(d, n, sizeof *d, by_value);
        near(verdict_rank_p(d, n), p_by_hand(d, n));
    }
    const double none[3] = {0, 0, 0}, up[6] = {1, 2, 3, 4, 5, 6};
    near(verdict_rank_p(none, 3), 1);
    near(verdict_rank_p(none, 0), 1);
    near(verdict_rank_p(up, 6), 2. / 64);
}

/* The exact distribution and the normal one meet. */
static void normal_takes_over(void **state) {
    (void)state;
    double d[VERDICT_RANK_EXACT + 1];
    for (int shift = 0; shift < 12; shift++) {
        size_t n = VERDICT_RANK_EXACT;
        for (size_t i = 0; i <= n; i++)
            d[i] = (double)i - 25.25 + shift;
        double exact = verdict_rank_p(d, n), normal = verdict_rank_p(d, n + 1);
        assert_true(fabs(log(exact / verdict_rank_p(d + 1, n))) < 2);
        assert_true(normal < 1.01 && normal > 0);
        struct verdict_range x = verdict_rank_interval(d, n, 0.05), y = verdict_rank_interval(d, n + 1, 0.05);
        assert_true(fabs(x.low - y.low) < 1.5 && fabs(x.high - y.high) < 1.5);
    }
    near(verdict_rank_z(0.05), 1.959963984540054);
    near(verdict_rank_z(1), 0);
}

/* Estimate and interval, from the list of all Walsh averages. */
static void walsh_averages(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 200; round++) {
        double d[60], all[60 * 61 / 2];
        size_t n = 1 + verdict_draw(&seed, 60), count = 0;
        for (size_t i = 0; i < n; i++)
            d[i] = ((double)verdict_draw(&seed, round % 2 ? 9 : 100000) - 4) / 7;
        qsort(d, n, sizeof *d, by_value);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++)
                all[count++] = (d[i] + d[j]) / 2;
        qsort(all, count, sizeof *all, by_value);
        near(verdict_rank_estimate(d, n), (all[(count - 1) / 2] + all[count / 2]) / 2);
        struct verdict_range r = verdict_rank_interval(d, n, 0.05);
        if (n < 6) {
            assert_true(isinf(r.low) && isinf(r.high));
            continue;
        }
        /* Without ties, the interval leaves out what the test rejects: shifted to its ends, neither side of
         * them. */
        size_t k = 0;
        while (k < count && all[k] < r.low)
            k++;
        near(all[k], r.low);
        if (round % 2)
            continue;
        double shifted[60];
        for (int end = 0; end < 2; end++)
            for (int side = -1; side <= 1; side += 2) {
                for (size_t i = 0; i < n; i++)
                    shifted[i] = d[i] - (end ? r.high : r.low) - side * 1e-7;
                bool inside = (side > 0) != (end == 1);
                assert_int_equal(verdict_rank_p(shifted, n) > 0.05, inside);
            }
    }
}

static void judge_one(const double *a, const double *b, size_t n, struct verdict *v) {
    struct verdict_measure m = {a, b, n, 1, true};
    struct err e = ERR_INIT;
    assert_true(verdict_judge(&m, 1, &plain, v, &e));
}

static void edges(void **state) {
    (void)state;
    double a[20], b[20], zero[20] = {0}, odd[20];
    struct verdict v;
    for (int i = 0; i < 20; i++) {
        a[i] = 100;
        b[i] = 120;
        odd[i] = i % 3 ? NAN : i % 2 ? -1 : INFINITY;
    }
    judge_one(a, a, 20, &v); /* no variance, no difference */
    assert_int_equal(v.says, VERDICT_NOTHING);
    near(v.ratio, 1), near(v.low, 1), near(v.high, 1), near(v.visible, 0), near(v.p, 1);
    assert_int_equal(v.equal, 20);
    judge_one(a, b, 20, &v); /* no variance, a difference */
    assert_int_equal(v.says, VERDICT_MORE);
    near(v.ratio, 1.2), near(v.low, 1.2), near(v.high, 1.2), near(v.a, 100), near(v.b, 120);
    judge_one(b, a, 20, &v);
    assert_int_equal(v.says, VERDICT_LESS);
    judge_one(a, b, 5, &v); /* even if all agree: 2 * 2^-5 is more than 5 % */
    assert_int_equal(v.says, VERDICT_TOO_FEW);
    assert_true(isinf(v.visible) && isinf(v.high) && v.low == 0);
    near(v.ratio, 1.2);
    judge_one(a, b, 6, &v);
    assert_int_equal(v.says, VERDICT_MORE);
    judge_one(zero, zero, 20, &v);
    assert_int_equal(v.says, VERDICT_NOTHING);
    judge_one(zero, a, 20, &v); /* counts that have no logarithm */
    assert_int_equal(v.says, VERDICT_MORE);
    near(v.ratio, 201);
    judge_one(odd, odd, 20, &v);
    assert_int_equal(v.says, VERDICT_NOTHING);
    judge_one(NULL, NULL, 0, &v);
    assert_int_equal(v.says, VERDICT_TOO_FEW);
    struct verdict_measure m = {zero, a, 20, 0, true}; /* no step is known */
    struct err e = ERR_INIT;
    assert_true(verdict_judge(&m, 1, &plain, &v, &e));
    assert_int_equal(v.says, VERDICT_MORE);
    assert_true(verdict_judge(NULL, 0, &plain, NULL, &e));
}

/* Most pairs are equal: a few that are not prove nothing (Pratt), though by themselves they all agree. */
static void mostly_equal(void **state) {
    (void)state;
    double a[40], b[40];
    struct verdict v;
    for (int i = 0; i < 40; i++) {
        a[i] = 100;
        b[i] = i < 7 ? 101 : 100;
    }
    judge_one(a, b, 40, &v);
    assert_int_equal(v.says, VERDICT_NOTHING);
    assert_int_equal(v.equal, 33);
    near(v.ratio, 1);
}

static void several_measures(void **state) {
    (void)state;
    enum { N = 12, M = 6 };
    double a[N], up[N], some[N];
    for (int i = 0; i < N; i++) {
        a[i] = 1000;
        up[i] = 1100 + i;
        some[i] = i < 2 ? 999 - i : 1001 + i; /* p = 0.0093 */
    }
    struct verdict_measure m[M] = {{a, some, N, 1, true}, {a, a, N, 1, true},     {a, some, N, 1, false},
                                   {a, up, N, 1, false},  {a, some, N, 1, false}, {a, a, N, 1, false}};
    struct verdict v[M];
    struct err e = ERR_INIT;
    assert_true(verdict_judge(m, M, &plain, v, &e));
    assert_int_equal(v[0].says, VERDICT_MORE);
    assert_int_equal(v[3].says, VERDICT_MORE);
    near(v[0].level, 0.975), near(v[1].level, 0.975); /* primary measures share 5 % */
    near(v[3].level, 1 - 0.05 / 4);                   /* the smallest p of four */
    near(v[2].level, 1 - 0.05 / 3), near(v[4].level, 1 - 0.05 / 3);
    near(v[5].level, 0.95);
    assert_int_equal(v[2].says, v[4].says);
    for (int i = 0; i < M; i++) /* verdict and interval never contradict each other */
        assert_int_equal(v[i].says == VERDICT_NOTHING, v[i].low <= 1 && v[i].high >= 1);
    double precision = verdict_precision(m, v, M);
    assert_true(precision > 0 && precision < 0.01);
    near(precision, sqrt(v[0].high / v[0].low) - 1);
    near(verdict_precision(m + 1, v + 1, M - 1), 0); /* others do not count */
    assert_true(isinf(verdict_precision(m + 2, v + 2, M - 2)));
    v[1].pairs = VERDICT_PAIRS_MIN - 1;
    assert_true(isinf(verdict_precision(m, v, M)));
    struct verdict_options many = {0.95, 50};
    assert_true(verdict_judge(m, M, &many, v, &e));
    assert_int_equal(v[0].says, VERDICT_NOTHING);
    FAIL_EACH_ALLOC({
        if (!verdict_judge(m, M, &plain, v, &e))
            assert_int_equal(e.code, ERR_MEMORY);
    });
}

static void drawing(void **state) {
    (void)state;
    uint64_t seed = 3;
    unsigned first[4] = {0}, order[4];
    for (int i = 0; i < 4000; i++) {
        unsigned seen = 0;
        verdict_shuffle(&seed, order, 4);
        for (int j = 0; j < 4; j++)
            seen |= 1u << order[j];
        assert_int_equal(seen, 15);
        first[order[0]]++;
    }
    for (int i = 0; i < 4; i++)
        assert_true(first[i] > 900 && first[i] < 1100);
}

/* ---- simulated machines ---- */

/* What disturbs runs. Each gives how many times longer a run takes than it would by itself. */
struct machine {
    uint64_t seed;
    double at; /* time so far, in runs */
    bool busy;
};

static double uniform(struct machine *m) {
    return (verdict_draw(&m->seed, 1u << 30) + 0.5) / (double)(1u << 30);
}

static double normal(struct machine *m) {
    return sqrt(-2 * log(uniform(m))) * cos(6.283185307179586 * uniform(m));
}

static double quiet(struct machine *m) {
    return exp(0.02 * normal(m));
}

static double bursty(struct machine *m) { /* for a few seconds another program takes a third */
    if (uniform(m) < 0.05)
        m->busy = !m->busy;
    return exp(0.02 * normal(m)) * (m->busy ? 1.3 + 0.3 * uniform(m) : 1);
}

static double drifting(struct machine *m) { /* it gets warm, and the clock goes down; a daily wave */
    return exp(0.02 * normal(m) + 0.001 * m->at + 0.1 * sin(m->at / 30));
}

static double heavy(struct machine *m) { /* Student's t with two degrees of freedom */
    double u = 2 * uniform(m) - 1;
    return exp(0.02 * fmax(-30, fmin(30, u * sqrt(2 / (1 - u * u)))));
}

static double coarse(struct machine *m) { /* a clock of few steps: ties and zeros */
    return floor(10 * exp(0.1 * normal(m)) + 0.5) / 10;
}

static double skewed(struct machine *m) { /* nothing is ever faster than undisturbed */
    return 1 - 0.05 * log(uniform(m));
}

static const struct {
    const char *name;
    double (*slow)(struct machine *m);
} noises[] = {{"quiet", quiet},       {"bursty", bursty}, {"drift", drifting},
              {"heavy tails", heavy}, {"coarse", coarse}, {"skewed", skewed}};

/* One comparison of a program with one `factor` as slow, by the rule that `stat --vs` stops by: CPU time and
 * elapsed time, of which the latter is disturbed once more. Returns which differ. */
static unsigned compare(struct machine *m, double (*slow)(struct machine *), double factor, size_t pairs_max,
                        size_t *pairs) {
    double values[2][2][400];
    struct verdict_measure measures[2] = {{values[0][0], values[0][1], 0, 0, true},
                                          {values[1][0], values[1][1], 0, 0, true}};
    struct verdict v[2];
    struct err e = ERR_INIT;
    bool precise = false;
    for (size_t n = 0, look = verdict_next_look(0); n < pairs_max && !precise;) {
        unsigned order[2];
        verdict_shuffle(&m->seed, order, 2);
        for (int i = 0; i < 2; i++, m->at++) {
            double cpu = slow(m) * (order[i] ? factor : 1);
            values[0][order[i]][n] = cpu;
            values[1][order[i]][n] = cpu * (0.5 + 0.5 * slow(m));
        }
        n++;
        measures[0].n = measures[1].n = n;
        if (n < look && n < pairs_max)
            continue;
        assert_true(verdict_judge(measures, 2, &plain, v, &e));
        precise = verdict_precision(measures, v, 2) <= 0.01;
        look = verdict_next_look(n);
    }
    *pairs += measures[0].n;
    return (v[0].says == VERDICT_MORE || v[0].says == VERDICT_LESS) +
           2 * (v[1].says == VERDICT_MORE || v[1].says == VERDICT_LESS);
}

/* Forty of each here, of up to 100 pairs; bench/verdict.py has a thousand done, of up to 300: a minute of a
 * program that takes 0.1 s. */
static unsigned tries(size_t *pairs_max) {
    const char *text = getenv("SONDE_VERDICT_TRIES");
    *pairs_max = text ? 300 : 100;
    return text ? (unsigned)strtoul(text, NULL, 10) : 40;
}

static void false_alarms(void **state) {
    (void)state;
    size_t pairs_max;
    unsigned n = tries(&pairs_max);
    for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
        struct machine m = {.seed = 1000 + k};
        unsigned cpu = 0, wall = 0, either = 0;
        size_t pairs = 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned differ = compare(&m, noises[k].slow, 1, pairs_max, &pairs);
            m.at = 0;
            cpu += differ & 1;
            wall += differ >> 1;
            either += differ != 0;
        }
        printf("A/A %-12s %5.1f %% cpu %5.1f %% wall %5.1f %% either, %5.1f pairs\n", noises[k].name,
               100. * cpu / n, 100. * wall / n, 100. * either / n, (double)pairs / n);
        assert_true(either * 100 <= 8 * n);
    }
}

static void power(void **state) {
    (void)state;
    size_t pairs_max;
    unsigned n = tries(&pairs_max);
    for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
        struct machine m = {.seed = 2000 + k};
        unsigned seen = 0;
        size_t pairs = 0;
        for (unsigned i = 0; i < n; i++) {
            seen += compare(&m, noises[k].slow, 1.02, pairs_max, &pairs) != 0;
            m.at = 0;
        }
        printf("2 %% %-12s found in %5.1f %%, %5.1f pairs\n", noises[k].name, 100. * seen / n,
               (double)pairs / n);
        if (noises[k].slow == quiet || noises[k].slow == drifting)
            assert_true(seen * 100 >= 90 * n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_probabilities),
        cmocka_unit_test(normal_takes_over),
        cmocka_unit_test(walsh_averages),
        cmocka_unit_test(edges),
        cmocka_unit_test(mostly_equal),
        cmocka_unit_test(several_measures),
        cmocka_unit_test(drawing),
        cmocka_unit_test(false_alarms),
        cmocka_unit_test(power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
