/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/events/event_name.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* In the order of enum perf_hw_id and enum perf_sw_ids. perf has no names for the software events after
 * DUMMY. */
static const char *const HARDWARE[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};
static const char *const SOFTWARE[] = {
    "cpu-clock",    "task-clock",   "page-faults",      "context-switches", "cpu-migrations",
    "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
};

/* config: cache | op << 8 | result << 16 (perf_event_open(2)) */
enum { OP_READ = 1, OP_WRITE = 2, OP_PREFETCH = 4, OP_COUNT = 3, RESULT_COUNT = 2 };
static const struct {
    const char *name;
    uint8_t ops; /* those that exist for this cache */
} CACHES[] = {
    {"L1-dcache", OP_READ | OP_WRITE | OP_PREFETCH},
    {"L1-icache", OP_READ | OP_PREFETCH},
    {"LLC", OP_READ | OP_WRITE | OP_PREFETCH},
    {"dTLB", OP_READ | OP_WRITE | OP_PREFETCH},
    {"iTLB", OP_READ},
    {"branch", OP_READ},
    {"node", OP_READ | OP_WRITE | OP_PREFETCH},
};
static const char *const CACHE_OPS[OP_COUNT][RESULT_COUNT] = {
    {"loads", "load-misses"},
    {"stores", "store-misses"},
    {"prefetches", "prefetch-misses"},
};

static const char *const ABI_PMUS[] = {
    [PERFDATA_TYPE_SOFTWARE] = "software",
    [PERFDATA_TYPE_TRACEPOINT] = "tracepoint",
    [PERFDATA_TYPE_RAW] = "cpu",
    [PERFDATA_TYPE_BREAKPOINT] = "breakpoint",
};

/* The span up to `end`, which is stepped over; all of it without one. */
static struct bytes take_until(struct bytes *rest, uint8_t end) {
    const uint8_t *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;
    struct bytes part = {rest->data, at ? (size_t)(at - rest->data) : rest->size};
    size_t step = part.size + (at != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    return part;
}

static bool decimal(struct bytes text, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || *value > UINT64_MAX / 16)
            return false;
        *value = *value * 10 + (uint64_t)(text.data[i] - '0');
    }
    return text.size > 0;
}

/* META_INFO's event_type_info: lines of "NAME,TYPE,CONFIG". */
static bool read_meta_names(struct perfdata_namer *n, struct bytes lines) {
    size_t most = 1;
    for (size_t i = 0; i < lines.size; i++)
        most += lines.data[i] == '\n';
    n->meta_names = arena_alloc(&n->arena, most * sizeof *n->meta_names);
    if (!n->meta_names)
        return false;
    for (uint32_t count = 0; lines.size;) {
        struct bytes line = take_until(&lines, '\n');
        struct bytes name = take_until(&line, ','), type = take_until(&line, ',');
        uint64_t number, config;
        if (!decimal(type, &number) || number != PERFDATA_TYPE_TRACEPOINT || !decimal(line, &config))
            continue;
        n->meta_names[count] = name;
        if (!hash_map_set(&n->meta_by_id, config, count++))
            return false;
    }
    return true;
}

static bool read_meta_info(struct perfdata_namer *n, const struct perfdata_header *h) {
    static const char KEY[] = "event_type_info";
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(h, PERFDATA_FEATURE_SIMPLEPERF_META_INFO, &n->arena, &v))
        return !v.no_memory;
    for (uint32_t i = 0; i < v.pairs.count; i++) {
        struct bytes name = v.pairs.items[i].name;
        if (name.size == sizeof KEY - 1 && memcmp(name.data, KEY, name.size) == 0)
            return read_meta_names(n, v.pairs.items[i].value);
    }
    return true;
}

