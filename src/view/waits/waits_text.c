/* SPDX-License-Identifier: Apache-2.0 */
#include "view/waits/waits_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text/plural.h"

enum { LINE_MAX_BYTES = 1024, ROOTS_SHOWN = 10, STEP = 4, PROCESS_WIDTH = 16, SINCE_WIDTH = 11 };

void waits_line_write(size_t width, struct out *o, const char *line) {
    size_t n = strlen(line), most = width && width < n ? width : n;
    while (most < n && most && ((unsigned char)line[most] & 0xc0) == 0x80)
        most--; /* not within a character */
    out_plain(o, line, most);
    out_char(o, '\n');
}

static const char *state_name(const struct waits_thread *t) {
    switch (t->state) {
    case 'R':
        return t->wait.kind == WAITS_CPU ? "runnable" : "running";
    case 'S':
        return "sleeping";
    case 'D':
        return "blocked";
    case 'I':
        return "idle";
    case 'T':
        return "stopped";
    case 't':
        return "traced";
    case 'Z':
        return "zombie";
    case 'X':
        return "dead";
    case 'P':
        return "parked";
    default:
        return "unknown";
    }
}

/* "350.123 ms", "12.345 s", "27h 05min". */
static const char *since(int64_t ns, char room[32]) {
    if (ns < 0)
        return "?";
    uint64_t us = (uint64_t)ns / 1000, seconds = us / 1000000;
    if (us < 1000000)
        snprintf(room, 32, "%" PRIu64 ".%03" PRIu64 " ms", us / 1000, us % 1000);
    else if (seconds < 3600)
        snprintf(room, 32, "%" PRIu64 ".%03" PRIu64 " s", seconds, us / 1000 % 1000);
    else
        snprintf(room, 32, "%" PRIu64 "h %02" PRIu64 "min", seconds / 3600, seconds / 60 % 60);
    return room;
}

/* The same with a blank after seconds, so that digits are aligned in a column. */
static const char *in_column(int64_t ns, char room[32]) {
    const char *text = since(ns, room);
    size_t n = strlen(text);
    if (text == room && n > 2 && !strcmp(room + n - 2, " s"))
        strcpy(room + n, " ");
    return text;
}

static const struct waits_thread *thread(const struct waits_view *v, uint32_t i) {
    return &v->w->threads.items[i];
}

/* ---- rings ---- */

bool waits_view_has_ring(const struct waits_view *v, const struct waits_ring *r) {
    for (uint32_t i = 0; i < r->count; i++)
        if (waits_chosen(v->choice, thread(v, v->chains->ring_threads.items[r->first + i])))
            return true;
    return false;
}

static void put_ring(const struct waits_view *v, const struct waits_ring *r, struct out *o) {
    char line[LINE_MAX_BYTES], room[32];
    int64_t shortest = -1;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct waits_thread *t = thread(v, v->chains->ring_threads.items[r->first + i]);
        bool last = i + 1 == r->count;
        if (i) /* its name ended the line before */
            snprintf(line, sizeof line, "%10swhich waits for %s%s", "", t->wait.what, last ? "" : ",");
        else
            snprintf(line, sizeof line, "%-10s%s/%d waits for %s%s",
                     r->certain ? "deadlock:" : "ring:", t->comm, (int)t->tid, t->wait.what, last ? "" : ",");
        waits_line_write(v->width, o, line);
        if (t->since_ns >= 0 && (shortest < 0 || t->since_ns < shortest))
            shortest = t->since_ns;
    }
    if (shortest >= 0)
        out_printf(o, "          for %s", since(shortest, room));
    if (r->behind)
        out_printf(o, "%s%" PRIu32 " more thread%s wait%s for %s", shortest >= 0 ? "; " : "          ",
                   r->behind, plural(r->behind), r->behind == 1 ? "s" : "", r->count == 1 ? "it" : "them");
    if (shortest >= 0 || r->behind)
        out_char(o, '\n');
}

static void put_rings(const struct waits_view *v, struct out *o) {
    bool any = false;
    for (size_t i = 0; i < v->chains->rings.count; i++) {
        const struct waits_ring *r = &v->chains->rings.items[i];
        if (!waits_view_has_ring(v, r))
            continue;
        put_ring(v, r, o);
        any = true;
    }
    if (any)
        out_char(o, '\n');
}

/* ---- trees ---- */

static bool chosen_below(const struct waits_view *v, uint32_t i, unsigned depth) {
    if (waits_chosen(v->choice, thread(v, i)))
        return true;
    for (uint32_t k = v->chains->first[i]; depth < WAITS_CHAIN_DEPTH && k < v->chains->first[i + 1]; k++)
        if (chosen_below(v, v->chains->waiters[k], depth + 1))
            return true;
    return false;
}

bool waits_view_has_root(const struct waits_view *v, const struct waits_root *r) {
    return (v->all_chains || r->locks || r->depth > 1) && chosen_below(v, r->thread, 0);
}

static void put_waiters(const struct waits_view *v, uint32_t of, unsigned depth, struct out *o);

/* Threads that wait for the same thread in the same way, and for which nobody waits, share a line. */
static bool alike(const struct waits_view *v, uint32_t a, uint32_t b) {
    const struct waits_chains *c = v->chains;
    const struct waits_thread *x = thread(v, a), *y = thread(v, b);
    return !v->threads && c->first[a] == c->first[a + 1] && c->first[b] == c->first[b + 1] &&
           strcmp(x->comm, y->comm) == 0 && strcmp(x->wait.what, y->wait.what) == 0;
}

