/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace/trace_texts.h"

#include <stdlib.h>
#include <string.h>

void trace_texts_memory(const struct bpf_trace_half *half, const uint8_t *memory, size_t room,
                        struct calls_memory to[CALLS_ARGS]) {
    size_t at = 0;
    for (size_t i = 0; i < CALLS_ARGS; i++) {
        size_t n = half->sizes[i] ? half->sizes[i] - 1u : 0;
        to[i] = (struct calls_memory){0};
        if (!half->sizes[i] || n > room - at)
            continue;
        to[i] = (struct calls_memory){memory + at, (uint32_t)n, half->cut & 1u << i};
        at += n;
    }
}

/* ---- the queue ---- */

void trace_texts_fini(struct trace_texts *x) {
    for (size_t i = x->head; i < x->halves.count; i++)
        free(x->halves.items[i].half);
    vec_fini(&x->halves);
    vec_fini(&x->threads);
    hash_map_fini(&x->by_tid);
}

static struct trace_text_half *at(struct trace_texts *x, uint64_t number) {
    return &x->halves.items[x->head + (size_t)(number - x->base)];
}

static uint64_t end_of(const struct trace_texts *x) {
    return x->base + (x->halves.count - x->head);
}

static struct trace_text_thread *find(const struct trace_texts *x, uint32_t tid) {
    uint32_t i = hash_map_get(&x->by_tid, tid);
    return i == HASH_ABSENT ? NULL : &x->threads.items[i];
}

static struct trace_text_thread *need(struct trace_texts *x, uint32_t tid) {
    struct trace_text_thread *t = find(x, tid);
    if (t)
        return t;
    t = vec_push(&x->threads);
    if (!t || !hash_map_set(&x->by_tid, tid, (uint32_t)(x->threads.count - 1)))
        return NULL;
    *t = (struct trace_text_thread){TRACE_TEXTS_NONE, TRACE_TEXTS_NONE};
    return t;
}

/* The first of all goes: it is the first of its thread, too, unless that has been passed by. */
static void drop_first(struct trace_texts *x) {
    struct trace_text_half *h = &x->halves.items[x->head];
    struct trace_text_thread *t = find(x, h->half->tid);
    if (t && t->first == x->base)
        t->first = h->next;
    free(h->half);
    x->head++;
    x->base++;
}

static bool is_passed(const struct trace_texts *x) {
    const struct trace_text_thread *t = find(x, x->halves.items[x->head].half->tid);
    return !t || t->first != x->base;
}

static void make_room(struct trace_texts *x) {
    enum { ENOUGH = 1024 };
    while (x->head < x->halves.count && (x->halves.count - x->head >= TRACE_TEXTS_MAX || is_passed(x)))
        drop_first(x);
    if (x->head < ENOUGH || x->head < x->halves.count / 2)
        return;
    memmove(x->halves.items, x->halves.items + x->head,
            (x->halves.count - x->head) * sizeof *x->halves.items);
    x->halves.count -= x->head;
    x->head = 0;
}

bool trace_texts_put(struct trace_texts *x, const struct bpf_trace_half *half, struct bytes memory) {
    make_room(x);
    uint64_t number = end_of(x);
    struct trace_text_thread *t = need(x, half->tid);
    struct bpf_trace_half *copy = t ? malloc(sizeof *copy + memory.size) : NULL;
    struct trace_text_half *h = copy ? vec_push(&x->halves) : NULL;
    if (!h) {
        free(copy);
        return false;
    }
    *copy = *half;
    if (memory.size)
        memcpy(copy + 1, memory.data, memory.size);
    *h = (struct trace_text_half){copy, (uint32_t)memory.size, TRACE_TEXTS_NONE};
    if (t->first == TRACE_TEXTS_NONE)
        t->first = number;
    else
        at(x, t->last)->next = number;
    t->last = number;
    return true;
}

/* ---- which is whose ---- */

const struct trace_text_half *trace_texts_enter(struct trace_texts *x, const struct calls_call *call,
                                                uint64_t until_ns) {
    struct trace_text_thread *t = find(x, call->tid);
    /* Those before are of calls that are over. */
    while (t && t->first != TRACE_TEXTS_NONE && at(x, t->first)->half->time_ns < call->enter_ns)
        t->first = at(x, t->first)->next;
    if (!t || t->first == TRACE_TEXTS_NONE)
        return NULL;
    const struct trace_text_half *h = at(x, t->first);
    bool same = h->half->kind == BPF_TRACE_ENTER && h->half->time_ns <= until_ns &&
                h->half->number == call->number && memcmp(h->half->args, call->args, sizeof call->args) == 0;
    return same ? h : NULL;
}

const struct trace_text_half *trace_texts_exit(struct trace_texts *x, const struct trace_text_half *enter,
                                               const struct calls_event *exit) {
    const struct trace_text_half *h = enter->next == TRACE_TEXTS_NONE ? NULL : at(x, enter->next);
    bool same = h && h->half->kind == BPF_TRACE_EXIT && h->half->order == enter->half->order + 1 &&
                h->half->number == exit->number && h->half->result == exit->result;
    return same ? h : NULL;
}
