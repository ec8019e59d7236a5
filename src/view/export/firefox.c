/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processed profile format of the Firefox Profiler, version 66
 * (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md). Categories
 * are the levels of code, their subcategories the grades of names. The string array is that of all texts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "view/export/firefox_internal.h"
#include "view/export/visible_text.h"

enum { VERSION = 66, GECKO_VERSION = 29, MS_PLACES = 6 /* of nanoseconds */ };

void firefox_put_column(struct firefox *w, const char *name, size_t n, firefox_column_fn *put) {
    json_open(&w->json, name, '[');
    for (size_t i = 0; i < n; i++)
        put(w, i);
    json_close(&w->json, ']');
}

void firefox_put_visible(struct firefox *w, const char *key, uint32_t text) {
    w->text.len = 0;
    visible_plain(stacks_str(w->s, text), &w->text);
    json_bytes(&w->json, key, w->text.buf, w->text.len);
}

void firefox_put_null(struct firefox *w, size_t i) {
    (void)i;
    json_null(&w->json, NULL);
}

void firefox_put_one(struct firefox *w, size_t i) {
    (void)i;
    json_number(&w->json, NULL, 1);
}

static void put_libs(struct firefox *w) {
    json_open(&w->json, "libs", '[');
    for (size_t i = 0; i < w->s->images.count; i++) {
        const struct stacks_image *x = &w->s->images.items[i];
        json_open(&w->json, NULL, '{');
        firefox_put_visible(w, "arch", w->s->recordings.count ? w->s->recordings.items[0].arch : 0);
        firefox_put_visible(w, "name", x->name);
        firefox_put_visible(w, "path", x->path);
        firefox_put_visible(w, "debugName", x->name);
        firefox_put_visible(w, "debugPath", x->path);
        json_text(&w->json, "breakpadId", ""); /* no symbol server is to be asked */
        if (x->build_id)
            firefox_put_visible(w, "codeId", x->build_id);
        else
            json_null(&w->json, "codeId");
        json_close(&w->json, '}');
    }
    json_close(&w->json, ']');
}

/* ---- threads ---- */

static void put_markers(struct firefox *w) {
    static const char *const columns[] = {"data", "name", "startTime", "endTime", "phase", "category"};
    json_open(&w->json, "markers", '{');
    json_number(&w->json, "length", 0);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        firefox_put_column(w, columns[i], 0, firefox_put_null);
    json_close(&w->json, '}');
}

static void put_samples(struct firefox *w, uint32_t thread) {
    size_t from = w->moments.first[thread], to = w->moments.first[thread + 1];
    const struct stacks_event *e = &w->s->events.items[w->o->event];
    bool ns = !strcmp(stacks_str(w->s, e->unit), "ns");
    json_open(&w->json, "samples", '{');
    json_number(&w->json, "length", to - from);
    json_text(&w->json, "weightType", ns && !w->o->samples ? "tracing-ms" : "samples");
    json_open(&w->json, "stack", '[');
    for (size_t i = from; i < to; i++)
        json_number(&w->json, NULL, w->s->rows.items[thread_moment(&w->moments, w->s, i)->row].node);
    json_close(&w->json, ']');
    json_open(&w->json, "time", '[');
    for (size_t i = from; i < to; i++)
        json_decimal(&w->json, NULL, thread_moment(&w->moments, w->s, i)->time_ns - w->moments.start_ns,
                     MS_PLACES);
    json_close(&w->json, ']');
    if (w->o->samples) {
        json_null(&w->json, "weight");
    } else {
        json_open(&w->json, "weight", '[');
        for (size_t i = from; i < to; i++)
            json_decimal(&w->json, NULL, thread_moment(&w->moments, w->s, i)->period, ns ? MS_PLACES : 0);
        json_close(&w->json, ']');
    }
    json_close(&w->json, '}');
}

static void put_thread(struct firefox *w, uint32_t id) {
    const struct stacks_thread *t = &w->s->threads.items[id];
    char pid[16];
    json_open(&w->json, NULL, '{');
    json_text(&w->json, "processType", "default");
    json_number(&w->json, "processStartupTime", 0);
    json_null(&w->json, "processShutdownTime");
    json_number(&w->json, "registerTime", 0);
    json_null(&w->json, "unregisterTime");
    json_open(&w->json, "pausedRanges", '[');
    json_close(&w->json, ']');
    firefox_put_visible(w, "name", t->comm);
    json_bool(&w->json, "isMainThread", t->pid == t->tid);
    firefox_put_visible(w, "processName", t->comm);
    snprintf(pid, sizeof pid, "%u", t->pid);
    json_text(&w->json, "pid", pid);
    json_number(&w->json, "tid", t->tid);
    put_samples(w, id);
    put_markers(w);
    json_close(&w->json, '}');
}

