/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of how events change the world, applied in time order. */
#include "model/model_internal.h"

/* ---- address spaces ---- */

/* Turns the log since the last root into a new root. */
static bool checkpoint(struct model *m, struct model_space_state *s, struct model_when when) {
    uint32_t logged[SPACE_LOG_MAX], entry = s->changes;
    for (uint32_t i = s->logged; i-- > 0; entry = timeline_previous(&m->changes, entry))
        logged[i] = m->changes.entries.items[entry].value;
    uint32_t root = s->root;
    maptree_begin(&m->tree);
    for (uint32_t i = 0; i < s->logged; i++)
        root = maptree_map(&m->tree, m->mappings.items, root, logged[i]);
    if (m->tree.failed || !timeline_push(&m->changes, &s->changes, when, root | SPACE_ROOT)) {
        m->tree.failed = false;
        return false;
    }
    s->root = root;
    s->logged = 0;
    return true;
}

/* The root of the space's newest state. MODEL_NONE: memory. */
static uint32_t space_root(struct model *m, uint32_t space, struct model_when when) {
    struct model_space_state *s = &m->spaces.items[space];
    if (s->logged && !checkpoint(m, s, when))
        return MODEL_NONE;
    return s->root;
}

static bool map(struct model *m, uint32_t space, struct model_when when, uint32_t mapping) {
    struct model_space_state *s = &m->spaces.items[space];
    if (!timeline_push(&m->changes, &s->changes, when, mapping))
        return false;
    s->logged++;
    return s->logged < SPACE_LOG_MAX || checkpoint(m, s, when);
}

/* From now on the space is what `root` holds. */
static bool set_root(struct model *m, uint32_t space, struct model_when when, uint32_t root) {
    struct model_space_state *s = &m->spaces.items[space];
    if (!model_needs(m, MODEL_NEED_MAPS) || (root == s->root && !s->logged))
        return true;
    if (!timeline_push(&m->changes, &s->changes, when, root | SPACE_ROOT))
        return false;
    s->root = root;
    s->logged = 0;
    return true;
}

/* ---- processes and threads ---- */

static uint32_t newest(const struct timeline *t, uint32_t head) {
    return head == MODEL_NONE ? MODEL_NONE : timeline_newest(t, head);
}

static uint32_t newest_process(const struct model *m, uint32_t space) {
    return newest(&m->space_processes, m->spaces.items[space].processes);
}

static bool is_end(struct model_when w) {
    return w.time_ns == UINT64_MAX && w.order == UINT64_MAX;
}

static bool begin_process(struct model *m, uint32_t space, struct model_when when, uint32_t ppid,
                          bool forked) {
    struct model_space_state *s = &m->spaces.items[space];
    uint32_t old = newest_process(m, space);
    struct model_process *p = m->processes.count < MODEL_NONE ? vec_push(&m->processes) : NULL;
    if (!p)
        return false;
    *p = (struct model_process){s->pid, ppid, when, MODEL_WHEN_END, forked, false};
    if (!timeline_push(&m->space_processes, &s->processes, when, (uint32_t)(m->processes.count - 1))) {
        m->processes.count--;
        return false;
    }
    if (old != MODEL_NONE && is_end(m->processes.items[old].ended))
        m->processes.items[old].ended = when;
    s->live = 0;
    s->exec_floor = 0;
    return true;
}

/* The space's process, begun now if there is none alive. MODEL_NONE: memory. */
static uint32_t living_process(struct model *m, uint32_t space, struct model_when when) {
    uint32_t process = newest_process(m, space);
    if (process != MODEL_NONE && is_end(m->processes.items[process].ended))
        return process;
    return begin_process(m, space, when, MODEL_NONE, false) ? newest_process(m, space) : MODEL_NONE;
}

static bool thread_lives(const struct model *m, const struct model_task_state *task, uint32_t thread) {
    if (thread == MODEL_NONE)
        return false;
    const struct model_thread *t = &m->threads.items[thread];
    return is_end(t->ended) && t->process == newest_process(m, task->space) &&
           thread >= m->spaces.items[task->space].exec_floor;
}

