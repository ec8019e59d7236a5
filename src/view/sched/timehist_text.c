/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/timehist_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "view/sched/sched_text.h"

enum { TASK_WIDTH = 30, NEXT_WIDTH = 24, WAKE_WIDTH = 32, RULE = 117, TASK_ROOM = 96 };

/* "comm[tid]", or "comm[tid/pid]" of a thread that is not its process's first. */
static const char *task(const struct states *s, uint32_t thread, char room[TASK_ROOM]) {
    char name[64];
    if (thread == STATES_NONE)
        return "<unknown>";
    const struct states_thread *t = states_thread(s, thread);
    if (!t->tid)
        return "<idle>";
    sched_name(s, thread, name, sizeof name);
    if (t->pid && t->pid != t->tid)
        snprintf(room, TASK_ROOM, "%s[%" PRIu32 "/%" PRIu32 "]", name, t->tid, t->pid);
    else
        snprintf(room, TASK_ROOM, "%s[%" PRIu32 "]", name, t->tid);
    return room;
}

void timehist_text_head(struct timehist_text *t) {
    if (t->headed)
        return;
    t->headed = true;
    struct out *o = t->out;
    out_printf(o, "%15s %6s  ", "time", "cpu");
    for (uint32_t i = 0; i < t->cpus; i++)
        out_char(o, "0123456789abcdef"[i % 16]);
    out_printf(o, "%s%-30s%s  %9s  %9s  %9s%s%s\n", t->cpus ? "  " : "", "task name",
               t->prio ? "  prio    " : "", "wait time", "sch delay", "run time",
               t->pre_migrations ? "  pre-mig time" : "", t->state ? "  state" : "");
    out_fill(o, ' ', 24 + (t->cpus ? t->cpus + 2 : 0));
    out_printf(o, "%-30s%s  %9s  %9s  %9s%s\n", "[tid/pid]", t->prio ? "          " : "", "(msec)", "(msec)",
               "(msec)", t->pre_migrations ? "     (msec)" : "");
    out_fill(o, '-', 15);
    out_str(o, " ------  ");
    out_fill(o, '-', t->cpus);
    out_str(o, t->cpus ? "  " : "");
    out_fill(o, '-', TASK_WIDTH);
    out_str(o, t->prio ? "  --------" : "");
    out_str(o, "  ---------  ---------  ---------");
    out_str(o, t->pre_migrations ? "  ---------" : "");
    out_str(o, t->state ? "  -----\n" : "\n");
}

/* Writes a column for each CPU, with a mark in that of the line's CPU. */
static void put_cpus(const struct timehist_text *t, const struct states *s, const struct timehist_line *l) {
    bool idle = l->thread != STATES_NONE && !states_thread(s, l->thread)->tid;
    for (uint32_t i = 0; i < t->cpus; i++)
        out_char(t->out, i != l->cpu || l->kind != TIMEHIST_SWITCH ? ' ' : idle ? 'i' : 's');
    out_str(t->out, t->cpus ? "  " : "");
}

/* False: out of memory. */
static bool put_switch(const struct timehist_text *t, const struct states *s, const struct timehist_line *l) {
    char room[TASK_ROOM];
    if (t->prio && l->prio != STATES_NO_PRIO)
        out_printf(t->out, "  %-8" PRId32, l->prio);
    else if (t->prio)
        out_str(t->out, "  ?       ");
    out_str(t->out, "  ");
    sched_put_ms_cut(t->out, l->wait_ns, 9);
    out_str(t->out, "  ");
    sched_put_ms_cut(t->out, l->delay_ns, 9);
    out_str(t->out, "  ");
    sched_put_ms_cut(t->out, l->run_ns, 9);
    if (t->pre_migrations) {
        out_str(t->out, "  ");
        sched_put_ms_cut(t->out, l->pre_ns, 9);
    }
    out_char(t->out, ' ');
    if (t->state)
        out_printf(t->out, "%6c ", l->letter > ' ' ? l->letter : '?');
    if (t->next) {
        const char *next = task(s, l->other, room);
        out_str(t->out, " next: ");
        out_left(t->out, next, strlen(next), NEXT_WIDTH);
    } else if (t->wakes) {
        out_fill(t->out, ' ', WAKE_WIDTH);
    }
    if (!t->stacks)
        return true;
    out_str(t->out, "   ");
    return stack_text_put(t->stacks, l->loc, t->out);
}

static void put_told(const struct timehist_text *t, const struct states *s, const struct timehist_line *l) {
    char room[TASK_ROOM];
    out_fill(t->out, ' ', 35 + (t->prio ? 10 : 0) + (t->pre_migrations ? 11 : 0));
    out_str(t->out, l->kind == TIMEHIST_WAKE ? "awakened: " : "migrated: ");
    out_str(t->out, task(s, l->other, room));
    if (l->kind == TIMEHIST_MIGRATE)
        out_printf(t->out, " cpu %" PRId32 " => %" PRId32, (int32_t)l->from_cpu, (int32_t)l->to_cpu);
}

