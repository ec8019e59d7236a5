/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "view/waits/waits_text.h"

static const char *const kinds[WAITS_KINDS] = {
    [WAITS_LOCK] = "lock",     [WAITS_FILE_LOCK] = "file lock",
    [WAITS_JOIN] = "thread",   [WAITS_DISK] = "disk",
    [WAITS_CPU] = "cpu",       [WAITS_FUTEX] = "futex",
    [WAITS_PIPE] = "pipe",     [WAITS_SOCKET] = "socket",
    [WAITS_FILE] = "file",     [WAITS_CHILD] = "child",
    [WAITS_IPC] = "ipc",       [WAITS_OTHER] = "other",
    [WAITS_POLL] = "poll",     [WAITS_SLEEP] = "sleep",
    [WAITS_SIGNAL] = "signal", [WAITS_STOPPED] = "stopped",
    [WAITS_HIDDEN] = "hidden", [WAITS_RUNNING] = "running",
    [WAITS_ZOMBIE] = "zombie", [WAITS_KERNEL] = "kernel",
};

const char *waits_kind_name(enum waits_kind kind) {
    return kind < WAITS_KINDS ? kinds[kind] : "other";
}

static int32_t tid_of(const struct waits_view *v, uint32_t thread) {
    return v->w->threads.items[thread].tid;
}

static void put_text(struct json *j, const char *key, const char *text) {
    if (text)
        json_text(j, key, text);
}

static void put_thread(const struct waits_view *v, const struct waits_thread *t, struct json *j) {
    const struct waits_wait *w = &t->wait;
    json_open(j, NULL, '{');
    json_int(j, "pid", t->pid);
    json_int(j, "tid", t->tid);
    json_text(j, "comm", t->comm);
    json_text(j, "process", t->process);
    json_bytes(j, "state", &t->state, 1);
    if (t->since_ns >= 0)
        json_int(j, "since", t->since_ns);
    json_text(j, "kind", kinds[w->kind]);
    json_text(j, "what", w->what);
    put_text(j, "which", w->which);
    put_text(j, "call", w->call);
    if (t->call >= 0) {
        json_int(j, "number", t->call);
        json_open(j, "args", '[');
        for (unsigned i = 0; i < WAITS_ARGS; i++)
            json_hex(j, NULL, t->args[i]);
        json_close(j, ']');
    }
    if (w->lock)
        json_hex(j, "lock", w->lock);
    if (w->on < v->w->threads.count)
        json_int(j, "on", tid_of(v, w->on));
    if (w->fd >= 0)
        json_int(j, "fd", w->fd);
    put_text(j, "object", w->object);
    if (w->peer)
        json_int(j, "peer", w->peer);
    put_text(j, "address", w->address);
    if (w->limit_ns >= 0)
        json_int(j, "limit", w->limit_ns);
    put_text(j, "function", t->site);
    if (v->stacks) {
        json_open(j, "stack", '[');
        for (uint32_t i = 0; i < t->depth; i++) {
            json_open(j, NULL, '{');
            json_text(j, "sym", t->stack[i]);
            json_bool(j, "kernel", i < t->kernel_depth);
            json_close(j, '}');
        }
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void put_rings(const struct waits_view *v, struct json *j) {
    json_open(j, "rings", '[');
    for (size_t i = 0; i < v->chains->rings.count; i++) {
        const struct waits_ring *r = &v->chains->rings.items[i];
        if (!waits_view_has_ring(v, r))
            continue;
        json_open(j, NULL, '{');
        json_bool(j, "deadlock", r->certain);
        json_open(j, "threads", '[');
        for (uint32_t k = 0; k < r->count; k++)
            json_int(j, NULL, tid_of(v, v->chains->ring_threads.items[r->first + k]));
        json_close(j, ']');
        json_number(j, "behind", r->behind);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_roots(const struct waits_view *v, struct json *j) {
    json_open(j, "waited_for", '[');
    for (size_t i = 0; i < v->chains->roots.count; i++) {
        const struct waits_root *r = &v->chains->roots.items[i];
        if (!waits_view_has_root(v, r))
            continue;
        json_open(j, NULL, '{');
        json_int(j, "tid", tid_of(v, r->thread));
        json_number(j, "behind", r->behind);
        json_number(j, "depth", r->depth);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_group(const struct waits_view *v, const struct waits_group *g, struct json *j) {
    const struct waits_thread *t = &v->w->threads.items[v->groups->order.items[g->first]];
    json_open(j, NULL, '{');
    json_text(j, "process", t->process);
    json_bytes(j, "state", &t->state, 1);
    json_text(j, "kind", kinds[t->wait.kind]);
    json_text(j, "what", t->wait.what);
    if (g->longest_ns >= 0)
        json_int(j, "longest", g->longest_ns);
    json_open(j, "threads", '[');
    for (uint32_t k = 0; k < g->count; k++)
        put_thread(v, &v->w->threads.items[v->groups->order.items[g->first + k]], j);
    json_close(j, ']');
    json_close(j, '}');
}

void waits_json_write(const struct waits_view *v, struct out *o) {
    struct json *j = &(struct json){.out = o};
    json_open(j, NULL, '{');
    json_number(j, "version", 1);
    put_rings(v, j);
    put_roots(v, j);
    json_open(j, "groups", '[');
    for (size_t i = 0; i < v->groups->list.count && !o->failed; i++)
        put_group(v, &v->groups->list.items[i], j);
    json_close(j, ']');
    json_close(j, '}');
}
