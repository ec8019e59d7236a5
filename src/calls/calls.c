/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/calls.h"

#include <string.h>

#define FOUR_GIB 0x100000000u

enum { NAMES_KEPT = 1024 }; /* of threads that have ended */

void calls_init(struct calls *c, const char *machine, calls_sink_fn *sink, void *ctx) {
    *c = (struct calls){.sink = sink, .ctx = ctx};
    calls_machine(c, machine);
}

void calls_machine(struct calls *c, const char *machine) {
    c->table = calls_table(machine, false);
    c->compat_table = calls_table(machine, true);
}

/* ---- threads ---- */

struct calls_thread *calls_thread(struct calls *c, uint32_t tid) {
    uint32_t i = hash_map_get(&c->by_tid, tid);
    return i == HASH_ABSENT ? NULL : &c->threads.items[i];
}

const char *calls_thread_name(struct calls *c, uint32_t tid) {
    const struct calls_thread *t = calls_thread(c, tid);
    return !t || t->name == STRPOOL_NONE ? NULL : strpool_text(&c->names, t->name);
}

static struct calls_process *need_process(struct calls *c, uint32_t pid) {
    uint32_t i = hash_map_get(&c->by_pid, pid);
    if (i != HASH_ABSENT)
        return &c->processes.items[i];
    struct calls_process *p = vec_push(&c->processes);
    if (!p || !hash_map_set(&c->by_pid, pid, (uint32_t)(c->processes.count - 1)))
        return NULL;
    *p = (struct calls_process){0};
    return p;
}

/* What is kept of `c` when threads that ended long ago go. */
static bool keep_threads(const struct calls *c, struct calls *kept) {
    for (size_t i = 0; i < c->threads.count; i++) {
        const struct calls_thread *t = &c->threads.items[i];
        if (t->gone && t->gone + NAMES_KEPT <= c->gone)
            continue;
        struct calls_thread *to = vec_push(&kept->threads);
        if (!to || !hash_map_set(&kept->by_tid, t->tid, (uint32_t)(kept->threads.count - 1)))
            return false;
        *to = *t;
        kept->waiting += t->gone != 0;
        const char *name = t->name == STRPOOL_NONE ? NULL : strpool_text(&c->names, t->name);
        to->name = name ? strpool_add(&kept->names, name, strlen(name)) : STRPOOL_NONE;
        uint32_t p = hash_map_get(&c->by_pid, t->pid);
        struct calls_process *process = p == HASH_ABSENT ? NULL : need_process(kept, t->pid);
        if (process)
            *process = c->processes.items[p];
        if ((name && to->name == STRPOOL_NONE) || (p != HASH_ABSENT && !process))
            return false;
    }
    return true;
}

/* Frees what threads are looked up by, not what they own. */
static void free_tables(struct calls *c) {
    vec_fini(&c->threads);
    vec_fini(&c->processes);
    hash_map_fini(&c->by_tid);
    hash_map_fini(&c->by_pid);
    strpool_fini(&c->names);
}

/* No pointer to a thread or a process is valid afterwards. False: out of memory, and nothing has changed. */
static bool drop_gone(struct calls *c) {
    struct calls kept = {0};
    if (!keep_threads(c, &kept)) {
        free_tables(&kept);
        return false;
    }
    for (size_t i = 0; i < c->threads.count; i++)
        if (c->threads.items[i].gone && c->threads.items[i].gone + NAMES_KEPT <= c->gone)
            vec_fini(&c->threads.items[i].kept);
    free_tables(c);
    c->threads.items = kept.threads.items;
    c->threads.count = kept.threads.count;
    c->threads.cap = kept.threads.cap;
    c->processes.items = kept.processes.items;
    c->processes.count = kept.processes.count;
    c->processes.cap = kept.processes.cap;
    c->by_tid = kept.by_tid;
    c->by_pid = kept.by_pid;
    c->names = kept.names;
    c->waiting = kept.waiting;
    return true;
}

void calls_fini(struct calls *c) {
    for (size_t i = 0; i < c->threads.count; i++)
        vec_fini(&c->threads.items[i].kept);
    free_tables(c);
}

