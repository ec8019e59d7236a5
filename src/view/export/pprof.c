/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile.proto of pprof (https://github.com/google/pprof/tree/main/proto), compressed.
 *
 * Samples and what they refer to are written as they come up; the strings come last. Every image is a mapping
 * from address 0 on, so that addresses are those in the image.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/gzip.h"
#include "base/hash.h"
#include "base/proto.h"
#include "view/export/export.h"
#include "view/export/visible_text.h"

/* Fields of the messages. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_TYPE,
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum {
    MAPPING_ID = 1,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
    MAPPING_HAS_INLINES,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

struct function {
    uint32_t name, file; /* texts of the stacks */
};

/* A place in code: the frames of functions that are inlined there, innermost first, and last their caller's,
 * which has the address. */
struct place {
    uint32_t first, count; /* in `place_frames` */
};

struct mapping {
    uint64_t limit;
    bool used, files, lines, inlines;
};

struct writing {
    const struct stacks *s;
    const struct export_options *o;
    struct out *out;                             /* the profile */
    struct out sample, place, small, list, text; /* being made */
    struct strpool strings;
    VEC(struct function) functions;
    VEC(struct place) places;
    VEC(uint32_t) place_frames;
    struct idtable function_index, place_index;
    struct mapping *mappings; /* by image */
    uint32_t events;          /* that are written */
    bool failed;              /* memory */
};

/* ---- texts ---- */

static uint32_t add_string(struct writing *w, const char *text) {
    w->text.len = 0;
    visible_plain(text, &w->text);
    uint32_t id = strpool_add(&w->strings, w->text.buf, w->text.len);
    w->failed |= id == STRPOOL_NONE;
    return id == STRPOOL_NONE ? 0 : id;
}

static uint32_t add_text(struct writing *w, uint32_t text) {
    return add_string(w, stacks_str(w->s, text));
}

static void put_type(struct writing *w, unsigned field, uint32_t name, uint32_t unit) {
    proto_nonzero(&w->small, TYPE_NAME, name);
    proto_nonzero(&w->small, TYPE_UNIT, unit);
    proto_message(w->out, field, &w->small);
}

static void put_label(struct writing *w, const char *key, const char *value) {
    proto_number(&w->small, LABEL_KEY, add_string(w, key));
    proto_number(&w->small, LABEL_TEXT, add_string(w, value));
    proto_message(&w->sample, SAMPLE_LABEL, &w->small);
}

/* ---- functions and places ---- */

/* Returns the number, from 1 on, of a frame's function, which is written if need be. */
static uint32_t function_of(struct writing *w, const struct stacks_frame *f) {
    const struct function want = {f->name, f->file};
    uint64_t hash = hash_u64((uint64_t)want.name << 32 | want.file);
    struct idtable_at at = idtable_first(&w->function_index, hash);
    for (uint32_t id; (id = idtable_next(&w->function_index, &at)) != IDTABLE_NONE;)
        if (w->functions.items[id].name == want.name && w->functions.items[id].file == want.file)
            return id + 1;
    uint32_t id = (uint32_t)w->functions.count, name = add_text(w, f->name);
    struct function *made = vec_push(&w->functions);
    if (!made || !idtable_add_at(&w->function_index, &at, hash, id)) {
        w->failed = true;
        return 0;
    }
    *made = want;
    proto_number(&w->small, FUNCTION_ID, id + 1);
    proto_nonzero(&w->small, FUNCTION_NAME, name);
    proto_nonzero(&w->small, FUNCTION_SYSTEM_NAME, name);
    proto_nonzero(&w->small, FUNCTION_FILE, add_text(w, f->file));
    proto_message(w->out, PROFILE_FUNCTION, &w->small);
    return id + 1;
}

static void note_mapping(struct mapping *m, const struct stacks_frame *f) {
    m->used = true;
    m->files |= f->file != 0;
    m->lines |= f->line != 0;
    m->inlines |= f->level == STACKS_INLINED;
    if (f->address >= m->limit)
        m->limit = f->address == UINT64_MAX ? UINT64_MAX : f->address + 1;
}

static void put_place(struct writing *w, uint32_t id) {
    const struct place p = w->places.items[id];
    const uint32_t *frames = w->place_frames.items + p.first;
    const struct stacks_frame *last = &w->s->frames.items[frames[p.count - 1]];
    proto_number(&w->place, LOCATION_ID, id + 1);
    proto_nonzero(&w->place, LOCATION_MAPPING, last->image == STACKS_NONE ? 0 : last->image + 1);
    proto_nonzero(&w->place, LOCATION_ADDRESS, last->address);
    for (uint32_t i = 0; i < p.count; i++) {
        const struct stacks_frame *f = &w->s->frames.items[frames[i]];
        uint32_t function = function_of(w, f);
        if (f->image != STACKS_NONE)
            note_mapping(&w->mappings[f->image], f);
        proto_number(&w->small, LINE_FUNCTION, function);
        proto_nonzero(&w->small, LINE_NUMBER, f->line);
        proto_message(&w->place, LOCATION_LINE, &w->small);
    }
    proto_message(w->out, PROFILE_LOCATION, &w->place);
}

