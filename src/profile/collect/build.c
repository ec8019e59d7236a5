/* SPDX-License-Identifier: Apache-2.0 */
/* Turns samples into distinct (group key, place, callchain): nothing is named or sorted yet. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/perfdata/data_src.h"
#include "model/task_names.h"
#include "profile/profile_internal.h"
#include "stream/pieces.h"
#include "stream/skim.h"

enum { THREAD_SLOTS = 1 << 11 };

/* Cache of a thread's comm and, with plan->by_thread, the group key of its samples. */
struct profile_thread_slot {
    uint32_t pid, tid, event;
    uint32_t comm; /* text id; PROFILE_NONE: the slot is free */
    uint32_t group_key;
    uint32_t thread; /* model_thread_at */
    struct model_when from, until;
};

/* ---- the plan ---- */

/* Returns the index in a group key of a key's value; keys with the same value share one. 0: no room. */
static uint32_t find_slot(struct profile_plan *plan, const struct profile_column *c) {
    uint32_t i = 1;
    while (i < plan->group_key_count &&
           (plan->slots[i]->key->value != c->key->value || (c->field && plan->slots[i]->number != c->number)))
        i++;
    if (i == plan->group_key_count && i < PROFILE_GROUP_KEY_MAX)
        plan->slots[plan->group_key_count++] = c;
    return i < PROFILE_GROUP_KEY_MAX ? i : 0;
}

static void plan_column(struct profile_plan *plan, const struct profile_column *c) {
    plan->finds |= c->key->finds;
    if (c->key->add) {
        plan->adds[c->sum] = c->key->add;
        if (c->key->per)
            plan->adds[c->per] = c->key->per;
        plan->finds |= PROFILE_FINDS_WEIGHTS;
        plan->want |= c->key->wants;
    }
    if (!c->key->value)
        return;
    plan->slot_of[c->number] = (uint8_t)find_slot(plan, c);
    plan->want |= c->key->wants;
    plan->by_thread &= c->key->of_thread;
    plan->in_order |= c->key->one_thread;
    if (c->key->id == PROFILE_COMM)
        plan->comm_slot = plan->slot_of[c->number];
}

static void plan_columns(struct profile_plan *plan) {
    const struct profile_columns *c = plan->o->columns;
    plan->group_key_count = 1;
    for (size_t i = 0; i < c->order.count; i++)
        plan_column(plan, &c->order.items[i]);
    if (plan->o->branch && plan->group_key_count < PROFILE_GROUP_KEY_MAX)
        plan->level_at = plan->group_key_count++;
}

/* Whether one thread must add all samples in order: group counters are read as differences, and only one
 * thread may look up names while reading. */
static bool needs_order(const struct profile_plan *plan) {
    return plan->searches || plan->o->symbols || (plan->o->symbol_filter && !plan->selects_rows) ||
           plan->want & PERFDATA_SAMPLE_READ;
}

/* Whether no sample's frames are needed before it is counted. */
static bool may_wait(const struct profile_plan *plan) {
    for (uint32_t i = 1; i < plan->group_key_count; i++)
        if (i != plan->level_at && plan->slots[i]->key->kind == PROFILE_KEY_ADDRESS)
            return false;
    return !plan->searches && !plan->selects && !plan->o->exclude_other && !plan->o->branch &&
           !plan->o->blocks && !plan->o->streams && !plan->unwinds && !plan->calls && !plan->history;
}

