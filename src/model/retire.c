/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds memory for endless streams: rewrites the tables with only what can still be seen. Old ids map to new
 * ones in ascending order, so that the order of everything stays.
 */
#include "model/model_internal.h"

struct retirement {
    const struct model *old;
    struct model_when when;
    struct model fresh;      /* the new tables; everything else of the model stays */
    uint32_t *threads;       /* old id -> new id or MODEL_NONE; likewise below */
    uint32_t *thread_floors; /* old id -> how many threads with a lower one stay */
    uint32_t *processes;
    uint32_t *spaces;
    uint32_t *nodes; /* maptree_copy's memory */
    uint32_t *mappings;
};

static uint32_t *new_ids(size_t count) {
    return calloc(count + 1, sizeof(uint32_t));
}

/* Whether something with this end is over at the chosen instant. */
static bool ended(const struct retirement *r, struct model_when end) {
    return !model_when_is_end(end) && !model_when_before(r->when, end);
}

static bool retire_processes(struct retirement *r) {
    for (size_t i = 0; i < r->old->processes.count; i++) {
        r->processes[i] = MODEL_NONE;
        if (ended(r, r->old->processes.items[i].ended))
            continue;
        struct model_process *p = vec_push(&r->fresh.processes);
        if (!p)
            return false;
        *p = r->old->processes.items[i];
        r->processes[i] = (uint32_t)(r->fresh.processes.count - 1);
    }
    return true;
}

static bool retire_threads(struct retirement *r) {
    for (size_t i = 0; i < r->old->threads.count; i++) {
        const struct model_thread *t = &r->old->threads.items[i];
        r->threads[i] = MODEL_NONE;
        r->thread_floors[i] = (uint32_t)r->fresh.threads.count;
        if (ended(r, t->ended) || r->processes[t->process] == MODEL_NONE)
            continue;
        struct model_thread *kept = vec_push(&r->fresh.threads);
        if (!kept)
            return false;
        *kept = *t;
        kept->process = r->processes[t->process];
        r->threads[i] = (uint32_t)(r->fresh.threads.count - 1);
    }
    return true;
}

/* Copies the entries of an owner that can still be seen. */
static bool copy_visible(const struct retirement *r, const struct timeline *from, uint32_t owner,
                         const uint32_t *ids, struct timeline *to, uint32_t new_owner) {
    return timeline_copy(from, owner, timeline_find(from, owner, r->when), ids, to, new_owner);
}

/* Copies a space's log back to the root that was valid at the instant (or, while an exec may be in progress,
 * to the one before), with the trees of its roots. */
static bool copy_changes(struct retirement *r, uint32_t space, uint32_t new_space) {
    const struct timeline *from = &r->old->changes;
    struct timeline *to = &r->fresh.changes;
    uint32_t first = timeline_find(from, space, r->when);
    while (first != MODEL_NONE && !(timeline_value(from, first) & SPACE_ROOT))
        first = timeline_previous(from, space, first);
    if (first != MODEL_NONE && first == model_exec_open(r->old, space, r->when))
        do
            first = timeline_previous(from, space, first);
        while (first != MODEL_NONE && !(timeline_value(from, first) & SPACE_ROOT));
    size_t at = to->entries.count;
    if (!timeline_copy(from, space, first, NULL, to, new_space))
        return false;
    for (; at < to->entries.count; at++) {
        uint32_t value = timeline_value(to, (uint32_t)at);
        if (value & SPACE_ROOT && value != SPACE_EXEC)
            to->entries.items[at].value =
                maptree_copy(&r->old->tree, space_root_of(value), &r->fresh.tree, r->nodes) | SPACE_ROOT;
    }
    return !r->fresh.tree.failed;
}

/* Whether it is announced code of a process that is dropped. The process's space has a lower id. */
static bool is_code_of_none(const struct retirement *r, uint32_t space) {
    const struct model_space_state *s = &r->old->spaces.items[space];
    if (s->space != SPACE_CODE)
        return false;
    uint32_t owner = hash_map_get(&r->old->space_by_key, model_space_key(MODEL_SPACE_USER, s->pid));
    return owner == HASH_ABSENT || r->spaces[owner] == MODEL_NONE;
}