static bool begin_thread(struct model *m, uint32_t task_id, struct model_when when, uint32_t parent,
                         bool forked) {
    struct model_task_state *task = &m->tasks.items[task_id];
    uint32_t process = living_process(m, task->space, when), old = newest(&m->task_threads, task->threads);
    struct model_thread *t =
        process != MODEL_NONE && m->threads.count < MODEL_NONE ? vec_push(&m->threads) : NULL;
    if (!t)
        return false;
    struct model_space_state *s = &m->spaces.items[task->space];
    *t = (struct model_thread){s->pid,  task->tid, MODEL_NONE,     MODEL_NONE,
                               process, when,      MODEL_WHEN_END, forked};
    if (parent != MODEL_NONE) {
        t->ppid = m->spaces.items[m->tasks.items[parent].space].pid;
        t->ptid = m->tasks.items[parent].tid;
    }
    if (!timeline_push(&m->task_threads, &task->threads, when, (uint32_t)(m->threads.count - 1))) {
        m->threads.count--;
        return false;
    }
    if (thread_lives(m, task, old))
        s->live--;
    if (old != MODEL_NONE && is_end(m->threads.items[old].ended))
        m->threads.items[old].ended = when;
    s->live++;
    return true;
}

/* ---- comms ---- */

static bool set_comm(struct model *m, uint32_t task_id, struct model_when when, uint32_t comm) {
    return timeline_push(&m->comms, &m->tasks.items[task_id].comms, when, comm);
}

static uint32_t comm_now(const struct model *m, uint32_t task_id) {
    const struct model_task_state *task = &m->tasks.items[task_id];
    if (task->comms != MODEL_NONE)
        return timeline_newest(&m->comms, task->comms) & ~TASK_COMM_EXEC;
    bool idle = task->tid == 0 && m->spaces.items[task->space].pid == 0;
    return idle ? m->swapper : TASK_COMM_NONE;
}

/* A new thread is called what its parent is called, and not what an earlier thread of its id was; likewise
 * its namespaces. `parent` is a task, or MODEL_NONE for a thread whose fork was not recorded. */
static bool inherit(struct model *m, uint32_t task_id, uint32_t parent, struct model_when when) {
    struct model_task_state *task = &m->tasks.items[task_id];
    uint32_t comm = parent == MODEL_NONE ? TASK_COMM_NONE : comm_now(m, parent);
    uint32_t namespaces =
        parent == MODEL_NONE ? MODEL_NONE : newest(&m->task_namespaces, m->tasks.items[parent].namespaces);
    if (namespaces != newest(&m->task_namespaces, task->namespaces) &&
        !timeline_push(&m->task_namespaces, &task->namespaces, when, namespaces))
        return false;
    return comm == comm_now(m, task_id) || !model_needs(m, MODEL_NEED_COMMS) ||
           set_comm(m, task_id, when, comm);
}

/* The task's living thread, begun now if there is none. MODEL_NONE: memory. */
static uint32_t living_thread(struct model *m, uint32_t task_id, struct model_when when) {
    const struct model_task_state *task = &m->tasks.items[task_id];
    uint32_t thread = newest(&m->task_threads, task->threads);
    if (thread_lives(m, task, thread))
        return thread;
    if (!begin_thread(m, task_id, when, MODEL_NONE, false) || !inherit(m, task_id, MODEL_NONE, when))
        return MODEL_NONE;
    return newest(&m->task_threads, task->threads);
}

/* ---- events ---- */

static bool play_fork(struct model *m, const struct model_event *e) {
    const struct model_task_state *child = &m->tasks.items[e->task], *parent = &m->tasks.items[e->arg];
    uint32_t space = child->space, parent_space = parent->space;
    /* A new thread has the pid of its process; only its leader's fork made an address space. One that claims
     * to come from its own process is believed to be a thread. */
    bool new_process = child->tid == m->spaces.items[space].pid && space != parent_space;
    if (new_process) {
        uint32_t root = 0, ppid = m->spaces.items[parent_space].pid;
        if (e->kind == EVENT_FORK && model_needs(m, MODEL_NEED_MAPS))
            root = space_root(m, parent_space, e->when);
        if (root == MODEL_NONE || !begin_process(m, space, e->when, ppid, true) ||
            !set_root(m, space, e->when, root))
            return false;
    }
    return begin_thread(m, e->task, e->when, e->arg, true) && inherit(m, e->task, e->arg, e->when);
}

