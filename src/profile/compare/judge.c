/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

/* Instead of a row, for stack samples of a row with too few samples, of the event that costs are counted
 * against, and of an event that does not matter. */
enum { NOT_JUDGED = UINT32_MAX, COUNTED_AGAINST = UINT32_MAX - 1, NO_MATTER = UINT32_MAX - 2 };

/* One recording while its samples are counted. */
struct counting {
    const struct profile *p;
    uint32_t event;         /* in its recording */
    uint32_t against_event; /* PROFILE_NONE: it is not counted against one */
    uint32_t *judged;       /* by stack sample: the row that is judged, or one of the numbers above */
    float *weights;
    double *against;
    uint64_t *samples;
    uint64_t first, last; /* times; if samples have none, their numbers */
    bool timed;
    double squares, sum;
    uint64_t total;
};

struct judging {
    const struct compare *c;
    const struct compare_side *sides;
    const struct judge_options *o;
    uint32_t *judged_of;       /* by row of the comparison; NOT_JUDGED: too few samples */
    VEC(uint32_t) rows;        /* the other way round */
    struct counting *counting; /* by side */
    struct interval_recording *recordings;
};

/* ---- which rows ---- */

static bool choose_rows(struct judging *j) {
    const struct compare *c = j->c;
    j->judged_of = malloc((c->rows.count + 1) * sizeof *j->judged_of);
    for (uint32_t row = 0; j->judged_of && row < c->rows.count; row++) {
        uint64_t samples = 0;
        for (uint32_t s = 0; s < c->sides; s++)
            samples += compare_cell_at(c, row, s)->samples;
        j->judged_of[row] = NOT_JUDGED;
        if (samples < INTERVAL_SAMPLES_MIN)
            continue;
        j->judged_of[row] = (uint32_t)j->rows.count;
        uint32_t *slot = vec_push(&j->rows);
        if (!slot)
            return false;
        *slot = row;
    }
    return j->judged_of != NULL;
}

/* Maps the stack samples of a side. False: out of memory. */
static bool map_stacks(struct judging *j, uint32_t side) {
    const struct compare_side *s = &j->sides[side];
    const struct profile *p = s->profile;
    size_t rows = p->tables.items[s->event->event].rows.count, stacks = p->b.stacks.count;
    struct counting *x = &j->counting[side];
    const uint32_t *moved = j->c->row_of_stack ? j->c->row_of_stack[side] : NULL;
    uint32_t *judged = malloc((rows + 1) * sizeof *judged);
    x->judged = malloc((stacks + 1) * sizeof *x->judged);
    bool ok = judged && x->judged;
    for (size_t i = 0; ok && i < rows; i++)
        judged[i] = NOT_JUDGED;
    for (uint32_t i = 0; ok && i < s->event->root_count; i++)
        judged[profile_entry_at(p, s->event, i).key] = j->judged_of[j->c->row_of[side][i]];
    for (size_t i = 0; ok && i < stacks; i++) {
        uint32_t event = profile_group_key_event(p, p->b.stacks.items[i].key.group_key);
        uint32_t row =
            moved && moved[i] != COMPARE_NO_ROW ? j->judged_of[moved[i]] : judged[p->stack_rows.items[i]];
        x->judged[i] = event == x->event ? row : event == x->against_event ? COUNTED_AGAINST : NO_MATTER;
    }
    free(judged);
    return ok;
}

/* ---- counting ---- */

/* Finds from when to when the samples are. Where none has a time, their order in the file stands for it. */
static void find_span(struct counting *x) {
    const struct profile_ticks *m = &x->p->b.ticks;
    x->timed = m->last_ns > m->first_ns;
    x->first = x->timed ? m->first_ns : 0;
    x->last = x->timed ? m->last_ns : m->stacks.count;
}

