/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { LEVELS = 3 /* 64, 32, 16 blocks */, ROWS_OF_JOB = 64, SEED = 1979 };

/* The weight, in recordings, of the variance that all rows together suggest, against that between a row's
 * own. */
static const double PRIOR_RECORDINGS = 4;
static const double CORRELATION_MAX = 0.9;

struct finder {
    const struct interval_input *in;
    struct interval *rows;
    double against[2], samples[2], spread[2]; /* by side: sums over its recordings, a mean */
    unsigned recordings[2];
    unsigned level;  /* how often slices were joined by twos */
    unsigned blocks; /* INTERVAL_SLICES >> level */
    double widen;    /* of variances, for what correlation is left */
    double between;  /* how many times the variance between recordings is that within, over all rows */
    float *draws;    /* [(recording * blocks + block) * INTERVAL_DRAWS + draw]: how often it was drawn */
    float *most;     /* [thread * INTERVAL_DRAWS + draw]: the largest |t| so far */
};

static const float *slices_of(const struct interval_recording *r, size_t row) {
    return r->weights + row * INTERVAL_SLICES;
}

static double sum_of(const struct interval_recording *r, size_t row) {
    const float *w = slices_of(r, row);
    double sum = 0;
    for (unsigned i = 0; i < INTERVAL_SLICES; i++)
        sum += w[i];
    return sum;
}

static double against_of(const struct interval_recording *r) {
    double sum = 0;
    for (unsigned i = 0; i < INTERVAL_SLICES; i++)
        sum += r->against[i];
    return sum;
}

/* Fills u[blocks] with the influence of each block of a recording on its side's cost of a row, less their
 * mean; returns that mean. */
static double influences(const struct finder *f, const struct interval_recording *r, size_t row,
                         unsigned level, double *u) {
    const float *w = slices_of(r, row);
    unsigned blocks = INTERVAL_SLICES >> level, width = 1u << level;
    double cost = r->is_new ? f->rows[row].now : f->rows[row].base, whole = f->against[r->is_new], mean = 0;
    for (unsigned b = 0; b < blocks; b++) {
        double weight = 0, against = 0;
        for (unsigned i = b * width; i < (b + 1) * width; i++) {
            weight += w[i];
            against += r->against[i];
        }
        u[b] = whole > 0 ? (weight - cost * against) / whole : 0;
        mean += u[b];
    }
    mean /= blocks;
    for (unsigned b = 0; b < blocks; b++)
        u[b] -= mean;
    return mean;
}

/* The variance of a sum of blocks. */
static double variance_of(const double *u, unsigned blocks) {
    double squares = 0;
    for (unsigned b = 0; b < blocks; b++)
        squares += u[b] * u[b];
    return squares * blocks / (blocks - 1);
}

/* ---- costs ---- */

static bool is_tested(const struct finder *f, size_t row) {
    uint64_t samples = 0;
    for (size_t k = 0; k < f->in->count; k++)
        samples += f->in->recordings[k].samples[row];
    return samples >= INTERVAL_SAMPLES_MIN;
}

static void find_costs(struct finder *f) {
    for (size_t k = 0; k < f->in->count; k++) {
        const struct interval_recording *r = &f->in->recordings[k];
        f->against[r->is_new] += against_of(r);
        f->samples[r->is_new] += (double)r->total_samples;
        f->spread[r->is_new] += r->spread * (double)r->total_samples;
        f->recordings[r->is_new]++;
        for (size_t row = 0; row < f->in->rows; row++)
            *(r->is_new ? &f->rows[row].now : &f->rows[row].base) += sum_of(r, row);
    }
    for (unsigned side = 0; side < 2; side++) {
        f->spread[side] /= f->samples[side] > 0 ? f->samples[side] : 1;
        for (size_t row = 0; row < f->in->rows; row++) {
            double *cost = side ? &f->rows[row].now : &f->rows[row].base;
            *cost = f->against[side] > 0 ? *cost / f->against[side] : 0;
        }
    }
}

/* ---- blocks ---- */

/* Chooses the shortest blocks whose variance, over all rows, is nearly that of the longest, and how much to
 * widen it for what neighbours still have in common. */
