/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diff/diff_judge.h"
#include "cmd/diff/diff_stat.h"
#include "view/diff/diff_rows.h"

struct verdict_run {
    const struct diff_files *f;
    const struct diff_options *o;
    uint32_t base_count;
    bool is_new[DIFF_FILES_MAX];
    struct out doubts; /* about machines; while an event is shown also about how it was sampled */
    diff_figures figures;
    struct arena arena; /* texts of figures */
    struct out *out;
    struct json json;
    bool regressed, found;   /* found: the function of --gate */
    bool any;                /* an event was shown */
    VEC(struct kept *) kept; /* for the browser */
};

/* One event, judged, while the browser shows it. */
struct kept {
    struct compare compare;
    struct judgement judgement;
    struct compare_side sides[DIFF_FILES_MAX];
    struct verdict_file files[DIFF_FILES_MAX];
    char *doubts;
    struct verdict_view v; /* of these */
    struct diff_rows rows;
};

/* ---- what the headers tell ---- */

static void doubt(struct verdict_run *x, const char *what, const char *one, const char *other) {
    out_printf(&x->doubts, "%s%s %s and %s", x->doubts.len ? "; " : "", what, one, other);
}

static void compare_text(struct verdict_run *x, uint32_t file, uint32_t feature, const char *what) {
    char one[256] = "", other[256] = "";
    perfdata_feature_text(stream_header(x->f->list[0].recording.stream), feature, one, sizeof one);
    perfdata_feature_text(stream_header(x->f->list[file].recording.stream), feature, other, sizeof other);
    if (*one && *other && strcmp(one, other) != 0)
        doubt(x, what, one, other);
}

static uint32_t cpus_of(const struct diff_file *f) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    bool told =
        perfdata_feature_get(stream_header(f->recording.stream), PERFDATA_FEATURE_NRCPUS, &arena, &value);
    uint32_t cpus = told ? value.nr_cpus.online : 0;
    arena_fini(&arena);
    return cpus;
}

/* Says how the machine, and the way of recording, of a file differ from the first one's. */
static void compare_machines(struct verdict_run *x, uint32_t file) {
    char one[32], other[32];
    compare_text(x, file, PERFDATA_FEATURE_ARCH, "architectures");
    compare_text(x, file, PERFDATA_FEATURE_HOSTNAME, "hosts");
    compare_text(x, file, PERFDATA_FEATURE_CPUDESC, "processors");
    compare_text(x, file, PERFDATA_FEATURE_OSRELEASE, "kernels");
    uint32_t a = cpus_of(&x->f->list[0]), b = cpus_of(&x->f->list[file]);
    snprintf(one, sizeof one, "%" PRIu32, a);
    snprintf(other, sizeof other, "%" PRIu32, b);
    if (a && b && a != b)
        doubt(x, "numbers of CPUs", one, other);
}

static const struct perfdata_event *event_at(const struct diff_file *f, const struct compare_side *s) {
    return &f->recording.events->list.items[s->event->event];
}

/* Says if samples were taken at other frequencies or periods. */
static void compare_sampling(struct verdict_run *x, const struct compare_side *sides, uint32_t file) {
    const struct perfdata_attr *a = &event_at(&x->f->list[0], &sides[0])->attr,
                               *b = &event_at(&x->f->list[file], &sides[file])->attr;
    char one[32], other[32];
    if (strcmp(sides[0].event->name, sides[file].event->name) != 0)
        doubt(x, "events", sides[0].event->name, sides[file].event->name);
    if (a->sample_period == b->sample_period && !((a->flags ^ b->flags) & PERFDATA_ATTR_FREQ))
        return;
    snprintf(one, sizeof one, "%" PRIu64 "%s", a->sample_period, a->flags & PERFDATA_ATTR_FREQ ? " Hz" : "");
    snprintf(other, sizeof other, "%" PRIu64 "%s", b->sample_period,
             b->flags & PERFDATA_ATTR_FREQ ? " Hz" : "");
    doubt(x, "sampling rates", one, other);
}

static bool is_clock(const struct perfdata_attr *a) {
    enum { SOFTWARE = 1, CPU_CLOCK = 0, TASK_CLOCK = 1 }; /* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_* */
    return a->type == SOFTWARE && (a->config == CPU_CLOCK || a->config == TASK_CLOCK);
}

/* ---- figures of whole recordings ---- */