bool perfdata_namer_init(struct perfdata_namer *n, const struct perfdata_header *h) {
    *n = (struct perfdata_namer){0};
    struct perfdata_feature_value v;
    if (perfdata_feature_get(h, PERFDATA_FEATURE_PMU_MAPPINGS, &n->arena, &v))
        n->pmus = v.pmu_mappings;
    if (v.no_memory)
        return false;
    for (uint32_t i = 0; i < n->pmus.count; i++)
        if (!hash_map_set(&n->pmu_by_type, n->pmus.items[i].type, i))
            return false;
    if (!read_meta_info(n, h))
        return false;
    const struct perfdata_feature *tracing = perfdata_header_feature(h, PERFDATA_FEATURE_TRACING_DATA);
    if (!tracing || tracing->broken)
        return true;
    struct err err = ERR_INIT;
    return tracing_data_parse(tracing->content, &n->tracing, &err) || err.code != ERR_MEMORY;
}

void perfdata_namer_fini(struct perfdata_namer *n) {
    tracing_data_fini(&n->tracing);
    hash_map_fini(&n->pmu_by_type);
    hash_map_fini(&n->meta_by_id);
    arena_fini(&n->arena);
}

struct bytes perfdata_namer_pmu(const struct perfdata_namer *n, uint32_t type) {
    uint32_t i = hash_map_get(&n->pmu_by_type, type);
    if (i != HASH_ABSENT) {
        struct bytes name = n->pmus.items[i].name;
        return (struct bytes){name.data, bytes_text_len(name)};
    }
    if (type >= COUNT(ABI_PMUS) || !ABI_PMUS[type])
        return (struct bytes){NULL, 0};
    return (struct bytes){(const uint8_t *)ABI_PMUS[type], strlen(ABI_PMUS[type])};
}

const struct tracing_event *perfdata_namer_tracepoint(const struct perfdata_namer *n, uint64_t id) {
    return tracing_data_find(&n->tracing, id);
}

static void put(struct out *o, struct bytes b) {
    out_mem(o, (const char *)b.data, b.size);
}

/*
 * ":" and a letter for each mode that is counted when any of user, kernel and hypervisor is not; a p for each
 * level of precision; H or G when only the host or only the guest is counted.
 */
static void write_modifiers(const struct perfdata_attr *a, struct out *o) {
    char text[8];
    size_t n = 0;
    uint64_t f = a->flags;
    if (f & (PERFDATA_ATTR_EXCLUDE_KERNEL | PERFDATA_ATTR_EXCLUDE_USER | PERFDATA_ATTR_EXCLUDE_HV)) {
        if (!(f & PERFDATA_ATTR_EXCLUDE_KERNEL))
            text[n++] = 'k';
        if (!(f & PERFDATA_ATTR_EXCLUDE_USER))
            text[n++] = 'u';
        if (!(f & PERFDATA_ATTR_EXCLUDE_HV))
            text[n++] = 'h';
    }
    for (unsigned i = perfdata_attr_precise_ip(a); i; i--)
        text[n++] = 'p';
    bool no_host = f & PERFDATA_ATTR_EXCLUDE_HOST, no_guest = f & PERFDATA_ATTR_EXCLUDE_GUEST;
    if (no_host != no_guest)
        text[n++] = no_guest ? 'H' : 'G';
    if (n) {
        out_char(o, ':');
        out_mem(o, text, n);
    }
}

/* The upper half of config is the type of the core PMU that is meant, on machines with several kinds of core
 * (PERF_PMU_TYPE_SHIFT in perf_event.h). */
static void write_hardware(const struct perfdata_namer *n, const struct perfdata_attr *a, struct out *o) {
    uint32_t event = (uint32_t)a->config, pmu_type = (uint32_t)(a->config >> 32);
    const char *name = event < COUNT(HARDWARE) ? HARDWARE[event] : "unknown-hardware";
    if (!pmu_type) {
        out_str(o, name);
        return;
    }
    struct bytes pmu = perfdata_namer_pmu(n, pmu_type);
    if (!pmu.size)
        pmu = perfdata_namer_pmu(n, PERFDATA_TYPE_RAW);
    put(o, pmu);
    out_char(o, '/');
    out_str(o, name);
    out_char(o, '/');
}

