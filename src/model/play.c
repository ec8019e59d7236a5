/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which events change the tables, applied in time order. */
#include "model/model_internal.h"

/* ---- address spaces ---- */

/* Turns the log since the last root into a new root. */
static bool checkpoint(struct model *m, uint32_t space, struct model_when when) {
    struct model_space_state *s = &m->spaces.items[space];
    uint32_t logged[SPACE_LOG_MAX], entry = timeline_head(&m->changes, space), root = s->root;
    for (uint32_t i = s->logged; i-- > 0; entry = timeline_previous(&m->changes, space, entry))
        logged[i] = timeline_value(&m->changes, entry);
    maptree_begin(&m->tree);
    for (uint32_t i = 0; i < s->logged; i++)
        root = maptree_map(&m->tree, &m->mappings, root, logged[i]);
    bool ok = !m->tree.failed && timeline_push(&m->changes, space, when, root | SPACE_ROOT);
    m->tree.failed = false;
    if (ok) {
        s->root = root;
        s->logged = 0;
    }
    return ok;
}

static bool map(struct model *m, uint32_t space, struct model_when when, uint32_t mapping) {
    struct model_space_state *s = &m->spaces.items[space];
    if (s->logged == SPACE_LOG_MAX && !checkpoint(m, space, when))
        return false;
    if (!timeline_push(&m->changes, space, when, mapping))
        return false;
    s->logged++;
    return true;
}

/* Replaces the space's content by that of a change with a root. */
static bool change_root(struct model *m, uint32_t space, struct model_when when, uint32_t change) {
    struct model_space_state *s = &m->spaces.items[space];
    uint32_t root = space_root_of(change);
    if (root == s->root && !s->logged)
        return true;
    if (!timeline_push(&m->changes, space, when, change))
        return false;
    s->root = root;
    s->logged = 0;
    return true;
}

static bool set_root(struct model *m, uint32_t space, struct model_when when, uint32_t root) {
    return change_root(m, space, when, root | SPACE_ROOT);
}

/* ---- announced code ---- */

/* Ends all announced code above the space. */
static bool drop_code(struct model *m, uint32_t space, struct model_when when) {
    uint32_t code = m->spaces.items[space].code;
    return code == MODEL_NONE || set_root(m, code, when, 0);
}

/* Ends announced code where a file is mapped over it. */
static bool map_over_code(struct model *m, uint32_t space, struct model_when when, uint32_t mapping) {
    uint32_t code = m->spaces.items[space].code, image = mapping_image(&m->mappings, mapping);
    if (code == MODEL_NONE ||
        (image != MODEL_NONE && image_kind_is_memory(m->images.list.items[image].kind)) ||
        (m->spaces.items[code].root == 0 && !m->spaces.items[code].logged))
        return true;
    struct model_mapping hole = mapping_get(&m->mappings, mapping);
    hole.image = MODEL_NONE;
    uint32_t id = m->mappings.list.count < SPACE_ROOT ? mapping_add(&m->mappings, &hole, true) : MODEL_NONE;
    return id != MODEL_NONE && map(m, code, when, id);
}

/* ---- processes and threads ---- */

static uint32_t pid_of(const struct model *m, uint32_t task) {
    return m->spaces.items[m->tasks.items[task].space].pid;
}

static bool begin_process(struct model *m, uint32_t space, struct model_when when, uint32_t ppid,
                          bool forked) {
    struct model_space_state *s = &m->spaces.items[space];
    uint32_t old = timeline_newest(&m->space_processes, space), id = (uint32_t)m->processes.count;
    struct model_process *p = id < MODEL_NONE ? vec_push(&m->processes) : NULL;
    if (!p)
        return false;
    *p = (struct model_process){s->pid, ppid, when, MODEL_WHEN_END, forked, false};
    if (!timeline_push(&m->space_processes, space, when, id)) {
        m->processes.count--;
        return false;
    }
    if (old != MODEL_NONE && model_when_is_end(m->processes.items[old].ended))
        m->processes.items[old].ended = when;
    s->live = 0;
    return true;
}

/* The task's newest thread if it is alive; else MODEL_NONE. */
static uint32_t known_thread(const struct model *m, uint32_t task) {
    uint32_t space = m->tasks.items[task].space, thread = timeline_newest(&m->task_threads, task);
    if (thread == MODEL_NONE || thread < m->spaces.items[space].exec_floor)
        return MODEL_NONE;
    const struct model_thread *t = &m->threads.items[thread];
    return model_when_is_end(t->ended) && t->process == timeline_newest(&m->space_processes, space)
               ? thread
               : MODEL_NONE;
}

static uint32_t living_thread(struct model *m, uint32_t task, struct model_when when);

/* The task's process, begun now if none is alive: then its leader is alive too, until its exit. MODEL_NONE:
 * memory. */
