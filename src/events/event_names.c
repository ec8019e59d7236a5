/* SPDX-License-Identifier: Apache-2.0 */
#include "events/event_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/perfdata/abi.h"

/* enum perf_hw_id; names and aliases as perf-list(1) and `perf list hw` spell them. */
const struct event_name EVENT_NAMES_HARDWARE[] = {
    {"cpu-cycles", "cycles", 0, NULL},
    {"instructions", NULL, 1, NULL},
    {"cache-references", NULL, 2, NULL},
    {"cache-misses", NULL, 3, NULL},
    {"branch-instructions", "branches", 4, NULL},
    {"branch-misses", NULL, 5, NULL},
    {"bus-cycles", NULL, 6, NULL},
    {"stalled-cycles-frontend", "idle-cycles-frontend", 7, NULL},
    {"stalled-cycles-backend", "idle-cycles-backend", 8, NULL},
    {"ref-cycles", NULL, 9, NULL},
    {NULL, NULL, 0, NULL},
};

/* enum perf_sw_ids */
const struct event_name EVENT_NAMES_SOFTWARE[] = {
    {"cpu-clock", NULL, 0, "Time on a CPU, by a high-resolution timer of the CPU"},
    {"task-clock", NULL, 1, "Time on a CPU, by a high-resolution timer of the task"},
    {"page-faults", "faults", 2, "Page faults"},
    {"context-switches", "cs", 3, "Switches from one task to another"},
    {"cpu-migrations", "migrations", 4, "Moves of a task to another CPU"},
    {"minor-faults", NULL, 5, "Page faults that needed no I/O"},
    {"major-faults", NULL, 6, "Page faults that needed I/O"},
    {"alignment-faults", NULL, 7, "Unaligned accesses that the kernel handled"},
    {"emulation-faults", NULL, 8, "Instructions that the kernel emulated"},
    {"dummy", NULL, 9, "Counts nothing; carries side-band events"},
    {"bpf-output", NULL, 10, "Samples that BPF programs write"},
    {"cgroup-switches", NULL, 11, "Switches to a task of another cgroup"},
    {NULL, NULL, 0, NULL},
};

/* The numbers are those that perf prints for -e NAME (stat -vv). */
const struct event_name EVENT_NAMES_TOOL[] = {
    {"duration_time", NULL, 1, "Wall-clock time, in nanoseconds"},
    {"user_time", NULL, 2, "Time in user mode, in nanoseconds"},
    {"system_time", NULL, 3, "Time in the kernel, in nanoseconds"},
    {"has_pmem", NULL, 4, "1 if persistent memory is installed, else 0"},
    {"num_cores", NULL, 5, "Cores, each of one or more hardware threads"},
    {"num_cpus", NULL, 6, "Logical CPUs"},
    {"num_cpus_online", NULL, 7, "Logical CPUs that are online"},
    {"num_dies", NULL, 8, "Dies, each of one or more cores"},
    {"num_packages", NULL, 9, "Packages, each of one or more dies"},
    {"smt_on", NULL, 11, "1 if cores run several threads at once, else 0"},
    {"system_tsc_freq", NULL, 12, "Ticks of the time stamp counter per second"},
    {"core_wide", NULL, 13, "1 if both threads of a core are counted, or there is only one, else 0"},
    {"target_cpu", NULL, 14, "1 if CPUs are counted, 0 if tasks are"},
    {NULL, NULL, 0, NULL},
};

enum { CACHES = 7, OPS = 3, RESULTS = 2, SPELLINGS = 8 };

/* config: cache | op << 8 | result << 16 (perf_event_open(2)). The first spelling is the canonical one, the
 * others are perf's aliases; a longer one that begins with a shorter one stands first at the match. */
