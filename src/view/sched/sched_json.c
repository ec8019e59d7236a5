/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/sched_json.h"

static void put_comm(struct json *j, const char *key, const struct states *s, uint32_t thread) {
    const char *name = states_thread_name(s, thread);
    if (name)
        json_text(j, key, name);
}

static void put_faults(struct json *j, const struct states *s) {
    const struct states_faults *f = &s->faults;
    json_open(j, "faults", '{');
    json_number(j, "switches", f->switches);
    json_number(j, "half_pairs", f->half_pairs);
    json_number(j, "told", f->told);
    json_number(j, "unwoken", f->unwoken);
    json_number(j, "backwards", f->backwards);
    json_number(j, "reused", f->reused);
    json_number(j, "losses", f->losses);
    json_close(j, '}');
}

void latency_json_write(const struct latency *l, const struct states *s, struct out *o) {
    struct json j = {.out = o};
    json_open(&j, NULL, '{');
    json_number(&j, "version", 1);
    json_open(&j, "rows", '[');
    for (size_t i = 0; i < l->rows.count && !o->failed; i++) {
        const struct latency_row *r = &l->rows.items[i];
        json_open(&j, NULL, '{');
        put_comm(&j, "comm", s, r->thread);
        if (r->threads == 1)
            json_number(&j, "tid", states_thread(s, r->thread)->tid);
        json_number(&j, "threads", r->threads);
        json_number(&j, "run_ns", r->run_ns);
        json_number(&j, "waits", r->delays);
        json_number(&j, "wait_ns", r->delay_ns);
        json_number(&j, "open", r->open);
        if (r->max_until_ns) {
            json_number(&j, "max_ns", r->max_ns);
            json_number(&j, "max_since_ns", r->max_since_ns);
            json_number(&j, "max_until_ns", r->max_until_ns);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    put_faults(&j, s);
    json_close(&j, '}');
    out_char(o, '\n');
}

/* ---- timehist ---- */

void timehist_json_begin(struct timehist_json *t) {
    json_open(&t->json, NULL, '{');
    json_number(&t->json, "version", 1);
    json_open(&t->json, "events", '[');
}

static void put_thread(struct json *j, const char *key, const struct states *s, uint32_t thread) {
    if (thread == STATES_NONE)
        return;
    const struct states_thread *x = states_thread(s, thread);
    json_open(j, key, '{');
    json_number(j, "tid", x->tid);
    if (x->pid)
        json_number(j, "pid", x->pid);
    put_comm(j, "comm", s, thread);
    json_close(j, '}');
}

static bool put_stack(struct timehist_json *t, uint64_t loc) {
    struct resolve_samples *r = &t->stacks->stacks->samples;
    if (!recording_stacks_read(t->stacks->stacks, loc))
        return false;
    json_open(&t->json, "stack", '[');
    for (size_t i = 0; i < r->frames.count; i++) {
        struct resolve_sample_frame *f = &r->frames.items[i];
        if (f->kind == RESOLVE_AT_NOTHING)
            continue;
        const char *name = resolve_sample_name(r, f, NULL);
        json_open(&t->json, NULL, '{');
        json_hex(&t->json, "ip", f->address);
        if (name)
            json_text(&t->json, "sym", name);
        json_close(&t->json, '}');
    }
    json_close(&t->json, ']');
    return true;
}

static bool put_switch(struct timehist_json *t, const struct states *s, const struct timehist_line *l) {
    struct json *j = &t->json;
    char letter[2] = {l->letter > ' ' ? l->letter : '?', 0};
    put_thread(j, "next", s, l->other);
    json_number(j, "wait_ns", l->wait_ns);
    json_number(j, "delay_ns", l->delay_ns);
    json_number(j, "run_ns", l->run_ns);
    json_number(j, "pre_migration_ns", l->pre_ns);
    json_text(j, "state", letter);
    if (l->prio != STATES_NO_PRIO)
        json_int(j, "prio", l->prio);
    return !t->stacks || put_stack(t, l->loc);
}

bool timehist_json_line(void *ctx, const struct states *s, const struct timehist_line *l) {
    static const char *const KINDS[] = {
        [TIMEHIST_SWITCH] = "switch", [TIMEHIST_WAKE] = "wake", [TIMEHIST_MIGRATE] = "migrate"};
    struct timehist_json *t = ctx;
    struct json *j = &t->json;
    if ((l->kind == TIMEHIST_WAKE && !t->wakes) || (l->kind == TIMEHIST_MIGRATE && !t->migrations))
        return true;
    bool ok = true;
    json_open(j, NULL, '{');
    json_text(j, "event", KINDS[l->kind]);
    json_number(j, "time_ns", l->time_ns);
    json_number(j, "cpu", l->cpu);
    put_thread(j, "thread", s, l->thread);
    if (l->kind == TIMEHIST_SWITCH)
        ok = put_switch(t, s, l);
    else
        put_thread(j, l->kind == TIMEHIST_WAKE ? "woken" : "moved", s, l->other);
    if (l->kind == TIMEHIST_MIGRATE) {
        json_int(j, "from_cpu", (int32_t)l->from_cpu);
        json_int(j, "to_cpu", (int32_t)l->to_cpu);
    }
    json_close(j, '}');
    return ok;
}

static void put_sum(struct json *j, const struct states *s, uint32_t thread,
                    const struct timehist_thread *x) {
    json_open(j, NULL, '{');
    put_thread(j, "thread", s, thread);
    json_number(j, "total_ns", x->total_ns);
    json_number(j, "count", x->count);
    json_number(j, "min_ns", x->min_ns);
    json_number(j, "mean_ns", (uint64_t)x->mean_ns);
    json_number(j, "max_ns", x->max_ns);
    json_real(j, "deviation_percent", timehist_deviation(x));
    json_number(j, "migrations", x->migrations);
    json_close(j, '}');
}

void timehist_json_end(struct timehist_json *t, const struct timehist *h, const struct states *s) {
    struct json *j = &t->json;
    const struct timehist_thread *rows = h->choice.idle ? h->idle.items : h->threads.items;
    size_t count = h->choice.idle ? h->idle.count : h->threads.count;
    json_close(j, ']');
    json_open(j, h->choice.idle ? "idle_after" : "threads", '[');
    for (uint32_t i = 0; i < count && !j->out->failed; i++)
        if (states_thread(s, i)->tid && (rows[i].count || rows[i].total_ns))
            put_sum(j, s, i, &rows[i]);
    json_close(j, ']');
    json_open(j, "cpus", '[');
    for (size_t c = 0; c < s->cpus.count; c++) {
        uint32_t idle = states_find(s, 0, s->cpus.items[c].number);
        if (!s->cpus.items[c].heard)
            continue;
        json_open(j, NULL, '{');
        json_number(j, "cpu", s->cpus.items[c].number);
        json_number(j, "idle_ns",
                    idle != STATES_NONE && idle < h->threads.count ? h->threads.items[idle].total_ns : 0);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_number(j, "window_ns", s->now_ns - s->begin_ns);
    json_number(j, "switches", h->switches);
    put_faults(j, s);
    json_close(j, '}');
    out_char(j->out, '\n');
}