static uint32_t living_process(struct model *m, uint32_t task, struct model_when when) {
    uint32_t space = m->tasks.items[task].space, process = timeline_newest(&m->space_processes, space);
    if (process != MODEL_NONE && model_when_is_end(m->processes.items[process].ended))
        return process;
    if (!begin_process(m, space, when, MODEL_NONE, false))
        return MODEL_NONE;
    uint32_t leader = m->spaces.items[space].leader;
    if (task != leader && living_thread(m, leader, when) == MODEL_NONE)
        return MODEL_NONE;
    return timeline_newest(&m->space_processes, space);
}

/* Begins a thread and returns its id; MODEL_NONE: out of memory. `parent` is a task, or MODEL_NONE if no fork
 * was recorded. */
static uint32_t begin_thread(struct model *m, uint32_t task, struct model_when when, uint32_t parent) {
    uint32_t space = m->tasks.items[task].space, process = living_process(m, task, when);
    uint32_t old = timeline_newest(&m->task_threads, task), id = (uint32_t)m->threads.count;
    struct model_thread *t = process != MODEL_NONE && id < MODEL_NONE ? vec_push(&m->threads) : NULL;
    if (!t)
        return MODEL_NONE;
    struct model_space_state *s = &m->spaces.items[space];
    bool forked = parent != MODEL_NONE;
    *t = (struct model_thread){.pid = s->pid,
                               .tid = m->tasks.items[task].tid,
                               .ppid = forked ? pid_of(m, parent) : MODEL_NONE,
                               .ptid = forked ? m->tasks.items[parent].tid : MODEL_NONE,
                               .process = process,
                               .born = when,
                               .ended = MODEL_WHEN_END,
                               .forked = forked};
    bool replaces = known_thread(m, task) != MODEL_NONE;
    if (!timeline_push(&m->task_threads, task, when, id)) {
        m->threads.count--;
        return MODEL_NONE;
    }
    s->live += !replaces;
    if (old != MODEL_NONE && model_when_is_end(m->threads.items[old].ended))
        m->threads.items[old].ended = when;
    return id;
}

/* ---- what a thread inherits ---- */

/* The task's comm. Thread 0 of any process (perf has recorded such) is the idle task if it has no other. */
static uint32_t comm_now(const struct model *m, uint32_t task) {
    uint32_t comm = timeline_newest(&m->task_comms, task);
    if (comm != MODEL_NONE)
        return comm & ~TASK_COMM_EXEC;
    return m->tasks.items[task].tid == 0 ? m->swapper : TASK_COMM_NONE;
}

static bool set_comm(struct model *m, uint32_t task, struct model_when when, uint32_t comm) {
    if (!model_needs(m, MODEL_NEED_COMMS) || (comm == TASK_COMM_NONE && comm_now(m, task) == TASK_COMM_NONE))
        return true;
    return timeline_push(&m->task_comms, task, when, comm);
}

/* Gives a new thread the comm and namespaces of its parent, not those of an earlier thread with its id.
 * Without a known parent it has none. */
static bool inherit(struct model *m, uint32_t task, uint32_t parent, struct model_when when) {
    uint32_t namespaces = parent == MODEL_NONE ? MODEL_NONE : timeline_newest(&m->task_namespaces, parent);
    if (namespaces != timeline_newest(&m->task_namespaces, task) &&
        !timeline_push(&m->task_namespaces, task, when, namespaces))
        return false;
    if (parent == MODEL_NONE && timeline_head(&m->task_comms, task) == MODEL_NONE)
        return true;
    uint32_t comm = parent == MODEL_NONE ? TASK_COMM_NONE : comm_now(m, parent);
    return comm == comm_now(m, task) || set_comm(m, task, when, comm);
}

/* The task's living thread, begun now if there is none: a record about a thread proves that it exists.
 * MODEL_NONE: out of memory. */
static uint32_t living_thread(struct model *m, uint32_t task, struct model_when when) {
    uint32_t thread = known_thread(m, task);
    if (thread != MODEL_NONE)
        return thread;
    thread = begin_thread(m, task, when, MODEL_NONE);
    return thread != MODEL_NONE && inherit(m, task, MODEL_NONE, when) ? thread : MODEL_NONE;
}

/* ---- events ---- */

/* Gives a child the parent's current address space; both share the tree. */
static bool inherit_space(struct model *m, uint32_t space, uint32_t parent, struct model_when when) {
    if (m->spaces.items[parent].logged && !checkpoint(m, parent, when))
        return false;
    if (!set_root(m, space, when, m->spaces.items[parent].root))
        return false;
    uint32_t code = m->spaces.items[parent].code;
    if (code == MODEL_NONE || (m->spaces.items[code].root == 0 && !m->spaces.items[code].logged))
        return drop_code(m, space, when);
    uint32_t own = model_code_space(m, space);
    return own != MODEL_NONE && (!m->spaces.items[code].logged || checkpoint(m, code, when)) &&
           set_root(m, own, when, m->spaces.items[code].root);
}

static void note_parent(struct model *m, struct model_thread *t, uint32_t parent) {
    struct model_process *p = &m->processes.items[t->process];
    if (t->ppid == MODEL_NONE) {
        t->ppid = pid_of(m, parent);
        t->ptid = m->tasks.items[parent].tid;
    }
    if (t->tid == t->pid && p->ppid == MODEL_NONE)
        p->ppid = t->ppid;
}

