/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_metric.h"

#include "view/script/script_internal.h"

/* perf_event.h's numbers: enum perf_hw_id, and after those enum perf_sw_ids. */
enum counter {
    CYCLES = 0,
    INSTRUCTIONS = 1,
    CACHE_REFERENCES = 2,
    CACHE_MISSES = 3,
    BRANCHES = 4,
    BRANCH_MISSES = 5,
    STALLED_FRONTEND = 7,
    STALLED_BACKEND = 8,
    SOFTWARE = 10,
    CPU_CLOCK = SOFTWARE,
    TASK_CLOCK,
    PAGE_FAULTS,
    EMULATION_FAULTS = SOFTWARE + 8,
};

/* The metrics: `of` divided by `per`; texts are perf's. */
static const struct {
    uint8_t of, per;
    uint8_t factor;
    const char *format;
} figures[] = {
    {INSTRUCTIONS, CYCLES, 1, " %7.2f  insn per cycle"},
    {CACHE_MISSES, CACHE_REFERENCES, 100, " %8.3f %% of all cache refs"},
    {BRANCH_MISSES, BRANCHES, 100, " %7.2f%% of all branches"},
    {STALLED_FRONTEND, CYCLES, 100, " %7.2f%% frontend cycles idle"},
    {STALLED_BACKEND, CYCLES, 100, " %7.2f%% backend cycles idle"},
};

void script_metric_add(struct script_metric *m, const struct perfdata_attr *attr, uint64_t moved) {
    /* The upper half of a hardware event's config is the type of cores (PERF_PMU_TYPE_SHIFT). */
    uint64_t config = attr->type == PERFDATA_TYPE_HARDWARE ? attr->config & UINT32_MAX : attr->config;
    uint64_t n = attr->type == PERFDATA_TYPE_HARDWARE ? config : SOFTWARE + config;
    if ((attr->type != PERFDATA_TYPE_HARDWARE && attr->type != PERFDATA_TYPE_SOFTWARE) ||
        config >= SOFTWARE || n > EMULATION_FAULTS || !moved || m->moved[n])
        return;
    m->moved[n] = moved;
    m->members[m->count++] = (uint8_t)n;
}

static void start_line(struct script_print *p, const struct script_sample *x) {
    script_print_sample_start(p, x);
    out_str(p->out, "\tmetric:");
}

/* Prints a number per second, as 51.000 K/sec. */
static void print_rate(struct out *out, double a_second) {
    static const char units[] = " KMGT";
    unsigned unit = 0;
    while (a_second >= 1000 && unit + 1 < sizeof units - 1) {
        a_second /= 1000;
        unit++;
    }
    out_printf(out, " %8.3f ", a_second);
    if (unit)
        out_char(out, units[unit]);
    out_str(out, "/sec");
}

void script_metric_print(const struct script_metric *m, struct script_print *p,
                         const struct script_sample *x) {
    uint64_t clock_ns = m->moved[CPU_CLOCK] ? m->moved[CPU_CLOCK] : m->moved[TASK_CLOCK];
    if (!(p->plans.items[x->event].fields & SCRIPT_BIT(METRIC)))
        return;
    for (unsigned i = 0; i < m->count; i++) {
        unsigned n = m->members[i];
        for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
            if (figures[f].of != n || !m->moved[figures[f].per])
                continue;
            start_line(p, x);
            out_printf(p->out, figures[f].format,
                       (double)m->moved[n] * figures[f].factor / (double)m->moved[figures[f].per]);
            out_char(p->out, '\n');
        }
        if (!clock_ns || (n != CYCLES && n < PAGE_FAULTS))
            continue;
        start_line(p, x);
        if (n == CYCLES)
            out_printf(p->out, " %8.3f GHz", (double)m->moved[n] / (double)clock_ns);
        else
            print_rate(p->out, (double)m->moved[n] * 1e9 / (double)clock_ns);
        out_char(p->out, '\n');
    }
}
