/* SPDX-License-Identifier: Apache-2.0 */
/* A profile's stack samples as whole stacks (stacks/stacks.h). */
#include "stacks/wall_clock.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

/* Stands at the root, as the number of a frame, where callers are missing because the copy of the stack
 * ended. */
enum { TRUNCATED = PROFILE_NONE - 1 };

struct filling {
    const struct profile *p;
    struct stacks *out;
    struct out text;                    /* scratch */
    uint32_t *images, *frames, *events; /* by number in the profile; STACKS_NONE: not yet, or an event without
                                           samples */
    uint32_t truncated;                 /* the frame of TRUNCATED; STACKS_NONE: not yet */
    uint32_t *rows;                     /* by stack sample, with moments */
    VEC(uint32_t) path;                 /* nodes of the last stack, outermost first */
    VEC(uint32_t) path_frames;          /* and its frames, as numbered in the profile */
};

static uint32_t add_text(struct filling *f, const char *text) {
    return stacks_text(f->out, text, strlen(text));
}

/* ---- images and frames ---- */

static uint32_t make_image(struct filling *f, uint32_t id) {
    const struct model *m = f->p->plan.in->model;
    const struct model_image *image = model_image(m, id);
    struct bytes build_id = model_image_build_id(m, image, NULL);
    f->text.len = 0;
    for (size_t i = 0; i < build_id.size; i++)
        out_hex0(&f->text, build_id.data[i], 2);
    struct stacks_image made = {.name = add_text(f, image->short_name),
                                .path = add_text(f, image->name),
                                .build_id = stacks_text(f->out, f->text.buf, f->text.len)};
    bool ok = made.name != STRPOOL_NONE && made.path != STRPOOL_NONE && made.build_id != STRPOOL_NONE;
    return ok ? stacks_image(f->out, &made) : STACKS_NONE;
}

static uint8_t level_of(const struct profile *p, const struct resolve_frame *frame) {
    switch (frame->cpumode) {
    case PERFDATA_MISC_KERNEL:
        return STACKS_KERNEL;
    case PERFDATA_MISC_GUEST_KERNEL:
        return STACKS_GUEST_KERNEL;
    case PERFDATA_MISC_GUEST_USER:
        return STACKS_GUEST_USER;
    case PERFDATA_MISC_HYPERVISOR:
        return STACKS_HYPERVISOR;
    default:
        break;
    }
    const struct model_image *image =
        frame->image == MODEL_NONE ? NULL : model_image(p->plan.in->model, frame->image);
    return image && (image->kind == MODEL_IMAGE_CODE || image->kind == MODEL_IMAGE_ANON) ? STACKS_JIT
                                                                                         : STACKS_USER;
}

void profile_put_stack_name(const struct profile *p, uint32_t id, const char *dso, struct out *o) {
    const struct profile_name *name = profile_name_of(p, id);
    if (name) { /* the level already says that a function is inlined */
        out_mem(o, name->text, name->text_len - (name->inlined ? sizeof PROFILE_INLINED_SUFFIX - 1 : 0));
        return;
    }
    bool stale = profile_grade_of(p, id) == GRADE_STALE, bare = *dso == '[' && !stale;
    out_str(o, bare ? "" : stale ? "[stale " : "[");
    out_str(o, dso);
    out_str(o, bare ? "" : "]");
}

static uint32_t name_text(struct filling *f, uint32_t id, const char *dso) {
    f->text.len = 0;
    profile_put_stack_name(f->p, id, dso, &f->text);
    return stacks_text(f->out, f->text.buf, f->text.len);
}

/* Returns a line of evidence: "symtab of /usr/bin/x, build-id", "perf map, not proved: ...". */
static uint32_t why_text(struct filling *f, const struct resolve_frame *frame) {
    struct resolve_symbol symbol = {frame->image, frame->symbol};
    struct symbol_provenance from = resolve_provenance_of(f->p->plan.in->names, MODEL_NONE, symbol).symbol;
    f->text.len = 0;
    if (from.list != SYMBOL_IN_NONE) {
        out_str(&f->text, symbol_list_text(from.list));
        if (from.path) {
            out_str(&f->text, " of ");
            out_str(&f->text, from.path);
        }
    }
    const char *reason = from.why                             ? from.why
                         : from.identity != SYMBOL_BY_NOTHING ? symbol_identity_text(from.identity)
                                                              : NULL;
    if (reason && f->text.len)
        out_str(&f->text, from.why ? ": " : ", proved by ");
    if (reason)
        out_str(&f->text, reason);
    return stacks_text(f->out, f->text.buf, f->text.len);
}

/* Adds the source line, and what tells frames of one function apart. */
static bool add_place(struct filling *f, uint32_t id, struct stacks_frame *made) {
    const struct profile *p = f->p;
    const struct resolve_frame *frame = &p->b.frames.list.items[id];
    struct object_line line;
    if (p->plan.o->chain_key == PROFILE_BY_FUNCTION)
        return true;
    if (p->plan.o->chain_key == PROFILE_BY_ADDRESS)
        made->address = frame->image == MODEL_NONE ? frame->address : frame->offset - frame->back;
    if (frame->symbol == SYMBOL_NONE || !profile_frame_source(p, id, &line))
        return true;
    made->file = add_text(f, resolve_lines_file(&line, p->plan.o->full_source_path));
    made->line = line.line;
    return made->file != STRPOOL_NONE;
}