/* Adds one, from a number for each file; zero: a file lacks it, and it is not shown. False: out of memory. */
static bool add_figure(struct verdict_run *x, const char *name, const double *numbers, bool ns) {
    double sums[2] = {0};
    for (uint32_t i = 0; i < x->f->count; i++) {
        if (!(numbers[i] > 0))
            return true;
        sums[x->is_new[i]] += numbers[i];
    }
    struct verdict_figure *f = vec_push(&x->figures);
    if (f)
        *f = (struct verdict_figure){.name = name,
                                     .base = sums[0] / x->base_count,
                                     .now = sums[1] / (x->f->count - x->base_count),
                                     .ns = ns};
    return f != NULL;
}

static bool find_figures(struct verdict_run *x) {
    const struct profile *base = report_session_parts(x->f->list[0].session).profile;
    double numbers[DIFF_FILES_MAX];
    for (uint32_t i = 0; i < x->f->count; i++) {
        struct recording_span span = {0};
        recording_header_span(&x->f->list[i].recording, &span);
        numbers[i] = span.last_ns > span.first_ns ? (double)(span.last_ns - span.first_ns) : 0;
    }
    bool ok = add_figure(x, "duration", numbers, true);
    for (uint32_t e = 0; ok && e < profile_event_count(base); e++) {
        const struct profile_event *event = profile_event(base, e);
        for (uint32_t i = 0; i < x->f->count; i++) {
            struct compare_side s = diff_files_side(x->f, i, event->name);
            numbers[i] = s.event ? (double)s.event->total.period : 0;
        }
        ok = add_figure(x, event->name, numbers,
                        is_clock(&x->f->list[0].recording.events->list.items[event->event].attr));
    }
    return ok;
}

/* ---- the gate ---- */

/* Whether --gate is about a row. */
static bool is_gated(const struct verdict_run *x, const struct compare *c, uint32_t row) {
    const char *wanted = x->o->gate_function;
    for (size_t i = 0; wanted && i < c->keys.count; i++) {
        const char *text = c->rows.items[row].texts[i];
        const char *level = c->keys.items[i]->key->id == PROFILE_SYMBOL ? strstr(text, "] ") : NULL;
        if (strcmp(level ? level + 2 : text, wanted) == 0)
            return true;
    }
    return !wanted;
}

/* Lists the rows that are proved to have grown too much in `rows`, which has room for all. */
static void find_offenders(struct verdict_run *x, const struct compare *c, const struct judgement *j,
                           struct verdict_view *v, uint32_t *rows) {
    for (size_t i = 0; i < j->order.count; i++) {
        uint32_t row = j->order.items[i];
        if (!is_gated(x, c, row))
            continue;
        x->found = true;
        if (interval_grew(&j->rows.items[row], x->o->gate_share, &j->result))
            rows[v->offender_count++] = row;
    }
    v->offenders = rows;
    x->regressed |= v->offender_count > 0;
}

/* ---- one event ---- */

/* Returns how an event is shown. `files`: room for one for each side, which is filled. */
static struct verdict_view view_of(const struct verdict_run *x, struct compare *c, const struct judgement *j,
                                   const struct compare_side *sides, struct verdict_file *files) {
    const struct diff_options *o = x->o;
    const struct report_text_options *text = report_session_parts(x->f->list[0].session).text;
    for (uint32_t s = 0; s < c->sides; s++)
        files[s] = (struct verdict_file){x->f->list[s].path, sides[s].event->total.samples, x->is_new[s]};
    return (struct verdict_view){
        .compare = c,
        .judgement = j,
        .files = files,
        .figures = x->figures.items,
        .figure_count = x->figures.count,
        .event = sides[0].event->name,
        .programs = compare_programs_text(c),
        .by = diff_judge_by(o),
        .by_event = o->by_event,
        .clock = is_clock(&event_at(&x->f->list[0], &sides[0])->attr),
        .quiet = o->report.quiet,
        .gated = o->gate,
        .gate_share = o->gate_share,
        .gate_function = o->gate_function,
        .sides = o->callers ? sides : NULL,
        .least_caller = DIFF_LEAST_CALLER,
        .only_comm = text->only_comm,
        .only_dso = text->only_dso,
        .only_symbol = text->only_symbol,
    };
}

static bool show(struct verdict_run *x, const struct diff_judged *one, struct err *err) {
    const struct diff_options *o = x->o;
    struct verdict_file files[DIFF_FILES_MAX];
    uint32_t *offenders = malloc((one->compare->rows.count + 1) * sizeof *offenders);
    struct verdict_view v = view_of(x, one->compare, one->judgement, one->sides, files);
    v.doubts = x->doubts.len ? out_text(&x->doubts) : NULL;
    v.level = one->level;
    bool ok = offenders || err_memory(err, "--gate");
    if (ok && o->gate)
        find_offenders(x, one->compare, one->judgement, &v, offenders);
    if (ok && o->json)
        verdict_json_print(&v, &x->json);
    else if (ok)
        ok = verdict_text_print(&v, x->out, err);
    free(offenders);
    return ok;
}

