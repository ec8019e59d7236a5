/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/over_time.h"

void waits_over_time_fini(struct waits_over_time *t) {
    strpool_fini(&t->names);
    vec_fini(&t->nodes);
    hash_map_fini(&t->by_name);
}

/* The node of that name below `parent`, with `ns` added; WAITS_NOBODY: out of memory. */
static uint32_t add_node(struct waits_over_time *t, uint32_t parent, const char *text, uint64_t ns) {
    uint32_t name = strpool_add(&t->names, text, strlen(text));
    uint64_t key = (uint64_t)parent << 32 | name;
    uint32_t node = name == STRPOOL_NONE ? HASH_ABSENT : hash_map_get(&t->by_name, key);
    if (name == STRPOOL_NONE)
        return WAITS_NOBODY;
    if (node == HASH_ABSENT) {
        struct waits_node *slot = vec_push(&t->nodes);
        if (!slot)
            return WAITS_NOBODY;
        node = (uint32_t)t->nodes.count - 1;
        *slot =
            (struct waits_node){.name = name, .parent = parent, .depth = t->nodes.items[parent].depth + 1};
        if (!hash_map_set(&t->by_name, key, node)) {
            t->nodes.count--;
            return WAITS_NOBODY;
        }
    }
    t->nodes.items[node].ns += ns;
    return node;
}

/* Adds to the root what becomes a path of `count` nodes. False: there is no room, and it is left out. */
static bool add_root(struct waits_over_time *t, size_t count, uint64_t ns) {
    if (t->nodes.count + count > WAITS_NODES_MOST) {
        t->left_out_ns += ns;
        return false;
    }
    t->nodes.items[WAITS_NODE_ROOT].ns += ns;
    return true;
}

static bool add_thread(struct waits_over_time *t, const struct waits_thread *w, uint64_t ns) {
    if (!add_root(t, w->depth + 2, ns))
        return true;
    uint32_t at = add_node(t, WAITS_NODE_ROOT, w->process, ns);
    at = at == WAITS_NOBODY ? at : add_node(t, at, w->wait.what, ns);
    if (at != WAITS_NOBODY)
        t->nodes.items[at].kind = (uint8_t)w->wait.kind;
    for (uint32_t i = w->depth; i-- > 0 && at != WAITS_NOBODY;)
        at = add_node(t, at, w->stack[i], ns);
    return at != WAITS_NOBODY;
}

bool waits_over_time_add_path(struct waits_over_time *t, const char *const *names, size_t count,
                              uint64_t ns) {
    uint32_t at = WAITS_NODE_ROOT;
    if (!t->nodes.count && !vec_push(&t->nodes))
        return false;
    if (!add_root(t, count, ns))
        return true;
    for (size_t i = 0; i < count && at != WAITS_NOBODY; i++)
        at = add_node(t, at, names[i], ns);
    return at != WAITS_NOBODY;
}

bool waits_over_time_add(struct waits_over_time *t, const struct waits *w, const struct waits_choice *choice,
                         bool kernel, uint64_t ns) {
    if (!t->nodes.count && !vec_push(&t->nodes))
        return false;
    t->elapsed_ns += ns;
    t->turns++;
    for (size_t i = 0; i < w->threads.count; i++) {
        const struct waits_thread *thread = &w->threads.items[i];
        if (waits_chosen(choice, thread) && (kernel || thread->wait.kind != WAITS_KERNEL) &&
            !add_thread(t, thread, ns))
            return false;
    }
    return true;
}

static int by_parent(const void *a, const void *b, void *ctx) {
    const struct waits_over_time *t = ctx;
    const struct waits_node *x = &t->nodes.items[*(const uint32_t *)a],
                            *y = &t->nodes.items[*(const uint32_t *)b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return strcmp(strpool_text(&t->names, x->name), strpool_text(&t->names, y->name));
}

bool waits_over_time_order(const struct waits_over_time *t, waits_node_order *out) {
    size_t n = t->nodes.count, open = 0;
    if (n < 2)
        return true;
    /* Siblings next to each other; `first` of a node: where its children begin there. */
    uint32_t *sorted = malloc(n * sizeof *sorted), *first = calloc(n, sizeof *first),
             *stack = malloc(n * sizeof *stack);
    bool ok = sorted && first && stack && vec_reserve(out, n);
    for (uint32_t i = 1; ok && i < n; i++)
        sorted[i - 1] = i;
    if (ok)
        qsort_r(sorted, n - 1, sizeof *sorted, by_parent, (void *)t);
    for (uint32_t i = (uint32_t)n - 1; ok && i-- > 0;)
        first[t->nodes.items[sorted[i]].parent] = i + 1;
    if (ok && first[WAITS_NODE_ROOT])
        stack[open++] = first[WAITS_NODE_ROOT] - 1;
    while (ok && open) {
        uint32_t i = stack[--open], node = sorted[i];
        *(uint32_t *)vec_push(out) = node;
        if (i + 2 < n && t->nodes.items[sorted[i + 1]].parent == t->nodes.items[node].parent)
            stack[open++] = i + 1; /* its next sibling, once all below it are done */
        if (first[node])
            stack[open++] = first[node] - 1;
    }
    free(sorted);
    free(first);
    free(stack);
    return ok;
}
