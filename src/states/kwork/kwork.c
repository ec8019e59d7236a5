/* SPDX-License-Identifier: Apache-2.0 */
#include "states/kwork/kwork.h"

void kwork_init(struct kwork *k, kwork_sink_fn *sink, void *ctx) {
    *k = (struct kwork){.sink = sink, .sink_ctx = ctx};
}

void kwork_fini(struct kwork *k) {
    vec_fini(&k->works);
    vec_fini(&k->opens);
    vec_fini(&k->cpus);
    hash_map_fini(&k->by_work);
    hash_map_fini(&k->by_open);
    hash_map_fini(&k->by_cpu);
    strpool_fini(&k->names);
}

/* ---- rows and CPUs by key ---- */

static uint64_t key_of(enum kwork_class class, uint32_t cpu, uint64_t id) {
    return hash_fold(hash_u64(id) ^ HASH_ODD, ((uint64_t) class << 32 | cpu) + HASH_ODD);
}

/* The row of a work, made if it is not there; KWORK_NONE: out of memory. */
static uint32_t work_of(struct kwork *k, const struct kwork_event *e) {
    uint64_t key = key_of(e->class, e->cpu, e->id);
    uint32_t first = hash_map_get(&k->by_work, key);
    for (uint32_t i = first; i != HASH_ABSENT; i = k->works.items[i].next) {
        const struct kwork_work *w = &k->works.items[i];
        if (w->class == e->class && w->cpu == e->cpu && w->id == e->id)
            return i;
    }
    uint32_t index = (uint32_t)k->works.count;
    struct kwork_work *w = index < KWORK_NONE - 1 ? vec_push(&k->works) : NULL;
    if (!w)
        return KWORK_NONE;
    *w = (struct kwork_work){
        .class = e->class, .cpu = e->cpu, .id = e->id, .name = STRPOOL_NONE, .next = first};
    return hash_map_set(&k->by_work, key, index) ? index : KWORK_NONE;
}

uint32_t kwork_work_of(struct kwork *k, const struct kwork_event *e) {
    uint32_t index = work_of(k, e);
    if (index == KWORK_NONE)
        return index;
    struct kwork_work *w = &k->works.items[index];
    w->function = e->function ? e->function : w->function;
    if (e->name.size && w->name == STRPOOL_NONE) {
        w->name = strpool_add(&k->names, (const char *)e->name.data, bytes_text_len(e->name));
        if (w->name == STRPOOL_NONE)
            return KWORK_NONE;
    }
    return index;
}

static uint32_t open_of(struct kwork *k, const struct kwork_event *e) {
    uint32_t cpu = e->class == KWORK_WORKQUEUE ? KWORK_NONE : e->cpu;
    uint64_t key = key_of(e->class, cpu, e->id);
    uint32_t first = hash_map_get(&k->by_open, key);
    for (uint32_t i = first; i != HASH_ABSENT; i = k->opens.items[i].next) {
        const struct kwork_open *o = &k->opens.items[i];
        if (o->class == e->class && o->cpu == cpu && o->id == e->id)
            return i;
    }
    uint32_t index = (uint32_t)k->opens.count;
    struct kwork_open *o = index < KWORK_NONE - 1 ? vec_push(&k->opens) : NULL;
    if (!o)
        return KWORK_NONE;
    *o = (struct kwork_open){.class = e->class, .cpu = cpu, .id = e->id, .next = first};
    return hash_map_set(&k->by_open, key, index) ? index : KWORK_NONE;
}

static struct kwork_cpu *cpu_of(struct kwork *k, uint32_t number) {
    uint32_t index = hash_map_get(&k->by_cpu, number);
    if (index != HASH_ABSENT)
        return &k->cpus.items[index];
    index = (uint32_t)k->cpus.count;
    struct kwork_cpu *c = index < KWORK_NONE - 1 ? vec_push(&k->cpus) : NULL;
    if (!c || !hash_map_set(&k->by_cpu, number, index))
        return NULL;
    c->number = number;
    return c;
}

/* ---- events ---- */

/* How many losses so far may concern an open work: those of its CPU, or all. */
static uint64_t losses_of(const struct kwork *k, const struct kwork_open *o, const struct kwork_cpu *c) {
    return o->cpu == KWORK_NONE ? k->losses : c->losses;
}

