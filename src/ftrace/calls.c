/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/calls.h"

#include <stdlib.h>
#include <string.h>

#include "format/tracefs/tracing_data.h"

enum { DEPTH_MAX = 1024, TASKS_MAX = 1 << 20, NODES_MAX = 1 << 22, NO_NODE = UINT32_MAX };

/* --- formats --- */

struct ftrace_field ftrace_field_find(struct bytes format, const char *name) {
    struct tracing_field f;
    while (tracing_field_next(&format, &f))
        if (bytes_equal(f.name, (struct bytes){(const uint8_t *)name, strlen(name)}))
            return (struct ftrace_field){f.offset, f.size};
    return (struct ftrace_field){0, 0};
}

uint64_t ftrace_format_id(struct bytes format) {
    struct bytes line;
    while (tracing_line_next(&format, &line)) {
        uint64_t id = 0;
        if (line.size < 5 || line.size > 20 || memcmp(line.data, "ID: ", 4) != 0)
            continue;
        for (size_t i = 4; i < line.size; i++) {
            if (line.data[i] < '0' || line.data[i] > '9')
                return UINT64_MAX;
            id = 10 * id + (line.data[i] - '0');
        }
        return id;
    }
    return UINT64_MAX;
}

uint64_t ftrace_field_read(struct ftrace_field f, struct bytes data) {
    if (!f.size || f.offset > data.size || f.size > data.size - f.offset)
        return 0;
    const uint8_t *p = data.data + f.offset;
    switch (f.size) {
    case 1:
        return *p;
    case 2:
        return bytes_load16(p, false);
    case 4:
        return bytes_load32(p, false);
    case 8:
        return bytes_load64(p, false);
    default:
        return 0;
    }
}

bool ftrace_graph_format_read(struct ftrace_graph_format *f, struct bytes entry, struct bytes exit) {
    *f = (struct ftrace_graph_format){.type = ftrace_field_find(entry, "common_type"),
                                      .pid = ftrace_field_find(entry, "common_pid"),
                                      .entry = ftrace_format_id(entry),
                                      .exit = ftrace_format_id(exit),
                                      .in_func = ftrace_field_find(entry, "func"),
                                      .in_depth = ftrace_field_find(entry, "depth"),
                                      .func = ftrace_field_find(exit, "func"),
                                      .depth = ftrace_field_find(exit, "depth"),
                                      .begin = ftrace_field_find(exit, "calltime"),
                                      .end = ftrace_field_find(exit, "rettime"),
                                      .overrun = ftrace_field_find(exit, "overrun")};
    return f->entry != UINT64_MAX && f->exit != UINT64_MAX && f->type.size == 2 && f->pid.size == 4 &&
           f->in_func.size && f->in_depth.size && f->func.size && f->depth.size;
}

/* --- tables --- */

static uint32_t function_of(struct ftrace_calls *c, uint64_t address) {
    uint32_t i = hash_map_get(&c->by_address, address);
    if (i != HASH_ABSENT)
        return i;
    struct ftrace_function *f = vec_push(&c->functions);
    i = (uint32_t)c->functions.count - 1;
    if (!f || !hash_map_set(&c->by_address, address, i))
        return HASH_ABSENT;
    *f = (struct ftrace_function){.address = address};
    return i;
}

/* Beyond a limit that no real trace reaches, calls are counted by function only. */
static uint32_t node_of(struct ftrace_calls *c, uint32_t parent, uint32_t function) {
    uint64_t key = (uint64_t)parent << 32 | function;
    uint32_t i = hash_map_get(&c->by_call, key);
    if (i != HASH_ABSENT || c->nodes.count == NODES_MAX)
        return i;
    struct ftrace_node *n = vec_push(&c->nodes);
    i = (uint32_t)c->nodes.count - 1;
    if (!n || !hash_map_set(&c->by_call, key, i))
        return HASH_ABSENT;
    *n = (struct ftrace_node){.parent = parent, .function = function};
    return i;
}

static struct ftrace_task *task_of(struct ftrace_calls *c, uint64_t pid) {
    uint32_t i = hash_map_get(&c->by_pid, pid);
    if (i != HASH_ABSENT)
        return &c->tasks.items[i];
    struct ftrace_task *t = c->tasks.count < TASKS_MAX ? vec_push(&c->tasks) : NULL;
    if (!t || !hash_map_set(&c->by_pid, pid, (uint32_t)c->tasks.count - 1))
        return NULL;
    *t = (struct ftrace_task){0};
    return t;
}