static struct calls_thread *need_thread(struct calls *c, uint32_t tid, uint32_t pid) {
    struct calls_thread *t = calls_thread(c, tid);
    if (!t) {
        if (c->waiting > 2 * NAMES_KEPT && c->waiting > c->threads.count / 2 && !drop_gone(c))
            return NULL;
        t = vec_push(&c->threads);
        if (!t || !hash_map_set(&c->by_tid, tid, (uint32_t)(c->threads.count - 1)))
            return NULL;
        *t = (struct calls_thread){.tid = tid, .name = STRPOOL_NONE};
    }
    c->waiting -= t->gone != 0;
    t->gone = 0;
    if (pid && pid != UINT32_MAX)
        t->pid = pid;
    return t;
}

static bool is_compat(const struct calls *c, const struct calls_event *e) {
    uint32_t i = hash_map_get(&c->by_pid, e->pid);
    return c->compat_table && (e->compat || (i != HASH_ABSENT && c->processes.items[i].has_code &&
                                             !c->processes.items[i].has_high));
}

/* ---- calls ---- */

static bool hand_out(struct calls *c, struct calls_thread *t, enum calls_end end) {
    t->open = false;
    c->faults.exit_unseen += end == CALLS_EXIT_UNSEEN;
    c->faults.cut_by_loss += end == CALLS_EXIT_UNSEEN && t->losses != c->faults.losses;
    return c->sink(c->ctx, c, &t->call, end);
}

/* Ends an open call whose exit will not be seen any more. */
static bool give_up(struct calls *c, struct calls_thread *t) {
    const struct calls_row *row = calls_table_row(calls_table_of(c, &t->call), t->call.number);
    return hand_out(c, t, row && row->returns == CALLS_NEVER ? CALLS_ENDED_THREAD : CALLS_EXIT_UNSEEN);
}

static bool keep_memory(struct calls_thread *t, const struct calls_memory memory[CALLS_ARGS]) {
    size_t size = 0, at = 0;
    for (size_t i = 0; i < CALLS_ARGS; i++)
        size += memory[i].data ? memory[i].size : 0;
    if (!vec_reserve(&t->kept, size + 1))
        return false;
    for (size_t i = 0; i < CALLS_ARGS; i++) {
        const struct calls_memory *m = &memory[i];
        t->call.memory[i] = (struct calls_memory){0};
        if (!m->data)
            continue;
        memcpy(t->kept.items + at, m->data, m->size);
        t->call.memory[i] = (struct calls_memory){t->kept.items + at, m->size, m->cut};
        at += m->size;
    }
    return true;
}

bool calls_remember(struct calls *c, uint32_t tid, const struct calls_memory memory[CALLS_ARGS]) {
    struct calls_thread *t = calls_thread(c, tid);
    return !t || !t->open || keep_memory(t, memory);
}

static const struct calls_row *row_of(const struct calls *c, const struct calls_call *call) {
    return calls_table_row(calls_table_of(c, call), call->number);
}

static bool is_exec(const struct calls *c, const struct calls_call *call) {
    const struct calls_row *row = row_of(c, call);
    return row && strncmp(row->name, "execve", 6) == 0;
}

/* A thread other than the first one may call execve: the call then ends under the tid of the first one. */
static bool note_exec(struct calls *c, const struct calls_thread *t) {
    if (!t->pid || t->tid == t->pid || !is_exec(c, &t->call))
        return true;
    struct calls_process *p = need_process(c, t->pid);
    if (p)
        p->exec_tid = t->tid;
    return p;
}

bool calls_enter(struct calls *c, const struct calls_event *e) {
    struct calls_thread *t = need_thread(c, e->tid, e->pid);
    if (!t || (t->open && !give_up(c, t)))
        return false;
    t->open = true;
    t->call = (struct calls_call){
        .tid = t->tid,
        .pid = t->pid,
        .cpu = e->cpu,
        .number = e->number,
        .compat = is_compat(c, e),
        .has_enter = true,
        .enter_ns = e->time_ns,
        .enter_loc = e->loc,
    };
    memcpy(t->call.args, e->args, sizeof t->call.args);
    t->losses = c->faults.losses;
    return note_exec(c, t) && keep_memory(t, e->memory);
}

/* Whether the exit belongs to the open call. A call that restores all registers (rt_sigreturn) has lost its
 * number by then. */
static bool fits(const struct calls *c, const struct calls_call *open, const struct calls_event *e) {
    const struct calls_row *row = row_of(c, open);
    return open->number == e->number || (row && row->returns == CALLS_NONE);
}

