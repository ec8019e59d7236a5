/* SPDX-License-Identifier: Apache-2.0 */
/* From samples to distinct (class, place) and (class, callchain): no name of a function, no sorting. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile_internal.h"
#include "stream/skim.h"

enum { THREAD_SLOTS = 1 << 11 };

/* What a thread is called, and the class of its samples where a class depends on nothing else. */
struct profile_thread_slot {
    uint32_t pid, tid, event;
    uint32_t comm; /* text id; PROFILE_NONE: the slot is free */
    uint32_t klass;
    uint32_t thread; /* model_thread_at */
    struct model_when from, until;
};

/* ---- the plan ---- */

static bool wants_column(const struct profile_options *o, enum profile_column_id id) {
    for (size_t i = 0; i < o->columns->order.count; i++)
        if (o->columns->order.items[i].id == id)
            return true;
    return false;
}

static void plan_slots(struct profile_plan *plan) {
    const struct profile_columns *c = plan->o->columns;
    plan->class_count = 1;
    for (size_t i = 0; i < c->order.count; i++) {
        enum profile_column_id id = c->order.items[i].id;
        if (!profile_column_is_key(id) || profile_key_is_place(id) || plan->slot_of[id] ||
            plan->class_count == PROFILE_CLASS_MAX)
            continue;
        plan->slot_of[id] = (uint8_t)plan->class_count;
        plan->slots[plan->class_count++] = (uint8_t)id;
        plan->want |= profile_key_wants(id);
        if (id != PROFILE_COMM && id != PROFILE_PID && id != PROFILE_TGID && id != PROFILE_COMM_NODIGIT)
            plan->by_thread = false;
    }
}

bool profile_plan_make(struct profile_plan *plan, const struct profile_input *in,
                       const struct profile_options *o, struct err *err) {
    (void)err;
    *plan = (struct profile_plan){.in = in, .o = o, .by_thread = true};
    plan->want = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD;
    plan_slots(plan);
    plan->chains = o->children || o->chain_mode != PROFILE_CHAIN_NONE;
    if (plan->chains)
        plan->want |= PERFDATA_SAMPLE_CALLCHAIN;
    if (in->keep)
        plan->want = PERFDATA_SAMPLE_KNOWN;
    plan->selects = o->comms || o->dsos || o->symbols || o->symbol_filter || o->hide_unresolved;
    plan->extras = wants_column(o, PROFILE_WEIGHT1) || wants_column(o, PROFILE_WEIGHT2) ||
                   wants_column(o, PROFILE_WEIGHT3);
    if (plan->extras)
        plan->want |= PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT;
    plan->place_kind = wants_column(o, PROFILE_ADDR)            ? RESOLVE_ADDRESS
                       : wants_column(o, PROFILE_SYMBOL_OFFSET) ? RESOLVE_OFFSET
                                                                : RESOLVE_PLACE;
    plan->frame_kind = o->chain_key == PROFILE_BY_FUNCTION ? RESOLVE_FUNCTION : RESOLVE_ADDRESS;
    return true;
}

/* ---- the builder ---- */

bool profile_builder_init(struct profile_builder *b, const struct profile_plan *plan, struct err *err) {
    *b = (struct profile_builder){.plan = plan};
    if (!resolve_places_init(&b->places, plan->in->model, err) ||
        !resolve_frames_init(&b->frames, &b->places, plan->in->names, err))
        return false;
    b->threads = malloc(THREAD_SLOTS * sizeof *b->threads);
    if (!b->threads)
        return err_memory(err, "profile");
    for (size_t i = 0; i < THREAD_SLOTS; i++)
        b->threads[i].comm = PROFILE_NONE;
    for (size_t i = 0; i < plan->in->events->list.count; i++)
        if (!vec_push(&b->tally))
            return err_memory(err, "profile");
    return true;
}

void profile_builder_fini(struct profile_builder *b) {
    resolve_frames_fini(&b->frames);
    resolve_places_fini(&b->places);
    strpool_fini(&b->texts);
    vec_fini(&b->class_values);
    hash_map_fini(&b->class_by_hash);
    free(b->threads);
    vec_fini(&b->bases);
    vec_fini(&b->weights);
    idtable_fini(&b->base_index);
    vec_fini(&b->nodes);
    vec_fini(&b->class_roots);
    idtable_fini(&b->node_index);
    vec_fini(&b->leaves);
    idtable_fini(&b->leaf_index);
    vec_fini(&b->parts);
    vec_fini(&b->part_frames);
    hash_map_fini(&b->part_by_hash);
    hash_map_fini(&b->user_by_hash);
    hash_map_fini(&b->joined);
    vec_fini(&b->path);
    vec_fini(&b->place_verdicts.list);
    vec_fini(&b->comm_verdicts.list);
    vec_fini(&b->tally);
}

/* ---- classes ---- */