/* Counts the samples from one number up to another, which are in one slice. */
static void count_slice(struct counting *x, unsigned slice, size_t from, size_t to, bool by_samples) {
    const struct profile_ticks *m = &x->p->b.ticks;
    for (size_t i = from; i < to; i++) {
        uint32_t row = x->judged[m->stacks.items[i]];
        double weight = m->periods.count ? (double)m->periods.items[i] : (double)m->period;
        if (row == COUNTED_AGAINST || (by_samples && row != NO_MATTER))
            x->against[slice] += weight;
        if (row == COUNTED_AGAINST || row == NO_MATTER)
            continue;
        x->total++;
        x->sum += weight;
        x->squares += weight * weight;
        if (row == NOT_JUDGED)
            continue;
        x->weights[(size_t)row * INTERVAL_SLICES + slice] += (float)weight;
        x->samples[row]++;
    }
}

static unsigned slice_of(const struct counting *x, uint64_t at) {
    double scale = (double)INTERVAL_SLICES / ((double)(x->last - x->first) + 1);
    unsigned slice = (unsigned)((double)(at - x->first) * scale);
    return slice < INTERVAL_SLICES ? slice : INTERVAL_SLICES - 1;
}

static void count_samples(struct counting *x, bool by_samples) {
    const struct profile_ticks *m = &x->p->b.ticks;
    size_t count = m->stacks.count;
    for (size_t i = 0; x->timed && i < m->spans.count; i++) {
        size_t end = i + 1 < m->spans.count ? m->spans.items[i + 1].first : count;
        count_slice(x, slice_of(x, m->spans.items[i].ns), m->spans.items[i].first, end, by_samples);
    }
    for (size_t i = 0; !x->timed && i < count; i++)
        count_slice(x, slice_of(x, i), i, i + 1, by_samples);
}

static bool find_against(struct judging *j, uint32_t side, struct err *err) {
    struct counting *x = &j->counting[side];
    const struct perfdata_events *events = x->p->plan.in->events;
    x->against_event = PROFILE_NONE;
    if (j->o->by == JUDGE_BY_TIME && !x->timed)
        return err_set(err, ERR_ABSENT, NULL, "file %" PRIu32 ": its samples have no times", side + 1);
    for (unsigned i = 0; i < INTERVAL_SLICES; i++)
        x->against[i] = j->o->by == JUDGE_BY_TIME       ? (double)(x->last - x->first) / INTERVAL_SLICES
                        : j->o->by == JUDGE_BY_REQUESTS ? j->o->requests[side] / INTERVAL_SLICES
                                                        : 0;
    if (j->o->by != JUDGE_BY_EVENT)
        return true;
    for (uint32_t i = 0; i < events->list.count; i++)
        if (strcmp(events->list.items[i].name, j->o->event) == 0)
            x->against_event = i;
    return x->against_event != PROFILE_NONE ||
           err_set(err, ERR_ABSENT, NULL, "file %" PRIu32 " has no event %s", side + 1, j->o->event);
}

static bool count_side(struct judging *j, uint32_t side, struct err *err) {
    struct counting *x = &j->counting[side];
    size_t rows = j->rows.count;
    x->p = j->sides[side].profile;
    x->weights = calloc(rows * INTERVAL_SLICES + 1, sizeof *x->weights);
    x->against = calloc(INTERVAL_SLICES, sizeof *x->against);
    x->samples = calloc(rows + 1, sizeof *x->samples);
    if (!x->weights || !x->against || !x->samples)
        return err_memory(err, "comparison");
    if (!j->sides[side].event)
        return err_set(err, ERR_ABSENT, NULL, "file %" PRIu32 " lacks the event", side + 1);
    x->event = j->sides[side].event->event;
    find_span(x);
    if (!find_against(j, side, err))
        return false;
    if (!map_stacks(j, side))
        return err_memory(err, "comparison");
    count_samples(x, j->o->by == JUDGE_BY_SAMPLES);
    if (!x->total)
        return err_set(err, ERR_ABSENT, NULL, "file %" PRIu32 " has no samples that count", side + 1);
    j->recordings[side] = (struct interval_recording){
        .is_new = j->o->is_new[side],
        .weights = x->weights,
        .against = x->against,
        .samples = x->samples,
        .spread = x->sum > 0 ? x->squares * (double)x->total / (x->sum * x->sum) : 1,
        .total_samples = x->total,
    };
    return true;
}