/* Takes the open execve of the thread that has become this one. */
static void take_over(struct calls *c, struct calls_thread *t) {
    uint32_t i = hash_map_get(&c->by_pid, t->pid);
    struct calls_thread *other =
        i == HASH_ABSENT || t->tid != t->pid ? NULL : calls_thread(c, c->processes.items[i].exec_tid);
    if (!other || !other->open || other == t || other->pid != t->pid || !is_exec(c, &other->call))
        return;
    t->call = other->call;
    t->losses = other->losses;
    t->open = true;
    other->open = false;
    /* The memory that `call` borrows from comes along. */
    __typeof__(t->kept) kept = t->kept;
    t->kept = other->kept;
    other->kept = kept;
    t->call.tid = t->tid;
}

bool calls_exit(struct calls *c, const struct calls_event *e) {
    struct calls_thread *t = need_thread(c, e->tid, e->pid);
    struct calls_call probe = {.number = e->number, .compat = is_compat(c, e)};
    if (!t)
        return false;
    if (e->result == 0 && is_exec(c, &probe)) {
        if (t->open && !is_exec(c, &t->call) && !give_up(c, t))
            return false;
        if (!t->open)
            take_over(c, t);
    }
    bool joined = t->open && t->losses == c->faults.losses && fits(c, &t->call, e);
    if (t->open && !joined && !give_up(c, t))
        return false;
    if (!joined) {
        t->call =
            (struct calls_call){.tid = t->tid, .pid = t->pid, .number = e->number, .compat = probe.compat};
        c->faults.enter_unseen++;
    }
    t->call.has_exit = true;
    t->call.cpu = e->cpu;
    t->call.exit_ns = e->time_ns;
    t->call.exit_loc = e->loc;
    t->call.result = e->result;
    for (size_t i = 0; joined && i < CALLS_ARGS; i++)
        if (e->memory[i].data)
            t->call.memory[i] = e->memory[i];
    if (joined && e->time_ns < t->call.enter_ns) {
        c->faults.backwards++;
        t->call.exit_ns = t->call.enter_ns;
    }
    return hand_out(c, t, joined ? CALLS_RETURNED : CALLS_ENTER_UNSEEN);
}

/* ---- other events ---- */

bool calls_name(struct calls *c, uint32_t tid, uint32_t pid, struct bytes comm, bool exec) {
    struct calls_thread *t = need_thread(c, tid, pid);
    if (!t)
        return false;
    t->name = strpool_add(&c->names, comm.size ? (const char *)comm.data : "", bytes_text_len(comm));
    uint32_t i = hash_map_get(&c->by_pid, pid);
    if (exec && i != HASH_ABSENT)
        c->processes.items[i] = (struct calls_process){0};
    return t->name != STRPOOL_NONE;
}

bool calls_fork(struct calls *c, uint32_t tid, uint32_t pid, uint32_t parent) {
    struct calls_thread *t = need_thread(c, tid, pid);
    const struct calls_thread *from = calls_thread(c, parent);
    if (!t || (t->open && !give_up(c, t)))
        return false;
    if (from)
        t->name = from->name;
    uint32_t i = from ? hash_map_get(&c->by_pid, from->pid) : HASH_ABSENT;
    if (i == HASH_ABSENT || !from || from->pid == pid)
        return true;
    struct calls_process copy = c->processes.items[i], *p = need_process(c, pid);
    if (p)
        *p = copy;
    return p;
}

bool calls_gone(struct calls *c, uint32_t tid) {
    struct calls_thread *t = calls_thread(c, tid);
    if (!t || t->gone)
        return true;
    t->gone = ++c->gone;
    c->waiting++;
    return !t->open || give_up(c, t);
}

bool calls_map(struct calls *c, uint32_t pid, uint64_t address) {
    struct calls_process *p = need_process(c, pid);
    if (!p)
        return false;
    p->has_code = true;
    p->has_high |= address >= FOUR_GIB;
    return true;
}

void calls_lost(struct calls *c) {
    c->faults.losses++;
}

bool calls_finish(struct calls *c) {
    for (size_t i = 0; i < c->threads.count; i++)
        if (c->threads.items[i].open && !give_up(c, &c->threads.items[i]))
            return false;
    return true;
}