/* Returns the number, from 1 on, of the place whose frames are the last `n` of place_frames; those stay there
 * if it is a new one, which is written then. */
static uint32_t place_of(struct writing *w, uint32_t n) {
    uint32_t first = (uint32_t)w->place_frames.count - n, *frames = w->place_frames.items + first;
    uint64_t hash = hash_bytes(frames, n * sizeof *frames);
    struct idtable_at at = idtable_first(&w->place_index, hash);
    for (uint32_t id; (id = idtable_next(&w->place_index, &at)) != IDTABLE_NONE;) {
        const struct place *p = &w->places.items[id];
        if (p->count == n && !memcmp(w->place_frames.items + p->first, frames, n * sizeof *frames)) {
            w->place_frames.count = first;
            return id + 1;
        }
    }
    uint32_t id = (uint32_t)w->places.count;
    struct place *made = vec_push(&w->places);
    if (!made || !idtable_add_at(&w->place_index, &at, hash, id)) {
        w->failed = true;
        return 0;
    }
    *made = (struct place){first, n};
    put_place(w, id);
    return id + 1;
}

/* ---- samples ---- */

/* Writes the places of a stack, innermost first. */
static void put_stack(struct writing *w, uint32_t node) {
    for (uint32_t n = 0; node != STACKS_NONE;) {
        const struct stacks_node *x = &w->s->nodes.items[node];
        uint32_t *frame = vec_push(&w->place_frames);
        if (!frame) {
            w->failed = true;
            return;
        }
        *frame = x->frame;
        n++;
        node = x->caller;
        if (w->s->frames.items[x->frame].level == STACKS_INLINED && node != STACKS_NONE)
            continue;
        proto_varint(&w->list, place_of(w, n));
        n = 0;
    }
    proto_message(&w->sample, SAMPLE_LOCATIONS, &w->list);
}

/* Writes a sample of rows that differ in their events only. */
static void put_sample(struct writing *w, const uint32_t *rows, size_t n) {
    static const char *const grades[] = {NULL, "inferred", "stale", "unknown"};
    const struct stacks_row *any = &w->s->rows.items[rows[0]];
    const struct stacks_frame *own = &w->s->frames.items[w->s->nodes.items[any->node].frame];
    put_stack(w, any->node);
    for (uint32_t i = 0, k = 0; i < w->events; i++) {
        const struct stacks_row *row = k < n ? &w->s->rows.items[rows[k]] : NULL;
        bool there = row && (w->o->only || row->event == i);
        proto_varint(&w->list, there ? row->samples : 0);
        proto_varint(&w->list, there ? row->period : 0);
        k += there;
    }
    proto_message(&w->sample, SAMPLE_VALUES, &w->list);
    if (any->comm)
        put_label(w, "comm", stacks_str(w->s, any->comm));
    if (own->grade != STACKS_EXACT)
        put_label(w, "grade", grades[own->grade]);
    proto_message(w->out, PROFILE_SAMPLE, &w->sample);
}