void profile_plan_make(struct profile_plan *plan, const struct profile_input *in,
                       const struct profile_options *o) {
    *plan = (struct profile_plan){.in = in, .o = o, .by_thread = true};
    plan->want = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD;
    plan_columns(plan);
    plan->chains = o->children || o->chain_mode != PROFILE_CHAIN_NONE || o->stacks;
    for (size_t i = 0; i < in->events->list.count; i++) {
        const struct perfdata_attr *attr = &in->events->list.items[i].attr;
        plan->want |= attr->read_format & PERFDATA_FORMAT_GROUP ? PERFDATA_SAMPLE_READ : 0;
        plan->calls |= resolve_chain_has_calls(attr) && !o->branch; /* the processor recorded call stacks */
        plan->unwinds |= attr->sample_type & PERFDATA_SAMPLE_STACK_USER;
    }
    plan->parents = profile_columns_find(o->columns, PROFILE_PARENT);
    plan->searches = plan->parents || (o->ignore_callees && plan->chains);
    plan->history = o->history && !o->branch && !plan->calls && plan->chains;
    if (plan->chains || plan->searches)
        plan->want |=
            PERFDATA_SAMPLE_CALLCHAIN | (plan->calls || plan->history ? PERFDATA_SAMPLE_BRANCH_STACK : 0);
    plan->unwinds &= plan->chains || plan->searches;
    if (plan->unwinds)
        plan->want |= RESOLVE_UNWIND_FIELDS;
    if (o->branch)
        plan->by_thread = false;
    if (o->branch || o->blocks || o->streams)
        plan->want |= PERFDATA_SAMPLE_BRANCH_STACK;
    if (in->keep || o->moments)
        plan->want |= PERFDATA_SAMPLE_CPU;
    if (o->mem)
        plan->want |= PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT;
    plan->selects_rows = o->symbol_filter && o->children && !o->branch && !o->hierarchy &&
                         profile_columns_find(o->columns, PROFILE_SYMBOL);
    plan->selects =
        o->comms || o->dsos || o->symbols || o->hide_unresolved || (o->symbol_filter && !plan->selects_rows);
    plan->extras = plan->finds & PROFILE_FINDS_WEIGHTS;
    if (plan->extras)
        plan->want |= PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT;
    plan->extras |= plan->unwinds;
    const unsigned exact = PROFILE_FINDS_LINES | PROFILE_FINDS_OFFSET | PROFILE_FINDS_ADDRESS;
    plan->place_kind = plan->finds & PROFILE_FINDS_ADDRESS                               ? RESOLVE_ADDRESS
                       : plan->finds & (exact | PROFILE_FINDS_TYPES)                     ? RESOLVE_OFFSET
                       : o->own_inlines                                                  ? RESOLVE_OFFSET
                       : o->stacks && o->inlines /* what is inlined differs by offset */ ? RESOLVE_OFFSET
                                                                                         : RESOLVE_PLACE;
    plan->waits = may_wait(plan);
    bool functions = o->chain_key == PROFILE_BY_FUNCTION && !(o->children && plan->finds & exact);
    plan->frame_kind = functions ? RESOLVE_FUNCTION : RESOLVE_ADDRESS;
    plan->inlines = o->inlines && plan->chains && in->lines;
    plan->addressed = plan->place_kind == RESOLVE_ADDRESS && plan->frame_kind != RESOLVE_ADDRESS;
    plan->in_order |= needs_order(plan);
    plan->flat = plan->waits && plan->by_thread && !plan->chains && !plan->extras && !o->mem && !o->moments &&
                 !in->keep && !in->parallelism;
}

/* Whether add_flat knows where all is in an event's samples. */
static inline bool is_flat(const struct perfdata_plan *p) {
    const uint64_t needed = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID;
    return !p->swap && (p->sample_type & needed) == needed &&
           !(p->sample_type & ~(PERFDATA_SAMPLE_FIXED | PERFDATA_SAMPLE_CALLCHAIN));
}

/* ---- the builder ---- */

static struct resolve_chain_options chain_options(const struct profile_plan *plan) {
    const struct profile_input *in = plan->in;
    bool all = !in->live || !in->unwind_most || in->unwind_most >= in->listed_count;
    return (struct resolve_chain_options){.most = plan->o->max_stack,
                                          .outermost = plan->o->chain_order == PROFILE_CALLER,
                                          .no_calls = !plan->calls,
                                          .deferred = in->deferred,
                                          .stream = in->stream,
                                          .events = in->events,
                                          .names = plan->unwinds ? in->names : NULL,
                                          .header = stream_header(in->stream),
                                          .unwind_most = all ? 0 : in->unwind_most,
                                          .unwind_of = all ? 0 : in->listed_count};
}

/* Returns about how many samples there are, at most: what decides how large caches are. */
static uint64_t expected_samples(const struct profile_input *in) {
    enum { SAMPLE_BYTES = 48 };
    const struct stream *s = in->stream;
    if (in->live)
        return in->listed_count;
    return stream_is_pipe(s) ? UINT64_MAX
                             : ((uint64_t)stream_piece_count(s) + 1) * STREAM_PIECE_BYTES / SAMPLE_BYTES;
}

