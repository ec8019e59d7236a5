/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwind_core.h"

#include <stdio.h>
#include <sys/mman.h>

#include "format/perfdata/added/unwound.h"

bool record_unwind_core_init(struct record_unwind_core *c, const struct record_unwind_options *options,
                             struct err *err) {
    const struct symbol_options symbols = {
        .symfs = options->symfs, .recorded_host = options->host, .frames_only = true};
    *c = (struct record_unwind_core){.o = *options, .out = writer_make(false)};
    c->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS, .streaming = true}, err);
    c->store = c->model ? symbol_store_new(&symbols, err) : NULL;
    c->names = c->store ? resolve_names_new(c->model, c->store, NULL, err) : NULL;
    c->unwind = c->names ? resolve_unwind_new(c->names, NULL, err) : NULL;
    if (!c->unwind)
        return false;
    resolve_unwind_set_cpu(c->unwind, options->machine);
    c->sampler.unwind = c->unwind;
    c->sampler.jits = &c->jits;
    return true;
}

void record_unwind_core_fini(struct record_unwind_core *c) {
    for (size_t i = 0; i < c->held.count; i++)
        c->o.give_back(c->o.ctx, &c->held.items[i]);
    vec_fini(&c->held);
    vec_fini(&c->side);
    writer_fini(&c->out);
    record_unwind_sampler_fini(&c->sampler);
    resolve_unwind_free(c->unwind);
    resolve_names_free(c->names);
    symbol_store_free(c->store);
    model_free(c->model);
    hash_map_fini(&c->jits);
    *c = (struct record_unwind_core){.loc = 0};
}

/* ---- what a chunk consists of ---- */

/* The record at `at`; false at the end, or where what follows cannot be one. */
static bool record_at(struct bytes all, size_t at, struct perfdata_raw *raw) {
    if (all.size - at < PERFDATA_HEADER_SIZE)
        return false;
    const uint8_t *h = all.data + at;
    *raw = (struct perfdata_raw){.type = bytes_load32(h, false),
                                 .misc = bytes_load16(h + 4, false),
                                 .size = bytes_load16(h + 6, false)};
    if (raw->size < PERFDATA_HEADER_SIZE || raw->size > all.size - at)
        return false;
    raw->body = (struct bytes){h + PERFDATA_HEADER_SIZE, raw->size - PERFDATA_HEADER_SIZE};
    return true;
}

/* Its event; NULL: none. */
static const struct perfdata_event *event_of(const struct record_unwind_core *c,
                                             const struct perfdata_raw *raw) {
    uint32_t event = perfdata_events_find(c->o.events, raw->type, raw->body);
    return event == PERFDATA_NO_EVENT ? NULL : &c->o.events->list.items[event];
}

static uint64_t time_of(const struct perfdata_event *event, const struct perfdata_raw *raw) {
    uint64_t ns;
    return event && perfdata_record_time(&event->plan, raw->type, raw->body, &ns) ? ns : 0;
}

/* Records that come from no ring have no event and no time. */
static bool from_kernel(uint32_t type) {
    return type < PERFDATA_RECORD_USER_START;
}

/* ---- the model ---- */