static void add(struct ftrace_sum *s, uint64_t ns, uint64_t self) {
    s->count++;
    s->total_ns += ns;
    s->self_ns += self;
    s->max_ns = ns > s->max_ns ? ns : s->max_ns;
}

/* --- calls --- */

/* Depths may have gaps: calls from before tracing began, or that are not traced. */
static uint32_t parent_of(const struct ftrace_task *t, size_t depth) {
    while (depth-- > 0)
        if (t->frames.items[depth].node != NO_NODE)
            return t->frames.items[depth].node;
    return NO_NODE;
}

/* Drops frames whose end was not seen. */
static void cut(struct ftrace_calls *c, struct ftrace_task *t, size_t depth) {
    for (; t->frames.count > depth; t->frames.count--)
        c->open -= t->frames.items[t->frames.count - 1].node != NO_NODE;
}

static bool enter(struct ftrace_calls *c, uint64_t time_ns, struct bytes data) {
    struct ftrace_task *t = task_of(c, ftrace_field_read(c->format.pid, data));
    uint64_t depth = ftrace_field_read(c->format.in_depth, data);
    uint32_t function = function_of(c, ftrace_field_read(c->format.in_func, data));
    if (!t || function == HASH_ABSENT)
        return false;
    if (depth >= DEPTH_MAX)
        return true;
    cut(c, t, depth);
    while (t->frames.count <= depth) {
        struct ftrace_frame *f = vec_push(&t->frames);
        if (!f)
            return false;
        *f = (struct ftrace_frame){.node = NO_NODE};
    }
    uint32_t node = node_of(c, parent_of(t, depth), function);
    if (node == HASH_ABSENT && c->nodes.count < NODES_MAX)
        return false;
    t->frames.items[depth] = (struct ftrace_frame){node, time_ns, 0};
    c->open += node != NO_NODE;
    return true;
}

static bool leave(struct ftrace_calls *c, uint64_t time_ns, struct bytes data) {
    struct ftrace_task *t = task_of(c, ftrace_field_read(c->format.pid, data));
    uint64_t depth = ftrace_field_read(c->format.depth, data), inner = 0, ns = 0;
    uint64_t begin = ftrace_field_read(c->format.begin, data), end = ftrace_field_read(c->format.end, data);
    uint32_t function = function_of(c, ftrace_field_read(c->format.func, data)), node = NO_NODE;
    if (!t || function == HASH_ABSENT)
        return false;
    bool known = c->format.begin.size && c->format.end.size && end >= begin;
    if (depth < t->frames.count) {
        cut(c, t, depth + 1);
        struct ftrace_frame f = t->frames.items[depth];
        bool same = f.node != NO_NODE && c->nodes.items[f.node].function == function;
        node = same ? f.node : NO_NODE;
        inner = f.inner_ns;
        if (same && !known) {
            known = time_ns >= f.begin_ns;
            begin = f.begin_ns;
            end = time_ns;
        }
        cut(c, t, depth);
    }
    c->unmatched += node == NO_NODE;
    if (!known)
        return true;
    ns = end - begin;
    if (node == NO_NODE && (node = node_of(c, NO_NODE, function)) == HASH_ABSENT &&
        c->nodes.count < NODES_MAX)
        return false;
    uint64_t self = ns > inner ? ns - inner : 0;
    add(&c->functions.items[function].sum, ns, self);
    if (node != NO_NODE)
        add(&c->nodes.items[node].sum, ns, self);
    for (uint64_t d = depth < t->frames.count ? depth : t->frames.count; d-- > 0;) { /* its caller */
        if (t->frames.items[d].node == NO_NODE)
            continue;
        t->frames.items[d].inner_ns += ns;
        break;
    }
    if (c->ended)
        c->ended(c->ctx, function, ns);
    return true;
}

bool ftrace_calls_take(struct ftrace_calls *c, uint64_t time_ns, struct bytes data) {
    uint64_t type = ftrace_field_read(c->format.type, data);
    if (type == c->format.entry)
        return enter(c, time_ns, data);
    return type != c->format.exit || leave(c, time_ns, data);
}

void ftrace_calls_fini(struct ftrace_calls *c) {
    for (size_t i = 0; i < c->tasks.count; i++)
        vec_fini(&c->tasks.items[i].frames);
    vec_fini(&c->tasks);
    vec_fini(&c->functions);
    vec_fini(&c->nodes);
    hash_map_fini(&c->by_address);
    hash_map_fini(&c->by_pid);
    hash_map_fini(&c->by_call);
}
