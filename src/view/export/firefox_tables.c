/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "view/export/firefox_internal.h"

static void put_false(struct firefox *w, size_t i) {
    (void)i;
    json_bool(&w->json, NULL, false);
}

/* ---- functions ---- */

static bool find_function(struct firefox *w, uint32_t frame) {
    const struct stacks_frame *f = &w->s->frames.items[frame];
    const struct firefox_function want = {f->name, f->image, f->file};
    uint64_t hash = hash_u64((uint64_t)f->name << 32 | f->image) ^ hash_u64(f->file);
    struct idtable_at at = idtable_first(&w->function_index, hash);
    for (uint32_t id; (id = idtable_next(&w->function_index, &at)) != IDTABLE_NONE;)
        if (!memcmp(&w->functions.items[id], &want, sizeof want)) {
            w->function_of[frame] = id;
            return true;
        }
    struct firefox_function *made = vec_push(&w->functions);
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

static void function_name(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, w->functions.items[i].name);
}

static void function_resource(struct firefox *w, size_t i) {
    uint32_t image = w->functions.items[i].image;
    json_int(&w->json, NULL, image == STACKS_NONE ? -1 : (int64_t)image);
}

static void function_source(struct firefox *w, size_t i) {
    uint32_t file = w->functions.items[i].file;
    if (file)
        json_number(&w->json, NULL, w->source_of[file] - 1);
    else
        json_null(&w->json, NULL);
}

static void put_functions(struct firefox *w) {
    size_t n = w->functions.count;
    json_open(&w->json, "funcTable", '{');
    json_number(&w->json, "length", n);
    firefox_put_column(w, "name", n, function_name);
    firefox_put_column(w, "isJS", n, put_false);
    firefox_put_column(w, "relevantForJS", n, put_false);
    firefox_put_column(w, "resource", n, function_resource);
    firefox_put_column(w, "source", n, function_source);
    firefox_put_column(w, "lineNumber", n, firefox_put_null);
    firefox_put_column(w, "columnNumber", n, firefox_put_null);
    firefox_put_column(w, "originalLocation", n, firefox_put_null);
    json_close(&w->json, '}');
}

static void source_name(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, w->sources.items[i]);
}

static void put_sources(struct firefox *w) {
    size_t n = w->sources.count;
    json_open(&w->json, "sources", '{');
    json_number(&w->json, "length", n);
    firefox_put_column(w, "id", n, firefox_put_null);
    firefox_put_column(w, "filename", n, source_name);
    firefox_put_column(w, "startLine", n, firefox_put_one);
    firefox_put_column(w, "startColumn", n, firefox_put_one);
    firefox_put_column(w, "sourceMapURL", n, firefox_put_null);
    firefox_put_column(w, "content", n, firefox_put_null);
    json_close(&w->json, '}');
    json_open(&w->json, "sourceLocationTable", '{');
    json_number(&w->json, "length", 0);
    firefox_put_column(w, "source", 0, firefox_put_null);
    firefox_put_column(w, "line", 0, firefox_put_null);
    firefox_put_column(w, "column", 0, firefox_put_null);
    json_close(&w->json, '}');
}

/* ---- frames and stacks ---- */

static const uint8_t category_of[] = {
    [STACKS_USER] = 1,       [STACKS_KERNEL] = 2, [STACKS_GUEST_USER] = 3, [STACKS_GUEST_KERNEL] = 3,
    [STACKS_HYPERVISOR] = 4, [STACKS_JIT] = 5,    [STACKS_INLINED] = 0, /* the caller's */
};

static const struct stacks_frame *frame(const struct firefox *w, size_t i) {
    return &w->s->frames.items[i];
}

static void frame_address(struct firefox *w, size_t i) {
    uint64_t address = frame(w, i)->address;
    bool fits = frame(w, i)->image != STACKS_NONE && address && address <= INT32_MAX;
    json_int(&w->json, NULL, fits ? (int64_t)address : -1);
}

static void frame_depth(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, frame(w, i)->level == STACKS_INLINED);
}

static void frame_category(struct firefox *w, size_t i) {
    if (category_of[frame(w, i)->level])
        json_number(&w->json, NULL, category_of[frame(w, i)->level]);
    else
        json_null(&w->json, NULL);
}

static void frame_subcategory(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, frame(w, i)->grade);
}

static void frame_function(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, w->function_of[i]);
}

static void frame_line(struct firefox *w, size_t i) {
    if (frame(w, i)->line)
        json_number(&w->json, NULL, frame(w, i)->line);
    else
        json_null(&w->json, NULL);
}

static void put_frames(struct firefox *w) {
    size_t n = w->s->frames.count;
    json_open(&w->json, "frameTable", '{');
    json_number(&w->json, "length", n);
    firefox_put_column(w, "address", n, frame_address);
    firefox_put_column(w, "inlineDepth", n, frame_depth);
    firefox_put_column(w, "category", n, frame_category);
    firefox_put_column(w, "subcategory", n, frame_subcategory);
    firefox_put_column(w, "func", n, frame_function);
    firefox_put_column(w, "nativeSymbol", n, firefox_put_null);
    firefox_put_column(w, "innerWindowID", n, firefox_put_null);
    firefox_put_column(w, "line", n, frame_line);
    firefox_put_column(w, "column", n, firefox_put_null);
    firefox_put_column(w, "originalLocation", n, firefox_put_null);
    json_close(&w->json, '}');
}

static void node_frame(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, w->s->nodes.items[i].frame);
}

static void node_offset(struct firefox *w, size_t i) {
    uint32_t caller = w->s->nodes.items[i].caller;
    json_number(&w->json, NULL, caller == STACKS_NONE ? 0 : i - caller);
}

static void put_stacks(struct firefox *w) {
    json_open(&w->json, "stackTable", '{');
    json_number(&w->json, "length", w->s->nodes.count);
    firefox_put_column(w, "frame", w->s->nodes.count, node_frame);
    firefox_put_column(w, "prefixOffset", w->s->nodes.count, node_offset);
    json_close(&w->json, '}');
}

/* ---- files ---- */

static void image_name(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, w->s->images.items[i].name);
}

static void image_index(struct firefox *w, size_t i) {
    json_number(&w->json, NULL, i);
}

static void put_resources(struct firefox *w) {
    size_t n = w->s->images.count;
    json_open(&w->json, "resourceTable", '{');
    json_number(&w->json, "length", n);
    firefox_put_column(w, "lib", n, image_index);
    firefox_put_column(w, "name", n, image_name);
    firefox_put_column(w, "host", n, firefox_put_null);
    firefox_put_column(w, "type", n, firefox_put_one); /* a library */
    json_close(&w->json, '}');
    json_open(&w->json, "nativeSymbols", '{');
    json_number(&w->json, "length", 0);
    firefox_put_column(w, "libIndex", 0, firefox_put_null);
    firefox_put_column(w, "address", 0, firefox_put_null);
    firefox_put_column(w, "name", 0, firefox_put_null);
    firefox_put_column(w, "functionSize", 0, firefox_put_null);
    json_close(&w->json, '}');
}

static void text_of(struct firefox *w, size_t i) {
    firefox_put_visible(w, NULL, (uint32_t)i);
}

bool firefox_find_functions(struct firefox *w) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < w->s->frames.count; i++)
        ok = find_function(w, i);
    return ok;
}

void firefox_put_tables(struct firefox *w) {
    put_stacks(w);
    put_frames(w);
    put_functions(w);
    put_resources(w);
    put_sources(w);
    firefox_put_column(w, "stringArray", w->s->texts.entries.count, text_of);
}
