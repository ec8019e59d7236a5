/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/perfdata/readings.h"
#include "resolve/frames.h"

/* The state of reading. */
struct reader {
    struct annotate_profile *p;
    struct resolve_places places;
    struct resolve_frames frames; /* one per offset */
    struct hash_map cells;        /* frame << 32 | event -> index in p->hits */
    VEC(uint32_t) frame_of;       /* by the same index */
    struct readings readings;
    uint64_t want;
};

/* ---- samples ---- */

static bool add(struct reader *r, const struct perfdata_sample *s, uint32_t event, unsigned cpumode,
                struct model_when when) {
    const struct annotate_input *in = r->p->in;
    if (in->keep && !in->keep(in->keep_ctx, s, when))
        return true;
    const struct annotate_sums one = {1, s->period};
    annotate_sums_add(&r->p->totals.items[event], &one);
    const struct model_state *state = resolve_places_state(&r->places, cpumode, s->pid, when);
    uint32_t frame = resolve_frames_at(&r->frames, state, cpumode, s->ip, RESOLVE_OFFSET, false);
    if (frame == RESOLVE_NO_FRAME)
        return false;
    if (r->frames.list.items[frame].symbol == SYMBOL_NONE)
        return true;
    uint64_t key = (uint64_t)frame << 32 | event;
    uint32_t at = hash_map_get(&r->cells, key);
    if (at == HASH_ABSENT) {
        at = (uint32_t)r->p->hits.count;
        struct annotate_hit *hit = at < HASH_ABSENT - 1 ? vec_push(&r->p->hits) : NULL;
        uint32_t *of = hit ? vec_push(&r->frame_of) : NULL;
        if (!of || !hash_map_set(&r->cells, key, at))
            return false;
        *of = frame;
        hit->offset = r->frames.list.items[frame].offset;
        hit->event = event;
    }
    annotate_sums_add(&r->p->hits.items[at].sums, &one);
    return true;
}

/* A sample that reads a group's counters is one of each event whose counter has advanced. */
static bool add_readings(struct reader *r, struct perfdata_sample *s, unsigned cpumode,
                         struct model_when when) {
    const struct perfdata_events *events = r->p->in->recording->events;
    bool ok = true;
    for (uint64_t i = 0; ok && i < s->read.count; i++) {
        struct perfdata_read_value value = perfdata_read_at(&s->read, i);
        uint32_t event = readings_take(&r->readings, events, s->tid, &value, &s->period);
        if (event != PERFDATA_NO_EVENT && event < r->p->totals.count && s->period)
            ok = add(r, s, event, cpumode, when);
    }
    return ok;
}

static bool take(struct reader *r, const struct stream_record *rec) {
    struct recording *recording = r->p->in->recording;
    if (rec->raw.type != PERFDATA_RECORD_SAMPLE || rec->event >= r->p->totals.count)
        return true;
    const struct perfdata_event *e = &recording->events->list.items[rec->event];
    struct perfdata_sample s = {
        .pid = UINT32_MAX, .tid = UINT32_MAX, .cpu = UINT32_MAX, .period = e->attr.sample_period};
    if (!perfdata_sample_decode(&e->plan, rec->raw.body, r->want, &s)) {
        stream_bad_record(recording->stream, rec, "a sample is shorter than its fields");
        return true;
    }
    struct model_when when = recording_when(recording, rec);
    unsigned cpumode = rec->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    bool group = e->plan.sample_type & PERFDATA_SAMPLE_READ && e->attr.read_format & PERFDATA_FORMAT_GROUP;
    return group ? add_readings(r, &s, cpumode, when) : add(r, &s, rec->event, cpumode, when);
}

static bool read_listed(struct reader *r, struct err *err) {
    const struct annotate_input *in = r->p->in;
    for (size_t i = 0; i < in->listed_count; i++) {
        struct stream_record rec = stream_record_at(in->recording->stream, in->listed[i].loc);
        rec.time_ns = in->listed[i].time_ns;
        rec.has_time = true;
        if (!take(r, &rec))
            return err_memory(err, "annotate");
    }
    return true;
}

static bool read_samples(struct reader *r, struct err *err) {
    struct stream *stream = r->p->in->recording->stream;
    struct stream_record rec;
    enum stream_status status;
    stream_rewind(stream);
    while ((status = stream_next(stream, &rec, err)) == STREAM_RECORD)
        if (!take(r, &rec))
            return err_memory(err, "annotate");
    return status == STREAM_END;
}

/* ---- functions ---- */

/* A hit with what it is sorted by. */
struct keyed {
    uint32_t image, symbol;
    struct annotate_hit hit;
};

static int by_place(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->symbol != y->symbol)
        return x->symbol < y->symbol ? -1 : 1;
    if (x->hit.offset != y->hit.offset)
        return x->hit.offset < y->hit.offset ? -1 : 1;
    return (x->hit.event > y->hit.event) - (x->hit.event < y->hit.event);
}