static uint32_t make_frame(struct filling *f, uint32_t id) {
    const struct profile *p = f->p;
    const struct resolve_frame *frame = &p->b.frames.list.items[id];
    struct stacks_frame made = {.image = STACKS_NONE,
                                .level = profile_is_inlined(&p->b, id) ? STACKS_INLINED : level_of(p, frame),
                                .grade = p->grades.items[id]};
    if (frame->image != MODEL_NONE) {
        if (f->images[frame->image] == STACKS_NONE)
            f->images[frame->image] = make_image(f, frame->image);
        made.image = f->images[frame->image];
        if (made.image == STACKS_NONE)
            return STACKS_NONE;
    }
    const char *dso = made.image == STACKS_NONE ? "[unknown]" : stacks_frame_dso(f->out, &made);
    made.name = name_text(f, id, dso);
    made.why = why_text(f, frame);
    if (made.name == STRPOOL_NONE || made.why == STRPOOL_NONE || !add_place(f, id, &made))
        return STACKS_NONE;
    return stacks_frame(f->out, &made);
}

static uint32_t truncated_frame(struct filling *f) {
    struct stacks_frame made = {.name = add_text(f, "[truncated]"),
                                .image = STACKS_NONE,
                                .level = STACKS_USER,
                                .grade = GRADE_UNKNOWN};
    if (f->truncated == STACKS_NONE && made.name != STRPOOL_NONE)
        f->truncated = stacks_frame(f->out, &made);
    return f->truncated;
}

static uint32_t frame_of(struct filling *f, uint32_t id) {
    if (id == TRUNCATED)
        return truncated_frame(f);
    if (f->frames[id] == STACKS_NONE)
        f->frames[id] = make_frame(f, id);
    return f->frames[id];
}

/* ---- events ---- */

static bool is_clock(const struct perfdata_attr *a) {
    enum { SOFTWARE = 1, CPU_CLOCK = 0, TASK_CLOCK = 1 }; /* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_* */
    return a->type == SOFTWARE && (a->config == CPU_CLOCK || a->config == TASK_CLOCK);
}

/* Returns what an event's period counts: "cycles" of "cycles:u". */
static uint32_t unit_of(struct filling *f, const struct perfdata_event *e) {
    if (is_clock(&e->attr) || strcmp(e->name, STACKS_OFF_CPU) == 0)
        return add_text(f, "ns");
    if (e->attr.type == PERFDATA_TYPE_TRACEPOINT)
        return add_text(f, "events");
    return stacks_text(f->out, e->name, strcspn(e->name, ":/"));
}

/* Adds the events that have samples, and their row of sums. False: out of memory. */
static bool add_events(struct filling *f, uint32_t recording) {
    const struct profile *p = f->p;
    for (uint32_t i = 0; i < p->tables.count; i++) {
        const struct profile_tally *t = &p->b.tally.items[i];
        const struct perfdata_event *e = &p->plan.in->events->list.items[i];
        f->events[i] = STACKS_NONE;
        if (!t->samples)
            continue;
        f->events[i] = (uint32_t)f->out->events.count;
        struct stacks_event *made = vec_push(&f->out->events);
        if (!made)
            return false;
        made->name = add_text(f, e->name);
        made->unit = unit_of(f, e);
        made->recording = recording;
        made->lost = p->plan.in->lost ? p->plan.in->lost[i] : 0;
        if (made->name == STRPOOL_NONE || made->unit == STRPOOL_NONE)
            return false;
    }
    return true;
}

/* ---- stacks ---- */

/* Appends a frame, `at` of the path, to the stack; what it has in common with the last one stays. */
static bool go_to(struct filling *f, size_t at, uint32_t id) {
    if (at < f->path.count && f->path_frames.items[at] == id)
        return true;
    f->path.count = f->path_frames.count = at;
    uint32_t frame = frame_of(f, id), *node = vec_push(&f->path), *own = vec_push(&f->path_frames);
    if (frame == STACKS_NONE || !node || !own)
        return false;
    *own = id;
    *node = stacks_node(f->out, at ? f->path.items[at - 1] : STACKS_NONE, frame);
    return *node != STACKS_NONE;
}

/* Whether the chain ends in another function than the sample: one that leaves out the kernel's part. */
static bool ends_elsewhere(const struct profile *p, uint32_t last, uint32_t own) {
    const struct profile_place *x = &p->places.items[last], *y = &p->places.items[own];
    return x->dso != y->dso || x->name != y->name;
}

