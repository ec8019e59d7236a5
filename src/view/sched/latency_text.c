/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/latency_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "view/sched/sched_text.h"

enum { NAME_WIDTH = 21, RULE = 139, RULE_TOTAL = 113, RULE_END = 51 };

static void rule(struct out *o, size_t n) {
    out_char(o, ' ');
    out_fill(o, '-', n);
    out_char(o, '\n');
}

static void put_task(const struct latency_row *r, const struct states *s, struct out *o) {
    char text[96], comm[64];
    uint32_t tid = states_thread(s, r->thread)->tid;
    sched_name(s, r->thread, comm, sizeof comm);
    if (r->threads > 1)
        snprintf(text, sizeof text, "%s:(%" PRIu32 ")", comm, r->threads);
    else
        snprintf(text, sizeof text, "%s:%" PRIu32, comm, tid);
    out_left(o, text, strlen(text), NAME_WIDTH);
}

static void put_row(const struct latency_row *r, const struct states *s, struct out *o) {
    out_str(o, "  ");
    put_task(r, s, o);
    out_str(o, " |");
    sched_put_ms(o, r->run_ns, 11);
    out_str(o, " ms |");
    out_dec(o, r->delays, 9);
    out_str(o, " | avg:");
    sched_put_ms(o, r->delays ? (r->delay_ns + r->delays / 2) / r->delays : 0, 8);
    out_str(o, " ms | max:");
    sched_put_ms(o, r->max_ns, 8);
    out_str(o, " ms | max start:");
    sched_put_seconds(o, r->max_since_ns, 13);
    out_str(o, " s | max end:");
    sched_put_seconds(o, r->max_until_ns, 13);
    out_str(o, " s\n");
}

static void put_fault(struct out *o, const char *what, uint64_t count, uint64_t of, const char *of_what) {
    if (count)
        out_printf(o, "  INFO: %.3f%% %s (%" PRIu64 " out of %" PRIu64 "%s)\n",
                   of ? 100.0 * (double)count / (double)of : 0.0, what, count, of, of_what);
}

void latency_text_write(const struct latency *l, const struct states *s, struct out *o) {
    uint64_t run_ns = 0, delays = 0, open = 0;
    out_char(o, '\n');
    rule(o, RULE);
    out_str(o, "  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max "
               "delay start"
               "           | Max delay end          |\n");
    rule(o, RULE);
    for (size_t i = 0; i < l->rows.count && !o->failed; i++) {
        const struct latency_row *r = &l->rows.items[i];
        put_row(r, s, o);
        run_ns += r->run_ns;
        delays += r->delays;
        open += r->open;
    }
    rule(o, RULE_TOTAL);
    out_str(o, "  TOTAL:                |");
    sched_put_ms(o, run_ns, 11);
    out_str(o, " ms |");
    out_dec(o, delays, 9);
    out_str(o, " |\n");
    rule(o, RULE_END);
    put_fault(o, "context switch bugs", s->faults.half_pairs, s->faults.switches, "");
    put_fault(o, "state machine bugs", s->faults.unwoken, s->faults.switches, "");
    if (s->faults.told)
        out_printf(o, "  INFO: %" PRIu64 " switches were not recorded: their times follow from run times\n",
                   s->faults.told);
    if (open)
        out_printf(o, "  INFO: the end of %" PRIu64 " %s is not known: not counted above\n", open,
                   open == 1 ? "wait" : "waits");
    out_char(o, '\n');
}
