/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/call_costs.h"

#include <stdlib.h>

#include "base/hash.h"

struct making {
    struct call_costs *c;
    const struct stacks *s;
    struct idtable functions, costs;
    uint32_t *function_of;         /* by frame */
    struct stacks_sum *own, *call; /* by node, of one event: in itself; by its caller's calling it */
    uint32_t *outermost;           /* by function: its outermost node in the stack at hand */
};

static uint32_t find_function(struct making *m, uint32_t image, uint32_t name) {
    uint64_t hash = hash_u64((uint64_t)image << 32 | name);
    struct idtable_at at = idtable_first(&m->functions, hash);
    for (uint32_t id; (id = idtable_next(&m->functions, &at)) != IDTABLE_NONE;)
        if (m->c->functions.items[id].image == image && m->c->functions.items[id].name == name)
            return id;
    uint32_t id = (uint32_t)m->c->functions.count;
    struct call_function *made = vec_push(&m->c->functions);
    if (!made || !idtable_add_at(&m->functions, &at, hash, id))
        return STACKS_NONE;
    *made = (struct call_function){image, name, 0, 0};
    return id;
}

static bool find_functions(struct making *m) {
    for (size_t i = 0; i < m->s->frames.count; i++) {
        const struct stacks_frame *f = &m->s->frames.items[i];
        m->function_of[i] = find_function(m, f->image, f->name);
        if (m->function_of[i] == STACKS_NONE)
            return false;
        struct call_function *x = &m->c->functions.items[m->function_of[i]];
        if (!x->file) {
            x->file = f->file;
            x->line = f->line;
        }
    }
    m->outermost = calloc(m->c->functions.count + 1, sizeof *m->outermost);
    return m->outermost;
}

static bool add_cost(struct making *m, uint32_t event, const struct call_cost *want,
                     const struct stacks_sum *sum) {
    struct call_costs *c = m->c;
    uint64_t hash = hash_u64((uint64_t)want->function << 32 | want->callee) ^
                    hash_u64((uint64_t)want->file << 32 | want->line);
    struct idtable_at at = idtable_first(&m->costs, hash);
    uint32_t id;
    while ((id = idtable_next(&m->costs, &at)) != IDTABLE_NONE)
        if (!memcmp(&c->list.items[id], want, sizeof *want))
            break;
    if (id == IDTABLE_NONE) {
        id = (uint32_t)c->list.count;
        size_t sums = ((size_t)id + 1) * c->events;
        struct call_cost *made = vec_push(&c->list);
        if (!made || !vec_reserve(&c->samples, sums) || !vec_reserve(&c->periods, sums) ||
            !idtable_add_at(&m->costs, &at, hash, id))
            return false;
        *made = *want;
        for (; c->samples.count < sums; c->samples.count++, c->periods.count++)
            c->samples.items[c->samples.count] = c->periods.items[c->periods.count] = 0;
    }
    c->samples.items[(size_t)id * c->events + event] += sum->samples;
    c->periods.items[(size_t)id * c->events + event] += sum->period;
    return true;
}

/* Adds a row's weight to its own node and to those calls in its stack that cost something. */
static bool add_row(struct making *m, const struct stacks_row *row) {
    const struct stacks_node *nodes = m->s->nodes.items;
    const struct stacks_sum sum = {row->samples, row->period};
    uint32_t root = row->node;
    m->own[row->node].samples += row->samples;
    m->own[row->node].period += row->period;
    for (uint32_t node = row->node; node != STACKS_NONE; root = node, node = nodes[node].caller)
        m->outermost[m->function_of[nodes[node].frame]] = node;
    for (uint32_t node = row->node; node != root; node = nodes[node].caller) {
        if (m->outermost[m->function_of[nodes[node].frame]] != node)
            continue;
        m->call[node].samples += row->samples;
        m->call[node].period += row->period;
    }
    struct call_cost command = {find_function(m, CALL_COMMAND, row->comm), 0, 0,
                                m->function_of[nodes[root].frame]};
    return command.function != STACKS_NONE && add_cost(m, row->event, &command, &sum);
}

static bool add_event(struct making *m, uint32_t event) {
    const struct stacks *s = m->s;
    memset(m->own, 0, s->nodes.count * sizeof *m->own);
    memset(m->call, 0, s->nodes.count * sizeof *m->call);
    for (uint32_t i = 0; i < s->rows.count; i++)
        if (s->rows.items[i].event == event && !add_row(m, &s->rows.items[i]))
            return false;
    for (size_t i = 0; i < s->nodes.count; i++) {
        const struct stacks_node *node = &s->nodes.items[i];
        uint32_t function = m->function_of[node->frame];
        const struct stacks_frame *f = &s->frames.items[node->frame];
        struct call_cost own = {function, f->file, f->line, STACKS_NONE};
        if (m->own[i].samples && !add_cost(m, event, &own, &m->own[i]))
            return false;
        if (!m->call[i].samples)
            continue;
        const struct stacks_frame *from = &s->frames.items[s->nodes.items[node->caller].frame];
        struct call_cost call = {m->function_of[s->nodes.items[node->caller].frame], from->file, from->line,
                                 function};
        if (!add_cost(m, event, &call, &m->call[i]))
            return false;
    }
    return true;
}

bool call_costs_make(struct call_costs *c, const struct stacks *s, struct err *err) {
    size_t n = s->nodes.count + 1;
    struct making m = {.c = c,
                       .s = s,
                       .function_of = malloc((s->frames.count + 1) * sizeof *m.function_of),
                       .own = malloc(n * sizeof *m.own),
                       .call = malloc(n * sizeof *m.call)};
    c->events = (uint32_t)s->events.count;
    bool ok = m.function_of && m.own && m.call && find_functions(&m);
    for (uint32_t i = 0; ok && i < c->events; i++)
        ok = add_event(&m, i);
    idtable_fini(&m.functions);
    idtable_fini(&m.costs);
    free(m.function_of);
    free(m.own);
    free(m.call);
    free(m.outermost);
    return ok || err_memory(err, "costs of calls");
}

void call_costs_fini(struct call_costs *c) {
    vec_fini(&c->functions);
    vec_fini(&c->list);
    vec_fini(&c->samples);
    vec_fini(&c->periods);
}
