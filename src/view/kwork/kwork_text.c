/* SPDX-License-Identifier: Apache-2.0 */
#include "view/kwork/kwork_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "view/sched/sched_text.h"

enum { NAME_WIDTH = 30, RULE = 128, ROOM = 320 };

static void rule(struct out *o) {
    out_char(o, ' ');
    out_fill(o, '-', RULE);
    out_char(o, '\n');
}

const char *kwork_text_name(const struct kwork_text *t, const struct kwork *k, const struct kwork_work *w) {
    const char *name = w->name == STRPOOL_NONE ? NULL : strpool_text(&k->names, w->name);
    if (w->class == KWORK_WORKQUEUE && w->function && t->function)
        name = t->function(t->ctx, w->function);
    return name ? name : "";
}

static bool is_wanted(const struct kwork_text *t, const char *name) {
    return !t->only || strcmp(t->only, name) == 0;
}

/* "(TYPE)NAME:NUM", in its column. */
static void put_label(struct out *o, const struct kwork_work *w, const char *name) {
    char room[ROOM];
    if (w->class == KWORK_IRQ)
        snprintf(room, ROOM, "%s:%" PRId64, name, (int64_t)w->id);
    else if (w->class == KWORK_SOFTIRQ)
        snprintf(room, ROOM, "(s)%s:%" PRIu64, name, w->id);
    else if (*name)
        snprintf(room, ROOM, "(w)%s", name);
    else
        snprintf(room, ROOM, "(w)0x%" PRIx64, w->function ? w->function : w->id);
    size_t n = strlen(room);
    out_plain(o, room, n);
    out_fill(o, ' ', n < NAME_WIDTH ? NAME_WIDTH - n : 0);
}

/* ---- tables ---- */

static void put_sum(const struct kwork_text *t, const struct kwork *k, const struct kwork_row *row,
                    const struct kwork_sum *s, uint64_t first_ns) {
    const struct kwork_work *w = kwork_work(k, row->work);
    const char *name = kwork_text_name(t, k, w);
    if (!is_wanted(t, name))
        return;
    struct out *o = t->out;
    out_str(o, "  ");
    put_label(o, w, name);
    out_printf(o, " | %04" PRIu32 " | ", w->cpu);
    sched_put_ms(o, first_ns, 10);
    out_str(o, " ms | ");
    out_dec(o, s->count, 9);
    out_str(o, " | ");
    sched_put_ms(o, s->max_ns, 10);
    out_str(o, " ms | ");
    sched_put_seconds(o, s->max_since_ns, 17);
    out_str(o, " s | ");
    sched_put_seconds(o, s->max_until_ns, 17);
    out_str(o, " s |\n");
}

static void head(struct out *o, const char *first, const char *max) {
    out_printf(o, "\n  %-30s | %-4s | %-13s | %-9s | %-13s | %-19s | %-19s |\n", "Kwork Name", "Cpu", first,
               "Count", max, max[4] == 'r' ? "Max runtime start" : "Max delay start",
               max[4] == 'r' ? "Max runtime end" : "Max delay end");
    rule(o);
}

void kwork_text_faults(const struct kwork *k, bool raises, struct out *o) {
    const struct kwork_faults *f = &k->faults;
    uint64_t lonely = raises ? f->raises : 0, sum = lonely + f->entries + f->exits;
    if (sum)
        out_printf(o,
                   "  INFO: %.3f%% skipped events (%" PRIu64 " including %" PRIu64 " raise, %" PRIu64
                   " entry, %" PRIu64 " exit)\n",
                   f->events ? 100.0 * (double)sum / (double)f->events : 0.0, sum, lonely, f->entries,
                   f->exits);
}

void kwork_text_report(const struct kwork_text *t, const struct kwork *k, const struct kwork_sums *s,
                       bool summary) {
    struct out *o = t->out;
    uint64_t count = 0, total_ns = 0, span_ns = k->now_ns - k->begin_ns;
    head(o, "Total Runtime", "Max runtime");
    for (size_t i = 0; i < s->rows.count && !o->failed; i++) {
        const struct kwork_row *r = &s->rows.items[i];
        put_sum(t, k, r, &r->run, r->run.total_ns);
        if (!is_wanted(t, kwork_text_name(t, k, kwork_work(k, r->work))))
            continue;
        count += r->run.count;
        total_ns += r->run.total_ns;
    }
    rule(o);
    if (summary) {
        out_printf(o, "  Total count            : %9" PRIu64 "\n  Total runtime   (msec) : ", count);
        sched_put_ms(o, total_ns, 9);
        out_printf(o, " (%.3f%% load average)\n  Total time span (msec) : ",
                   span_ns ? 100.0 * (double)total_ns / (double)span_ns : 0.0);
        sched_put_ms(o, span_ns, 9);
        out_char(o, '\n');
        rule(o);
    }
    kwork_text_faults(k, false, o);
    out_char(o, '\n');
}

