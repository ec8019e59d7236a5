/* SPDX-License-Identifier: Apache-2.0 */
#include "count/metric/table.h"

#include <strings.h>

/* Escapes stand before what would be an operator. */
#define CPU_CLOCK_TEXT "(cpu\\-clock if #target_cpu else task\\-clock)"

#define FRONTEND    "Slots for which the frontend had no operation"
#define BACKEND     "Slots for which the backend had no room"
#define SPECULATION "Slots that were lost to wrong guesses"
#define RETIRING    "Slots whose operations were finished"

static const struct metric BUILT_IN[] = {
    {"CPUs_utilized", "Default", CPU_CLOCK_TEXT " / (duration_time * 1e9)", "1CPUs",
     "How many CPUs were busy on average"},
    {"cs_per_second", "Default", "context\\-switches * 1e9 / " CPU_CLOCK_TEXT, "1cs/sec",
     "Context switches in a second of CPU time"},
    {"migrations_per_second", "Default", "cpu\\-migrations * 1e9 / " CPU_CLOCK_TEXT, "1migrations/sec",
     "Moves to another CPU in a second of CPU time"},
    {"page_faults_per_second", "Default", "page\\-faults * 1e9 / " CPU_CLOCK_TEXT, "1faults/sec",
     "Page faults in a second of CPU time"},
    {"cycles_frequency", "Default", "cpu\\-cycles / " CPU_CLOCK_TEXT, "1GHz",
     "Cycles in a nanosecond of CPU time"},
    {"insn_per_cycle", "Default", "instructions / cpu\\-cycles", "1instructions", "Instructions in a cycle"},
    {"branch_frequency", "Default", "branches / " CPU_CLOCK_TEXT, "1000M/sec",
     "Branches in a second of CPU time"},
    {"branch_miss_rate", "Default", "branch\\-misses / branches", "100%", "Branches that were mispredicted"},
    {"frontend_cycles_idle", "Default", "stalled\\-cycles\\-frontend / cpu\\-cycles", "100%",
     "Cycles in which the frontend stalled"},
    {"backend_cycles_idle", "Default", "stalled\\-cycles\\-backend / cpu\\-cycles", "100%",
     "Cycles in which the backend stalled"},
    {"stalled_cycles_per_instruction", "Default2",
     "max(stalled\\-cycles\\-frontend, stalled\\-cycles\\-backend) / instructions", "1",
     "Stalled cycles for each instruction"},
    {"l1d_miss_rate", "Default2", "L1\\-dcache\\-load\\-misses / L1\\-dcache\\-loads", "100%",
     "Loads that missed the first data cache"},
    {"llc_miss_rate", "Default2", "LLC\\-load\\-misses / LLC\\-loads", "100%",
     "Loads that missed the last cache"},
    {"l1i_miss_rate", "Default3", "L1\\-icache\\-load\\-misses / L1\\-icache\\-loads", "100%",
     "Fetches that missed the first instruction cache"},
    {"dtlb_miss_rate", "Default3", "dTLB\\-load\\-misses / dTLB\\-loads", "100%",
     "Loads that missed the data TLB"},
    {"itlb_miss_rate", "Default3", "iTLB\\-load\\-misses / iTLB\\-loads", "100%",
     "Fetches that missed the instruction TLB"},
    {"l1_prefetch_miss_rate", "Default4", "L1\\-dcache\\-prefetch\\-misses / L1\\-dcache\\-prefetches",
     "100%", "Prefetches that missed the first data cache"},
    {"tma_frontend_bound", "TopdownSlots", "topdown\\-fe\\-bound / slots", "100%", FRONTEND},
    {"tma_backend_bound", "TopdownSlots", "topdown\\-be\\-bound / slots", "100%", BACKEND},
    {"tma_bad_speculation", "TopdownSlots", "topdown\\-bad\\-spec / slots", "100%", SPECULATION},
    {"tma_retiring", "TopdownSlots", "topdown\\-retiring / slots", "100%", RETIRING},
    {"tma_heavy_operations", "TopdownSlots2", "topdown\\-heavy\\-ops / slots", "100%",
     "Slots whose finished operations were of instructions of several"},
    {"tma_light_operations", "TopdownSlots2", "(topdown\\-retiring - topdown\\-heavy\\-ops) / slots", "100%",
     "Slots whose finished operations were of simple instructions"},
    {"tma_branch_mispredicts", "TopdownSlots2", "topdown\\-br\\-mispredict / slots", "100%",
     "Slots that were lost to mispredicted branches"},
    {"tma_machine_clears", "TopdownSlots2", "(topdown\\-bad\\-spec - topdown\\-br\\-mispredict) / slots",
     "100%", "Slots that were lost as all had to be begun anew"},
    {"tma_fetch_latency", "TopdownSlots2", "topdown\\-fetch\\-lat / slots", "100%",
     "Slots for which the frontend was late"},
    {"tma_fetch_bandwidth", "TopdownSlots2", "(topdown\\-fe\\-bound - topdown\\-fetch\\-lat) / slots", "100%",
     "Slots for which the frontend had too few operations"},
    {"tma_memory_bound", "TopdownSlots2", "topdown\\-mem\\-bound / slots", "100%",
     "Slots for which the backend waited for memory"},
    {"tma_core_bound", "TopdownSlots2", "(topdown\\-be\\-bound - topdown\\-mem\\-bound) / slots", "100%",
     "Slots for which the backend waited for something else"},
    {"frontend_bound", "TopdownTotal", "topdown\\-fetch\\-bubbles / topdown\\-total\\-slots", "100%",
     FRONTEND},
    {"backend_bound", "TopdownTotal",
     "1 - (topdown\\-fetch\\-bubbles + topdown\\-slots\\-issued + topdown\\-recovery\\-bubbles) / "
     "topdown\\-total\\-slots",
     "100%", BACKEND},
    {"bad_speculation", "TopdownTotal",
     "(topdown\\-slots\\-issued - topdown\\-slots\\-retired + topdown\\-recovery\\-bubbles) / "
     "topdown\\-total\\-slots",
     "100%", SPECULATION},
    {"retiring", "TopdownTotal", "topdown\\-slots\\-retired / topdown\\-total\\-slots", "100%", RETIRING},
};

bool metric_table_init(struct metric_table *t) {
    *t = (struct metric_table){0};
    for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++) {
        struct metric *m = vec_push(&t->items);
        if (!m)
            return false;
        *m = BUILT_IN[i];
    }
    return true;
}

void metric_table_fini(struct metric_table *t) {
    vec_fini(&t->items);
    arena_fini(&t->arena);
}

const struct metric *metric_table_find(const struct metric_table *t, const char *name, size_t n) {
    for (size_t i = t->items.count; i-- > 0;) /* the newest counts */
        if (strlen(t->items.items[i].name) == n && strncasecmp(t->items.items[i].name, name, n) == 0)
            return &t->items.items[i];
    return NULL;
}

bool metric_matches(const struct metric *m, const char *name, size_t n) {
    if (strlen(m->name) == n && strncasecmp(m->name, name, n) == 0)
        return true;
    for (const char *g = m->groups; *g;) {
        size_t len = strcspn(g, ";");
        if (len == n && strncasecmp(g, name, n) == 0)
            return true;
        g += len + (g[len] != 0);
    }
    return false;
}
