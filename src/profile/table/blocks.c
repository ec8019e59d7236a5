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

#include "profile/profile_internal.h"

/* ---- while reading ---- */

static bool add_run(struct profile_runs *r, const struct profile_run *run) {
    uint64_t hash = hash_u64((uint64_t)run->start << 32 | run->end);
    struct idtable_at at = idtable_first(&r->index, hash);
    for (uint32_t id; (id = idtable_next(&r->index, &at)) != IDTABLE_NONE;) {
        struct profile_run *have = &r->list.items[id];
        if (have->start == run->start && have->end == run->end) {
            have->cycles += run->cycles;
            have->count += run->count;
            return true;
        }
    }
    uint32_t id = (uint32_t)r->list.count;
    struct profile_run *made = vec_push(&r->list);
    if (!made || !idtable_add(&r->index, hash, id))
        return false;
    *made = *run;
    return true;
}

bool profile_runs_add(struct profile_runs *r, uint32_t start, uint32_t end, uint64_t cycles) {
    return !cycles || add_run(r, &(struct profile_run){start, end, cycles, 1});
}

bool profile_runs_merge(struct profile_runs *to, const struct profile_runs *from, const uint32_t *frames) {
    for (size_t i = 0; i < from->list.count; i++) {
        struct profile_run run = from->list.items[i];
        run.start = run.start == RESOLVE_NO_FRAME ? RESOLVE_NO_FRAME : frames[run.start];
        run.end = frames[run.end];
        if (!add_run(to, &run))
            return false;
    }
    return true;
}

void profile_runs_fini(struct profile_runs *r) {
    vec_fini(&r->list);
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

/* Adds to the block with the same name and end. */
static bool add_block(struct profile_blocks *out, struct idtable *index, const struct profile_block *block) {
    uint64_t hash = hash_u64(block->end ^ (uint64_t)block->name << 40);
    struct idtable_at at = idtable_first(index, hash);
    for (uint32_t id; (id = idtable_next(index, &at)) != IDTABLE_NONE;) {
        struct profile_block *have = &out->list.items[id];
        if (have->name != block->name || have->end != block->end)
            continue;
        have->cycles += block->cycles;
        have->count += block->count;
        if (block->known && (!have->known || block->start < have->start)) {
            have->start = block->start;
            have->known = true;
        }
        return true;
    }
    uint32_t id = (uint32_t)out->list.count;
    struct profile_block *made = vec_push(&out->list);
    if (!made || !idtable_add(index, hash, id))
        return false;
    *made = *block;
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

/* Counts the rows of an event's table about branches to each function. */
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
    struct idtable index = {0};
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
            ok = add_block(out, &index, &block);
    }
    for (size_t i = 0; ok && i < out->list.count; i++) {
        struct profile_block *b = &out->list.items[i];
        b->share = (uint32_t)((double)b->cycles * 1e5 / (double)out->cycles);
        out->averages += b->cycles / b->count * targets[b->name];
    }
    if (ok && out->list.count)
        qsort_r(out->list.items, out->list.count, sizeof *out->list.items, compare_blocks, (void *)p);
    idtable_fini(&index);
    free(targets);
    return ok || err_memory(err, "basic blocks");
}

void profile_blocks_fini(struct profile_blocks *b) {
    vec_fini(&b->list);
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