/* Returns the node of a stack sample. STACKS_NONE: out of memory. */
static uint32_t node_of(struct filling *f, const struct profile_stack *stack, bool truncated) {
    const struct profile_segments *segments = &f->p->b.segments;
    const uint32_t chain[2] = {stack->key.chain.outer, stack->key.chain.inner};
    size_t at = 0;
    uint32_t last = PROFILE_NONE;
    if (truncated && !go_to(f, at++, TRUNCATED))
        return STACKS_NONE;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t n;
        const uint32_t *ids = profile_segments_ids(segments, chain[i], &n);
        for (uint32_t k = 0; k < n; k++)
            if (!go_to(f, at++, ids[k]))
                return STACKS_NONE;
            else if (!profile_is_inlined(&f->p->b, ids[k]))
                last = ids[k];
    }
    if ((!at || ends_elsewhere(f->p, last, stack->key.frame)) && !go_to(f, at++, stack->key.frame))
        return STACKS_NONE;
    return f->path.items[at - 1];
}

static uint32_t comm_of(struct filling *f, uint32_t group_key) {
    const struct profile_plan *plan = &f->p->plan;
    if (!plan->comm_slot)
        return 0;
    uint64_t text =
        f->p->b.group_key_values.items[(size_t)group_key * plan->group_key_count + plan->comm_slot];
    return add_text(f, strpool_text(&f->p->b.texts, (uint32_t)text));
}

/* Adds samples of a stack sample. Returns their row. STACKS_NONE: out of memory. */
static uint32_t add_part(struct filling *f, const struct profile_stack *stack, uint32_t event, bool truncated,
                         const struct profile_through *sums) {
    uint32_t node = node_of(f, stack, truncated), comm = comm_of(f, stack->key.group_key);
    uint32_t row =
        node == STACKS_NONE || comm == STRPOOL_NONE ? STACKS_NONE : stacks_row(f->out, event, comm, node);
    if (row != STACKS_NONE)
        stacks_add(f->out, row, sums->samples, sums->period);
    return row;
}

/* Samples whose dump ended and those with the same frames and no more callers go apart, should there be both.
 */
static bool add_stack(struct filling *f, uint32_t i) {
    const struct profile_stack *stack = &f->p->b.stacks.items[i];
    uint32_t event = f->events[profile_group_key_event(f->p, stack->key.group_key)], row = STACKS_NONE;
    bool chained = stack->key.chain.outer != PROFILE_EMPTY_SEGMENT;
    uint64_t cut = f->p->plan.unwinds && chained ? f->p->b.weights.items[i].cut : 0;
    if (event == STACKS_NONE)
        return true;
    cut = cut < stack->samples ? cut : stack->samples;
    const uint64_t share = stack->samples ? (uint64_t)((__uint128_t)stack->period * cut / stack->samples) : 0;
    const struct profile_through parts[2] = {{stack->period - share, stack->samples - cut}, {share, cut}};
    for (unsigned k = 0; k < 2; k++)
        if ((parts[k].samples || (!k && !cut)) &&
            (row = add_part(f, stack, event, k == 1, &parts[k])) == STACKS_NONE)
            return false;
    if (f->rows)
        f->rows[i] = row;
    return true;
}

/* ---- the time axis ---- */

static bool add_moments(struct filling *f) {
    const struct profile_moments *m = &f->p->b.moments;
    struct stacks *out = f->out;
    if (!vec_reserve(&out->moments, out->moments.count + m->list.count + 1))
        return false;
    for (size_t i = 0; i < m->list.count; i++) {
        const struct profile_moment *x = &m->list.items[i];
        const struct profile_task *task = &m->tasks.items[x->task];
        uint32_t row = f->rows[x->stack], thread = stacks_thread(out, task->pid, task->tid);
        if (thread == STACKS_NONE)
            return false;
        out->threads.items[thread].comm = out->rows.items[row].comm;
        out->moments.items[out->moments.count++] = (struct stacks_moment){
            x->ns, x->period, row, thread, x->cpu == PROFILE_NONE ? STACKS_NONE : x->cpu};
    }
    return true;
}

/* ---- all ---- */

static uint32_t *new_map(size_t n) {
    uint32_t *map = malloc((n + 1) * sizeof *map);
    if (map)
        memset(map, 0xff, (n + 1) * sizeof *map); /* STACKS_NONE */
    return map;
}

bool profile_stacks(const struct profile *p, uint32_t recording, struct stacks *out, struct err *err) {
    size_t stacks = p->b.stacks.count;
    bool moments = p->plan.o->moments;
    struct filling f = {.p = p,
                        .out = out,
                        .images = new_map(model_image_count(p->plan.in->model)),
                        .frames = new_map(p->b.frames.list.count),
                        .events = new_map(p->tables.count),
                        .truncated = STACKS_NONE,
                        .rows = moments ? new_map(stacks) : NULL};
    bool ok = f.images && f.frames && f.events && (f.rows || !moments) && out_init(&f.text, NULL, NULL) &&
              add_events(&f, recording);
    for (uint32_t i = 0; ok && i < stacks; i++)
        ok = add_stack(&f, i);
    ok = ok && (!moments || add_moments(&f));
    out_fini(&f.text);
    free(f.images);
    free(f.frames);
    free(f.events);
    free(f.rows);
    vec_fini(&f.path);
    vec_fini(&f.path_frames);
    return ok || err_memory(err, "stacks");
}