static void choose_blocks(struct finder *f, struct interval_result *result) {
    double u[INTERVAL_SLICES], variance[LEVELS] = {0}, together = 0, squares = 0;
    for (size_t k = 0; k < f->in->count; k++)
        for (size_t row = 0; row < f->in->rows; row++) {
            if (!is_tested(f, row))
                continue;
            for (unsigned level = 0; level < LEVELS; level++) {
                influences(f, &f->in->recordings[k], row, level, u);
                variance[level] += variance_of(u, INTERVAL_SLICES >> level);
            }
            for (unsigned b = 0; b < INTERVAL_BLOCKS_MIN; b++) { /* as the last level left them */
                squares += u[b] * u[b];
                together += b ? u[b] * u[b - 1] : 0;
            }
        }
    double most = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        most = variance[level] > most ? variance[level] : most;
    while (f->level + 1 < LEVELS && variance[f->level] < 0.9 * most)
        f->level++;
    f->blocks = INTERVAL_SLICES >> f->level;
    /* What so few blocks show of a correlation is too low (Kendall 1954). */
    const double n = INTERVAL_BLOCKS_MIN;
    double r = squares > 0 && f->level + 1 == LEVELS ? (together / squares + 1 / n) / (1 - 4 / n) : 0;
    r = r < 0 ? 0 : r > CORRELATION_MAX ? CORRELATION_MAX : r;
    f->widen = (1 + r) / (1 - r);
    result->blocks = f->blocks;
    result->correlation = r;
}

/* ---- errors ---- */

/* The variance of a row's cost on a side, as independent samples would have it. */
static double least_variance(const struct finder *f, size_t row, unsigned side) {
    double seen = 0, samples = f->samples[side], cost = side ? f->rows[row].now : f->rows[row].base;
    for (size_t k = 0; k < f->in->count; k++)
        if (f->in->recordings[k].is_new == (side == 1))
            seen += (double)f->in->recordings[k].samples[row];
    if (samples < 1 || seen < 1)
        return 0;
    /* Of a share p of n samples the variance is p (1 - p) / n: the cost's, in proportion. */
    double p = seen / samples;
    return cost * cost * (1 - p) / seen * f->spread[side];
}

/* The variance of a side's cost between its recordings; *within: that of their blocks. */
static double between_variance(const struct finder *f, size_t row, unsigned side, double *within) {
    double u[INTERVAL_SLICES], squares = 0, inside = 0;
    unsigned n = f->recordings[side];
    for (size_t k = 0; k < f->in->count; k++) {
        const struct interval_recording *r = &f->in->recordings[k];
        if (r->is_new != (side == 1))
            continue;
        double sum = influences(f, r, row, f->level, u) * f->blocks;
        squares += sum * sum; /* the sums of all recordings add up to zero */
        inside += variance_of(u, f->blocks);
    }
    *within = inside * f->widen;
    return n > 1 ? squares * n / (n - 1) : 0;
}

/* The ratio of the variance between recordings to that of their blocks, over all rows; at least 1. */
static void find_between(struct finder *f) {
    double between = 0, inside = 0;
    for (unsigned side = 0; side < 2; side++)
        for (size_t row = 0; f->recordings[side] > 1 && row < f->in->rows; row++) {
            double within;
            if (!is_tested(f, row))
                continue;
            between += between_variance(f, row, side, &within);
            inside += within;
        }
    f->between = inside > 0 && between > inside ? between / inside : 1;
}

static double variance_on(const struct finder *f, size_t row, unsigned side) {
    double within, between = between_variance(f, row, side, &within), least = least_variance(f, row, side);
    unsigned more = f->recordings[side] - 1;
    double variance = within * f->between;
    if (more)
        variance = fmax(variance, (variance * PRIOR_RECORDINGS + between * more) / (PRIOR_RECORDINGS + more));
    return fmax(variance, least);
}

static void find_errors(struct finder *f) {
    for (size_t row = 0; row < f->in->rows; row++)
        if (is_tested(f, row)) {
            f->rows[row].base_error = sqrt(variance_on(f, row, 0));
            f->rows[row].now_error = sqrt(variance_on(f, row, 1));
        }
}

/* ---- the bootstrap ---- */

/* Draws blocks with replacement, for each recording as many as it has. */
static void draw(struct finder *f) {
    for (size_t k = 0; k < f->in->count; k++)
        for (unsigned d = 0; d < INTERVAL_DRAWS; d++)
            for (unsigned b = 0; b < f->blocks; b++) {
                uint64_t lot = hash_u64(SEED + HASH_ODD * (((uint64_t)d << 32) + (k << 16) + b + 1));
                unsigned at = (unsigned)((lot >> 32) * f->blocks >> 32);
                f->draws[(k * f->blocks + at) * INTERVAL_DRAWS + d] += 1;
            }
}

/* Adds what a recording's blocks make of a row in each draw: their sum, and its variance. */
static void add_draws(const struct finder *f, size_t k, size_t row, float *sum, float *squares) {
    double u[INTERVAL_SLICES];
    influences(f, &f->in->recordings[k], row, f->level, u);
    for (unsigned b = 0; b < f->blocks; b++) {
        const float *often = f->draws + (k * f->blocks + b) * INTERVAL_DRAWS;
        float x = (float)u[b], xx = x * x;
        if (x == 0)
            continue;
        for (unsigned d = 0; d < INTERVAL_DRAWS; d++) {
            sum[d] += often[d] * x;
            squares[d] += often[d] * xx;
        }
    }
}

