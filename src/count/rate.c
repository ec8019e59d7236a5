/* SPDX-License-Identifier: Apache-2.0 */
#include "count/rate.h"

#include "format/perfdata/abi.h"

/* enum perf_hw_id and perf_hw_cache_id (linux/perf_event.h) */
enum {
    CYCLES = 0,
    INSTRUCTIONS = 1,
    CACHE_REFERENCES = 2,
    CACHE_MISSES = 3,
    BRANCHES = 4,
    BRANCH_MISSES = 5,
    STALLED_FRONTEND = 7,
    STALLED_BACKEND = 8,
    L1D = 0,
    L1I = 1,
    LL = 2,
    DTLB = 3,
    ITLB = 4,
    READ_MISS = 1 << 16,
};

/* `event` in relation to `of`. */
struct relation {
    uint32_t type;
    uint64_t event, of;
    const char *unit;
    enum count_rate_form form;
};

static const struct relation RELATIONS[] = {
    {PERFDATA_TYPE_HARDWARE, INSTRUCTIONS, CYCLES, " insn per cycle", COUNT_RATE_TWO},
    {PERFDATA_TYPE_HARDWARE, BRANCH_MISSES, BRANCHES, "of all branches", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HARDWARE, CACHE_MISSES, CACHE_REFERENCES, "of all cache refs", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HARDWARE, STALLED_FRONTEND, CYCLES, "frontend cycles idle", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HARDWARE, STALLED_BACKEND, CYCLES, "backend cycles idle", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HW_CACHE, L1D | READ_MISS, L1D, "of all L1-dcache accesses", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HW_CACHE, L1I | READ_MISS, L1I, "of all L1-icache accesses", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HW_CACHE, LL | READ_MISS, LL, "of all LL-cache accesses", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HW_CACHE, DTLB | READ_MISS, DTLB, "of all dTLB cache accesses", COUNT_RATE_PERCENT},
    {PERFDATA_TYPE_HW_CACHE, ITLB | READ_MISS, ITLB, "of all iTLB cache accesses", COUNT_RATE_PERCENT},
};

/* The modes that an event's name asks for ("u" of cycles:u): events of other modes are not compared. */
static const char *modes_of(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon ? colon : "";
}

static bool comparable(const struct count_event *a, const struct count_event *b) {
    bool same_group = a->cgroup && b->cgroup ? strcmp(a->cgroup, b->cgroup) == 0 : a->cgroup == b->cgroup;
    return same_group && (b->clock || strcmp(modes_of(a->name), modes_of(b->name)) == 0);
}

/* The count of an event beside that of `event`, by what it counts; NULL: there is none, or it is 0. */
static const struct count_cell *beside(const struct counts *c, size_t key, size_t event, uint32_t type,
                                       uint64_t config) {
    for (size_t i = 0; i < c->event_count; i++) {
        const struct count_event *e = &c->events[i];
        const struct count_cell *cell = counts_cell(c, key, i);
        if (e->type == type && e->config == config && !e->tool && comparable(&c->events[event], e) &&
            cell->state == COUNT_COUNTED && cell->value > 0)
            return cell;
    }
    return NULL;
}

static const struct count_cell *clock_beside(const struct counts *c, size_t key, size_t event) {
    for (size_t i = 0; i < c->event_count; i++)
        if (c->events[i].clock) {
            const struct count_cell *cell = beside(c, key, event, c->events[i].type, c->events[i].config);
            if (cell)
                return cell;
        }
    return NULL;
}

static struct count_rate per_second(double per_s) {
    static const char *const UNITS[] = {"/sec", "K/sec", "M/sec", "G/sec"};
    unsigned unit = 0;
    for (; unit < 3 && per_s >= 1000; unit++)
        per_s /= 1000;
    return (struct count_rate){per_s, UNITS[unit], COUNT_RATE_THREE};
}

unsigned count_rates(const struct counts *c, size_t key, size_t event, struct count_rate *out) {
    const struct count_event *e = &c->events[event];
    const struct count_cell *cell = counts_cell(c, key, event), *of;
    if (cell->state != COUNT_COUNTED)
        return 0;
    if (e->clock) {
        *out = (struct count_rate){c->elapsed_ns > 0 ? cell->value / c->elapsed_ns : 0, "CPUs utilized",
                                   COUNT_RATE_THREE};
        return c->elapsed_ns > 0;
    }
    for (size_t i = 0; i < sizeof RELATIONS / sizeof *RELATIONS && !e->tool; i++) {
        const struct relation *r = &RELATIONS[i];
        if (e->type != r->type || e->config != r->event || !(of = beside(c, key, event, r->type, r->of)))
            continue;
        double ratio = cell->value / of->value;
        *out = (struct count_rate){r->form == COUNT_RATE_PERCENT ? 100 * ratio : ratio, r->unit, r->form};
        return 1;
    }
    if (!(of = clock_beside(c, key, event)))
        return 0;
    if (e->type == PERFDATA_TYPE_HARDWARE && e->config == CYCLES && !e->tool)
        *out = (struct count_rate){cell->value / of->value, "GHz", COUNT_RATE_THREE};
    else
        *out = per_second(cell->value * (e->scale > 0 ? e->scale : 1) / of->value * 1e9);
    return 1;
}
