/* SPDX-License-Identifier: Apache-2.0 */
/* sonde's own JSON (docs/STACKS_JSON.md). Its lists refer to earlier ones by number, and are taken in the
 * order in which they stand there; a number of nothing ends the reading. */
#include "base/hash.h"
#include "base/text/json_read.h"
#include "stacks/import/import_internal.h"

/* Ids here of what the file numbers. */
struct numbers {
    VEC(uint32_t) ids;
};

struct reading {
    struct importing *in;
    struct json_reader r;
    struct out text; /* scratch */
    struct numbers texts, events, images, frames, nodes, rows, threads;
    struct hash_map depths; /* of nodes */
    uint32_t recordings;    /* of the stacks before these */
    bool broken;
};

static void keep(struct reading *x, struct numbers *to, uint32_t id) {
    uint32_t *made = vec_push(&to->ids);
    x->in->no_memory |= !made || id == STACKS_NONE;
    if (made)
        *made = id;
}

static bool goes_on(struct reading *x) {
    return !x->in->no_memory && !x->broken && !x->text.failed && json_element(&x->r);
}

/* Returns the next element, a number. */
static uint64_t number(struct reading *x) {
    if (!json_element(&x->r)) {
        x->broken = true;
        return 0;
    }
    return json_read_number(&x->r);
}

static uint32_t number32(struct reading *x, uint64_t most) {
    uint64_t v = number(x);
    x->broken |= v > most;
    return v > most ? 0 : (uint32_t)v;
}

/* Returns the id of the next element, a number of the list's. With `may_lack`, null is STACKS_NONE. */
static uint32_t reference(struct reading *x, const struct numbers *of, bool may_lack) {
    if (!json_element(&x->r)) {
        x->broken = true;
        return STACKS_NONE;
    }
    uint64_t v = may_lack ? json_read_number_or(&x->r, UINT64_MAX) : json_read_number(&x->r);
    if (v < of->ids.count)
        return of->ids.items[v];
    x->broken |= !may_lack || v != UINT64_MAX;
    return STACKS_NONE;
}

static uint32_t text(struct reading *x) {
    uint32_t id = reference(x, &x->texts, false);
    return id == STACKS_NONE ? 0 : id;
}

/* Ends a row: what follows in it is from a later version. */
static void end_row(struct reading *x) {
    while (json_element(&x->r))
        json_skip(&x->r);
    x->broken |= x->r.failed;
}

/* ---- the lists ---- */

static void read_texts(struct reading *x) {
    while (goes_on(x)) {
        x->text.len = 0;
        json_read_text(&x->r, &x->text);
        keep(x, &x->texts, stacks_text(x->in->s, x->text.buf, x->text.len));
    }
}

static void read_notes(struct reading *x) {
    while (goes_on(x)) {
        uint64_t v = json_read_number(&x->r);
        uint32_t *made = v < x->texts.ids.count ? vec_push(&x->in->s->notes) : NULL;
        x->broken |= v >= x->texts.ids.count;
        if (made)
            *made = x->texts.ids.items[v];
    }
}

static void read_recording(struct reading *x) {
    struct stacks_recording r = {0};
    uint32_t *const texts[] = {&r.path, &r.host, &r.os, &r.arch, &r.cpu, &r.cmdline};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = text(x);
    r.start_ns = number(x);
    r.duration_ns = number(x);
    struct stacks_recording *made = vec_push(&x->in->s->recordings);
    x->in->no_memory |= !made;
    if (made)
        *made = r;
}

static void read_event(struct reading *x) {
    struct stacks_event e = {0};
    e.name = text(x);
    e.unit = text(x);
    e.recording = number32(x, UINT32_MAX - 1 - x->recordings) + x->recordings;
    e.lost = number(x);
    x->broken |= e.recording >= x->in->s->recordings.count;
    keep(x, &x->events, (uint32_t)x->in->s->events.count);
    struct stacks_event *made = vec_push(&x->in->s->events);
    x->in->no_memory |= !made;
    if (made)
        *made = e;
}

static void read_image(struct reading *x) {
    struct stacks_image image = {0};
    image.name = text(x);
    image.path = text(x);
    image.build_id = text(x);
    keep(x, &x->images, stacks_image(x->in->s, &image));
}

static void read_frame(struct reading *x) {
    struct stacks_frame f = {0};
    f.name = text(x);
    f.image = reference(x, &x->images, true);
    f.address = number(x);
    f.file = text(x);
    f.line = number32(x, UINT32_MAX);
    f.why = text(x);
    f.level = (uint8_t)number32(x, STACKS_INLINED);
    f.grade = (uint8_t)number32(x, STACKS_UNKNOWN);
    keep(x, &x->frames, stacks_frame(x->in->s, &f));
}

