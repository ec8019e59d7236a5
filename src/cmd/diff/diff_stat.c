/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_stat.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/common/input.h"
#include "count/replay.h"
#include "count/verdict/verdict.h"
#include "format/perfdata/header/feature.h"

/* An event, and its counts by run of each side. */
struct counted {
    const char *name;
    VEC(double) values[2];
    bool clock;
};

struct reading {
    struct arena *arena;
    VEC(struct counted) events;
    size_t runs[2];
    int side;
    bool failed; /* out of memory */
};

/* Returns the event with a name; only the first run adds new ones. NULL: there is none, or out of memory. */
static struct counted *event_of(struct reading *r, const char *name) {
    for (size_t i = 0; i < r->events.count; i++)
        if (strcmp(r->events.items[i].name, name) == 0)
            return &r->events.items[i];
    if (r->runs[0] || r->side)
        return NULL;
    struct counted *made = vec_push(&r->events);
    if (made)
        made->name = arena_strndup(r->arena, name, strlen(name));
    r->failed |= !made || !made->name;
    return r->failed ? NULL : made;
}

/* count_replay_options.round: takes the sums of all intervals. */
static void take_counts(void *ctx, const struct counts *c, bool last) {
    struct reading *r = ctx;
    for (size_t e = 0; last && c->keys.count && e < c->event_count && !r->failed; e++) {
        const struct count_cell *cell = counts_cell(c, 0, e);
        if (cell->state != COUNT_COUNTED || c->events[e].row_of != e)
            continue;
        struct counted *event = event_of(r, c->events[e].name);
        if (!event || event->values[r->side].count > r->runs[r->side])
            continue;
        double *value = vec_push(&event->values[r->side]);
        r->failed |= !value;
        if (value)
            *value = cell->value;
        event->clock = c->events[e].clock;
    }
}

static bool read_run(struct reading *r, const char *path, bool force, struct err *err) {
    const struct count_replay_options o = {.level = COUNT_ALL, .round = take_counts, .ctx = r};
    struct stream *s =
        input_check(path, force, err) ? stream_open(path, &(struct stream_options){0}, err) : NULL;
    bool ok = s &&
              (perfdata_feature_apply_names(stream_header(s), stream_events(s)) || err_memory(err, path)) &&
              count_replay(s, &o, err) && (!r->failed || err_memory(err, path));
    if (ok && !stream_all_read(s))
        ok = err_set(err, ERR_BROKEN, path, "not all of its counts can be read");
    stream_close(s);
    r->runs[r->side]++;
    return ok;
}

static bool read_side(struct reading *r, const char *list, bool force, struct err *err) {
    char *copy = strdup(list), *save = NULL;
    bool ok = copy || err_memory(err, "counts");
    for (char *one = ok ? strtok_r(copy, ",", &save) : NULL; ok && one; one = strtok_r(NULL, ",", &save)) {
        if (r->runs[r->side] == DIFF_STAT_FILES_MAX)
            ok = err_set(err, ERR_USAGE, r->side ? "--new-stat" : "--base-stat", "too many files");
        ok = ok && read_run(r, one, force, err);
    }
    free(copy);
    return ok && (r->runs[r->side] ||
                  err_set(err, ERR_USAGE, r->side ? "--new-stat" : "--base-stat", "no file is named"));
}

static double mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Judges the events that all runs have. */
static bool judge(const struct reading *r, double level, diff_figures *out, struct err *err) {
    size_t pairs = r->runs[0] < r->runs[1] ? r->runs[0] : r->runs[1], n = 0;
    struct verdict_measure *measures = calloc(r->events.count + 1, sizeof *measures);
    struct verdict *verdicts = calloc(r->events.count + 1, sizeof *verdicts);
    bool ok = (measures && verdicts) || err_memory(err, "counts");
    for (size_t i = 0; ok && i < r->events.count; i++) {
        const struct counted *e = &r->events.items[i];
        if (e->values[0].count != r->runs[0] || e->values[1].count != r->runs[1])
            continue;
        struct verdict_figure *f = vec_push(out);
        if (!(ok = f || err_memory(err, "counts")))
            break;
        *f = (struct verdict_figure){.name = e->name,
                                     .base = mean_of(e->values[0].items, r->runs[0]),
                                     .now = mean_of(e->values[1].items, r->runs[1]),
                                     .ns = e->clock,
                                     .counted = true};
        measures[n++] = (struct verdict_measure){
            .a = e->values[0].items, .b = e->values[1].items, .n = pairs, .step = 1, .primary = true};
    }
    const struct verdict_options how = {.level = level, .comparisons = 1};
    ok = ok && verdict_judge(measures, n, &how, verdicts, err);
    for (size_t i = 0; ok && i < n; i++) {
        struct verdict_figure *f = &out->items[out->count - n + i];
        const struct verdict *v = &verdicts[i];
        f->says = v->says == VERDICT_LESS      ? FIGURE_LESS
                  : v->says == VERDICT_MORE    ? FIGURE_MORE
                  : v->says == VERDICT_NOTHING ? FIGURE_NOTHING
                                               : FIGURE_TOO_FEW;
        f->low = v->low - 1;
        f->high = v->high - 1;
    }
    free(measures);
    free(verdicts);
    return ok;
}

bool diff_stat_read(const char *base, const char *now, bool force, double level, struct arena *arena,
                    diff_figures *out, struct err *err) {
    struct reading r = {.arena = arena};
    size_t before = out->count;
    bool ok = read_side(&r, base, force, err);
    r.side = 1;
    ok = ok && read_side(&r, now, force, err) && judge(&r, level, out, err);
    if (ok && out->count == before)
        ok = err_set(err, ERR_ABSENT, "--new-stat", "there is no event that all runs counted");
    for (size_t i = 0; i < r.events.count; i++) {
        vec_fini(&r.events.items[i].values[0]);
        vec_fini(&r.events.items[i].values[1]);
    }
    vec_fini(&r.events);
    return ok;
}