bool profile_builder_init(struct profile_builder *b, const struct profile_plan *plan, struct err *err) {
    *b = (struct profile_builder){.plan = plan, .stream = plan->in->stream, .parallelism = 1};
    uint64_t samples = expected_samples(plan->in);
    if (!resolve_places_init(&b->places, plan->in->model, err) ||
        !resolve_frames_init(&b->frames, &b->places, plan->in->names, samples, err))
        return false;
    b->frames.inlines = plan->inlines;
    if (plan->searches && !(b->search = profile_search_new(plan->o, plan->parents, err)))
        return false;
    b->chain.o = chain_options(plan);
    b->threads = malloc(THREAD_SLOTS * sizeof *b->threads);
    if (!b->threads)
        return err_memory(err, "profile");
    for (size_t i = 0; i < THREAD_SLOTS; i++)
        b->threads[i].comm = PROFILE_NONE;
    if (plan->waits && !profile_known_make(b, samples))
        return err_memory(err, "profile");
    for (size_t i = 0; i < plan->in->events->list.count; i++)
        if (!vec_push(&b->tally))
            return err_memory(err, "profile");
    return true;
}

void profile_builder_trim(struct profile_builder *b) {
    resolve_frames_trim(&b->frames);
    resolve_places_fini(&b->places);
    hash_map_fini(&b->group_key_by_hash);
    profile_chain_table_fini(&b->known_segments);
    profile_segments_trim(&b->segments);
    idtable_fini(&b->stack_index);
    free(b->known);
    b->known = NULL;
    vec_fini(&b->run_frames);
    vec_fini(&b->path);
    vec_fini(&b->links);
    if (b->chain.unwind)
        resolve_unwind_tally_add(&b->unwound, resolve_unwind_tally(b->chain.unwind));
    resolve_chain_fini(&b->chain);
}

void profile_builder_fini(struct profile_builder *b) {
    profile_builder_trim(b);
    resolve_frames_fini(&b->frames);
    profile_search_free(b->search);
    vec_fini(&b->unwound.images);
    strpool_fini(&b->texts);
    vec_fini(&b->group_key_values);
    free(b->threads);
    vec_fini(&b->inlined);
    vec_fini(&b->weights);
    vec_fini(&b->stacks);
    profile_segments_fini(&b->segments);
    profile_runs_fini(&b->runs);
    profile_streams_fini(&b->streams);
    profile_moments_fini(&b->moments);
    profile_ticks_fini(&b->ticks);
    vec_fini(&b->place_verdicts);
    vec_fini(&b->comm_verdicts);
    vec_fini(&b->tally);
    vec_fini(&b->bad);
    readings_fini(&b->readings);
}

/* ---- group keys ---- */

uint32_t profile_group_key_add(struct profile_builder *b, const uint64_t *values) {
    uint32_t n = b->plan->group_key_count;
    for (uint64_t h = hash_bytes(values, n * sizeof *values);; h++) {
        uint32_t id = hash_map_get(&b->group_key_by_hash, h);
        if (id != HASH_ABSENT) {
            if (!memcmp(&b->group_key_values.items[(size_t)id * n], values, n * sizeof *values))
                return id;
            continue;
        }
        id = b->group_key_total;
        if (!vec_reserve(&b->group_key_values, b->group_key_values.count + n) ||
            !hash_map_set(&b->group_key_by_hash, h, id))
            return PROFILE_NONE;
        memcpy(b->group_key_values.items + b->group_key_values.count, values, n * sizeof *values);
        b->group_key_values.count += n;
        b->group_key_total++;
        return id;
    }
}

uint32_t profile_text_add(struct profile_builder *b, const char *text, size_t len) {
    uint32_t id = strpool_add(&b->texts, text, len);
    b->failed |= id == STRPOOL_NONE;
    return id;
}

/* Returns the id of a comm or, without one, of perf's name for such a thread. */
static uint32_t comm_text(struct profile_builder *b, const char *comm, uint32_t tid) {
    char text[16];
    if (!comm) {
        snprintf(text, sizeof text, ":%" PRId32, (int32_t)tid);
        comm = text;
    }
    return profile_text_add(b, comm, strlen(comm));
}

static struct model_when earlier(struct model_when a, struct model_when b) {
    return model_when_before(b, a) ? b : a;
}

static struct model_when later(struct model_when a, struct model_when b) {
    return model_when_before(a, b) ? b : a;
}