static int by_time(const void *a, const void *b) {
    const struct record_unwind_side *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

/* A JIT maps its jit-PID.dump to tell of it (jitdump-specification). */
static bool is_jitdump(struct bytes name) {
    static const char END[] = ".dump", BEGIN[] = "/jit-";
    size_t end = sizeof END - 1;
    return name.size > end && memcmp(name.data + name.size - end, END, end) == 0 &&
           memmem(name.data, name.size, BEGIN, sizeof BEGIN - 1);
}

/* Code that was mapped just now may be gone soon: its file is opened before. What existed before the
 * recording is not looked at before a sample hits it. */
static void look_at_map(struct record_unwind_core *c, const struct perfdata_record *rec, uint64_t time_ns) {
    struct symbol_frames unused;
    uint32_t count = model_mapping_count(c->model);
    if (rec->type != PERFDATA_RECORD_MMAP2 || !(rec->mmap2.prot & PROT_EXEC))
        return;
    struct bytes name = {rec->mmap2.filename.data, bytes_text_len(rec->mmap2.filename)};
    if (is_jitdump(name))
        hash_map_set(&c->jits, rec->mmap2.pid, 1); /* without memory its own frames are taken as they are */
    uint32_t image = time_ns && count ? model_mapping(c->model, count - 1).image : MODEL_NONE;
    if (image == MODEL_NONE)
        return;
    const struct model_image *im = model_image(c->model, image);
    if (im->kind == MODEL_IMAGE_FILE && im->space == MODEL_SPACE_USER)
        resolve_names_frames(c->names, image, &unused);
}

/* Applies what is known of the time up to `until_ns`. False: out of memory. */
static bool apply_side(struct record_unwind_core *c, uint64_t until_ns, struct err *err) {
    size_t n = 0;
    if (c->side.count > 1)
        qsort(c->side.items, c->side.count, sizeof *c->side.items, by_time);
    for (; n < c->side.count && c->side.items[n].time_ns <= until_ns; n++) {
        const struct record_unwind_side *x = &c->side.items[n];
        struct perfdata_raw raw;
        struct perfdata_record rec;
        record_at((struct bytes){x->at, bytes_load16(x->at + 6, false)}, 0, &raw);
        const struct perfdata_event *event = event_of(c, &raw);
        if (!event || !perfdata_record_decode(&raw, &event->plan, false, &rec, NULL))
            continue; /* readers of the file say so */
        if (!model_apply(c->model, &rec, (struct model_when){x->time_ns, x->loc}, err))
            return false;
        look_at_map(c, &rec, x->time_ns);
    }
    c->side.count -= n;
    if (n && c->side.count)
        memmove(c->side.items, c->side.items + n, c->side.count * sizeof *c->side.items);
    return true;
}

/* Notes a chunk's side-band records and its latest time. False: out of memory. */
static bool scan(struct record_unwind_core *c, struct bytes all) {
    struct perfdata_raw raw;
    for (size_t at = 0; record_at(all, at, &raw); at += raw.size) {
        if (!from_kernel(raw.type))
            continue;
        uint64_t ns = time_of(event_of(c, &raw), &raw);
        c->newest_ns = ns > c->newest_ns ? ns : c->newest_ns;
        if (raw.type == PERFDATA_RECORD_SAMPLE || !model_wants(c->model, raw.type))
            continue;
        struct record_unwind_side *to = vec_push(&c->side);
        if (!to)
            return false;
        *to = (struct record_unwind_side){ns, c->loc + at, all.data + at};
    }
    c->loc += all.size;
    return true;
}

/* ---- on their way out ---- */

static bool put(struct record_unwind_core *c, size_t packed, struct err *err) {
    struct bytes out = writer_bytes(&c->out), two[2] = {{out.data, packed}, {NULL, 0}};
    size_t n = packed != 0;
    if (!writer_ok(&c->out))
        return err_memory(err, "records");
    if (out.size > packed)
        two[n++] = (struct bytes){out.data + packed, out.size - packed};
    return !n || c->o.put(c->o.ctx, two, n, packed != 0, err);
}

/* Writes a chunk's records in their new form, and gives it back. */
static bool emit(struct record_unwind_core *c, struct record_chunk *chunk, bool unwind, struct err *err) {
    struct perfdata_raw raw;
    size_t at = 0, packed = 0;
    writer_clear(&c->out);
    for (; record_at(chunk->bytes, at, &raw); at += raw.size) {
        const struct perfdata_event *event = raw.type == PERFDATA_RECORD_SAMPLE ? event_of(c, &raw) : NULL;
        if (event && record_unwind_wants(event))
            record_unwind_sample(&c->sampler, event, &raw,
                                 (struct model_when){time_of(event, &raw), c->emitted + at}, unwind, &c->out);
        else
            writer_put(&c->out, chunk->bytes.data + at, raw.size);
        packed = at < chunk->packed ? c->out.size : packed;
    }
    /* A damaged ring's rest goes on as it came. */
    writer_put(&c->out, chunk->bytes.data ? chunk->bytes.data + at : NULL, chunk->bytes.size - at);
    packed = at < chunk->packed ? c->out.size : packed;
    c->emitted += chunk->bytes.size;
    if (!put(c, packed, err))
        return false; /* it is still held, and counted as missing */
    c->o.give_back(c->o.ctx, chunk);
    return true;
}

/* Writes the oldest `count` chunks. */
static bool emit_first(struct record_unwind_core *c, size_t count, bool unwind, struct err *err) {
    bool ok = true;
    size_t n = 0;
    for (; n < count && ok; n += ok)
        ok = emit(c, &c->held.items[n], unwind, err);
    c->held.count -= n;
    if (n && c->held.count)
        memmove(c->held.items, c->held.items + n, c->held.count * sizeof *c->held.items);
    c->complete -= n < c->complete ? n : c->complete;
    return ok;
}

/* At the end of a round the one before it is complete. */
static bool end_round(struct record_unwind_core *c, struct err *err) {
    if (!apply_side(c, c->complete_ns, err) || !emit_first(c, c->complete, true, err) ||
        !model_retire(c->model, (struct model_when){c->older_ns, 0}, err))
        return false;
    c->complete = c->held.count;
    c->older_ns = c->complete_ns;
    c->complete_ns = c->newest_ns;
    return true;
}

bool record_unwind_core_take(struct record_unwind_core *c, struct record_chunk *chunk, struct err *err) {
    bool round = chunk->round;
    struct record_chunk *slot = chunk->bytes.size ? vec_push(&c->held) : NULL;
    bool ok = slot || !chunk->bytes.size;
    if (slot)
        *slot = *chunk;
    else
        c->o.give_back(c->o.ctx, chunk);
    if (!ok || (slot && !scan(c, slot->bytes)))
        return err_memory(err, "records");
    return !round || end_round(c, err);
}

bool record_unwind_core_flush(struct record_unwind_core *c, struct err *err) {
    return apply_side(c, UINT64_MAX, err) && emit_first(c, c->held.count, false, err);
}

bool record_unwind_core_finish(struct record_unwind_core *c, struct err *err) {
    return apply_side(c, UINT64_MAX, err) && emit_first(c, c->held.count, true, err);
}

void record_unwind_core_report(const struct record_unwind_core *c, struct writer *w) {
    const struct record_unwind_counts *n = &c->sampler.counts;
    struct perfdata_unwound all = {
        .stacks = n->stacks, .whole = n->whole, .cut = n->cut, .kept = n->kept, .lagging = n->lagging};
    perfdata_unwound_encode(&all, w);
    const struct resolve_unwind_tally *t = resolve_unwind_tally(c->unwind);
    for (size_t i = 0; i < t->images.count; i++)
        if (t->images.items[i].of[RESOLVE_UNWIND_CUT])
            perfdata_unwound_encode_cut(t->images.items[i].of[RESOLVE_UNWIND_CUT],
                                        model_image(c->model, (uint32_t)i)->name, w);
}
