/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/task_tree.h"

#include <stdlib.h>

#include "base/hash.h"

enum {
    LEVEL_MAX = 200
}; /* deeper tasks are printed at this level: output must not grow with the square of the input */

struct task {
    uint32_t tid, parent; /* parent: a tid; MODEL_NONE: not known */
    uint32_t thread;      /* of the model; MODEL_NONE: a swapper that no record mentions */
    bool leader; /* no record mentions it, only other threads of its process; `thread` is one of them */
    bool printed;
};

struct tree {
    const struct model *model;
    VEC(struct task) tasks;   /* by (parent, tid) when sorted */
    struct hash_map by_tid;   /* tid -> index in tasks, until they are sorted */
    struct hash_map exits;    /* model_when.order of EXIT records that mention a thread first */
    VEC(uint32_t) stack;      /* tasks whose children are being printed */
    VEC(uint32_t) next_child; /* for each task in `stack`, its next child */
};

/* Returns the tid to sort by: that of the parent or, without one, of the swapper, which has none itself. */
static uint32_t parent_key(const struct task *t) {
    if (t->tid == 0)
        return MODEL_NONE;
    return t->parent == MODEL_NONE ? 0 : t->parent;
}

static int compare(const void *a, const void *b) {
    const struct task *x = a, *y = b;
    uint32_t p = parent_key(x), q = parent_key(y);
    if (p != q)
        return p < q ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Adds a task. Threads come in the order of their creation, so the last one with a tid stays. */
static bool put(struct tree *tree, const struct task *t) {
    uint32_t at = hash_map_get(&tree->by_tid, t->tid);
    if (at != HASH_ABSENT) {
        tree->tasks.items[at] = *t;
        return true;
    }
    struct task *slot = vec_push(&tree->tasks);
    if (!slot)
        return false;
    *slot = *t;
    return hash_map_set(&tree->by_tid, t->tid, (uint32_t)(tree->tasks.count - 1));
}

/* Returns the thread that forked this one. An EXIT record's parent may be another thread, the one that waits.
 */
static uint32_t fork_parent(const struct model_thread *t) {
    return t->forked ? t->ptid : MODEL_NONE;
}

/*
 * Collects EXIT records that are the first to mention a thread. Either nothing else is known of the thread,
 * or the record is a second event's EXIT of a known one; so neither it nor its leader is listed.
 */
static bool collect_exits(struct tree *tree) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < model_thread_count(tree->model); i++) {
        const struct model_thread *t = model_thread(tree->model, i);
        if (t->exited && !model_when_before(t->born, t->ended))
            ok = hash_map_set(&tree->exits, t->born.order, i);
    }
    return ok;
}

static bool collect(struct tree *tree) {
    if (!collect_exits(tree))
        return false;
    if (!put(tree, &(struct task){.tid = 0, .parent = MODEL_NONE, .thread = MODEL_NONE}))
        return false;
    for (uint32_t i = 0; i < model_thread_count(tree->model); i++) {
        const struct model_thread *t = model_thread(tree->model, i);
        if (hash_map_get(&tree->exits, t->born.order) == HASH_ABSENT &&
            !put(tree, &(struct task){.tid = t->tid, .parent = fork_parent(t), .thread = i}))
            return false;
    }
    for (size_t i = 0, n = tree->tasks.count; i < n; i++) {
        uint32_t thread = tree->tasks.items[i].thread;
        uint32_t pid = thread == MODEL_NONE ? 0 : model_thread(tree->model, thread)->pid;
        if (hash_map_get(&tree->by_tid, pid) == HASH_ABSENT &&
            !put(tree, &(struct task){.tid = pid, .parent = MODEL_NONE, .thread = thread, .leader = true}))
            return false;
    }
    /* A parent that no record mentions is not in the tree. */
    for (size_t i = 0; i < tree->tasks.count; i++) {
        struct task *t = &tree->tasks.items[i];
        if (t->parent != MODEL_NONE && hash_map_get(&tree->by_tid, t->parent) == HASH_ABSENT)
            t->parent = MODEL_NONE;
    }
    qsort(tree->tasks.items, tree->tasks.count, sizeof *tree->tasks.items, compare);
    return true;
}