static bool play_exit(struct model *m, const struct model_event *e) {
    uint32_t space = m->tasks.items[e->task].space, thread = living_thread(m, e->task, e->when);
    if (thread == MODEL_NONE)
        return false;
    struct model_thread *t = &m->threads.items[thread];
    struct model_process *p = &m->processes.items[t->process];
    if (e->arg != MODEL_NONE && t->ppid == MODEL_NONE) {
        t->ppid = m->spaces.items[m->tasks.items[e->arg].space].pid;
        t->ptid = m->tasks.items[e->arg].tid;
        if (t->tid == t->pid && p->ppid == MODEL_NONE)
            p->ppid = t->ppid;
    }
    t->ended = e->when;
    t->exited = true;
    if (--m->spaces.items[space].live)
        return true;
    p->ended = e->when;
    p->exited = true;
    return set_root(m, space, e->when, 0);
}

/* An exec leaves one thread, with a new and empty address space. */
static bool play_exec(struct model *m, const struct model_event *e) {
    uint32_t thread = living_thread(m, e->task, e->when), space = m->tasks.items[e->task].space;
    if (thread == MODEL_NONE)
        return false;
    struct model_space_state *s = &m->spaces.items[space];
    if (s->live > 1) {
        /* All but this thread are gone, whatever their exits say and whenever they come. The survivor needs
         * an id above the floor. */
        uint32_t ppid = m->threads.items[thread].ppid, ptid = m->threads.items[thread].ptid;
        if (!begin_thread(m, e->task, e->when, MODEL_NONE, false))
            return false;
        thread = (uint32_t)(m->threads.count - 1);
        m->threads.items[thread].ppid = ppid;
        m->threads.items[thread].ptid = ptid;
        s->exec_floor = thread;
        s->live = 1;
    }
    return set_root(m, space, e->when, 0);
}

static bool play_comm(struct model *m, const struct model_event *e) {
    if (e->kind == EVENT_COMM_EXEC ? !play_exec(m, e) : living_thread(m, e->task, e->when) == MODEL_NONE)
        return false;
    if (!model_needs(m, MODEL_NEED_COMMS) ||
        (e->kind == EVENT_COMM_WEAK && comm_now(m, e->task) != TASK_COMM_NONE))
        return true;
    return set_comm(m, e->task, e->when, e->arg | (e->kind == EVENT_COMM_EXEC ? TASK_COMM_EXEC : 0));
}

bool play_event(struct model *m, const struct model_event *e) {
    switch ((enum model_event_kind)e->kind) {
    case EVENT_COMM:
    case EVENT_COMM_EXEC:
    case EVENT_COMM_WEAK:
        return play_comm(m, e);
    case EVENT_FORK:
    case EVENT_FORK_EMPTY:
        return play_fork(m, e);
    case EVENT_EXIT:
        return play_exit(m, e);
    case EVENT_SEEN:
        /* A sample of an ended thread comes from its way out; it does not live again. */
        return m->tasks.items[e->task].threads != MODEL_NONE ||
               living_thread(m, e->task, e->when) != MODEL_NONE;
    case EVENT_MAP:
        return living_thread(m, e->task, e->when) != MODEL_NONE &&
               map(m, m->tasks.items[e->task].space, e->when, e->arg);
    case EVENT_MAP_SPACE:
        return map(m, e->task, e->when, e->arg);
    case EVENT_NAMESPACES:
        return timeline_push(&m->task_namespaces, &m->tasks.items[e->task].namespaces, e->when, e->arg);
    case EVENT_CGROUP:
        return hash_map_set(&m->cgroup_paths, m->cgroup_ids.items[e->arg], e->task);
    }
    return true;
}