/* ---- all ---- */

static const struct {
    const char *name, *color;
} categories[] = {{"Other", "grey"},   {"User", "yellow"},      {"Kernel", "orange"},
                  {"Guest", "purple"}, {"Hypervisor", "brown"}, {"JIT code", "green"}};

static void put_categories(struct firefox *w) {
    static const char *const grades[] = {"Other", "Inferred name", "Stale", "No name"};
    json_open(&w->json, "categories", '[');
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        json_open(&w->json, NULL, '{');
        json_text(&w->json, "name", categories[i].name);
        json_text(&w->json, "color", categories[i].color);
        json_open(&w->json, "subcategories", '[');
        for (size_t k = 0; k < sizeof grades / sizeof *grades; k++)
            json_text(&w->json, NULL, grades[k]);
        json_close(&w->json, ']');
        json_close(&w->json, '}');
    }
    json_close(&w->json, ']');
}

static void put_meta(struct firefox *w) {
    const struct stacks_recording *r = w->s->recordings.count ? w->s->recordings.items : NULL;
    const struct stacks_event *e = &w->s->events.items[w->o->event];
    bool ns = !strcmp(stacks_str(w->s, e->unit), "ns") && e->samples;
    json_open(&w->json, "meta", '{');
    json_decimal(&w->json, "interval", ns ? e->period / e->samples : 1000000, MS_PLACES);
    json_decimal(&w->json, "startTime", r ? r->start_ns : 0, MS_PLACES);
    json_number(&w->json, "startTimeAsClockMonotonicNanosecondsSinceBoot", w->moments.start_ns);
    json_number(&w->json, "processType", 0);
    put_categories(w);
    firefox_put_visible(w, "product", r && r->cmdline ? r->cmdline : e->name);
    json_number(&w->json, "stackwalk", 1);
    json_number(&w->json, "version", GECKO_VERSION);
    json_number(&w->json, "preprocessedProfileVersion", VERSION);
    json_bool(&w->json, "symbolicated", true);
    json_bool(&w->json, "symbolicationNotSupported", true);
    json_open(&w->json, "markerSchema", '[');
    json_close(&w->json, ']');
    json_text(&w->json, "importedFrom", "sonde");
    if (r) {
        firefox_put_visible(w, "oscpu", r->os);
        firefox_put_visible(w, "CPUName", r->cpu);
        firefox_put_visible(w, "device", r->host);
    }
    json_close(&w->json, '}');
}

static void put_all(struct firefox *w) {
    json_open(&w->json, NULL, '{');
    put_meta(w);
    put_libs(w);
    json_open(&w->json, "shared", '{');
    firefox_put_tables(w);
    json_close(&w->json, '}');
    json_open(&w->json, "threads", '[');
    for (uint32_t i = 0; i < w->s->threads.count; i++)
        if (w->moments.first[i] < w->moments.first[i + 1])
            put_thread(w, i);
    json_close(&w->json, ']');
    json_close(&w->json, '}');
}

bool export_firefox(const struct stacks *s, const struct export_options *o, struct out *out,
                    struct err *err) {
    struct firefox w = {.s = s,
                        .o = o,
                        .json = {.out = out},
                        .function_of = malloc((s->frames.count + 1) * sizeof *w.function_of),
                        .source_of = calloc(s->texts.entries.count + 1, sizeof *w.source_of)};
    bool ok = out_init(&w.text, NULL, NULL) && w.function_of && w.source_of;
    ok = ok && firefox_find_functions(&w);
    if (!ok)
        err_memory(err, "firefox");
    ok = ok && thread_moments_make(&w.moments, s, o->event, err);
    if (ok)
        put_all(&w);
    out_fini(&w.text);
    vec_fini(&w.functions);
    vec_fini(&w.sources);
    idtable_fini(&w.function_index);
    free(w.function_of);
    free(w.source_of);
    thread_moments_fini(&w.moments);
    return ok;
}