static int by_stack(const void *a, const void *b, void *ctx) {
    const struct stacks_row *rows = ctx, *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static void put_samples(struct writing *w) {
    struct stacks_row *rows = w->s->rows.items;
    uint32_t *order = malloc((w->s->rows.count + 1) * sizeof *order);
    size_t n = 0;
    w->failed |= !order;
    for (uint32_t i = 0; order && i < w->s->rows.count; i++)
        if (export_wants(w->o, rows[i].event))
            order[n++] = i;
    if (order)
        qsort_r(order, n, sizeof *order, by_stack, rows);
    for (size_t i = 0, next; order && i < n && !w->failed; i = next) {
        const struct stacks_row *x = &rows[order[i]];
        for (next = i + 1; next < n; next++)
            if (rows[order[next]].node != x->node || rows[order[next]].comm != x->comm)
                break;
        put_sample(w, order + i, next - i);
    }
    free(order);
}

/* ---- what is true of the whole ---- */

/* With several events, the numbers of samples are told apart by the event's name before them. */
static void put_types(struct writing *w) {
    char name[512];
    for (uint32_t i = 0; i < w->s->events.count; i++) {
        const struct stacks_event *e = &w->s->events.items[i];
        if (!export_wants(w->o, i))
            continue;
        snprintf(name, sizeof name, w->events > 1 ? "%s:samples" : "samples", stacks_str(w->s, e->name));
        uint32_t samples = add_string(w, name), event = add_text(w, e->name);
        put_type(w, PROFILE_SAMPLE_TYPE, samples, add_string(w, "count"));
        put_type(w, PROFILE_SAMPLE_TYPE, event, add_text(w, e->unit));
        if (i != w->o->event)
            continue;
        put_type(w, PROFILE_PERIOD_TYPE, event, add_text(w, e->unit));
        proto_nonzero(w->out, PROFILE_PERIOD, e->samples ? e->period / e->samples : 0);
        proto_number(w->out, PROFILE_DEFAULT_TYPE, w->o->samples ? samples : event);
    }
}

static void put_mappings(struct writing *w) {
    for (uint32_t i = 0; i < w->s->images.count; i++) {
        const struct stacks_image *image = &w->s->images.items[i];
        const struct mapping *m = &w->mappings[i];
        if (!m->used)
            continue;
        proto_number(&w->small, MAPPING_ID, i + 1);
        proto_nonzero(&w->small, MAPPING_LIMIT, m->limit);
        proto_nonzero(&w->small, MAPPING_FILE, add_text(w, image->path ? image->path : image->name));
        proto_nonzero(&w->small, MAPPING_BUILD_ID, add_text(w, image->build_id));
        /* Nothing is left for pprof to name: it knows less of which files ran. */
        proto_number(&w->small, MAPPING_HAS_FUNCTIONS, true);
        proto_nonzero(&w->small, MAPPING_HAS_FILES, m->files);
        proto_nonzero(&w->small, MAPPING_HAS_LINES, m->lines);
        proto_nonzero(&w->small, MAPPING_HAS_INLINES, m->inlines);
        proto_message(w->out, PROFILE_MAPPING, &w->small);
    }
}

static void put_comment(struct writing *w, const char *what, uint32_t text) {
    char line[4096];
    if (!text)
        return;
    snprintf(line, sizeof line, "%s%s", what, stacks_str(w->s, text));
    proto_number(w->out, PROFILE_COMMENT, add_string(w, line));
}

static void put_comments(struct writing *w) {
    char grades[128];
    for (size_t i = 0; i < w->s->recordings.count; i++) {
        const struct stacks_recording *r = &w->s->recordings.items[i];
        put_comment(w, "command: ", r->cmdline);
        put_comment(w, "host: ", r->host);
        put_comment(w, "kernel: ", r->os);
        put_comment(w, "cpu: ", r->cpu);
        if (!i && r->start_ns)
            proto_number(w->out, PROFILE_TIME_NS, r->start_ns);
        if (!i && r->duration_ns)
            proto_number(w->out, PROFILE_DURATION_NS, r->duration_ns);
    }
    for (size_t i = 0; i < w->s->notes.count; i++)
        put_comment(w, "", w->s->notes.items[i]);
    if (export_grades_text(w->s, w->o, grades, sizeof grades))
        proto_number(w->out, PROFILE_COMMENT, add_string(w, grades));
}

static bool start(struct writing *w) {
    w->events = w->o->only ? 1 : (uint32_t)w->s->events.count;
    w->mappings = calloc(w->s->images.count + 1, sizeof *w->mappings);
    return w->mappings && out_init(&w->sample, NULL, NULL) && out_init(&w->place, NULL, NULL) &&
           out_init(&w->small, NULL, NULL) && out_init(&w->list, NULL, NULL) &&
           out_init(&w->text, NULL, NULL) && strpool_add(&w->strings, "", 0) == 0;
}

static void finish(struct writing *w) {
    out_fini(&w->sample);
    out_fini(&w->place);
    out_fini(&w->small);
    out_fini(&w->list);
    out_fini(&w->text);
    strpool_fini(&w->strings);
    vec_fini(&w->functions);
    vec_fini(&w->places);
    vec_fini(&w->place_frames);
    idtable_fini(&w->function_index);
    idtable_fini(&w->place_index);
    free(w->mappings);
}

bool export_pprof(const struct stacks *s, const struct export_options *o, struct out *out, struct err *err) {
    struct gzip_out *gzip = gzip_out_new(out);
    struct writing w = {.s = s, .o = o, .out = gzip ? gzip_out_sink(gzip) : NULL};
    bool ok = gzip && start(&w);
    if (ok) {
        put_types(&w);
        put_samples(&w);
        put_mappings(&w);
        put_comments(&w);
        for (uint32_t i = 0; i < w.strings.entries.count; i++)
            proto_bytes(w.out, PROFILE_STRING, strpool_text(&w.strings, i), strpool_len(&w.strings, i));
        ok = !w.failed && !w.text.failed && (gzip_out_end(gzip) || out->failed);
    }
    finish(&w);
    gzip_out_free(gzip);
    return ok || err_memory(err, "pprof");
}
