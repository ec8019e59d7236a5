/* SPDX-License-Identifier: Apache-2.0 */
#include "count/verdict/versus.h"

#include <math.h>
#include <stdlib.h>

static bool start(struct versus *v, const struct versus_job *job, struct err *err) {
    size_t all = job->commands * job->measure_count;
    *v = (struct versus){.commands = job->commands, .measures = job->measure_count, .precision = INFINITY};
    v->columns = calloc(all, sizeof *v->columns);
    v->missing = calloc(job->measure_count, sizeof *v->missing);
    v->verdicts = calloc(all, sizeof *v->verdicts);
    return (v->columns && v->missing && v->verdicts) || err_memory(err, "comparison");
}

void versus_fini(struct versus *v) {
    for (size_t i = 0; v->columns && i < v->commands * v->measures; i++)
        vec_fini(&v->columns[i].values);
    free(v->columns);
    free(v->missing);
    free(v->verdicts);
    *v = (struct versus){0};
}

static struct versus_column *column(const struct versus *v, size_t command, size_t measure) {
    return &v->columns[command * v->measures + measure];
}

static bool keep(struct versus *v, size_t command, const double *values) {
    for (size_t i = 0; i < v->measures; i++) {
        struct versus_column *c = column(v, command, i);
        c->values.count = v->pairs; /* what a stopped round left is overwritten */
        double *slot = vec_push(&c->values);
        if (!slot)
            return false;
        *slot = values[i];
        v->missing[i] = v->missing[i] || isnan(values[i]);
    }
    return true;
}

/* The measures that have values, of a command against the first; `places` says which they are. */
static size_t select_measures(const struct versus_job *job, const struct versus *v, size_t command,
                              struct verdict_measure *out, size_t *places) {
    size_t n = 0;
    for (size_t i = 0; i < v->measures; i++) {
        if (v->missing[i])
            continue;
        places[n] = i;
        out[n++] = (struct verdict_measure){.a = column(v, 0, i)->values.items,
                                            .b = column(v, command, i)->values.items,
                                            .n = v->pairs,
                                            .step = job->measures[i].step,
                                            .primary = job->measures[i].primary};
    }
    return n;
}

static bool judge(const struct versus_job *job, struct versus *v, struct err *err) {
    const struct verdict_options o = {job->level, (unsigned)(v->commands - 1)};
    struct verdict_measure *m = calloc(v->measures, sizeof *m);
    struct verdict *out = calloc(v->measures, sizeof *out);
    size_t *places = calloc(v->measures, sizeof *places);
    bool ok = (m && out && places) || err_memory(err, "comparison");
    v->precision = 0;
    for (size_t b = 1; ok && b < v->commands; b++) {
        size_t n = select_measures(job, v, b, m, places);
        ok = verdict_judge(m, n, &o, out, err);
        v->precision = ok ? fmax(v->precision, verdict_precision(m, out, n)) : INFINITY;
        for (size_t i = 0; ok && i < n; i++)
            v->verdicts[(b - 1) * v->measures + places[i]] = out[i];
    }
    free(m);
    free(out);
    free(places);
    return ok;
}

struct rounds {
    uint64_t seed, start_ns;
    size_t done; /* the first one included */
    unsigned *order;
    double *values;
};

/* One run of each command. */
static enum versus_ran run_round(const struct versus_job *job, struct versus *v, struct rounds *r,
                                 struct err *err) {
    verdict_shuffle(&r->seed, r->order, job->commands);
    for (size_t i = 0; i < job->commands; i++) {
        unsigned padding = verdict_draw(&r->seed, VERSUS_PADDING_BYTES);
        enum versus_ran ran = job->run(job->ctx, r->order[i], padding, r->values, err);
        if (ran != VERSUS_RAN)
            return ran;
        if (r->done && !keep(v, r->order[i], r->values))
            return err_memory(err, "comparison") ? VERSUS_RAN : VERSUS_RAN_NOT;
    }
    v->pairs += r->done > 0;
    r->done++;
    return VERSUS_RAN;
}

static bool time_is_over(const struct versus_job *job, const struct versus *v, const struct rounds *r) {
    uint64_t spent = job->now_ns(job->ctx) - r->start_ns;
    if (job->pairs || (!job->budget_fixed && v->pairs < VERSUS_PAIRS_FEW))
        return false;
    return spent + (r->done ? spent / r->done : 0) > job->budget_ns;
}

/* Goes on until there is a reason to end. */
static bool run_rounds(const struct versus_job *job, struct versus *v, struct rounds *r, struct err *err) {
    size_t most = job->pairs && job->pairs < VERSUS_PAIRS_MAX ? job->pairs : VERSUS_PAIRS_MAX;
    for (size_t look = verdict_next_look(0);;) {
        if (v->pairs >= most) {
            v->end = VERSUS_PAIRS;
            return true;
        }
        if (r->done && time_is_over(job, v, r)) {
            v->end = VERSUS_TIME;
            return true;
        }
        enum versus_ran ran = run_round(job, v, r, err);
        if (ran != VERSUS_RAN) {
            v->end = VERSUS_STOPPED;
            return ran == VERSUS_RAN_STOPPED;
        }
        v->seconds = (double)(job->now_ns(job->ctx) - r->start_ns) / 1e9;
        if (v->pairs >= look) {
            if (!judge(job, v, err))
                return false;
            look = verdict_next_look(v->pairs);
            if (!job->pairs && v->precision <= job->until) {
                v->end = VERSUS_PRECISE;
                return true;
            }
        }
        if (job->progress)
            job->progress(job->ctx, v);
    }
}

bool versus_run(const struct versus_job *job, struct versus *v, struct err *err) {
    struct rounds r = {.seed = job->seed, .start_ns = job->now_ns(job->ctx)};
    r.order = calloc(job->commands, sizeof *r.order);
    r.values = calloc(job->measure_count, sizeof *r.values);
    bool ok = start(v, job, err) && ((r.order && r.values) || err_memory(err, "comparison")) &&
              run_rounds(job, v, &r, err) && judge(job, v, err);
    v->seconds = (double)(job->now_ns(job->ctx) - r.start_ns) / 1e9;
    free(r.order);
    free(r.values);
    return ok;
}

bool versus_regressed(const struct versus_job *job, const struct versus *v, double share) {
    for (size_t b = 1; b < v->commands; b++)
        for (size_t i = 0; i < v->measures; i++) {
            const struct verdict *one = versus_verdict(v, b, i);
            if (job->measures[i].primary && one->says == VERDICT_MORE && one->low > 1 + share)
                return true;
        }
    return false;
}

bool versus_decided(const struct versus_job *job, const struct versus *v) {
    for (size_t b = 1; b < v->commands; b++)
        for (size_t i = 0; i < v->measures; i++)
            if (job->measures[i].primary && versus_verdict(v, b, i)->says == VERDICT_TOO_FEW)
                return false;
    return true;
}
