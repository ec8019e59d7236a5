/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processed profile format of the Firefox Profiler, version 66
 * (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md). Categories
 * are the levels of code, their subcategories the grades of names. The string array is that of all texts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "view/export/export.h"
#include "view/export/thread_moments.h"
#include "view/export/visible_text.h"

enum { VERSION = 66, GECKO_VERSION = 29, MS_PLACES = 6 /* of nanoseconds */ };

struct function {
    uint32_t name, image, file;
};

struct writing {
    const struct stacks *s;
    const struct export_options *o;
    struct json json;
    struct out text; /* scratch */
    VEC(struct function) functions;
    struct idtable function_index;
    uint32_t *function_of; /* by frame */
    VEC(uint32_t) sources; /* texts */
    uint32_t *source_of;   /* by text: number of the source, + 1 */
    struct thread_moments moments;
};

/* What a column has for an item. */
typedef void column_fn(struct writing *w, size_t i);

static void put_column(struct writing *w, const char *name, size_t n, column_fn *put) {
    json_open(&w->json, name, '[');
    for (size_t i = 0; i < n; i++)
        put(w, i);
    json_close(&w->json, ']');
}

static void put_visible(struct writing *w, const char *key, uint32_t text) {
    w->text.len = 0;
    visible_plain(stacks_str(w->s, text), &w->text);
    json_bytes(&w->json, key, w->text.buf, w->text.len);
}

static void put_null(struct writing *w, size_t i) {
    (void)i;
    json_null(&w->json, NULL);
}

static void put_false(struct writing *w, size_t i) {
    (void)i;
    json_bool(&w->json, NULL, false);
}

static void put_one(struct writing *w, size_t i) {
    (void)i;
    json_number(&w->json, NULL, 1);
}

/* ---- functions ---- */

static bool find_function(struct writing *w, uint32_t frame) {
    const struct stacks_frame *f = &w->s->frames.items[frame];
    const struct function want = {f->name, f->image, f->file};
    uint64_t hash = hash_u64((uint64_t)f->name << 32 | f->image) ^ hash_u64(f->file);
    struct idtable_at at = idtable_first(&w->function_index, hash);
    for (uint32_t id; (id = idtable_next(&w->function_index, &at)) != IDTABLE_NONE;)
        if (!memcmp(&w->functions.items[id], &want, sizeof want)) {
            w->function_of[frame] = id;
            return true;
        }
    struct function *made = vec_push(&w->functions);
    if (!made || !idtable_add_at(&w->function_index, &at, hash, (uint32_t)w->functions.count - 1))
        return false;
    *made = want;
    w->function_of[frame] = (uint32_t)w->functions.count - 1;
    if (!f->file || w->source_of[f->file])
        return true;
    uint32_t *source = vec_push(&w->sources);
    if (source)
        *source = f->file;
    w->source_of[f->file] = (uint32_t)w->sources.count;
    return source;
}

static void function_name(struct writing *w, size_t i) {
    json_number(&w->json, NULL, w->functions.items[i].name);
}

static void function_resource(struct writing *w, size_t i) {
    uint32_t image = w->functions.items[i].image;
    json_int(&w->json, NULL, image == STACKS_NONE ? -1 : (int64_t)image);
}

static void function_source(struct writing *w, size_t i) {
    uint32_t file = w->functions.items[i].file;
    if (file)
        json_number(&w->json, NULL, w->source_of[file] - 1);
    else
        json_null(&w->json, NULL);
}

static void put_functions(struct writing *w) {
    size_t n = w->functions.count;
    json_open(&w->json, "funcTable", '{');
    json_number(&w->json, "length", n);
    put_column(w, "name", n, function_name);
    put_column(w, "isJS", n, put_false);
    put_column(w, "relevantForJS", n, put_false);
    put_column(w, "resource", n, function_resource);
    put_column(w, "source", n, function_source);
    put_column(w, "lineNumber", n, put_null);
    put_column(w, "columnNumber", n, put_null);
    put_column(w, "originalLocation", n, put_null);
    json_close(&w->json, '}');
}

static void source_name(struct writing *w, size_t i) {
    json_number(&w->json, NULL, w->sources.items[i]);
}