static uint32_t intern_class(struct profile_builder *b, const uint64_t *values) {
    uint32_t n = b->plan->class_count;
    for (uint64_t h = hash_bytes(values, n * sizeof *values);; h++) {
        uint32_t id = hash_map_get(&b->class_by_hash, h);
        if (id != HASH_ABSENT) {
            if (!memcmp(&b->class_values.items[(size_t)id * n], values, n * sizeof *values))
                return id;
            continue;
        }
        id = b->class_total;
        uint32_t *root = vec_push(&b->class_roots);
        if (!root || !vec_reserve(&b->class_values, b->class_values.count + n) ||
            !hash_map_set(&b->class_by_hash, h, id))
            return PROFILE_NONE;
        *root = PROFILE_NONE;
        memcpy(b->class_values.items + b->class_values.count, values, n * sizeof *values);
        b->class_values.count += n;
        b->class_total++;
        return id;
    }
}

/* perf's name for a thread that no record names. */
static uint32_t comm_text(struct profile_builder *b, const char *comm, uint32_t tid) {
    char text[16];
    if (!comm) {
        snprintf(text, sizeof text, ":%" PRId32, (int32_t)tid);
        comm = text;
    }
    return strpool_add(&b->texts, comm, strlen(comm));
}

static struct profile_thread_slot *thread_of(struct profile_builder *b, uint32_t pid, uint32_t tid,
                                             uint32_t event, struct model_when when) {
    uint64_t key = (uint64_t)tid << 32 | (pid ^ event << 20);
    struct profile_thread_slot *t = &b->threads[hash_u64(key) % THREAD_SLOTS];
    if (t->comm != PROFILE_NONE && t->pid == pid && t->tid == tid && t->event == event &&
        !model_when_before(when, t->from) && model_when_before(when, t->until))
        return t;
    const struct model *m = b->plan->in->model;
    struct model_comm_span span;
    model_comm_at(m, pid, tid, when, &span);
    if (!span.comm) {
        /* What runs behind the EXIT record is still the thread's own end: perf report, unlike script, keeps
         * its name. */
        uint32_t id = model_thread_at(m, pid, tid, when);
        if (id != MODEL_NONE && model_thread(m, id)->exited)
            span.comm = model_comm(m, pid, tid, model_when_prior(model_thread(m, id)->ended), NULL);
    }
    *t = (struct profile_thread_slot){.pid = pid,
                                      .tid = tid,
                                      .event = event,
                                      .comm = comm_text(b, span.comm, tid),
                                      .klass = PROFILE_NONE,
                                      .thread = model_thread_at(m, pid, tid, when),
                                      .from = span.from,
                                      .until = span.until};
    return t;
}

static uint32_t class_of(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                         struct model_when when, struct profile_thread_slot *t) {
    if (t->klass != PROFILE_NONE)
        return t->klass;
    uint64_t values[PROFILE_CLASS_MAX];
    values[0] = event;
    profile_keys_take(b, s, event, when, t->comm, values);
    uint32_t klass = intern_class(b, values);
    if (b->plan->by_thread)
        t->klass = klass;
    return klass;
}

/* ---- sums ---- */

static uint32_t base_of(struct profile_builder *b, uint32_t klass, uint32_t frame) {
    uint64_t hash = hash_u64((uint64_t)klass << 32 | frame);
    struct idtable_at at = idtable_first(&b->base_index, hash);
    for (uint32_t id; (id = idtable_next(&b->base_index, &at)) != IDTABLE_NONE;)
        if (b->bases.items[id].klass == klass && b->bases.items[id].frame == frame)
            return id;
    uint32_t id = (uint32_t)b->bases.count;
    struct profile_base *base = vec_push(&b->bases);
    if (!base || !idtable_add(&b->base_index, hash, id) || (b->plan->extras && !vec_push(&b->weights)))
        return PROFILE_NONE;
    *base = (struct profile_base){.klass = klass, .frame = frame, .first_ns = UINT64_MAX};
    return id;
}

static uint32_t leaf_of(struct profile_builder *b, uint32_t base, uint32_t node) {
    uint64_t hash = hash_u64((uint64_t)base << 32 | node);
    struct idtable_at at = idtable_first(&b->leaf_index, hash);
    for (uint32_t id; (id = idtable_next(&b->leaf_index, &at)) != IDTABLE_NONE;)
        if (b->leaves.items[id].base == base && b->leaves.items[id].node == node)
            return id;
    uint32_t id = (uint32_t)b->leaves.count;
    struct profile_leaf *leaf = vec_push(&b->leaves);
    if (!leaf || !idtable_add(&b->leaf_index, hash, id))
        return PROFILE_NONE;
    *leaf = (struct profile_leaf){.base = base, .node = node, .first_ns = UINT64_MAX};
    return id;
}

static void add_weights(struct profile_builder *b, uint32_t base, const struct perfdata_sample *s) {
    struct profile_weights *w = &b->weights.items[base];
    w->w[0] += s->weight;
    w->w[1] += s->ins_lat;
    w->w[2] += s->weight3;
}