void kwork_text_latency(const struct kwork_text *t, const struct kwork *k, const struct kwork_sums *s) {
    struct out *o = t->out;
    head(o, "Avg delay", "Max delay");
    for (size_t i = 0; i < s->rows.count && !o->failed; i++) {
        const struct kwork_row *r = &s->rows.items[i];
        put_sum(t, k, r, &r->delay, (r->delay.total_ns + r->delay.count / 2) / r->delay.count);
    }
    rule(o);
    kwork_text_faults(k, true, o);
    out_char(o, '\n');
}

/* ---- one by one ---- */

void kwork_text_head(struct kwork_text *t) {
    struct out *o = t->out;
    if (t->headed)
        return;
    t->headed = true;
    out_printf(o, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "Runtime start", "Runtime end", "Cpu",
               "Kwork name", "Runtime", "Delaytime");
    out_printf(o, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "", "", "", "(TYPE)NAME:NUM", "(msec)",
               "(msec)");
    out_str(o, " -----------------  -----------------  ------  ------------------------------  ----------  "
               "----------\n");
}

bool kwork_text_run(void *ctx, const struct kwork *k, const struct kwork_run *run) {
    struct kwork_text *t = ctx;
    const struct kwork_work *w = kwork_work(k, run->work);
    const char *name = kwork_text_name(t, k, w);
    if (!kwork_chosen(t->choice, k, run) || !is_wanted(t, name))
        return true;
    kwork_text_head(t);
    struct out *o = t->out;
    out_char(o, ' ');
    sched_put_seconds(o, run->since_ns, 17);
    out_str(o, "  ");
    sched_put_seconds(o, run->until_ns, 17);
    out_printf(o, "  [%04" PRIu32 "]  ", run->cpu);
    put_label(o, w, name);
    out_str(o, "  ");
    sched_put_ms(o, run->until_ns - run->since_ns, 10);
    out_str(o, "  ");
    if (run->raised)
        sched_put_ms(o, run->since_ns - run->raise_ns, 10);
    else
        out_fill(o, ' ', 10);
    out_char(o, ' ');
    bool ok = true;
    if (t->stacks) {
        out_str(o, "  ");
        ok = stack_text_put(t->stacks, run->loc, o);
    }
    out_char(o, '\n');
    return ok;
}

/* ---- top ---- */

static double percent(uint64_t ns, uint64_t of_ns) {
    return of_ns ? 100.0 * (double)ns / (double)of_ns : 0.0;
}

static void put_cpu(struct out *o, const struct kwork_top_cpu *c, uint64_t window_ns) {
    enum { BAR = 30 };
    double busy = percent(c->run_ns + c->idle_inner_ns, window_ns);
    busy = busy < 100 ? busy : 100;
    size_t marks = (size_t)(busy * BAR / 100);
    out_printf(o, "%%Cpu%-4" PRIu32 "[", c->number);
    out_fill(o, '|', marks);
    out_fill(o, ' ', BAR - marks);
    out_printf(o, "%7.2f%%]\n", busy);
}

void kwork_text_top(const struct kwork_text *t, const struct kwork_top *top) {
    struct out *o = t->out;
    uint64_t idle = 0, irq = 0, softirq = 0, total_ns = top->window_ns * top->cpus.count;
    for (size_t i = 0; i < top->cpus.count; i++) {
        idle += top->cpus.items[i].idle_ns;
        irq += top->cpus.items[i].irq_ns;
        softirq += top->cpus.items[i].softirq_ns;
    }
    out_str(o, "\nTotal  : ");
    sched_put_ms(o, total_ns, 10);
    out_printf(o, " ms, %zu cpus\n", top->cpus.count);
    out_printf(o, "%%Cpu(s): %6.2f%% id, %6.2f%% hi, %6.2f%% si\n", percent(idle, total_ns),
               percent(irq, total_ns), percent(softirq, total_ns));
    for (size_t i = 0; i < top->cpus.count && !o->failed; i++)
        put_cpu(o, &top->cpus.items[i], top->window_ns);
    out_printf(o, "\n%9s%8s%18s  %-16s\n  ", "PID", "%CPU", "RUNTIME", "COMMAND");
    out_fill(o, '-', 52);
    out_char(o, '\n');
    for (size_t i = 0; i < top->threads.count && !o->failed; i++) {
        const struct kwork_top_thread *x = &top->threads.items[i];
        char comm[64];
        sched_put_name(kwork_top_name(top, x), x->tid, comm, sizeof comm);
        if (!is_wanted(t, comm))
            continue;
        out_printf(o, "%9" PRIu32 "%8.2f", x->tid, percent(x->run_ns, top->window_ns));
        sched_put_ms(o, x->run_ns, 15);
        out_printf(o, " ms  %-16s\n", comm);
    }
    out_char(o, '\n');
}