/* Adds a hit to the functions, of which the last may be its own. */
static bool add_to_functions(struct annotate_profile *p, const struct keyed *k, size_t at) {
    struct annotate_function *f = p->functions.count ? &p->functions.items[p->functions.count - 1] : NULL;
    if (!f || f->image != k->image || f->symbol != k->symbol) {
        f = vec_push(&p->functions);
        if (!f)
            return false;
        const struct symbol_table *t = resolve_names_table(p->in->naming->names, k->image);
        *f = (struct annotate_function){.image = k->image,
                                        .symbol = k->symbol,
                                        .start = symbol_table_start(t, k->symbol),
                                        .end = symbol_table_end(t, k->symbol),
                                        .first = at};
    }
    f->count++;
    p->hits.items[at] = k->hit;
    return true;
}

/* Sorts the hits and finds their functions. */
static bool make_functions(struct reader *r, struct err *err) {
    struct annotate_profile *p = r->p;
    size_t count = p->hits.count;
    struct keyed *list = count ? malloc(count * sizeof *list) : NULL;
    bool ok = list || !count;
    for (size_t i = 0; list && i < count; i++) {
        const struct resolve_frame *frame = &r->frames.list.items[r->frame_of.items[i]];
        list[i] = (struct keyed){frame->image, frame->symbol, p->hits.items[i]};
    }
    if (list)
        qsort(list, count, sizeof *list, by_place);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_to_functions(p, &list[i], i);
    free(list);
    return ok || err_memory(err, "annotate");
}

bool annotate_profile_collect(struct annotate_profile *p, const struct annotate_input *in, struct err *err) {
    struct reader r = {.p = p};
    p->in = in;
    r.want = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD |
             PERFDATA_SAMPLE_CPU;
    bool ok = true;
    for (size_t i = 0; ok && i < in->recording->events->list.count; i++) {
        ok = vec_push(&p->totals) || err_memory(err, "annotate");
        if (in->recording->events->list.items[i].attr.read_format & PERFDATA_FORMAT_GROUP)
            r.want |= PERFDATA_SAMPLE_READ;
    }
    ok = ok && resolve_names_prepare(in->naming->names, err) &&
         resolve_places_init(&r.places, in->model, err) &&
         resolve_frames_init(&r.frames, &r.places, in->naming->names, UINT64_MAX, err) &&
         (in->live ? read_listed(&r, err) : read_samples(&r, err)) && make_functions(&r, err);
    resolve_frames_fini(&r.frames);
    resolve_places_fini(&r.places);
    hash_map_fini(&r.cells);
    vec_fini(&r.frame_of);
    readings_fini(&r.readings);
    return ok;
}

void annotate_profile_fini(struct annotate_profile *p) {
    vec_fini(&p->hits);
    vec_fini(&p->functions);
    vec_fini(&p->totals);
}

const char *annotate_function_name(const struct annotate_profile *p, const struct annotate_function *f) {
    const char *name = resolve_names_text(p->in->naming->names, (struct resolve_symbol){f->image, f->symbol});
    return name ? name : "";
}

/* ---- order ---- */

static void add_self(const struct annotate_profile *p, const struct annotate_function *f,
                     struct annotate_events events, struct annotate_sums *out) {
    for (size_t i = f->first; i < f->first + f->count; i++) {
        const struct annotate_hit *hit = &p->hits.items[i];
        if (hit->event >= events.first && hit->event - events.first < events.count)
            annotate_sums_add(&out[hit->event - events.first], &hit->sums);
    }
}

void annotate_function_self(const struct annotate_profile *p, const struct annotate_function *f,
                            struct annotate_events events, struct annotate_sums *out) {
    for (uint32_t i = 0; i < events.count; i++)
        out[i] = (struct annotate_sums){0, 0};
    add_self(p, f, events, out);
}

/* A function to be sorted. */
struct ranked {
    const struct annotate_sums *self; /* [members] */
    const char *name;
    uint32_t members, function;
};

static int by_period(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    for (uint32_t i = 0; i < x->members; i++)
        if (x->self[i].period != y->self[i].period)
            return x->self[i].period > y->self[i].period ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names ? names : (x->function > y->function) - (x->function < y->function);
}

/* Whether any of the events hit the function at all. */
static bool any_hit(const struct annotate_sums *self, uint32_t members) {
    bool any = false;
    for (uint32_t i = 0; i < members; i++)
        any |= self[i].samples > 0;
    return any;
}

bool annotate_profile_order(const struct annotate_profile *p, struct annotate_events events,
                            struct annotate_order *out, struct err *err) {
    size_t room = p->functions.count + 1, used = 0;
    struct ranked *list = calloc(room, sizeof *list);
    struct annotate_sums *sums = calloc(room, events.count * sizeof *sums);
    bool ok = list && sums && vec_reserve(&out->list, room);
    for (size_t i = 0; ok && i < p->functions.count; i++) {
        struct annotate_sums *self = &sums[used * events.count];
        add_self(p, &p->functions.items[i], events, self); /* with many events most of it stays untouched */
        if (any_hit(self, events.count))
            list[used++] = (struct ranked){self, annotate_function_name(p, &p->functions.items[i]),
                                           events.count, (uint32_t)i};
    }
    if (ok)
        qsort(list, used, sizeof *list, by_period);
    for (size_t i = 0; ok && i < used; i++)
        *vec_push(&out->list) = list[i].function;
    free(sums);
    free(list);
    return ok || err_memory(err, "annotate");
}
