/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/stacks.h"

#include "base/hash.h"
#include "base/radix.h"

bool stacks_init(struct stacks *s, struct err *err) {
    return strpool_add(&s->texts, "", 0) == 0 || err_memory(err, "stacks");
}

void stacks_fini(struct stacks *s) {
    strpool_fini(&s->texts);
    vec_fini(&s->recordings);
    vec_fini(&s->events);
    vec_fini(&s->images);
    vec_fini(&s->frames);
    vec_fini(&s->nodes);
    vec_fini(&s->rows);
    vec_fini(&s->threads);
    vec_fini(&s->moments);
    vec_fini(&s->notes);
    idtable_fini(&s->image_index);
    idtable_fini(&s->frame_index);
    idtable_fini(&s->node_index);
    idtable_fini(&s->row_index);
    idtable_fini(&s->thread_index);
}

uint32_t stacks_text(struct stacks *s, const char *text, size_t len) {
    return strpool_add(&s->texts, text, len);
}

/* ---- interning ---- */

static uint64_t hash_pair(uint64_t x, uint64_t y) {
    return hash_u64(x ^ hash_u64(y));
}

uint32_t stacks_image(struct stacks *s, const struct stacks_image *image) {
    uint64_t hash = hash_pair((uint64_t)image->name << 32 | image->path, image->build_id);
    struct idtable_at at = idtable_first(&s->image_index, hash);
    for (uint32_t id; (id = idtable_next(&s->image_index, &at)) != IDTABLE_NONE;) {
        const struct stacks_image *x = &s->images.items[id];
        if (x->name == image->name && x->path == image->path && x->build_id == image->build_id)
            return id;
    }
    uint32_t id = (uint32_t)s->images.count;
    struct stacks_image *made = vec_push(&s->images);
    if (!made || !idtable_add_at(&s->image_index, &at, hash, id))
        return STACKS_NONE;
    *made = *image;
    return id;
}

static bool same_frame(const struct stacks_frame *x, const struct stacks_frame *y) {
    return x->address == y->address && x->name == y->name && x->image == y->image && x->file == y->file &&
           x->line == y->line && x->why == y->why && x->level == y->level && x->grade == y->grade;
}

uint32_t stacks_frame(struct stacks *s, const struct stacks_frame *frame) {
    uint64_t hash = hash_pair((uint64_t)frame->name << 32 | frame->image,
                              frame->address ^ (uint64_t)frame->line << 40 ^ frame->file);
    struct idtable_at at = idtable_first(&s->frame_index, hash);
    for (uint32_t id; (id = idtable_next(&s->frame_index, &at)) != IDTABLE_NONE;)
        if (same_frame(&s->frames.items[id], frame))
            return id;
    uint32_t id = (uint32_t)s->frames.count;
    struct stacks_frame *made = vec_push(&s->frames);
    if (!made || !idtable_add_at(&s->frame_index, &at, hash, id))
        return STACKS_NONE;
    *made = *frame;
    return id;
}

uint32_t stacks_node(struct stacks *s, uint32_t caller, uint32_t frame) {
    uint64_t hash = hash_u64((uint64_t)caller << 32 | frame);
    struct idtable_at at = idtable_first(&s->node_index, hash);
    for (uint32_t id; (id = idtable_next(&s->node_index, &at)) != IDTABLE_NONE;)
        if (s->nodes.items[id].caller == caller && s->nodes.items[id].frame == frame)
            return id;
    uint32_t id = (uint32_t)s->nodes.count;
    struct stacks_node *made = id < STACKS_NONE ? vec_push(&s->nodes) : NULL;
    if (!made || !idtable_add_at(&s->node_index, &at, hash, id))
        return STACKS_NONE;
    *made = (struct stacks_node){caller, frame};
    return id;
}

uint32_t stacks_thread(struct stacks *s, uint32_t pid, uint32_t tid) {
    uint64_t hash = hash_u64((uint64_t)pid << 32 | tid);
    struct idtable_at at = idtable_first(&s->thread_index, hash);
    for (uint32_t id; (id = idtable_next(&s->thread_index, &at)) != IDTABLE_NONE;)
        if (s->threads.items[id].pid == pid && s->threads.items[id].tid == tid)
            return id;
    uint32_t id = (uint32_t)s->threads.count;
    struct stacks_thread *made = vec_push(&s->threads);
    if (!made || !idtable_add_at(&s->thread_index, &at, hash, id))
        return STACKS_NONE;
    *made = (struct stacks_thread){.pid = pid, .tid = tid};
    return id;
}

static uint64_t hash_row(uint32_t event, uint32_t comm, uint32_t node) {
    return hash_pair((uint64_t)event << 32 | comm, node);
}