/* Takes the |t| of a row in each draw into the largest ones. The error of a draw, like that of the row
 * itself, is never less than independent samples have. */
static void test_row(const struct finder *f, size_t row, float *most) {
    float sum[INTERVAL_DRAWS], squares[INTERVAL_DRAWS], one[INTERVAL_DRAWS], all[INTERVAL_DRAWS] = {0},
                                                                             variance[INTERVAL_DRAWS] = {0};
    double least = least_variance(f, row, 0) + least_variance(f, row, 1);
    float blocks = (float)f->blocks;
    for (size_t k = 0; k < f->in->count; k++) {
        memset(sum, 0, sizeof sum);
        memset(squares, 0, sizeof squares);
        add_draws(f, k, row, sum, squares);
        float sign = f->in->recordings[k].is_new ? 1 : -1;
        for (unsigned d = 0; d < INTERVAL_DRAWS; d++) {
            one[d] = (squares[d] - sum[d] * sum[d] / blocks) * blocks / (blocks - 1);
            all[d] += sign * sum[d];
            variance[d] += one[d];
        }
    }
    for (unsigned d = 0; d < INTERVAL_DRAWS; d++) {
        float floor = (float)least, v = variance[d] > floor ? variance[d] : floor;
        float t = v > 0 ? fabsf(all[d]) / sqrtf(v) : 0;
        most[d] = t > most[d] ? t : most[d];
    }
}

static bool test_rows(void *ctx, size_t job, unsigned thread, struct err *err) {
    const struct finder *f = ctx;
    (void)err;
    for (size_t row = job * ROWS_OF_JOB; row < (job + 1) * ROWS_OF_JOB && row < f->in->rows; row++)
        if (is_tested(f, row))
            test_row(f, row, f->most + (size_t)thread * INTERVAL_DRAWS);
    return true;
}

static int by_value(const void *x, const void *y) {
    float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

/* The quantile of the largest |t|. */
static double reach_of(struct finder *f, unsigned threads) {
    for (unsigned t = 1; t < threads; t++)
        for (unsigned d = 0; d < INTERVAL_DRAWS; d++)
            if (f->most[(size_t)t * INTERVAL_DRAWS + d] > f->most[d])
                f->most[d] = f->most[(size_t)t * INTERVAL_DRAWS + d];
    qsort(f->most, INTERVAL_DRAWS, sizeof *f->most, by_value);
    double at = ceil(f->in->level * (INTERVAL_DRAWS + 1)) - 1;
    return f->most[at < 0 ? 0 : at >= INTERVAL_DRAWS ? INTERVAL_DRAWS - 1 : (unsigned)at];
}

static bool bootstrap(struct finder *f, double *reach, struct err *err) {
    unsigned threads = pool_threads(f->in->pool);
    f->draws = calloc(f->in->count * f->blocks * INTERVAL_DRAWS, sizeof *f->draws);
    f->most = calloc((size_t)threads * INTERVAL_DRAWS, sizeof *f->most);
    bool ok = (f->draws && f->most) || err_memory(err, "bootstrap");
    if (ok)
        draw(f);
    ok = ok && pool_run(f->in->pool, (f->in->rows + ROWS_OF_JOB - 1) / ROWS_OF_JOB, test_rows, f, err);
    if (ok)
        *reach = reach_of(f, threads);
    free(f->draws);
    free(f->most);
    return ok;
}

/* ---- all ---- */

bool interval_find(const struct interval_input *in, struct interval *rows, struct interval_result *result,
                   struct err *err) {
    struct finder f = {.in = in, .rows = rows};
    *result = (struct interval_result){0};
    for (size_t row = 0; row < in->rows; row++)
        rows[row] = (struct interval){0};
    find_costs(&f);
    choose_blocks(&f, result);
    find_between(&f);
    find_errors(&f);
    if (!bootstrap(&f, &result->reach, err))
        return false;
    for (size_t row = 0; row < in->rows; row++) {
        struct interval *r = &rows[row];
        double change = r->now - r->base, error = hypot(r->base_error, r->now_error);
        bool tested = is_tested(&f, row) && error > 0;
        r->low = tested ? change - result->reach * error : -INFINITY;
        r->high = tested ? change + result->reach * error : INFINITY;
        r->says = !tested       ? INTERVAL_TOO_FEW
                  : r->low > 0  ? INTERVAL_MORE
                  : r->high < 0 ? INTERVAL_LESS
                                : INTERVAL_NOTHING;
        result->tested += tested;
        result->base_total += r->base;
    }
    return true;
}

bool interval_grew(const struct interval *row, double share, const struct interval_result *result) {
    if (row->says != INTERVAL_MORE)
        return false;
    if (row->base <= 0)
        return row->low > share * result->base_total;
    double over = row->now - (1 + share) * row->base;
    return over > result->reach * hypot(row->now_error, (1 + share) * row->base_error);
}