/* Counts the sample and says whether it is to have an entry. */
static bool count_sample(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                         enum profile_verdict verdict) {
    struct profile_tally *t = &b->tally.items[event];
    t->dropped += verdict == PROFILE_DROP;
    t->filtered += verdict == PROFILE_FILTERED;
    /* Unless percentages are relative they are of what filters took away, too. */
    if (verdict == PROFILE_KEEP || (verdict == PROFILE_FILTERED && !b->plan->o->relative)) {
        t->samples++;
        t->period += s->period;
    }
    return verdict == PROFILE_KEEP;
}

static void add_sample(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                       unsigned cpumode, struct model_when when) {
    struct profile_thread_slot *slot = thread_of(b, s->pid, s->tid, event, when);
    uint32_t thread = slot->thread;
    const struct model_state *state = resolve_places_state(&b->places, cpumode, s->pid, when);
    uint32_t frame = resolve_frames_at(&b->frames, state, cpumode, s->ip,
                                       (enum resolve_frame_kind)b->plan->place_kind, false);
    if (frame != RESOLVE_NO_FRAME &&
        !count_sample(b, s, event, b->plan->selects ? profile_select(b, slot->comm, frame) : PROFILE_KEEP))
        return;
    uint32_t klass = class_of(b, s, event, when, slot);
    uint32_t id =
        klass == PROFILE_NONE || frame == RESOLVE_NO_FRAME ? PROFILE_NONE : base_of(b, klass, frame);
    if (id == PROFILE_NONE) {
        b->failed = true;
        return;
    }
    struct profile_base *base = &b->bases.items[id];
    base->period += s->period;
    base->samples++;
    if (when.time_ns < base->first_ns) {
        base->first_ns = when.time_ns;
        base->thread = thread;
    }
    if (b->plan->extras)
        add_weights(b, id, s);
    if (!b->plan->chains)
        return;
    uint32_t node = profile_chain_node(b, klass, s, cpumode, when);
    uint32_t leaf_id = node == PROFILE_NONE ? PROFILE_NONE : leaf_of(b, id, node);
    if (leaf_id == PROFILE_NONE) {
        b->failed = true;
        return;
    }
    struct profile_leaf *leaf = &b->leaves.items[leaf_id];
    leaf->period += s->period;
    leaf->samples++;
    if (when.time_ns < leaf->first_ns) {
        leaf->first_ns = when.time_ns;
        leaf->thread = thread;
    }
}

/* ---- records ---- */

/* The fields wanted, the quick way where the callchain stands right behind the fixed ones. */
static inline bool decode(const struct perfdata_plan *plan, struct bytes body, uint64_t want,
                          struct perfdata_sample *s) {
    const uint64_t before_chain = PERFDATA_SAMPLE_READ;
    if (want & plan->sample_type & PERFDATA_SAMPLE_VARIABLE & ~PERFDATA_SAMPLE_CALLCHAIN || plan->swap ||
        !(want & plan->sample_type & PERFDATA_SAMPLE_CALLCHAIN) || plan->sample_type & before_chain ||
        body.size < plan->fixed_size + 8u)
        return perfdata_sample_decode(plan, body, want, s);
    perfdata_sample_load_fixed(plan, body.data, false, want & plan->sample_type, s);
    uint64_t count = bytes_load64(body.data + plan->fixed_size, false);
    if (count > (body.size - plan->fixed_size - 8) / 8)
        return false;
    s->callchain = (struct perfdata_u64s){body.data + plan->fixed_size + 8, count, false};
    return true;
}

static void add_sample_record(struct profile_builder *b, const struct stream_record *r) {
    const struct profile_input *in = b->plan->in;
    const struct perfdata_event *e = &in->events->list.items[r->event];
    struct perfdata_sample s;
    s.pid = s.tid = s.cpu = UINT32_MAX;
    s.ip = s.time = s.addr = 0;
    s.period = e->attr.sample_period;
    s.callchain.count = 0;
    s.weight = s.ins_lat = s.weight3 = 0;
    if (!stream_sample_whole(&e->plan, r->raw.body) || !decode(&e->plan, r->raw.body, b->plan->want, &s)) {
        stream_bad_record(in->stream, r, "a sample shorter than its fields");
        return;
    }
    struct profile_tally *t = &b->tally.items[r->event];
    struct model_when when = {r->has_time ? r->time_ns : stream_when_ns(in->stream, r), r->loc};
    enum profile_verdict verdict = in->keep ? in->keep(in->keep_ctx, &s, r->event, when) : PROFILE_KEEP;
    t->read++;
    if (verdict != PROFILE_KEEP) {
        count_sample(b, &s, r->event, verdict);
        return;
    }
    add_sample(b, &s, r->event, r->raw.misc & PERFDATA_MISC_CPUMODE_MASK, when);
}

void profile_builder_add(struct profile_builder *b, const struct stream_record *r) {
    if (r->raw.type == PERFDATA_RECORD_SAMPLE && r->event < b->tally.count)
        add_sample_record(b, r);
}