static void write_cache(const struct perfdata_attr *a, struct out *o) {
    unsigned cache = a->config & 0xff, op = a->config >> 8 & 0xff, result = a->config >> 16 & 0xff;
    const char *problem = cache >= COUNT(CACHES)           ? "unknown-ext-hardware-cache-type"
                          : op >= OP_COUNT                 ? "unknown-ext-hardware-cache-op"
                          : result >= RESULT_COUNT         ? "unknown-ext-hardware-cache-result"
                          : !(CACHES[cache].ops >> op & 1) ? "invalid-cache"
                                                           : NULL;
    if (problem) {
        out_str(o, problem);
        return;
    }
    out_str(o, CACHES[cache].name);
    out_char(o, '-');
    out_str(o, CACHE_OPS[op][result]);
}

bool perfdata_namer_has_tracepoint(const struct perfdata_namer *n, uint64_t id) {
    const struct tracing_event *event = perfdata_namer_tracepoint(n, id);
    return (event && event->name.size) || hash_map_get(&n->meta_by_id, id) != HASH_ABSENT;
}

void perfdata_namer_write_tracepoint(const struct perfdata_namer *n, uint64_t id, struct out *o) {
    const struct tracing_event *event = perfdata_namer_tracepoint(n, id);
    uint32_t meta = hash_map_get(&n->meta_by_id, id);
    if (event && event->name.size) {
        put(o, event->system);
        out_char(o, ':');
        put(o, event->name);
    } else if (meta != HASH_ABSENT) {
        put(o, n->meta_names[meta]);
    }
}

static void write_breakpoint(const struct perfdata_attr *a, struct out *o) {
    out_str(o, "mem:0x");
    out_hex(o, a->config1, 0);
    out_char(o, ':');
    for (int i = 0; i < 3; i++) /* HW_BREAKPOINT_R, _W, _X in linux/hw_breakpoint.h */
        if (a->bp_type >> i & 1)
            out_char(o, "rwx"[i]);
}

void perfdata_event_name_write(const struct perfdata_namer *n, const struct perfdata_attr *a, struct out *o) {
    switch (a->type) {
    case PERFDATA_TYPE_HARDWARE:
        write_hardware(n, a, o);
        break;
    case PERFDATA_TYPE_SOFTWARE:
        out_str(o, a->config < COUNT(SOFTWARE) ? SOFTWARE[a->config] : "unknown-software");
        break;
    case PERFDATA_TYPE_TRACEPOINT:
        if (perfdata_namer_has_tracepoint(n, a->config))
            perfdata_namer_write_tracepoint(n, a->config, o);
        else
            out_printf(o, "unknown tracepoint id=%#llx", (unsigned long long)a->config);
        return;
    case PERFDATA_TYPE_HW_CACHE:
        write_cache(a, o);
        break;
    case PERFDATA_TYPE_RAW:
        out_str(o, "raw 0x");
        out_hex(o, a->config, 0);
        break;
    case PERFDATA_TYPE_BREAKPOINT:
        write_breakpoint(a, o);
        break;
    default:
        out_printf(o, "unknown event PMU=%u config=%#llx", a->type, (unsigned long long)a->config);
        return;
    }
    write_modifiers(a, o);
}

bool perfdata_event_name_rest(const struct perfdata_namer *n, struct perfdata_events *events) {
    struct out name;
    if (!out_init(&name, NULL, NULL))
        return false;
    bool ok = true;
    for (size_t i = 0; i < events->list.count && ok; i++) {
        if (events->list.items[i].name)
            continue;
        name.len = 0;
        perfdata_event_name_write(n, &events->list.items[i].attr, &name);
        ok = !name.failed && perfdata_events_name(events, (uint32_t)i, name.buf, name.len);
    }
    out_fini(&name);
    return ok;
}
