/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/waits.h"

void waits_init(struct waits *w) {
    *w = (struct waits){0};
}

void waits_fini(struct waits *w) {
    arena_fini(&w->arena);
    vec_fini(&w->threads);
    vec_fini(&w->processes);
    hash_map_fini(&w->by_tid);
}

bool waits_index(struct waits *w) {
    vec_clear(&w->processes);
    for (size_t i = 0; i < w->threads.count; i++) {
        const struct waits_thread *t = &w->threads.items[i];
        size_t n = w->processes.count;
        struct waits_process *p = n ? &w->processes.items[n - 1] : NULL;
        if (!p || p->pid != t->pid) {
            if (!(p = vec_push(&w->processes)))
                return false;
            *p = (struct waits_process){.pid = t->pid, .first = (uint32_t)i};
        }
        p->count++;
        if (!hash_map_set(&w->by_tid, (uint32_t)t->tid, (uint32_t)i))
            return false;
    }
    return true;
}

uint32_t waits_find(const struct waits *w, int32_t tid) {
    uint32_t i = tid > 0 ? hash_map_get(&w->by_tid, (uint32_t)tid) : HASH_ABSENT;
    return i == HASH_ABSENT ? WAITS_NOBODY : i;
}

const struct waits_process *waits_process(const struct waits *w, int32_t pid) {
    size_t low = 0, high = w->processes.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct waits_process *p = &w->processes.items[mid];
        if (p->pid == pid)
            return p;
        if (p->pid < pid)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

uint32_t waits_find_inner(const struct waits *w, uint32_t from, uint32_t tid, bool own) {
    const struct waits_thread *self = &w->threads.items[from];
    const struct waits_process *p = waits_process(w, self->pid);
    if (!tid || tid > INT32_MAX)
        return WAITS_NOBODY;
    for (uint32_t i = p ? p->first : 0; p && i < p->first + p->count; i++)
        if (w->threads.items[i].inner_tid == (int32_t)tid)
            return i;
    /* Ids of other pid namespaces cannot be resolved. */
    uint32_t other = own || self->inner_tid != self->tid ? WAITS_NOBODY : waits_find(w, (int32_t)tid);
    if (other != WAITS_NOBODY && w->threads.items[other].inner_tid != (int32_t)tid)
        return WAITS_NOBODY;
    return other;
}

const char *waits_text(struct waits *w, const char *s, size_t n) {
    const char *t = arena_strndup(&w->arena, s, n);
    w->failed |= !t;
    return t ? t : "?";
}

const char *waits_name(struct waits *w, uint32_t thread) {
    const struct waits_thread *t = &w->threads.items[thread];
    const char *name = arena_printf(&w->arena, "%s/%d", t->comm, (int)t->tid);
    w->failed |= !name;
    return name ? name : "?";
}