static bool retire_spaces(struct retirement *r) {
    for (uint32_t i = 0; i < r->old->spaces.count; i++) {
        struct model_space_state s = r->old->spaces.items[i];
        uint32_t id = (uint32_t)r->fresh.spaces.count;
        r->spaces[i] = MODEL_NONE;
        if (!copy_visible(r, &r->old->space_processes, i, r->processes, &r->fresh.space_processes, id))
            return false;
        bool gone = s.space == MODEL_SPACE_USER ? timeline_head(&r->fresh.space_processes, id) == MODEL_NONE
                                                : is_code_of_none(r, i);
        if (gone)
            continue;
        s.exec_floor = r->thread_floors[s.exec_floor];
        struct model_space_state *kept = copy_changes(r, i, id) ? vec_push(&r->fresh.spaces) : NULL;
        s.root = maptree_copy(&r->old->tree, s.root, &r->fresh.tree, r->nodes);
        if (!kept || r->fresh.tree.failed ||
            !hash_map_set(&r->fresh.space_by_key, model_space_key(s.space, s.pid), id))
            return false;
        *kept = s;
        r->spaces[i] = id;
    }
    for (size_t i = 0; i < r->fresh.spaces.count; i++) {
        uint32_t *code = &r->fresh.spaces.items[i].code;
        *code = *code == MODEL_NONE ? MODEL_NONE : r->spaces[*code];
    }
    return true;
}

/* Keeps tasks of which a thread stays, and the leaders of processes that stay. */
static bool retire_tasks(struct retirement *r) {
    for (uint32_t i = 0; i < r->old->tasks.count; i++) {
        struct model_task_state t = r->old->tasks.items[i];
        uint32_t id = (uint32_t)r->fresh.tasks.count, pid = r->old->spaces.items[t.space].pid;
        t.space = r->spaces[t.space];
        if (!copy_visible(r, &r->old->task_threads, i, r->threads, &r->fresh.task_threads, id))
            return false;
        bool leads = t.tid == pid && t.space != MODEL_NONE;
        if (!leads && timeline_head(&r->fresh.task_threads, id) == MODEL_NONE)
            continue;
        struct model_task_state *kept = vec_push(&r->fresh.tasks);
        if (!kept || !copy_visible(r, &r->old->task_comms, i, NULL, &r->fresh.task_comms, id) ||
            !copy_visible(r, &r->old->task_namespaces, i, NULL, &r->fresh.task_namespaces, id) ||
            !hash_map_set(&r->fresh.task_by_key, model_task_key(pid, t.tid), id))
            return false;
        *kept = t;
        if (leads)
            r->fresh.spaces.items[t.space].leader = id;
    }
    return true;
}

/* Keeps the mappings that logs and trees still refer to. */
static bool retire_mappings(struct retirement *r) {
    struct model *f = &r->fresh;
    for (size_t i = 0; i < f->changes.entries.count; i++)
        if (!(f->changes.entries.items[i].value & SPACE_ROOT))
            r->mappings[f->changes.entries.items[i].value] = 1;
    for (size_t i = 1; i < f->tree.nodes.count; i++)
        r->mappings[f->tree.nodes.items[i].mapping] = 1;
    for (uint32_t i = 0; i < r->old->mappings.list.count; i++) {
        if (!r->mappings[i])
            continue;
        struct model_mapping map = mapping_get(&r->old->mappings, i);
        r->mappings[i] = mapping_add(&f->mappings, &map, false);
        if (r->mappings[i] == MODEL_NONE)
            return false;
    }
    for (size_t i = 0; i < f->changes.entries.count; i++)
        if (!(f->changes.entries.items[i].value & SPACE_ROOT))
            f->changes.entries.items[i].value = r->mappings[f->changes.entries.items[i].value];
    for (size_t i = 1; i < f->tree.nodes.count; i++)
        f->tree.nodes.items[i].mapping = r->mappings[f->tree.nodes.items[i].mapping];
    return true;
}