uint32_t stacks_row(struct stacks *s, uint32_t event, uint32_t comm, uint32_t node) {
    uint64_t hash = hash_row(event, comm, node);
    struct idtable_at at = idtable_first(&s->row_index, hash);
    for (uint32_t id; (id = idtable_next(&s->row_index, &at)) != IDTABLE_NONE;) {
        const struct stacks_row *x = &s->rows.items[id];
        if (x->event == event && x->comm == comm && x->node == node)
            return id;
    }
    uint32_t id = (uint32_t)s->rows.count;
    struct stacks_row *made = id < STACKS_NONE ? vec_push(&s->rows) : NULL;
    if (!made || !idtable_add_at(&s->row_index, &at, hash, id))
        return STACKS_NONE;
    *made = (struct stacks_row){.event = event, .comm = comm, .node = node};
    return id;
}

bool stacks_rows_renumbered(struct stacks *s) {
    idtable_fini(&s->row_index);
    s->row_index = (struct idtable){0};
    for (uint32_t i = 0; i < s->rows.count; i++) {
        const struct stacks_row *x = &s->rows.items[i];
        uint64_t hash = hash_row(x->event, x->comm, x->node);
        struct idtable_at at = idtable_first(&s->row_index, hash);
        while (idtable_next(&s->row_index, &at) != IDTABLE_NONE)
            ;
        if (!idtable_add_at(&s->row_index, &at, hash, i))
            return false;
    }
    return true;
}

void stacks_add(struct stacks *s, uint32_t row, uint64_t samples, uint64_t period) {
    struct stacks_row *x = &s->rows.items[row];
    x->samples += samples;
    x->period += period;
    s->events.items[x->event].samples += samples;
    s->events.items[x->event].period += period;
}

/* ---- the time axis ---- */

bool stacks_finish(struct stacks *s, struct err *err) {
    size_t n = s->moments.count;
    struct radix_item *items = malloc((n + 1) * sizeof *items), *room = malloc((n + 1) * sizeof *room);
    struct stacks_moment *sorted = malloc((n + 1) * sizeof *sorted);
    bool ok = items && room && sorted;
    /* Both sorts are stable: first by time, then by event. */
    for (uint32_t i = 0; ok && i < n; i++)
        items[i] = (struct radix_item){s->moments.items[i].time_ns, i};
    if (ok)
        radix_sort(items, room, n);
    for (size_t i = 0; ok && i < n; i++)
        items[i].key = s->rows.items[s->moments.items[items[i].value].row].event;
    if (ok && s->events.count > 1)
        radix_sort(items, room, n);
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = s->moments.items[items[i].value];
    free(items);
    free(room);
    if (!ok) {
        free(sorted);
        return err_memory(err, "time axis");
    }
    free(s->moments.items);
    s->moments.items = sorted;
    s->moments.cap = n + 1;
    return true;
}

/* ---- what views ask ---- */

const char *stacks_frame_dso(const struct stacks *s, const struct stacks_frame *f) {
    return f->image == STACKS_NONE ? "" : stacks_str(s, s->images.items[f->image].name);
}

uint32_t stacks_depth(const struct stacks *s, uint32_t node) {
    uint32_t depth = 0;
    for (; node != STACKS_NONE; node = s->nodes.items[node].caller)
        depth++;
    return depth;
}

uint32_t stacks_hottest(const struct stacks *s, uint32_t event, uint64_t *period) {
    uint64_t *sums = calloc(s->texts.entries.count + 1, sizeof *sums);
    uint32_t best = STACKS_NONE;
    for (size_t i = 0; sums && i < s->rows.count; i++) {
        const struct stacks_row *row = &s->rows.items[i];
        uint32_t name = s->frames.items[s->nodes.items[row->node].frame].name;
        if (row->event == event)
            sums[name] += row->period;
        if (row->event == event && (best == STACKS_NONE || sums[name] > sums[best]))
            best = name;
    }
    *period = best == STACKS_NONE ? 0 : sums[best];
    free(sums);
    return best;
}

struct stacks_sum *stacks_totals(const struct stacks *s, uint32_t event) {
    struct stacks_sum *sums = calloc(s->nodes.count + 1, sizeof *sums);
    for (size_t i = 0; sums && i < s->rows.count; i++) {
        const struct stacks_row *row = &s->rows.items[i];
        if (row->event != event)
            continue;
        sums[row->node].samples += row->samples;
        sums[row->node].period += row->period;
    }
    for (size_t i = s->nodes.count; sums && i-- > 0;) { /* callers have smaller numbers */
        uint32_t caller = s->nodes.items[i].caller;
        if (caller == STACKS_NONE)
            continue;
        sums[caller].samples += sums[i].samples;
        sums[caller].period += sums[i].period;
    }
    return sums;
}