static struct profile_thread_slot *seek_thread(struct profile_builder *b, uint32_t pid, uint32_t tid,
                                               uint32_t event, struct model_when when) {
    uint64_t key = (uint64_t)tid << 32 | (pid ^ event << 20);
    struct profile_thread_slot *t = &b->threads[hash_u64(key) % THREAD_SLOTS];
    if (t->comm != PROFILE_NONE && t->pid == pid && t->tid == tid && t->event == event &&
        !model_when_before(when, t->from) && model_when_before(when, t->until))
        return t;
    struct model_comm_span span = model_task_name_at(b->plan->in->model, pid, tid, when);
    *t = (struct profile_thread_slot){.pid = pid,
                                      .tid = tid,
                                      .event = event,
                                      .comm = comm_text(b, span.comm, tid),
                                      .group_key = PROFILE_NONE,
                                      .thread = span.thread,
                                      .from = later(span.from, span.thread_from),
                                      .until = earlier(span.until, span.thread_until)};
    return t;
}

/* Returns a thread's slot: mostly the last one's, as a CPU's samples come in runs. */
static inline struct profile_thread_slot *thread_of(struct profile_builder *b, uint32_t pid, uint32_t tid,
                                                    uint32_t event, struct model_when when) {
    struct profile_thread_slot *t = b->last_thread;
    if (!t || t->pid != pid || t->tid != tid || t->event != event || when.time_ns <= t->from.time_ns ||
        when.time_ns >= t->until.time_ns)
        b->last_thread = t = seek_thread(b, pid, tid, event, when);
    return t;
}

static __attribute__((noinline)) uint32_t make_group_key(struct profile_builder *b, struct profile_taken *x,
                                                         struct profile_thread_slot *t) {
    uint64_t values[PROFILE_GROUP_KEY_MAX];
    x->comm = t->comm;
    values[0] = x->event;
    for (uint32_t i = 1; i < b->plan->group_key_count; i++) {
        x->column = b->plan->slots[i];
        values[i] = i == b->plan->level_at ? x->cpumode : x->column->key->value(b, x);
    }
    uint32_t group_key = profile_group_key_add(b, values);
    if (b->plan->by_thread)
        t->group_key = group_key;
    return group_key;
}

static inline uint32_t group_key_of(struct profile_builder *b, struct profile_taken *x,
                                    struct profile_thread_slot *t) {
    return t->group_key != PROFILE_NONE ? t->group_key : make_group_key(b, x, t);
}

/* ---- sums ---- */

/* Counts a sample; returns whether it goes into a row. */
static inline bool count_sample(struct profile_builder *b, uint64_t period, uint32_t event,
                                enum profile_verdict verdict) {
    struct profile_tally *t = &b->tally.items[event];
    t->dropped += verdict == PROFILE_DROP;
    t->filtered += verdict == PROFILE_FILTERED;
    /* Unless percentages are relative, totals include what was filtered out. */
    if (verdict == PROFILE_KEEP || (verdict == PROFILE_FILTERED && !b->plan->o->relative)) {
        t->samples++;
        t->period += period;
        if (b->plan->in->parallelism && !b->plan->o->branch)
            t->latency += period * PROFILE_LATENCY_UNIT / b->parallelism;
    }
    return verdict == PROFILE_KEEP;
}

/* Initialises the next sample to wait. False: out of memory. */
static inline bool start_pending(struct profile_builder *b, struct profile_taken *x, uint64_t period) {
    const struct perfdata_sample *s = x->s;
    struct profile_thread_slot *slot = thread_of(b, s->pid, s->tid, x->event, x->when);
    uint32_t group_key = slot->comm == PROFILE_NONE ? PROFILE_NONE : group_key_of(b, x, slot);
    if (group_key == PROFILE_NONE)
        return false;
    struct profile_pending *p = profile_pending_next(b);
    p->stack = (struct profile_stack){.key = {.group_key = group_key},
                                      .period = period,
                                      .first_ns = x->when.time_ns,
                                      .samples = 1,
                                      .thread = slot->thread};
    if (b->plan->extras) /* with -b, each branch has its whole sample's, as in perf */
        p->weights = (struct profile_weights){.w = {profile_taken_weight(x), s->ins_lat, s->weight3},
                                              .latency = s->period * PROFILE_LATENCY_UNIT / b->parallelism};
    for (unsigned i = 0; i < PROFILE_OWN_SUMS && b->plan->adds[i]; i++)
        p->weights.own[i] = b->plan->adds[i](s);
    p->order = x->when.order;
    p->pid = s->pid;
    p->tid = s->tid;
    p->cpu = s->have & PERFDATA_SAMPLE_CPU ? s->cpu : PROFILE_NONE;
    p->words = 0;
    p->cpumode = (uint8_t)x->cpumode;
    p->inner.count = p->outer.count = 0;
    p->inner.own = p->outer.own = false;
    p->place = p->own = false;
    p->known = PROFILE_NOT_KNOWN;
    p->stack_id = PROFILE_NONE;
    return true;
}

