/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basic blocks, from branch records with cycles. Between two consecutive branches code ran from the target of
 * the older one to the source of the newer one, which records how long that took:
 *
 *      older.to          newer.from          cycles
 *         |------ block ------|-->           newer.cycles
 *
 * What a block is was found from the output of perf report --total-cycles: it is identified by its function
 * and its end. Of several starts the first one in the function counts; without an older branch, or if that
 * went into another function or beyond the end, it is as if the function had run from its beginning.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"

/* ---- while reading ---- */

static void add_value(struct profile_run_values *v, struct model_when at, uint16_t cycles) {
    uint32_t i = v->count < PROFILE_RUN_VALUES ? v->count++ : PROFILE_RUN_VALUES;
    for (; i > 0 && model_when_before(at, v->at[i - 1]); i--)
        if (i < PROFILE_RUN_VALUES) {
            v->at[i] = v->at[i - 1];
            v->cycles[i] = v->cycles[i - 1];
        }
    if (i == PROFILE_RUN_VALUES)
        return;
    v->at[i] = at;
    v->cycles[i] = cycles;
}

void profile_run_values_merge(struct profile_run_values *to, const struct profile_run_values *from) {
    for (uint32_t i = 0; i < from->count; i++)
        add_value(to, from->at[i], from->cycles[i]);
}

/* Returns the number of the run with these ends, which is added with no cycles if it is new. IDTABLE_NONE:
 * out of memory. */
static uint32_t run_at(struct profile_runs *r, uint32_t start, uint32_t end, bool valued) {
    uint64_t hash = hash_u64((uint64_t)start << 32 | end);
    struct idtable_at at = idtable_first(&r->index, hash);
    for (uint32_t id; (id = idtable_next(&r->index, &at)) != IDTABLE_NONE;)
        if (r->list.items[id].start == start && r->list.items[id].end == end)
            return id;
    uint32_t id = (uint32_t)r->list.count;
    struct profile_run *made = vec_push(&r->list);
    if (!made || !idtable_add(&r->index, hash, id) || (valued && !vec_push(&r->values)))
        return IDTABLE_NONE;
    *made = (struct profile_run){.start = start, .end = end};
    if (valued)
        r->values.items[id] = (struct profile_run_values){.count = 0};
    return id;
}

bool profile_runs_add(struct profile_runs *r, uint32_t start, uint32_t end, uint64_t cycles,
                      const struct model_when *at) {
    if (!cycles)
        return true;
    uint32_t id = run_at(r, start, end, at != NULL);
    if (id == IDTABLE_NONE)
        return false;
    r->list.items[id].cycles += cycles;
    r->list.items[id].count++;
    if (at)
        add_value(&r->values.items[id], *at, (uint16_t)cycles);
    return true;
}

bool profile_runs_merge(struct profile_runs *to, const struct profile_runs *from, const uint32_t *frames) {
    for (size_t i = 0; i < from->list.count; i++) {
        const struct profile_run *run = &from->list.items[i];
        uint32_t start = run->start == RESOLVE_NO_FRAME ? RESOLVE_NO_FRAME : frames[run->start];
        uint32_t id = run_at(to, start, frames[run->end], from->values.count > 0);
        if (id == IDTABLE_NONE)
            return false;
        to->list.items[id].cycles += run->cycles;
        to->list.items[id].count += run->count;
        if (from->values.count)
            profile_run_values_merge(&to->values.items[id], &from->values.items[i]);
    }
    return true;
}

void profile_runs_fini(struct profile_runs *r) {
    vec_fini(&r->list);
    vec_fini(&r->values);
    idtable_fini(&r->index);
}

/* ---- at the end ---- */

