/* SPDX-License-Identifier: Apache-2.0 */
#include "view/kwork/kwork_json.h"

static void put_work(struct json *j, const struct kwork_text *t, const struct kwork *k,
                     const struct kwork_work *w) {
    static const char *const CLASSES[] = {
        [KWORK_IRQ] = "irq", [KWORK_SOFTIRQ] = "softirq", [KWORK_WORKQUEUE] = "workqueue"};
    const char *name = kwork_text_name(t, k, w);
    json_text(j, "class", CLASSES[w->class]);
    if (*name)
        json_text(j, "name", name);
    if (w->class == KWORK_WORKQUEUE)
        json_hex(j, "work", w->id);
    else
        json_int(j, "number", (int64_t)w->id);
    if (w->function)
        json_hex(j, "function", w->function);
    json_number(j, "cpu", w->cpu);
}

static void put_faults(struct json *j, const struct kwork *k) {
    const struct kwork_faults *f = &k->faults;
    json_open(j, "faults", '{');
    json_number(j, "events", f->events);
    json_number(j, "raises", f->raises);
    json_number(j, "entries", f->entries);
    json_number(j, "exits", f->exits);
    json_number(j, "backwards", f->backwards);
    json_number(j, "losses", f->losses);
    json_close(j, '}');
}

static void put_sum(struct json *j, const char *key, const struct kwork_sum *s) {
    json_open(j, key, '{');
    json_number(j, "count", s->count);
    json_number(j, "total_ns", s->total_ns);
    if (s->count) {
        json_number(j, "max_ns", s->max_ns);
        json_number(j, "max_since_ns", s->max_since_ns);
        json_number(j, "max_until_ns", s->max_until_ns);
    }
    json_close(j, '}');
}

static bool is_wanted(const struct kwork_text *t, const char *name) {
    return !t->only || strcmp(t->only, name) == 0;
}

void kwork_json_sums(const struct kwork_text *t, const struct kwork *k, const struct kwork_sums *s) {
    struct json j = {.out = t->out};
    json_open(&j, NULL, '{');
    json_number(&j, "version", 1);
    json_open(&j, "rows", '[');
    for (size_t i = 0; i < s->rows.count && !t->out->failed; i++) {
        const struct kwork_row *r = &s->rows.items[i];
        if (!is_wanted(t, kwork_text_name(t, k, kwork_work(k, r->work))))
            continue;
        json_open(&j, NULL, '{');
        put_work(&j, t, k, kwork_work(k, r->work));
        put_sum(&j, "runs", &r->run);
        put_sum(&j, "delays", &r->delay);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_number(&j, "begin_ns", k->begin_ns);
    json_number(&j, "window_ns", k->now_ns - k->begin_ns);
    put_faults(&j, k);
    json_close(&j, '}');
    out_char(t->out, '\n');
}

void kwork_json_begin(struct kwork_json *j) {
    json_open(&j->json, NULL, '{');
    json_number(&j->json, "version", 1);
    json_open(&j->json, "runs", '[');
}

bool kwork_json_run(void *ctx, const struct kwork *k, const struct kwork_run *run) {
    struct kwork_json *x = ctx;
    struct json *j = &x->json;
    const struct kwork_work *w = kwork_work(k, run->work);
    if (!kwork_chosen(x->text->choice, k, run) || !is_wanted(x->text, kwork_text_name(x->text, k, w)))
        return true;
    json_open(j, NULL, '{');
    put_work(j, x->text, k, w);
    if (run->raised)
        json_number(j, "raise_ns", run->raise_ns);
    json_number(j, "since_ns", run->since_ns);
    json_number(j, "until_ns", run->until_ns);
    json_number(j, "inner_ns", run->inner_ns);
    json_close(j, '}');
    return true;
}

void kwork_json_end(struct kwork_json *j, const struct kwork *k) {
    json_close(&j->json, ']');
    put_faults(&j->json, k);
    json_close(&j->json, '}');
    out_char(j->json.out, '\n');
}

void kwork_json_top(const struct kwork_text *t, const struct kwork_top *top) {
    struct json j = {.out = t->out};
    json_open(&j, NULL, '{');
    json_number(&j, "version", 1);
    json_number(&j, "window_ns", top->window_ns);
    json_open(&j, "cpus", '[');
    for (size_t i = 0; i < top->cpus.count; i++) {
        const struct kwork_top_cpu *c = &top->cpus.items[i];
        json_open(&j, NULL, '{');
        json_number(&j, "cpu", c->number);
        json_number(&j, "busy_ns", c->run_ns + c->idle_inner_ns);
        json_number(&j, "idle_ns", c->idle_ns);
        json_number(&j, "irq_ns", c->irq_ns);
        json_number(&j, "softirq_ns", c->softirq_ns);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "threads", '[');
    for (size_t i = 0; i < top->threads.count && !t->out->failed; i++) {
        const struct kwork_top_thread *x = &top->threads.items[i];
        const char *name = kwork_top_name(top, x);
        if (!is_wanted(t, name ? name : ""))
            continue;
        json_open(&j, NULL, '{');
        json_number(&j, "tid", x->tid);
        if (name)
            json_text(&j, "comm", name);
        json_number(&j, "run_ns", x->run_ns);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    out_char(t->out, '\n');
}