/* Adds `period` to the stack sample of that frame and the sample's callchain. */
static bool add_at(struct profile_builder *b, struct profile_taken *x, uint32_t frame, uint64_t period) {
    if (frame == RESOLVE_NO_FRAME || !start_pending(b, x, period))
        return false;
    if (b->plan->chains && !x->has_chain) /* once per sample, even with many branches */
        x->has_chain = profile_chain_take(b, x, &x->chain, NULL);
    if (b->plan->chains && !x->has_chain)
        return false;
    struct profile_stack_key *key = &profile_pending_next(b)->stack.key;
    key->frame = frame;
    if (b->plan->chains)
        key->chain = x->chain;
    profile_pending_push(b);
    return true;
}

/* Returns the frame of the sample's own place. Its callchain mostly tells, so it is resolved first if it is
 * needed anyway. */
static uint32_t place_of(struct profile_builder *b, struct profile_taken *x) {
    uint32_t frame = RESOLVE_NO_FRAME;
    if (b->plan->chains && !b->search && !b->plan->selects && !b->plan->o->exclude_other) {
        x->has_chain = profile_chain_take(b, x, &x->chain, &frame);
        if (!x->has_chain || frame != RESOLVE_NO_FRAME)
            return frame;
    }
    const struct model_state *state = resolve_places_state(&b->places, x->cpumode, x->s->pid, x->when);
    return resolve_frames_at(&b->frames, state, x->cpumode, x->s->ip,
                             (enum resolve_frame_kind)b->plan->place_kind, false);
}

/* Notes where the next sample to wait, one without a callchain, lies. Its key in b->known has only what its
 * frame depends on, so that processes share it. */
static inline void know_place(struct profile_builder *b, const struct model_state *state, uint64_t ip,
                              unsigned cpumode) {
    struct profile_pending *p = profile_pending_next(b);
    const struct resolve_place_piece *piece = resolve_places_piece(&b->places, state, ip);
    p->ip = ip;
    p->offset = ip + piece->slide;
    p->image = piece->image;
    uint64_t place = b->plan->place_kind == RESOLVE_ADDRESS ? ip : p->offset;
    profile_pending_know(b, (uint64_t[]){hash_u64((uint64_t)cpumode << 32 | p->image), place});
}

/* Starts looking up the sample's own place, which its chain does not tell. */
static void ask_place(struct profile_builder *b, const struct profile_taken *x) {
    const struct model_state *state = resolve_places_state(&b->places, x->cpumode, x->s->pid, x->when);
    struct profile_pending *p = profile_pending_next(b);
    p->ip = x->s->ip;
    if (b->plan->chains)
        profile_pending_ask_place(b, p, state);
    else
        know_place(b, state, x->s->ip, x->cpumode);
}

/* Adds a sample to those that wait, with plan->waits. */
static inline enum profile_asked add_waiting(struct profile_builder *b, struct profile_taken *x) {
    struct profile_pending *p = profile_pending_next(b);
    if (!start_pending(b, x, x->s->period))
        return PROFILE_ASK_FAILED;
    enum profile_asked asked =
        b->plan->chains ? profile_chain_ask(b, x->s, x->event, x->cpumode, x->when, p) : PROFILE_ASKED;
    if (asked != PROFILE_ASKED)
        return asked;
    if (!p->own && !p->inner.own && !p->outer.own)
        ask_place(b, x);
    count_sample(b, x->s->period, x->event, PROFILE_KEEP);
    profile_pending_push(b);
    return PROFILE_ASKED;
}

/* Applies -c, -d, -S, -U and -x. They look at the sample itself, wherever its branches led and whatever its
 * callchain leaves out; `own`: its place, with plan->selects. A dropped sample stays dropped, whatever -x
 * says. */