static void put_sources(struct writing *w) {
    size_t n = w->sources.count;
    json_open(&w->json, "sources", '{');
    json_number(&w->json, "length", n);
    put_column(w, "id", n, put_null);
    put_column(w, "filename", n, source_name);
    put_column(w, "startLine", n, put_one);
    put_column(w, "startColumn", n, put_one);
    put_column(w, "sourceMapURL", n, put_null);
    put_column(w, "content", n, put_null);
    json_close(&w->json, '}');
    json_open(&w->json, "sourceLocationTable", '{');
    json_number(&w->json, "length", 0);
    put_column(w, "source", 0, put_null);
    put_column(w, "line", 0, put_null);
    put_column(w, "column", 0, put_null);
    json_close(&w->json, '}');
}

/* ---- frames and stacks ---- */

static const struct {
    const char *name, *color;
} categories[] = {{"Other", "grey"},   {"User", "yellow"},      {"Kernel", "orange"},
                  {"Guest", "purple"}, {"Hypervisor", "brown"}, {"JIT code", "green"}};

static const uint8_t category_of[] = {
    [STACKS_USER] = 1,       [STACKS_KERNEL] = 2, [STACKS_GUEST_USER] = 3, [STACKS_GUEST_KERNEL] = 3,
    [STACKS_HYPERVISOR] = 4, [STACKS_JIT] = 5,    [STACKS_INLINED] = 0, /* the caller's */
};

static const struct stacks_frame *frame(const struct writing *w, size_t i) {
    return &w->s->frames.items[i];
}

static void frame_address(struct writing *w, size_t i) {
    uint64_t address = frame(w, i)->address;
    bool fits = frame(w, i)->image != STACKS_NONE && address && address <= INT32_MAX;
    json_int(&w->json, NULL, fits ? (int64_t)address : -1);
}

static void frame_depth(struct writing *w, size_t i) {
    json_number(&w->json, NULL, frame(w, i)->level == STACKS_INLINED);
}

static void frame_category(struct writing *w, size_t i) {
    if (category_of[frame(w, i)->level])
        json_number(&w->json, NULL, category_of[frame(w, i)->level]);
    else
        json_null(&w->json, NULL);
}

static void frame_subcategory(struct writing *w, size_t i) {
    json_number(&w->json, NULL, frame(w, i)->grade);
}

static void frame_function(struct writing *w, size_t i) {
    json_number(&w->json, NULL, w->function_of[i]);
}

static void frame_line(struct writing *w, size_t i) {
    if (frame(w, i)->line)
        json_number(&w->json, NULL, frame(w, i)->line);
    else
        json_null(&w->json, NULL);
}

static void put_frames(struct writing *w) {
    size_t n = w->s->frames.count;
    json_open(&w->json, "frameTable", '{');
    json_number(&w->json, "length", n);
    put_column(w, "address", n, frame_address);
    put_column(w, "inlineDepth", n, frame_depth);
    put_column(w, "category", n, frame_category);
    put_column(w, "subcategory", n, frame_subcategory);
    put_column(w, "func", n, frame_function);
    put_column(w, "nativeSymbol", n, put_null);
    put_column(w, "innerWindowID", n, put_null);
    put_column(w, "line", n, frame_line);
    put_column(w, "column", n, put_null);
    put_column(w, "originalLocation", n, put_null);
    json_close(&w->json, '}');
}

static void node_frame(struct writing *w, size_t i) {
    json_number(&w->json, NULL, w->s->nodes.items[i].frame);
}

static void node_offset(struct writing *w, size_t i) {
    uint32_t caller = w->s->nodes.items[i].caller;
    json_number(&w->json, NULL, caller == STACKS_NONE ? 0 : i - caller);
}

static void put_stacks(struct writing *w) {
    json_open(&w->json, "stackTable", '{');
    json_number(&w->json, "length", w->s->nodes.count);
    put_column(w, "frame", w->s->nodes.count, node_frame);
    put_column(w, "prefixOffset", w->s->nodes.count, node_offset);
    json_close(&w->json, '}');
}

/* ---- files ---- */

static void image_name(struct writing *w, size_t i) {
    json_number(&w->json, NULL, w->s->images.items[i].name);
}

static void image_index(struct writing *w, size_t i) {
    json_number(&w->json, NULL, i);
}

static void put_resources(struct writing *w) {
    size_t n = w->s->images.count;
    json_open(&w->json, "resourceTable", '{');
    json_number(&w->json, "length", n);
    put_column(w, "lib", n, image_index);
    put_column(w, "name", n, image_name);
    put_column(w, "host", n, put_null);
    put_column(w, "type", n, put_one); /* a library */
    json_close(&w->json, '}');
    json_open(&w->json, "nativeSymbols", '{');
    json_number(&w->json, "length", 0);
    put_column(w, "libIndex", 0, put_null);
    put_column(w, "address", 0, put_null);
    put_column(w, "name", 0, put_null);
    put_column(w, "functionSize", 0, put_null);
    json_close(&w->json, '}');
}