static const char *const CACHE_NAMES[CACHES][SPELLINGS] = {
    {"L1-dcache", "l1-d", "l1d", "L1-data"},
    {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    {"LLC", "L2"},
    {"dTLB", "d-tlb", "Data-TLB"},
    {"iTLB", "i-tlb", "Instruction-TLB"},
    {"branch", "branches", "bpu", "btb", "bpc"},
    {"node"},
};
static const uint8_t CACHE_OPS[CACHES] = {7, 5, 7, 7, 1, 1, 7}; /* bit per operation that exists */
static const char *const OP_NAMES[OPS][SPELLINGS] = {
    {"load", "loads", "read"},
    {"store", "stores", "write"},
    {"prefetch", "prefetches", "speculative-read", "speculative-load"},
};
static const char *const RESULT_NAMES[RESULTS][SPELLINGS] = {
    {"refs", "Reference", "ops", "access"},
    {"misses", "miss"},
};
/* What the list of events spells: "L1-dcache-loads", "L1-dcache-load-misses". */
static const char *const LISTED[OPS][RESULTS] = {
    {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};

/* A part of a name that ends at a hyphen or at the end; the longest spelling that fits. */
struct part {
    const char *at;
    size_t left;
};

static int take(struct part *p, const char *const spellings[][SPELLINGS], int count) {
    int found = -1;
    size_t longest = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < SPELLINGS && spellings[i][j]; j++) {
            size_t n = strlen(spellings[i][j]);
            if (n > longest && n <= p->left && strncasecmp(p->at, spellings[i][j], n) == 0 &&
                (n == p->left || p->at[n] == '-')) {
                found = i;
                longest = n;
            }
        }
    }
    if (found < 0)
        return -1;
    p->at += longest;
    p->left -= longest;
    if (p->left > 1) { /* the hyphen goes, unless nothing follows it */
        p->at++;
        p->left--;
    }
    return found;
}

/* cache[-op][-result]; without an operation it is a load, without a result an access. */
static bool find_cache(const char *name, size_t n, uint64_t *config) {
    struct part p = {name, n};
    int cache = take(&p, CACHE_NAMES, CACHES);
    if (cache < 0)
        return false;
    int op = take(&p, OP_NAMES, OPS), result = take(&p, RESULT_NAMES, RESULTS);
    if (p.left)
        return false;
    op = op < 0 ? 0 : op;
    result = result < 0 ? 0 : result;
    if (!(CACHE_OPS[cache] >> op & 1))
        return false;
    *config = (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16;
    return true;
}

static bool same(const char *want, const char *name, size_t n) {
    return want && strlen(want) == n && strncasecmp(want, name, n) == 0;
}

static bool find_row(const struct event_name *rows, const char *name, size_t n, uint64_t *config) {
    for (const struct event_name *r = rows; r->name; r++) {
        if (same(r->name, name, n) || same(r->alias, name, n)) {
            *config = r->config;
            return true;
        }
    }
    return false;
}

bool event_names_software(const char *name, size_t n, uint64_t *config) {
    return find_row(EVENT_NAMES_SOFTWARE, name, n, config);
}

bool event_names_find(const char *name, size_t n, uint32_t *type, uint64_t *config) {
    if (find_row(EVENT_NAMES_SOFTWARE, name, n, config))
        *type = PERFDATA_TYPE_SOFTWARE;
    else if (find_row(EVENT_NAMES_HARDWARE, name, n, config))
        *type = PERFDATA_TYPE_HARDWARE;
    else if (find_cache(name, n, config))
        *type = PERFDATA_TYPE_HW_CACHE;
    else if (find_row(EVENT_NAMES_TOOL, name, n, config))
        *type = EVENT_NAMES_TYPE_TOOL;
    else
        return false;
    return true;
}

bool event_names_cache(size_t i, char out[EVENT_NAMES_CACHE_MAX], uint64_t *config) {
    for (unsigned cache = 0; cache < CACHES; cache++) {
        for (unsigned op = 0; op < OPS; op++) {
            if (!(CACHE_OPS[cache] >> op & 1))
                continue;
            if (i >= RESULTS) {
                i -= RESULTS;
                continue;
            }
            snprintf(out, EVENT_NAMES_CACHE_MAX, "%s-%s", CACHE_NAMES[cache][0], LISTED[op][i]);
            *config = cache | op << 8 | (uint64_t)i << 16;
            return true;
        }
    }
    return false;
}