/* Returns the index of the first task below `tid`, or of where it would be. */
static uint32_t first_child(const struct tree *tree, uint32_t tid) {
    size_t lo = 0, hi = tree->tasks.count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (parent_key(&tree->tasks.items[mid]) < tid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

/* Returns the thread's name; NULL: not known. */
static const char *comm_of(const struct tree *tree, const struct task *t) {
    if (t->thread == MODEL_NONE)
        return "swapper";
    if (t->leader)
        return NULL;
    const struct model_thread *thread = model_thread(tree->model, t->thread);
    struct model_when when = thread->exited ? model_when_prior(thread->ended) : thread->ended;
    return model_comm(tree->model, thread->pid, thread->tid, when, NULL);
}

static void line(const struct tree *tree, const struct task *t, unsigned level, struct out *out) {
    const struct model_thread *thread = t->thread == MODEL_NONE ? NULL : model_thread(tree->model, t->thread);
    const char *comm = comm_of(tree, t);
    out_int(out, thread ? (int32_t)thread->pid : 0, 10);
    out_char(out, ' ');
    out_int(out, (int32_t)t->tid, 8);
    out_char(out, ' ');
    out_int(out, thread && !t->leader ? (int32_t)fork_parent(thread) : -1, 8);
    out_mem(out, " |", 2);
    out_fill(out, ' ', level);
    if (comm)
        out_str(out, comm);
    else
        out_printf(out, ":%d", (int32_t)t->tid);
    out_char(out, '\n');
}

static bool push(struct tree *tree, uint32_t task) {
    uint32_t *a = vec_push(&tree->stack), *b = a ? vec_push(&tree->next_child) : NULL;
    if (!b)
        return false;
    *a = task;
    *b = first_child(tree, tree->tasks.items[task].tid);
    return true;
}

/* Prints a task and those below it, without recursion: forks may be chained without end. */
static bool print_from(struct tree *tree, uint32_t root, tasks_each_fn *each, void *ctx, struct out *out,
                       struct err *err) {
    uint32_t next = root;
    unsigned base = tree->tasks.items[root].tid == 0 ? 0 : 1;
    for (;;) {
        struct task *t = &tree->tasks.items[next];
        unsigned level = base + (unsigned)(tree->stack.count < LEVEL_MAX ? tree->stack.count : LEVEL_MAX);
        t->printed = true;
        line(tree, t, level, out);
        if (each && t->thread != MODEL_NONE &&
            !each(ctx, model_thread(tree->model, t->thread), level, out, err))
            return false;
        if (!push(tree, next))
            return err_memory(err, "tasks");
        for (;;) {
            if (!tree->stack.count)
                return true;
            size_t top = tree->stack.count - 1;
            uint32_t *child = &tree->next_child.items[top];
            uint32_t tid = tree->tasks.items[tree->stack.items[top]].tid;
            while (*child < tree->tasks.count && parent_key(&tree->tasks.items[*child]) == tid &&
                   tree->tasks.items[*child].printed)
                ++*child;
            if (*child < tree->tasks.count && parent_key(&tree->tasks.items[*child]) == tid) {
                next = (*child)++;
                break;
            }
            tree->stack.count--;
            tree->next_child.count--;
        }
    }
}

bool tasks_print(const struct model *m, tasks_each_fn *each, void *ctx, struct out *out, struct err *err) {
    struct tree tree = {.model = m};
    bool ok = collect(&tree) || err_memory(err, "tasks");
    if (ok)
        out_str(out, "#      pid      tid     ppid  comm\n");
    /* The swapper, sorted last, comes first: all others are below it, but for cycles, as reused tids may have
     * forked each other. */
    for (size_t i = tree.tasks.count; ok && i > 0; i--) {
        if (tree.tasks.items[i - 1].tid == 0)
            ok = print_from(&tree, (uint32_t)(i - 1), each, ctx, out, err);
    }
    for (size_t i = 0; ok && i < tree.tasks.count; i++) {
        if (!tree.tasks.items[i].printed)
            ok = print_from(&tree, (uint32_t)i, each, ctx, out, err);
    }
    hash_map_fini(&tree.by_tid);
    hash_map_fini(&tree.exits);
    vec_fini(&tree.tasks);
    vec_fini(&tree.stack);
    vec_fini(&tree.next_child);
    return ok;
}