/* Applies a synthesised fork of a thread that other records proved already: only its parent is new. */
static bool describe(struct model *m, const struct model_event *e, uint32_t thread) {
    struct model_thread *t = &m->threads.items[thread];
    note_parent(m, t, e->arg);
    t->forked = true;
    if (t->tid == t->pid)
        m->processes.items[t->process].forked = true;
    return comm_now(m, e->task) != TASK_COMM_NONE || set_comm(m, e->task, e->when, comm_now(m, e->arg));
}

static bool play_fork(struct model *m, const struct model_event *e) {
    uint32_t space = m->tasks.items[e->task].space, parent_space = m->tasks.items[e->arg].space;
    if (living_thread(m, e->arg, e->when) == MODEL_NONE)
        return false;
    uint32_t known = e->kind == EVENT_FORK_EMPTY ? known_thread(m, e->task) : MODEL_NONE;
    if (known != MODEL_NONE)
        return describe(m, e, known);
    /* A new thread has the pid of its process; only the fork of a leader makes an address space. A leader
     * forked by its own process is taken for another thread of it. */
    if (e->task == m->spaces.items[space].leader && space != parent_space) {
        if (!begin_process(m, space, e->when, pid_of(m, e->arg), true))
            return false;
        if (e->kind == EVENT_FORK ? !inherit_space(m, space, parent_space, e->when)
                                  : !set_root(m, space, e->when, 0) || !drop_code(m, space, e->when))
            return false;
    }
    return begin_thread(m, e->task, e->when, e->arg) != MODEL_NONE && inherit(m, e->task, e->arg, e->when);
}

static bool play_exit(struct model *m, const struct model_event *e) {
    uint32_t space = m->tasks.items[e->task].space, thread = timeline_newest(&m->task_threads, e->task);
    /* A thread that was ended already by an exec or by a new process with its pid: the exit comes late. */
    bool killed = thread != MODEL_NONE && model_when_is_end(m->threads.items[thread].ended) &&
                  known_thread(m, e->task) == MODEL_NONE;
    thread = killed ? thread : living_thread(m, e->task, e->when);
    if (thread == MODEL_NONE || !set_comm(m, e->task, e->when, TASK_COMM_NONE))
        return false;
    struct model_thread *t = &m->threads.items[thread];
    note_parent(m, t, e->arg);
    t->ended = e->when;
    t->exited = true;
    if (killed || --m->spaces.items[space].live)
        return true;
    m->processes.items[t->process].ended = e->when;
    m->processes.items[t->process].exited = true;
    return set_root(m, space, e->when, 0) && drop_code(m, space, e->when);
}

/* An exec leaves one thread, with a new and empty address space. */
static bool play_exec(struct model *m, const struct model_event *e) {
    uint32_t space = m->tasks.items[e->task].space, thread = known_thread(m, e->task);
    bool alone = m->spaces.items[space].live == (thread != MODEL_NONE);
    if (alone && living_thread(m, e->task, e->when) == MODEL_NONE)
        return false;
    if (!alone) {
        /* The others end now, whenever their exits come: a thread that is not the leader and calls exec takes
         * over the leader's id, and its own id never exits. */
        uint32_t survivor = begin_thread(m, e->task, e->when, MODEL_NONE);
        if (survivor == MODEL_NONE)
            return false;
        if (thread != MODEL_NONE) {
            m->threads.items[survivor].ppid = m->threads.items[thread].ppid;
            m->threads.items[survivor].ptid = m->threads.items[thread].ptid;
        }
        m->spaces.items[space].exec_floor = survivor;
        m->spaces.items[space].live = 1;
    }
    return change_root(m, space, e->when, SPACE_EXEC) && drop_code(m, space, e->when);
}

static bool play_comm(struct model *m, const struct model_event *e) {
    if (e->kind == EVENT_COMM_EXEC)
        return play_exec(m, e) && set_comm(m, e->task, e->when, e->arg | TASK_COMM_EXEC);
    return living_thread(m, e->task, e->when) != MODEL_NONE &&
           ((e->kind == EVENT_COMM_WEAK && comm_now(m, e->task) != TASK_COMM_NONE) ||
            set_comm(m, e->task, e->when, e->arg));
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
        return living_thread(m, e->task, e->when) != MODEL_NONE;
    case EVENT_MAP:
        return living_thread(m, e->task, e->when) != MODEL_NONE &&
               map(m, m->tasks.items[e->task].space, e->when, e->arg) &&
               map_over_code(m, m->tasks.items[e->task].space, e->when, e->arg);
    case EVENT_MAP_SPACE:
    case EVENT_CODE:
        return map(m, e->task, e->when, e->arg);
    case EVENT_NAMESPACES:
        return living_thread(m, e->task, e->when) != MODEL_NONE &&
               timeline_push(&m->task_namespaces, e->task, e->when, e->arg);
    case EVENT_CGROUP:
        return hash_map_set(&m->cgroup_paths, m->cgroup_ids.items[e->arg], e->task);
    }
    return true;
}
