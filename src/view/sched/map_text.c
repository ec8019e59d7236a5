/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/map_text.h"

#include <inttypes.h>

#include "view/sched/sched_text.h"

bool map_text_interval(void *ctx, const struct states_interval *i) {
    (void)ctx, (void)i;
    return true; /* switches are all that is shown */
}

void map_text_fini(struct map_text *m) {
    vec_fini(&m->columns);
    vec_fini(&m->threads);
}

/* A0 ... Z0, A1 ... Z9 as in perf; where perf starts again, Aa ... Zz and AA ... ZZ follow. */
static void short_name(uint32_t number, char to[3]) {
    static const char SECOND[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint32_t row = (number - 1) / 26;
    bool fits = row < sizeof SECOND - 1;
    to[0] = fits ? (char)('A' + (number - 1) % 26) : '?';
    to[1] = fits ? SECOND[row] : '?';
    to[2] = 0;
}

/* The CPU's column, made if it is the first time; NULL: out of memory. */
static struct map_column *column_of(struct map_text *m, uint32_t cpu) {
    for (size_t i = m->compact ? 0 : cpu; i < m->columns.count; i++)
        if (m->columns.items[i].cpu == cpu)
            return &m->columns.items[i];
    struct map_column *c;
    do {
        c = vec_push(&m->columns);
        if (!c)
            return NULL;
        *c = (struct map_column){.cpu = m->compact ? cpu : (uint32_t)m->columns.count - 1,
                                 .thread = STATES_NONE};
    } while (c->cpu != cpu);
    return c;
}

static struct map_thread *thread_at(struct map_text *m, uint32_t index) {
    while (m->threads.count <= index)
        if (!vec_push(&m->threads))
            return NULL;
    return &m->threads.items[index];
}

static bool chosen(const struct map_text *m, const struct states *s, uint32_t thread) {
    const char *name = states_thread_name(s, thread);
    if (!m->names || !m->names->list.count)
        return true;
    for (size_t i = 0; i < m->names->list.count && name; i++)
        if (m->fuzzy ? strstr(name, m->names->list.items[i]) != NULL : !strcmp(name, m->names->list.items[i]))
            return true;
    return false;
}

static const char RED_GROUND[] = "\033[41m", BLUE[] = "\033[34m", PLAIN[] = "\033[m";

static bool colored(const struct filter_ranges *ranges, uint32_t number) {
    return ranges && ranges->list.count && filter_ranges_have(ranges, number);
}

static void put_columns(const struct map_text *m, const struct states *s, uint32_t cpu) {
    char name[3];
    out_str(m->out, "  ");
    for (size_t i = 0; i < m->columns.count; i++) {
        const struct map_column *c = &m->columns.items[i];
        bool mark = c->cpu == cpu && colored(m->color_cpus, cpu);
        out_str(m->out, mark ? RED_GROUND : "");
        out_char(m->out, c->cpu == cpu ? '*' : ' ');
        out_str(m->out, mark ? PLAIN : "");
        bool bright = c->thread != STATES_NONE && colored(m->color_pids, states_thread(s, c->thread)->tid);
        out_str(m->out, bright ? BLUE : "");
        if (c->thread == STATES_NONE) {
            out_str(m->out, c->heard ? "?  " : "   ");
        } else if (!states_thread(s, c->thread)->tid) {
            out_str(m->out, ".  ");
        } else if (!chosen(m, s, c->thread)) {
            out_str(m->out, "-  ");
        } else {
            short_name(m->threads.items[c->thread].number, name);
            out_str(m->out, name);
            out_char(m->out, ' ');
        }
        out_str(m->out, bright ? PLAIN : "");
    }
}

/* Writes the thread's comm and tid, the first time and when its comm has changed. */
static void put_thread(struct map_text *m, const struct states *s, uint32_t thread) {
    char comm[64], name[3];
    const struct states_thread *x = states_thread(s, thread);
    struct map_thread *t = &m->threads.items[thread];
    bool bright = colored(m->color_pids, x->tid);
    if (!chosen(m, s, thread))
        return;
    if (!x->tid) {
        out_str(m->out, m->idle_told ? "" : ".  => swapper:0");
        m->idle_told = true;
    } else if (!t->was_told || t->told != x->name) {
        t->told = x->name;
        t->was_told = true;
        sched_name(s, thread, comm, sizeof comm);
        short_name(t->number, name);
        out_printf(m->out, "%s%s => %s:%" PRIu32 "%s", bright ? BLUE : "", name, comm, x->tid,
                   bright ? PLAIN : "");
    }
}

static bool switched(struct map_text *m, const struct states *s, uint32_t cpu, uint32_t thread) {
    struct map_column *c = column_of(m, cpu);
    struct map_thread *t = thread_at(m, thread);
    if (!c || !t)
        return false;
    bool fresh = !c->heard;
    bool was = c->thread != STATES_NONE && chosen(m, s, c->thread);
    c->thread = thread;
    c->heard = true;
    bool is = chosen(m, s, thread);
    if (states_thread(s, thread)->tid && is && !t->number)
        t->number = ++m->numbers;
    if (!filter_ranges_have(m->cpus, cpu) || (!was && !is))
        return true;
    put_columns(m, s, cpu);
    out_str(m->out, "  ");
    sched_put_seconds(m->out, s->now_ns, 12);
    out_str(m->out, " secs ");
    put_thread(m, s, thread);
    if (m->compact && fresh)
        out_printf(m->out, " (CPU %" PRIu32 ")", cpu);
    out_char(m->out, '\n');
    return true;
}

bool map_text_event(void *ctx, const struct states *s, const struct states_event *e) {
    struct map_text *m = ctx;
    if (e->kind == STATES_LOST)
        for (size_t i = 0; i < m->columns.count; i++)
            if (e->cpu == STATES_NONE || m->columns.items[i].cpu == e->cpu)
                m->columns.items[i].thread = STATES_NONE;
    if (e->kind != STATES_IN)
        return true;
    uint32_t thread = e->cpu != STATES_NONE ? states_find(s, e->tid, e->cpu) : STATES_NONE;
    if (thread == STATES_NONE)
        return true;
    if (e->cpu < MAP_CPUS_MAX)
        return switched(m, s, e->cpu, thread);
    m->unshown++;
    return true;
}