/* Keeps an event for the browser. */
static bool keep(struct verdict_run *x, const struct diff_judged *one, struct err *err) {
    struct kept *k = calloc(1, sizeof *k), **slot = k ? vec_push(&x->kept) : NULL;
    if (slot)
        *slot = k;
    else
        free(k);
    if (!slot || !(k->doubts = strdup(x->doubts.len ? out_text(&x->doubts) : "")))
        return err_memory(err, "comparison");
    k->compare = *one->compare;
    k->judgement = *one->judgement;
    *one->compare = (struct compare){0};
    *one->judgement = (struct judgement){0};
    memcpy(k->sides, one->sides, k->compare.sides * sizeof *k->sides);
    k->v = view_of(x, &k->compare, &k->judgement, k->sides, k->files);
    k->v.doubts = *k->doubts ? k->doubts : NULL;
    k->v.level = one->level;
    return verdict_rows_make(&k->rows, &k->v, err);
}

static void free_kept(struct verdict_run *x) {
    for (size_t i = 0; i < x->kept.count; i++) {
        struct kept *k = x->kept.items[i];
        diff_rows_fini(&k->rows);
        judgement_fini(&k->judgement);
        compare_fini(&k->compare);
        free(k->doubts);
        free(k);
    }
    vec_fini(&x->kept);
}

/* diff_judged_fn. */
static bool show_event(void *ctx, const struct diff_judged *one, struct err *err) {
    struct verdict_run *x = ctx;
    size_t doubts = x->doubts.len;
    for (uint32_t i = 0; i < x->f->count; i++)
        compare_sampling(x, one->sides, i);
    if (x->any && !x->o->json && x->out)
        out_char(x->out, '\n');
    if (!x->any && !x->out)
        diff_say_matches(one->compare, x->f);
    bool ok = x->out ? show(x, one, err) : keep(x, one, err);
    if (ok && !x->any && x->out)
        diff_say_matches(one->compare, x->f);
    x->any = true;
    x->doubts.len = doubts;
    return ok;
}

/* ---- all ---- */

/* Judges all events, for print or browser. */
static bool judge_all(struct verdict_run *x, struct err *err) {
    if (!out_init(&x->doubts, NULL, NULL))
        return err_memory(err, "comparison");
    for (uint32_t i = 0; i < x->f->count; i++) {
        x->is_new[i] = i >= x->base_count;
        if (i)
            compare_machines(x, i);
    }
    return (find_figures(x) || err_memory(err, "figures")) &&
           (!x->o->base_stat || diff_stat_read(x->o->base_stat, x->o->new_stat, x->o->report.force,
                                               x->o->level, &x->arena, &x->figures, err)) &&
           diff_judge(x->f, x->base_count, x->o, show_event, x, err);
}

static void fini_run(struct verdict_run *x) {
    free_kept(x);
    out_fini(&x->doubts);
    vec_fini(&x->figures);
    arena_fini(&x->arena);
}

bool diff_verdict_print(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                        struct out *out, int *status, struct err *err) {
    struct verdict_run x = {.f = f, .o = o, .base_count = base_count, .out = out, .json = {.out = out}};
    *status = EXIT_OK;
    if (o->json) {
        json_open(&x.json, NULL, '{');
        json_number(&x.json, "version", 1);
        json_open(&x.json, "events", '[');
    }
    bool ok = judge_all(&x, err);
    if (o->json) {
        json_close(&x.json, ']');
        json_close(&x.json, '}');
        out_char(out, '\n');
    }
    fini_run(&x);
    if (ok && o->gate && !x.found) {
        ok = err_set(err, ERR_ABSENT, "--gate", "no recording has samples in %s", o->gate_function);
    }
    if (ok && x.regressed)
        *status = DIFF_REGRESSION;
    return ok;
}

bool diff_verdict_browse(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                         diff_browse_fn *browse, void *ctx, struct err *err) {
    struct verdict_run x = {.f = f, .o = o, .base_count = base_count};
    bool ok = judge_all(&x, err);
    const struct tui_rows **tables = calloc(x.kept.count + 1, sizeof *tables);
    for (size_t i = 0; tables && i < x.kept.count; i++)
        tables[i] = &x.kept.items[i]->rows.rows;
    ok = ok && (tables || err_memory(err, "comparison")) && browse(ctx, tables, (uint32_t)x.kept.count, err);
    free(tables);
    fini_run(&x);
    return ok;
}