static enum profile_verdict judge(struct profile_builder *b, const struct profile_taken *x, uint32_t own) {
    enum profile_verdict verdict = PROFILE_KEEP;
    if (b->plan->selects) {
        uint32_t comm = thread_of(b, x->s->pid, x->s->tid, x->event, x->when)->comm;
        b->failed |= comm == PROFILE_NONE;
        verdict = comm == PROFILE_NONE ? PROFILE_DROP : profile_select(b, x, comm, own);
    }
    bool other = b->plan->o->exclude_other && x->parent == PROFILE_NONE;
    return verdict == PROFILE_KEEP && other ? PROFILE_FILTERED : verdict;
}

/* Adds a sample by itself, after those that wait. False: out of memory. */
static bool add_alone(struct profile_builder *b, struct profile_taken *x) {
    if (b->plan->waits) /* earlier samples come first: frames are numbered in the samples' order */
        profile_pending_flush(b);
    uint32_t own = place_of(b, x), frame = own;
    if (own == RESOLVE_NO_FRAME || (b->search && !profile_search_chain(b, x, &frame)))
        return false;
    return !count_sample(b, x->s->period, x->event, judge(b, x, own)) ||
           (!b->failed && add_at(b, x, frame, x->s->period));
}

static bool add_sample(struct profile_builder *b, struct profile_taken *x) {
    enum profile_asked asked = b->plan->waits ? add_waiting(b, x) : PROFILE_NOT_ASKED;
    return asked == PROFILE_NOT_ASKED ? add_alone(b, x) : asked == PROFILE_ASKED;
}

/* The same for a sample with branches. */
static enum profile_verdict judge_branches(struct profile_builder *b, struct profile_taken *x) {
    uint32_t own = b->plan->selects ? place_of(b, x) : 0, callee;
    if (own == RESOLVE_NO_FRAME || (b->search && !profile_search_chain(b, x, &callee))) {
        b->failed = true;
        return PROFILE_DROP;
    }
    return judge(b, x, own);
}

static bool add_branches(struct profile_builder *b, struct profile_taken *x) {
    bool ok = true;
    for (uint64_t i = 0; ok && i < x->s->branch_count; i++) {
        struct perfdata_branch branch = perfdata_branch_at(x->s, i);
        x->branch = &branch;
        x->from = profile_branch_end(b, x->s->pid, x->when, branch.from, RESOLVE_ADDRESS);
        x->to = profile_branch_end(b, x->s->pid, x->when, branch.to, RESOLVE_ADDRESS);
        ok = x->from != RESOLVE_NO_FRAME && x->to != RESOLVE_NO_FRAME &&
             (!profile_select_end(b, x->to) || add_at(b, x, x->to, 1));
    }
    return ok;
}

/* ---- records ---- */

static void add_taken(struct profile_builder *b, struct perfdata_sample *s, uint32_t event, unsigned cpumode,
                      struct model_when when) {
    const struct profile_input *in = b->plan->in;
    struct profile_tally *t = &b->tally.items[event];
    enum profile_verdict verdict = in->keep ? in->keep(in->keep_ctx, s, event, when) : PROFILE_KEEP;
    t->read++;
    b->parallelism = in->parallelism ? recording_parallelism_at(in->parallelism, when) : 1;
    bool branch = b->plan->o->branch;
    if (branch && !s->branch_count) {
        t->dropped++;
        return;
    }
    struct profile_taken x = {
        .s = s, .event = event, .when = when, .cpumode = cpumode, .parent = PROFILE_NONE};
    if (branch && verdict == PROFILE_KEEP)
        verdict = judge_branches(b, &x);
    if (verdict != PROFILE_KEEP) {
        count_sample(b, branch ? s->branch_count : s->period, event, verdict);
        return;
    }
    if (branch && count_sample(b, s->branch_count, event, PROFILE_KEEP) && in->parallelism)
        t->latency += s->branch_count * (s->period * PROFILE_LATENCY_UNIT / b->parallelism);
    bool ok = branch ? add_branches(b, &x) : add_sample(b, &x);
    if (!ok || !profile_branches_add(b, &x))
        b->failed = true;
}

/* Adds a sample that reads a group's counters: as one of each event whose counter has advanced. */
static void add_readings(struct profile_builder *b, struct perfdata_sample *s, unsigned cpumode,
                         struct model_when when) {
    for (uint64_t i = 0; i < s->read.count; i++) {
        struct perfdata_read_value value = perfdata_read_at(&s->read, i);
        uint32_t event = readings_take(&b->readings, b->plan->in->events, s->tid, &value, &s->period);
        if (event != PERFDATA_NO_EVENT && event < b->tally.count && s->period)
            add_taken(b, s, event, cpumode, when);
    }
}