/* Keeps what lies in the arena: namespaces that some thread still has, text pokes still to come. */
static bool retire_arena(struct retirement *r) {
    struct model *f = &r->fresh;
    for (size_t i = 0; i < f->task_namespaces.entries.count; i++) {
        uint32_t *value = &f->task_namespaces.entries.items[i].value;
        if (*value == MODEL_NONE)
            continue;
        struct model_namespaces n = r->old->namespaces.items[*value], *kept = vec_push(&f->namespaces);
        struct bytes links = {(const uint8_t *)n.links, (size_t)n.count * 16};
        n.links = (const uint64_t *)(const void *)arena_copy(&f->arena, links).data;
        if (!kept || (links.size && !n.links))
            return false;
        *kept = n;
        *value = (uint32_t)(f->namespaces.count - 1);
    }
    for (size_t i = 0; i < r->old->pokes.count; i++) {
        struct model_text_poke poke = r->old->pokes.items[i];
        if (!model_when_before(r->when, poke.when))
            continue;
        struct bytes bytes = {poke.bytes, (size_t)poke.old_len + poke.new_len};
        struct model_text_poke *kept = vec_push(&f->pokes);
        poke.bytes = arena_copy(&f->arena, bytes).data;
        if (!kept || (bytes.size && !poke.bytes))
            return false;
        *kept = poke;
    }
    return true;
}

/* Swaps the tables that a retirement rewrites. */
static void exchange(struct model *a, struct model *b) {
    struct model swap = *a;
#define EXCHANGE(field)        \
    do {                       \
        a->field = b->field;   \
        b->field = swap.field; \
    } while (0)
    EXCHANGE(mappings);
    EXCHANGE(tree);
    EXCHANGE(space_by_key);
    EXCHANGE(task_by_key);
    EXCHANGE(spaces);
    EXCHANGE(tasks);
    EXCHANGE(processes);
    EXCHANGE(threads);
    EXCHANGE(changes);
    EXCHANGE(space_processes);
    EXCHANGE(task_threads);
    EXCHANGE(task_comms);
    EXCHANGE(task_namespaces);
    EXCHANGE(arena);
    EXCHANGE(namespaces);
    EXCHANGE(pokes);
#undef EXCHANGE
}

static size_t load(const struct model *m) {
    return m->tree.nodes.count + m->mappings.list.count + m->threads.count + m->tasks.count +
           m->changes.entries.count + m->task_comms.entries.count + m->namespaces.count + m->pokes.count +
           m->cgroup_ids.count;
}

enum { WORTH_A_WALK = 4096 };

bool model_retire(struct model *m, struct model_when when, struct err *err) {
    if (!m->options.streaming || m->frozen || load(m) < 2 * m->kept + WORTH_A_WALK)
        return true;
    struct retirement r = {.old = m, .when = when};
    r.threads = new_ids(m->threads.count);
    r.thread_floors = new_ids(m->threads.count);
    r.processes = new_ids(m->processes.count);
    r.spaces = new_ids(m->spaces.count);
    r.nodes = new_ids(m->tree.nodes.count);
    r.mappings = new_ids(m->mappings.list.count);
    bool ok = r.threads && r.thread_floors && r.processes && r.spaces && r.nodes && r.mappings &&
              retire_processes(&r) && retire_threads(&r) && retire_spaces(&r) && retire_tasks(&r) &&
              retire_mappings(&r) && retire_arena(&r);
    free(r.threads);
    free(r.thread_floors);
    free(r.processes);
    free(r.spaces);
    free(r.nodes);
    free(r.mappings);
    if (ok) {
        exchange(m, &r.fresh);
        m->generation++;
        m->last_task = MODEL_NONE;
        vec_clear(&m->cgroup_ids);
        m->kept = load(m);
    }
    model_fini(&r.fresh);
    return ok || err_memory(err, "process and mapping timeline");
}