/* ---- what comes of it ---- */

/* Fills in the costs of a row that is not judged. */
static void fill_cost(struct judging *j, uint32_t row, struct interval *to) {
    double costs[2] = {0}, against[2] = {0};
    for (uint32_t s = 0; s < j->c->sides; s++) {
        unsigned side = j->o->is_new[s];
        costs[side] += (double)compare_cell_at(j->c, row, s)->period;
        for (unsigned i = 0; i < INTERVAL_SLICES; i++)
            against[side] += j->counting[s].against[i];
    }
    *to = (struct interval){.base = against[0] > 0 ? costs[0] / against[0] : 0,
                            .now = against[1] > 0 ? costs[1] / against[1] : 0,
                            .low = -INFINITY,
                            .high = INFINITY,
                            .says = INTERVAL_TOO_FEW};
}

/* A row's rank: proved increases, then proved decreases, each by the least that they can be; then increases
 * that are not proved, then such decreases (if one function costs more, the shares of all others fall), then
 * rows with too few samples, each by how much they changed. */
struct rank {
    int group;
    double by;
};

static struct rank rank_of(const struct interval *r) {
    double change = fabs(r->now - r->base);
    switch (r->says) {
    case INTERVAL_MORE:
        return (struct rank){0, r->low};
    case INTERVAL_LESS:
        return (struct rank){1, -r->high};
    case INTERVAL_NOTHING:
        return (struct rank){r->now > r->base ? 2 : 3, change};
    case INTERVAL_TOO_FEW:
        break;
    }
    return (struct rank){4, change};
}

static int by_rank(const void *one, const void *other, void *ctx) {
    const struct interval *rows = ctx;
    uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)other;
    struct rank a = rank_of(&rows[x]), b = rank_of(&rows[y]);
    if (a.group != b.group)
        return a.group - b.group;
    if (a.by != b.by)
        return a.by > b.by ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool judge_rows(struct judging *j, struct judgement *out, struct err *err) {
    const struct compare *c = j->c;
    struct interval_input in = {.recordings = j->recordings,
                                .count = c->sides,
                                .rows = j->rows.count,
                                .level = j->o->level,
                                .pool = j->o->pool};
    struct interval *judged = calloc(in.rows + 1, sizeof *judged);
    bool ok =
        judged && vec_reserve(&out->rows, c->rows.count + 1) && vec_reserve(&out->order, c->rows.count + 1);
    ok = (ok || err_memory(err, "intervals")) && interval_find(&in, judged, &out->result, err);
    for (uint32_t row = 0; ok && row < c->rows.count; row++) {
        out->rows.count++;
        out->order.items[out->order.count++] = row;
        if (j->judged_of[row] == NOT_JUDGED)
            fill_cost(j, row, &out->rows.items[row]);
        else
            out->rows.items[row] = judged[j->judged_of[row]];
    }
    free(judged);
    if (ok)
        qsort_r(out->order.items, out->order.count, sizeof *out->order.items, by_rank, out->rows.items);
    return ok;
}

bool compare_judge(const struct compare *c, const struct compare_side *sides, const struct judge_options *o,
                   struct judgement *out, struct err *err) {
    struct judging j = {.c = c, .sides = sides, .o = o};
    j.counting = calloc(c->sides, sizeof *j.counting);
    j.recordings = calloc(c->sides, sizeof *j.recordings);
    bool ok = (j.counting && j.recordings && choose_rows(&j)) || err_memory(err, "comparison");
    for (uint32_t s = 0; ok && s < c->sides; s++)
        ok = count_side(&j, s, err);
    ok = ok && judge_rows(&j, out, err);
    for (uint32_t s = 0; j.counting && s < c->sides; s++) {
        free(j.counting[s].judged);
        free(j.counting[s].weights);
        free(j.counting[s].against);
        free(j.counting[s].samples);
    }
    free(j.counting);
    free(j.recordings);
    free(j.judged_of);
    vec_fini(&j.rows);
    return ok;
}

void judgement_fini(struct judgement *j) {
    vec_fini(&j->rows);
    vec_fini(&j->order);
}
