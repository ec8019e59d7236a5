/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/idle_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "view/sched/sched_text.h"

static struct idle_stack *row_of(struct idle_stacks *x, uint32_t cpu, uint32_t text) {
    uint64_t key = (uint64_t)cpu << 32 | text;
    uint32_t index = hash_map_get(&x->by_key, key);
    if (index != HASH_ABSENT)
        return &x->rows.items[index];
    struct idle_stack *row = x->rows.count < HASH_ABSENT ? vec_push(&x->rows) : NULL;
    if (!row || !hash_map_set(&x->by_key, key, (uint32_t)x->rows.count - 1))
        return NULL;
    row->cpu = cpu;
    row->text = text;
    return row;
}

bool idle_stacks_add(struct idle_stacks *x, const struct timehist_line *line) {
    struct out o;
    if (line->left_loc == UINT64_MAX)
        return true;
    bool ok = out_init(&o, NULL, NULL) && stack_text_put(x->stacks, line->left_loc, &o) && !o.failed;
    uint32_t text = ok ? strpool_add(&x->texts, o.buf, o.len) : STRPOOL_NONE;
    out_fini(&o);
    struct idle_stack *row = text == STRPOOL_NONE ? NULL : row_of(x, line->cpu, text);
    if (!row)
        return false;
    row->ns += line->run_ns;
    row->count++;
    return true;
}

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int by_cpu_and_time(const void *p, const void *q) {
    const struct idle_stack *a = p, *b = q;
    int by = compare_u64(a->cpu, b->cpu);
    by = by ? by : compare_u64(b->ns, a->ns);
    return by ? by : compare_u64(a->text, b->text);
}

void idle_stacks_write(struct idle_stacks *x, struct out *o) {
    out_str(o, "\nIdle stats by callchain:\n");
    if (x->rows.count)
        qsort(x->rows.items, x->rows.count, sizeof *x->rows.items, by_cpu_and_time);
    for (size_t i = 0; i < x->rows.count && !o->failed;) {
        uint64_t sum_ns = 0;
        size_t end = i;
        for (; end < x->rows.count && x->rows.items[end].cpu == x->rows.items[i].cpu; end++)
            sum_ns += x->rows.items[end].ns;
        out_printf(o, "  CPU %2" PRIu32 ":", x->rows.items[i].cpu);
        sched_put_ms_cut(o, sum_ns, 10);
        out_str(o, "  msec\n  Idle time (msec)     Count  Callchains\n  ");
        out_fill(o, '-', 16);
        out_str(o, "  --------  ");
        out_fill(o, '-', 50);
        for (; i < end; i++) {
            out_str(o, "\n  ");
            sched_put_ms_cut(o, x->rows.items[i].ns, 16);
            out_printf(o, "  %8" PRIu64 "  %s", x->rows.items[i].count,
                       strpool_text(&x->texts, x->rows.items[i].text));
        }
        out_str(o, "\n\n");
    }
}

void idle_stacks_fini(struct idle_stacks *x) {
    vec_fini(&x->rows);
    strpool_fini(&x->texts);
    hash_map_fini(&x->by_key);
}