static __attribute__((cold)) void note_bad(struct profile_builder *b, const struct stream_sample *r) {
    uint64_t *loc = vec_push(&b->bad);
    b->failed |= !loc;
    if (loc)
        *loc = r->loc;
}

static void add_any(struct profile_builder *b, const struct stream_sample *r) {
    const struct profile_input *in = b->plan->in;
    const struct perfdata_event *e = &in->events->list.items[r->event];
    struct perfdata_sample s;
    s.pid = s.tid = s.cpu = UINT32_MAX;
    s.ip = s.time = s.addr = 0;
    s.period = e->attr.sample_period;
    s.callchain = (struct perfdata_u64s){NULL, 0, false};
    s.weight = s.ins_lat = s.weight3 = 0;
    s.data_src = PERFDATA_SRC_NONE;
    s.cgroup = s.transaction = s.code_page_size = s.data_page_size = s.phys_addr = 0;
    s.branch_count = 0;
    if (!stream_sample_whole(&e->plan, r->body) ||
        !perfdata_sample_decode(&e->plan, r->body, b->plan->want, &s)) {
        note_bad(b, r);
        return;
    }
    if (!b->plan->history && !resolve_chain_has_calls(&e->attr)) /* branches are no part of callchains */
        s.have &= ~PERFDATA_SAMPLE_BRANCH_STACK;
    if (b->plan->o->mem) /* how long the access took counts instead */
        s.period = s.weight ? s.weight : 1;
    struct model_when when = {r->when_ns, r->loc};
    unsigned cpumode = r->misc & PERFDATA_MISC_CPUMODE_MASK;
    if (b->plan->want & e->plan.sample_type & PERFDATA_SAMPLE_READ &&
        e->attr.read_format & PERFDATA_FORMAT_GROUP)
        add_readings(b, &s, cpumode, when);
    else
        add_taken(b, &s, r->event, cpumode, when);
}

/* As add_any, but short, for the samples of most flat reports: fixed fields at known places, all counted.
 * False: it is not such a sample. */
static inline bool add_flat(struct profile_builder *b, const struct stream_sample *r) {
    const struct perfdata_event *e = &b->plan->in->events->list.items[r->event];
    const struct perfdata_plan *p = &e->plan;
    if (!is_flat(p) || !stream_sample_whole(p, r->body))
        return false;
    struct model_when when = {r->when_ns, r->loc};
    const uint8_t *body = r->body.data;
    uint32_t pid = bytes_load32(body + p->tid_at, false), tid = bytes_load32(body + p->tid_at + 4, false);
    const struct profile_thread_slot *slot = thread_of(b, pid, tid, r->event, when);
    if (slot->group_key == PROFILE_NONE) /* add_any makes it */
        return false;
    bool has_period = p->period_at != PERFDATA_NO_FIELD;
    uint64_t period = has_period ? bytes_load64(body + p->period_at, false) : e->attr.sample_period;
    unsigned cpumode = r->misc & PERFDATA_MISC_CPUMODE_MASK;
    struct profile_pending *q = profile_pending_next(b);
    q->stack = (struct profile_stack){.key = {.group_key = slot->group_key},
                                      .period = period,
                                      .first_ns = r->when_ns,
                                      .samples = 1,
                                      .thread = slot->thread};
    q->cpumode = (uint8_t)cpumode;
    q->words = 0;
    q->inner.count = q->outer.count = 0;
    q->own = false;
    know_place(b, resolve_places_state(&b->places, cpumode, pid, when), bytes_load64(body + p->ip_at, false),
               cpumode);
    struct profile_tally *t = &b->tally.items[r->event];
    t->read++;
    t->samples++;
    t->period += period;
    profile_pending_push(b);
    return true;
}

void profile_builder_add_samples(struct profile_builder *b, const struct stream_sample *samples, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (samples[i].event < b->tally.count && (!b->plan->flat || !add_flat(b, &samples[i])))
            add_any(b, &samples[i]);
}

void profile_builder_add(struct profile_builder *b, const struct stream_record *r) {
    if (r->raw.type != PERFDATA_RECORD_SAMPLE)
        return;
    profile_builder_add_samples(
        b, &(struct stream_sample){r->raw.body, r->loc, stream_when_ns(b->stream, r), r->event, r->raw.misc},
        1);
}