static void put_libs(struct writing *w) {
    json_open(&w->json, "libs", '[');
    for (size_t i = 0; i < w->s->images.count; i++) {
        const struct stacks_image *x = &w->s->images.items[i];
        json_open(&w->json, NULL, '{');
        put_visible(w, "arch", w->s->recordings.count ? w->s->recordings.items[0].arch : 0);
        put_visible(w, "name", x->name);
        put_visible(w, "path", x->path);
        put_visible(w, "debugName", x->name);
        put_visible(w, "debugPath", x->path);
        json_text(&w->json, "breakpadId", ""); /* no symbol server is to be asked */
        if (x->build_id)
            put_visible(w, "codeId", x->build_id);
        else
            json_null(&w->json, "codeId");
        json_close(&w->json, '}');
    }
    json_close(&w->json, ']');
}

/* ---- threads ---- */

static void put_markers(struct writing *w) {
    static const char *const columns[] = {"data", "name", "startTime", "endTime", "phase", "category"};
    json_open(&w->json, "markers", '{');
    json_number(&w->json, "length", 0);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        put_column(w, columns[i], 0, put_null);
    json_close(&w->json, '}');
}

static void put_samples(struct writing *w, uint32_t thread) {
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

static void put_thread(struct writing *w, uint32_t id) {
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
    put_visible(w, "name", t->comm);
    json_bool(&w->json, "isMainThread", t->pid == t->tid);
    put_visible(w, "processName", t->comm);
    snprintf(pid, sizeof pid, "%u", t->pid);
    json_text(&w->json, "pid", pid);
    json_number(&w->json, "tid", t->tid);
    put_samples(w, id);
    put_markers(w);
    json_close(&w->json, '}');
}

/* ---- all ---- */

static void put_categories(struct writing *w) {
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

static void put_meta(struct writing *w) {
    const struct stacks_recording *r = w->s->recordings.count ? w->s->recordings.items : NULL;
    const struct stacks_event *e = &w->s->events.items[w->o->event];
    bool ns = !strcmp(stacks_str(w->s, e->unit), "ns") && e->samples;
    json_open(&w->json, "meta", '{');
    json_decimal(&w->json, "interval", ns ? e->period / e->samples : 1000000, MS_PLACES);
    json_decimal(&w->json, "startTime", r ? r->start_ns : 0, MS_PLACES);
    json_number(&w->json, "startTimeAsClockMonotonicNanosecondsSinceBoot", w->moments.start_ns);
    json_number(&w->json, "processType", 0);
    put_categories(w);
    put_visible(w, "product", r && r->cmdline ? r->cmdline : e->name);
    json_number(&w->json, "stackwalk", 1);
    json_number(&w->json, "version", GECKO_VERSION);
    json_number(&w->json, "preprocessedProfileVersion", VERSION);
    json_bool(&w->json, "symbolicated", true);
    json_bool(&w->json, "symbolicationNotSupported", true);
    json_open(&w->json, "markerSchema", '[');
    json_close(&w->json, ']');
    json_text(&w->json, "importedFrom", "sonde");
    if (r) {
        put_visible(w, "oscpu", r->os);
        put_visible(w, "CPUName", r->cpu);
        put_visible(w, "device", r->host);
    }
    json_close(&w->json, '}');
}

static void text_of(struct writing *w, size_t i) {
    put_visible(w, NULL, (uint32_t)i);
}

static void put_all(struct writing *w) {
    json_open(&w->json, NULL, '{');
    put_meta(w);
    put_libs(w);
    json_open(&w->json, "shared", '{');
    put_stacks(w);
    put_frames(w);
    put_functions(w);
    put_resources(w);
    put_sources(w);
    put_column(w, "stringArray", w->s->texts.entries.count, text_of);
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
    struct writing w = {.s = s,
                        .o = o,
                        .json = {.out = out},
                        .function_of = malloc((s->frames.count + 1) * sizeof *w.function_of),
                        .source_of = calloc(s->texts.entries.count + 1, sizeof *w.source_of)};
    bool ok = out_init(&w.text, NULL, NULL) && w.function_of && w.source_of;
    for (uint32_t i = 0; ok && i < s->frames.count; i++)
        ok = find_function(&w, i);
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