static void forget(struct kwork *k, struct kwork_open *o) {
    k->faults.raises += o->raised && !o->entered;
    k->faults.entries += o->entered;
    o->raised = o->entered = false;
}

/* Takes an interrupt off its CPU's stack, and those in it that have not ended. False: it is not there. */
static bool leave(struct kwork *k, struct kwork_cpu *c, uint32_t index) {
    uint32_t at = c->depth;
    while (at && c->open[at - 1] != index)
        at--;
    if (!at)
        return false;
    for (uint32_t i = at; i < c->depth; i++)
        forget(k, &k->opens.items[c->open[i]]);
    c->depth = at - 1;
    return true;
}

static void enter(struct kwork *k, struct kwork_cpu *c, uint32_t index, struct kwork_run *run) {
    leave(k, c, index); /* its exit is missing */
    if (c->depth == KWORK_DEPTH) {
        for (uint32_t i = 0; i < c->depth; i++)
            forget(k, &k->opens.items[c->open[i]]);
        c->depth = 0;
    }
    run->nested = c->depth > 0;
    c->open[c->depth++] = index;
}

static bool entry(struct kwork *k, const struct kwork_event *e, struct kwork_cpu *c, uint32_t index) {
    struct kwork_open *o = &k->opens.items[index];
    uint32_t work = kwork_work_of(k, e);
    if (work == KWORK_NONE)
        return false;
    k->faults.entries += o->entered;
    o->run = (struct kwork_run){.work = work,
                                .cpu = e->cpu,
                                .raised = o->raised,
                                .raise_ns = o->raise_ns,
                                .since_ns = k->now_ns,
                                .loc = e->loc};
    o->entered = false;
    if (e->class != KWORK_WORKQUEUE)
        enter(k, c, index, &o->run);
    o->raised = false; /* it may be raised again from now on */
    o->entered = true;
    o->losses = losses_of(k, o, c);
    return true;
}

static bool exit_of(struct kwork *k, const struct kwork_event *e, struct kwork_cpu *c, uint32_t index) {
    struct kwork_open *o = &k->opens.items[index];
    bool was_on_cpu = e->class == KWORK_WORKQUEUE || leave(k, c, index);
    if (!o->entered || !was_on_cpu) {
        k->faults.exits++;
        return true;
    }
    o->entered = false;
    o->run.until_ns = k->now_ns;
    if (e->class != KWORK_WORKQUEUE && c->depth)
        k->opens.items[c->open[c->depth - 1]].run.inner_ns += o->run.until_ns - o->run.since_ns;
    return k->sink(k->sink_ctx, k, &o->run);
}

static bool lost(struct kwork *k, uint32_t cpu) {
    k->losses++;
    k->faults.losses++;
    if (cpu != KWORK_NONE && !cpu_of(k, cpu))
        return false;
    for (size_t i = 0; i < k->cpus.count; i++) {
        struct kwork_cpu *c = &k->cpus.items[i];
        if (cpu != KWORK_NONE && c->number != cpu)
            continue;
        c->losses++;
        c->depth = 0;
    }
    return true;
}

bool kwork_apply(struct kwork *k, const struct kwork_event *e) {
    if (!k->begun)
        k->begin_ns = k->now_ns = e->time_ns;
    k->begun = true;
    if (e->time_ns < k->now_ns)
        k->faults.backwards++;
    else
        k->now_ns = e->time_ns;
    if (e->kind == KWORK_LOST)
        return lost(k, e->cpu);
    k->faults.events++;
    struct kwork_cpu *c = cpu_of(k, e->cpu);
    uint32_t index = c ? open_of(k, e) : KWORK_NONE;
    if (index == KWORK_NONE)
        return false;
    struct kwork_open *o = &k->opens.items[index];
    if ((o->raised || o->entered) && o->losses != losses_of(k, o, c))
        forget(k, o);
    if (e->kind == KWORK_ENTRY)
        return entry(k, e, c, index);
    if (e->kind == KWORK_EXIT)
        return exit_of(k, e, c, index);
    if (o->raised)
        return true;
    o->raised = true;
    o->raise_ns = k->now_ns;
    o->losses = losses_of(k, o, c);
    return true;
}

void kwork_finish(struct kwork *k) {
    for (size_t i = 0; i < k->opens.count; i++) {
        k->faults.raises += k->opens.items[i].raised;
        k->faults.entries += k->opens.items[i].entered;
    }
}