static void read_node(struct reading *x) {
    uint32_t caller = reference(x, &x->nodes, true), frame = reference(x, &x->frames, false), depth = 0;
    if (!x->broken && caller != STACKS_NONE)
        depth = hash_map_get(&x->depths, caller);
    x->broken |= depth >= STACKS_IMPORT_DEEPEST;
    if (x->broken)
        return;
    uint32_t node = stacks_node(x->in->s, caller, frame);
    x->in->no_memory |= node == STACKS_NONE || !hash_map_set(&x->depths, node, depth + 1);
    if (!x->in->no_memory)
        keep(x, &x->nodes, node);
}

static void read_row(struct reading *x) {
    uint32_t event = reference(x, &x->events, false), comm = text(x), node = reference(x, &x->nodes, false),
             row = 0;
    uint64_t samples = number(x), period = number(x);
    if (x->broken || x->r.failed)
        return;
    x->in->at++;
    if (import_add(x->in, event, comm, node, samples, period, &row) || x->in->no_memory)
        keep(x, &x->rows, row);
    else
        x->broken = true;
}

static void read_thread(struct reading *x) {
    uint32_t pid = number32(x, UINT32_MAX), tid = number32(x, UINT32_MAX), comm = text(x);
    uint32_t id = stacks_thread(x->in->s, pid, tid);
    keep(x, &x->threads, id);
    if (id != STACKS_NONE)
        x->in->s->threads.items[id].comm = comm;
}

static void read_sample(struct reading *x) {
    struct stacks_moment m = {0};
    m.time_ns = number(x);
    m.period = number(x);
    m.row = reference(x, &x->rows, false);
    m.thread = reference(x, &x->threads, false);
    uint64_t cpu = json_element(&x->r) ? json_read_number_or(&x->r, UINT64_MAX) : UINT64_MAX;
    m.cpu = cpu < STACKS_NONE ? (uint32_t)cpu : STACKS_NONE;
    struct stacks_moment *made = x->broken ? NULL : vec_push(&x->in->s->moments);
    x->in->no_memory |= !made && !x->broken;
    if (made)
        *made = m;
}

static void read_rows(struct reading *x, void (*read)(struct reading *)) {
    while (goes_on(x)) {
        json_enter(&x->r, '[');
        read(x);
        end_row(x);
    }
}

/* ---- all ---- */

static bool is(struct bytes key, const char *name) {
    return key.size == strlen(name) && !memcmp(key.data, name, key.size);
}

static void read_member(struct reading *x, struct bytes key) {
    static const struct {
        const char *name;
        void (*read)(struct reading *);
    } lists[] = {{"recordings", read_recording}, {"events", read_event},  {"images", read_image},
                 {"frames", read_frame},         {"nodes", read_node},    {"rows", read_row},
                 {"threads", read_thread},       {"samples", read_sample}};
    if (is(key, "version")) {
        x->broken |= json_read_number(&x->r) != STACKS_JSON_VERSION;
    } else if (is(key, "title")) {
        uint64_t title = json_read_number(&x->r);
        x->in->s->title = title < x->texts.ids.count ? x->texts.ids.items[title] : 0;
    } else if (is(key, "texts")) {
        json_enter(&x->r, '[');
        read_texts(x);
    } else if (is(key, "notes")) {
        json_enter(&x->r, '[');
        read_notes(x);
    } else {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (is(key, lists[i].name)) {
                json_enter(&x->r, '[');
                read_rows(x, lists[i].read);
                return;
            }
        json_skip(&x->r);
    }
}

bool import_json(struct importing *in, struct bytes file, struct err *err) {
    struct reading x = {
        .in = in, .r = json_reader_make(file), .recordings = (uint32_t)in->s->recordings.count};
    struct bytes key;
    in->no_memory |= !out_init(&x.text, NULL, NULL);
    json_enter(&x.r, '{');
    while (!in->no_memory && !x.broken && json_member(&x.r, &key))
        read_member(&x, key);
    in->no_memory |= x.text.failed;
    bool ok = !x.broken && !x.r.failed && x.texts.ids.count;
    unsigned long long at = (unsigned long long)(x.r.at - x.r.start);
    struct numbers *const all[] = {&x.texts, &x.events, &x.images, &x.frames, &x.nodes, &x.rows, &x.threads};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vec_fini(&all[i]->ids);
    hash_map_fini(&x.depths);
    out_fini(&x.text);
    return ok ||
           err_set(err, ERR_BROKEN, "JSON", "not as docs/STACKS_JSON.md describes it, before byte %llu", at);
}