static int compare_blocks(const void *a, const void *b, void *ctx) {
    const struct profile *p = ctx;
    const struct profile_block *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    if (x->name != y->name && p->name_ranks.items[x->name] != p->name_ranks.items[y->name])
        return p->name_ranks.items[x->name] > p->name_ranks.items[y->name] ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* What is found, while it is. */
struct finding {
    const struct profile *p;
    struct profile_blocks *out;
    struct idtable index;
    VEC(struct profile_run_values) values; /* by block */
};

/* Takes a run's values for its block: only those of the first start count. `as`: how the block begins. */
static void take_values(struct finding *x, uint32_t id, const struct profile_block *as, uint32_t run,
                        bool fresh) {
    const struct profile_block *have = &x->out->list.items[id];
    if (!x->p->b.runs.values.count)
        return;
    struct profile_run_values *to = &x->values.items[id];
    if (fresh || (as->known && (!have->known || as->start < have->start)))
        to->count = 0;
    else if (as->known != have->known || as->start != have->start)
        return;
    profile_run_values_merge(to, &x->p->b.runs.values.items[run]);
}

/* Adds to the block with the same name and end. */
static bool add_block(struct finding *x, const struct profile_block *block, uint32_t run) {
    uint64_t hash = hash_u64(block->end ^ (uint64_t)block->name << 40);
    struct idtable_at at = idtable_first(&x->index, hash);
    for (uint32_t id; (id = idtable_next(&x->index, &at)) != IDTABLE_NONE;) {
        struct profile_block *have = &x->out->list.items[id];
        if (have->name != block->name || have->end != block->end)
            continue;
        take_values(x, id, block, run, false);
        have->cycles += block->cycles;
        have->count += block->count;
        if (block->known && (!have->known || block->start < have->start)) {
            have->start = block->start;
            have->known = true;
        }
        return true;
    }
    uint32_t id = (uint32_t)x->out->list.count;
    struct profile_block *made = vec_push(&x->out->list);
    if (!made || !vec_push(&x->values) || !idtable_add(&x->index, hash, id))
        return false;
    *made = *block;
    made->values = id;
    take_values(x, id, block, run, true);
    return true;
}

/* Hands the values out, if there are any. False: out of memory. */
static bool give_values(struct finding *x) {
    for (size_t i = 0; x->p->b.runs.values.count && i < x->out->list.count; i++) {
        struct profile_block_values *v = vec_push(&x->out->values);
        if (!v)
            return false;
        memcpy(v->cycles, x->values.items[i].cycles, sizeof v->cycles);
        v->count = x->values.items[i].count;
    }
    return true;
}

/* Finds the block that a run is of. False: it ends in no function. */
static bool block_of(const struct profile *p, const struct profile_run *run, struct profile_block *out) {
    const struct resolve_frame *frames = p->b.frames.list.items;
    uint32_t name = p->places.items[run->end].name;
    if (name == PROFILE_NONE)
        return false;
    const struct profile_name *n = &p->list.items[name];
    *out = (struct profile_block){.name = name,
                                  .cycles = run->cycles,
                                  .count = run->count,
                                  .end = frames[run->end].offset - n->start,
                                  .image = frames[run->end].image};
    out->known = run->start != RESOLVE_NO_FRAME && p->places.items[run->start].name == name &&
                 frames[run->start].offset < frames[run->end].offset;
    if (out->known)
        out->start = frames[run->start].offset - n->start;
    return true;
}

/* Counts the rows of an event's table about each function. */
static void count_targets(const struct profile *p, const struct profile_event *e, uint32_t *targets) {
    const struct profile_table *t = &p->tables.items[e->event];
    for (size_t i = 0; i < t->rows.count; i++) {
        uint32_t name = p->places.items[t->rows.items[i].frame].name;
        if (name != PROFILE_NONE)
            targets[name]++;
    }
}

bool profile_blocks_find(const struct profile *p, const struct profile_event *e, struct profile_blocks *out,
                         struct err *err) {
    struct finding x = {.p = p, .out = out};
    uint32_t *targets = calloc(p->list.count + 1, sizeof *targets);
    bool ok = targets;
    *out = (struct profile_blocks){0};
    if (ok)
        count_targets(p, e, targets);
    for (size_t i = 0; ok && i < p->b.runs.list.count; i++) {
        const struct profile_run *run = &p->b.runs.list.items[i];
        struct profile_block block;
        out->cycles += run->cycles;
        if (block_of(p, run, &block) && targets[block.name])
            ok = add_block(&x, &block, (uint32_t)i);
    }
    ok = ok && give_values(&x);
    for (size_t i = 0; ok && i < out->list.count; i++) {
        struct profile_block *b = &out->list.items[i];
        b->share = (uint32_t)((double)b->cycles * 1e5 / (double)out->cycles);
        out->averages += b->cycles / b->count * targets[b->name];
    }
    if (ok && out->list.count)
        qsort_r(out->list.items, out->list.count, sizeof *out->list.items, compare_blocks, (void *)p);
    idtable_fini(&x.index);
    vec_fini(&x.values);
    free(targets);
    return ok || err_memory(err, "basic blocks");
}

void profile_blocks_fini(struct profile_blocks *b) {
    vec_fini(&b->list);
    vec_fini(&b->values);
}

const char *profile_block_object(const struct profile *p, const struct profile_block *b) {
    return strpool_text(&p->b.texts, p->list.items[b->name].dso);
}

const char *profile_block_function(const struct profile *p, const struct profile_block *b) {
    return p->list.items[b->name].text;
}

void profile_block_range(const struct profile *p, const struct profile_block *b, struct out *out) {
    const struct profile_name *name = &p->list.items[b->name];
    out_char(out, '[');
    profile_put_source(p, b->image, name->start + b->start, b->name, out);
    out_str(out, " -> ");
    profile_put_source(p, b->image, name->start + b->end, b->name, out);
    out_char(out, ']');
}