bool timehist_text_line(void *ctx, const struct states *s, const struct timehist_line *l) {
    struct timehist_text *t = ctx;
    char room[TASK_ROOM];
    if ((l->kind == TIMEHIST_WAKE && !t->wakes) || (l->kind == TIMEHIST_MIGRATE && !t->migrations))
        return true;
    timehist_text_head(t);
    const char *name = task(s, l->thread, room);
    sched_put_seconds(t->out, l->time_ns, 15);
    out_printf(t->out, " [%04" PRIu32 "]  ", l->cpu);
    put_cpus(t, s, l);
    out_left(t->out, name, strlen(name), TASK_WIDTH);
    bool ok = l->kind != TIMEHIST_SWITCH || put_switch(t, s, l);
    if (l->kind != TIMEHIST_SWITCH)
        put_told(t, s, l);
    out_char(t->out, '\n');
    return ok;
}

/* ---- sums ---- */

static int64_t parent(const struct states *s, uint32_t thread, const struct model *m) {
    const struct states_thread *t = states_thread(s, thread);
    if (t->parent != STATES_NONE)
        return t->parent;
    if (t->pid && t->pid != t->tid)
        return t->pid;
    uint32_t id = model_process_at(m, t->tid, (struct model_when){s->now_ns, UINT64_MAX});
    uint32_t ppid = id == MODEL_NONE ? MODEL_NONE : model_process(m, id)->ppid;
    return ppid == MODEL_NONE ? -1 : (int64_t)ppid;
}

static void put_sum(const struct timehist_thread *x, const struct states *s, uint32_t thread,
                    const struct model *m, struct out *o) {
    char room[TASK_ROOM];
    const char *name = task(s, thread, room);
    out_right(o, name, strlen(name), TASK_WIDTH);
    out_int(o, parent(s, thread, m), 8);
    out_dec(o, x->count, 11);
    sched_put_ms_cut(o, x->total_ns, 13);
    sched_put_ms_cut(o, x->min_ns, 11);
    sched_put_ms_cut(o, (uint64_t)x->mean_ns, 12);
    sched_put_ms_cut(o, x->max_ns, 12);
    out_printf(o, "%8.2f", timehist_deviation(x));
    out_dec(o, x->migrations, 8);
    out_char(o, '\n');
}

static void put_idle(const struct timehist *h, const struct states *s, struct out *o) {
    uint64_t window_ns = s->now_ns - s->begin_ns;
    out_str(o, "\nIdle stats:\n");
    for (size_t c = 0; c < s->cpus.count; c++) {
        uint32_t number = s->cpus.items[c].number, idle = states_find(s, 0, number);
        if (!s->cpus.items[c].heard)
            continue; /* only a target of wakes */
        uint64_t ns = idle != STATES_NONE && idle < h->threads.count ? h->threads.items[idle].total_ns : 0;
        out_printf(o, "    CPU %2" PRIu32 " idle for ", number);
        sched_put_ms_cut(o, ns, 10);
        out_printf(o, "  msec  (%6.2f%%)\n", window_ns ? 100.0 * (double)ns / (double)window_ns : 0.0);
    }
}

void timehist_text_summary(const struct timehist *h, const struct states *s, const struct model *m,
                           struct idle_stacks *stacks, struct out *o) {
    bool idle = h->choice.idle;
    const struct timehist_thread *rows = idle ? h->idle.items : h->threads.items;
    size_t count = idle ? h->idle.count : h->threads.count;
    uint64_t tasks = 0, run_ns = 0, cpus = 0;
    out_str(o, idle ? "\nIdle-time summary\n" : "\nRuntime summary\n");
    out_printf(o, "%30s  %6s  %9s  %11s  %9s  %10s  %10s  %6s  %10s\n", "comm", "parent",
               idle ? "sched-out" : "sched-in", idle ? "idle-time" : "run-time",
               idle ? "min-idle" : "min-run", idle ? "avg-idle" : "avg-run", idle ? "max-idle" : "max-run",
               "stddev", "migrations");
    out_printf(o, "%30s  %6s  %9s  %11s  %9s  %10s  %10s  %6s\n", "", "", "(count)", "(msec)", "(msec)",
               "(msec)", "(msec)", "%");
    out_fill(o, '-', RULE);
    out_char(o, '\n');
    for (uint32_t i = 0; i < count && !o->failed; i++) {
        const struct timehist_thread *x = &rows[i];
        if (!states_thread(s, i)->tid || (!x->count && !x->total_ns))
            continue;
        put_sum(x, s, i, m, o);
        tasks++;
        run_ns += x->total_ns;
    }
    put_idle(h, s, o);
    if (stacks)
        idle_stacks_write(stacks, o);
    for (size_t c = 0; c < s->cpus.count; c++)
        cpus += s->cpus.items[c].heard;
    out_printf(o, "\n    Total number of unique tasks: %" PRIu64 "\n", tasks);
    out_printf(o, "Total number of context switches: %" PRIu64 "\n", h->switches);
    out_str(o, "           Total run time (msec): ");
    sched_put_ms_cut(o, run_ns, 6);
    out_str(o, " \n    Total scheduling time (msec): ");
    sched_put_ms_cut(o, s->now_ns - s->begin_ns, 0);
    out_printf(o, "  (x %" PRIu64 ")\n", cpus);
}

void timehist_text_faults(const struct states *s, struct out *o) {
    if (s->faults.half_pairs)
        out_printf(o,
                   "\nOf %" PRIu64 " context switches %" PRIu64
                   " do not fit what ran there before: no times for these\n",
                   s->faults.switches, s->faults.half_pairs);
    if (s->faults.told)
        out_printf(o,
                   "\n%" PRIu64
                   " switches were not recorded: when they were follows from how long threads ran "
                   "(sched_stat_runtime)\n",
                   s->faults.told);
}