static uint32_t put_alike(const struct waits_view *v, uint32_t from, uint32_t end, unsigned depth,
                          struct out *o) {
    const struct waits_chains *c = v->chains;
    const struct waits_thread *t = thread(v, c->waiters[from]);
    char line[LINE_MAX_BYTES], name[80], room[32];
    uint32_t n = 1;
    int64_t longest = t->since_ns;
    for (; from + n < end && alike(v, c->waiters[from], c->waiters[from + n]); n++) {
        int64_t other = thread(v, c->waiters[from + n])->since_ns;
        longest = other > longest ? other : longest;
    }
    if (n > 1)
        snprintf(name, sizeof name, "%" PRIu32 " threads %s", n, t->comm);
    else
        snprintf(name, sizeof name, "%s/%d", t->comm, (int)t->tid);
    snprintf(line, sizeof line, "%*s<- %s wait%s for %s (%s)", (int)(depth * STEP), "", name,
             n > 1 ? "" : "s", t->wait.what, since(longest, room));
    waits_line_write(v->width, o, line);
    if (n == 1)
        put_waiters(v, c->waiters[from], depth + 1, o);
    return n;
}

static void put_waiters(const struct waits_view *v, uint32_t of, unsigned depth, struct out *o) {
    uint32_t end = v->chains->first[of + 1], n = end - v->chains->first[of];
    if (n && depth > WAITS_CHAIN_DEPTH) {
        out_printf(o, "%*s<- %" PRIu32 " more, and what waits for them\n", (int)(depth * STEP), "", n);
        return;
    }
    for (uint32_t k = v->chains->first[of]; k < end && !o->failed;)
        k += put_alike(v, k, end, depth, o);
}

static void put_root(const struct waits_view *v, const struct waits_root *r, struct out *o) {
    const struct waits_thread *t = thread(v, r->thread);
    bool runs = t->wait.kind == WAITS_RUNNING;
    char line[LINE_MAX_BYTES], room[32];
    snprintf(line, sizeof line, "%" PRIu32 " thread%s wait%s for %s/%d, which %s%s%s%s%s", r->behind,
             plural(r->behind), r->behind == 1 ? "s" : "", t->comm, (int)t->tid, runs ? "runs" : "waits for ",
             runs ? "" : t->wait.what, t->since_ns >= 0 && !runs ? " (" : "",
             t->since_ns >= 0 && !runs ? since(t->since_ns, room) : "", t->since_ns >= 0 && !runs ? ")" : "");
    waits_line_write(v->width, o, line);
    put_waiters(v, r->thread, 1, o);
}

static void put_roots(const struct waits_view *v, struct out *o) {
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < v->chains->roots.count; i++) {
        const struct waits_root *r = &v->chains->roots.items[i];
        if (!waits_view_has_root(v, r))
            continue;
        if (shown == ROOTS_SHOWN && !v->all_chains) {
            more++;
            continue;
        }
        put_root(v, r, o);
        shown++;
    }
    if (more)
        out_printf(o, "%zu more such tree%s (-v)\n", more, plural(more));
    if (shown)
        out_char(o, '\n');
}

/* ---- all ---- */

static void put_stack(const struct waits_view *v, const struct waits_thread *t, struct out *o) {
    char line[LINE_MAX_BYTES];
    for (uint32_t i = 0; v->stacks && i < t->depth; i++) {
        snprintf(line, sizeof line, "%*s%s%s", 8, "", t->stack[i], i < t->kernel_depth ? " [k]" : "");
        waits_line_write(v->width, o, line);
    }
}

static void put_group(const struct waits_view *v, const struct waits_group *g, struct out *o) {
    const struct waits_thread *t = thread(v, v->groups->order.items[g->first]);
    char line[LINE_MAX_BYTES], room[32];
    const char *which = g->same_which ? t->wait.which : NULL;
    snprintf(line, sizeof line, "%7" PRIu32 "  %-*s %-8s %*s  %s%s%s%s", g->count, PROCESS_WIDTH, t->process,
             state_name(t), SINCE_WIDTH + 4, in_column(g->longest_ns, room), t->wait.what, which ? " (" : "",
             which ? which : "", which ? ")" : "");
    waits_line_write(v->width, o, line);
    put_stack(v, t, o);
}

static void put_thread(const struct waits_view *v, uint32_t index, struct out *o) {
    const struct waits_thread *t = thread(v, index);
    char line[LINE_MAX_BYTES], room[32];
    snprintf(line, sizeof line, "%7d  %7d  %-*s %-8s %*s  %s%s%s%s", (int)t->pid, (int)t->tid, PROCESS_WIDTH,
             t->comm, state_name(t), SINCE_WIDTH + 4, in_column(t->since_ns, room), t->wait.what,
             t->wait.which ? " (" : "", t->wait.which ? t->wait.which : "", t->wait.which ? ")" : "");
    waits_line_write(v->width, o, line);
    put_stack(v, t, o);
}

void waits_text_write(const struct waits_view *v, struct out *o) {
    put_rings(v, o);
    put_roots(v, o);
    if (v->threads)
        out_printf(o, "%7s  %7s  %-*s %-8s %*s  %s\n", "PID", "TID", PROCESS_WIDTH, "THREAD", "STATE",
                   SINCE_WIDTH + 4, "SINCE", "WAITS FOR");
    else
        out_printf(o, "%7s  %-*s %-8s %*s  %s\n", "THREADS", PROCESS_WIDTH, "PROCESS", "STATE",
                   SINCE_WIDTH + 4, "LONGEST", "WAITS FOR");
    for (size_t i = 0; i < v->groups->list.count && !o->failed; i++) {
        const struct waits_group *g = &v->groups->list.items[i];
        if (!v->threads)
            put_group(v, g, o);
        for (uint32_t k = 0; v->threads && k < g->count; k++)
            put_thread(v, v->groups->order.items[g->first + k], o);
    }
}
