/* SPDX-License-Identifier: Apache-2.0 */
/* Features that say how CPUs, caches and memory hang together, from sysfs (Documentation/ABI/). */
#include <ctype.h>
#include <stdio.h>

#include "events/target.h"
#include "record/write/facts_internal.h"

static bool count_one(void *ctx, uint32_t n) {
    (void)n;
    ++*(uint32_t *)ctx;
    return true;
}

uint32_t record_facts_count_list(const char *list) {
    uint32_t n = 0;
    if (list)
        perf_target_list(list, count_one, &n);
    return n;
}

struct numbers {
    VEC(uint32_t) list;
};

static bool keep_number(void *ctx, uint32_t n) {
    uint32_t *p = vec_push(&((struct numbers *)ctx)->list);
    if (p)
        *p = n;
    return p != NULL;
}

static bool numbers_read(struct record_facts *f, const char *path, struct numbers *out) {
    const char *text = record_facts_read(f, "%s", path);
    *out = (struct numbers){0};
    return text && perf_target_list(text, keep_number, out) && out->list.count;
}

/* Adds a text to a list that has room, unless it is there. */
static void add_distinct(struct record_facts *f, struct perfdata_texts *list, const char *text) {
    if (!text)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp((const char *)list->items[i].data, text) == 0)
            return;
    struct bytes b = record_facts_text(f, text);
    if (b.data)
        list->items[list->count++] = b;
}

static uint32_t number_or(const char *text, uint32_t fallback) {
    return text ? (uint32_t)strtol(text, NULL, 10) : fallback;
}

#define TOPOLOGY "/sys/devices/system/cpu/cpu%u/topology/"

/* One entry for each CPU that NRCPUS counts as available, which readers rely on. */
static void add_cpu_topology(struct record_facts *f) {
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_CPU_TOPOLOGY};
    struct perfdata_cpu_topology *t = &v.cpu_topology;
    struct numbers cpus;
    if (!numbers_read(f, "/sys/devices/system/cpu/present", &cpus)) {
        vec_fini(&cpus.list);
        return;
    }
    size_t n = cpus.list.count;
    struct bytes *texts = arena_zalloc(&f->arena, 3 * n * sizeof *texts);
    t->cpus = arena_zalloc(&f->arena, n * sizeof *t->cpus);
    t->cores.items = texts;
    t->has_dies = true;
    for (size_t i = 0; i < n && texts && t->cpus; i++) {
        uint32_t cpu = cpus.list.items[i];
        t->threads.items = texts + n;
        t->dies.items = texts + 2 * n;
        add_distinct(f, &t->cores, record_facts_read(f, TOPOLOGY "core_siblings_list", cpu));
        add_distinct(f, &t->threads, record_facts_read(f, TOPOLOGY "thread_siblings_list", cpu));
        add_distinct(f, &t->dies, record_facts_read(f, TOPOLOGY "die_cpus_list", cpu));
        t->cpus[t->cpu_count++] = (struct perfdata_cpu_place){
            .core = number_or(record_facts_read(f, TOPOLOGY "core_id", cpu), UINT32_MAX),
            .socket = number_or(record_facts_read(f, TOPOLOGY "physical_package_id", cpu), UINT32_MAX),
            .die = number_or(record_facts_read(f, TOPOLOGY "die_id", cpu), UINT32_MAX),
        };
    }
    t->has_dies = t->dies.count != 0;
    if (t->cores.count && t->threads.count)
        record_facts_add(f, &v);
    vec_fini(&cpus.list);
}

/* A value of a node's meminfo: "Node 0 MemTotal:  123 kB". */
static uint64_t meminfo_kb(const char *text, const char *key) {
    const char *p = text ? strstr(text, key) : NULL;
    return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static void add_numa(struct record_facts *f) {
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_NUMA_TOPOLOGY};
    struct numbers nodes;
    if (numbers_read(f, "/sys/devices/system/node/online", &nodes) &&
        (v.numa.items = arena_zalloc(&f->arena, nodes.list.count * sizeof *v.numa.items)) != NULL) {
        for (size_t i = 0; i < nodes.list.count; i++) {
            uint32_t node = nodes.list.items[i];
            const char *info = record_facts_read(f, "/sys/devices/system/node/node%u/meminfo", node);
            const char *cpus = record_facts_read(f, "/sys/devices/system/node/node%u/cpulist", node);
            v.numa.items[v.numa.count++] =
                (struct perfdata_numa_node){node, meminfo_kb(info, "MemTotal:"), meminfo_kb(info, "MemFree:"),
                                            record_facts_text(f, cpus ? cpus : "")};
        }
        record_facts_add(f, &v);
    }
    vec_fini(&nodes.list);
}

#define CACHE "/sys/devices/system/cpu/cpu%u/cache/index%u/"

static bool same_cache(const struct perfdata_cache_level *a, const struct perfdata_cache_level *b) {
    return a->level == b->level && bytes_equal(a->type, b->type) && bytes_equal(a->map, b->map);
}

static struct bytes cache_text(struct record_facts *f, const char *name, uint32_t cpu, uint32_t index) {
    char path[128];
    snprintf(path, sizeof path, CACHE "%s", cpu, index, name);
    const char *text = record_facts_read(f, "%s", path);
    return record_facts_text(f, text ? text : "");
}

static uint32_t cache_number(struct record_facts *f, const char *name, uint32_t cpu, uint32_t index) {
    char path[128];
    snprintf(path, sizeof path, CACHE "%s", cpu, index, name);
    return number_or(record_facts_read(f, "%s", path), 0);
}

/* Each cache once, by level. */
static void add_caches(struct record_facts *f) {
    enum { INDEXES = 10 };
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_CACHE, .caches.version = 1};
    struct perfdata_caches *c = &v.caches;
    struct numbers cpus;
    if (!numbers_read(f, "/sys/devices/system/cpu/online", &cpus) ||
        !(c->items = arena_zalloc(&f->arena, cpus.list.count * INDEXES * sizeof *c->items))) {
        vec_fini(&cpus.list);
        return;
    }
    for (size_t i = 0; i < cpus.list.count; i++)
        for (uint32_t k = 0; k < INDEXES; k++) {
            uint32_t cpu = cpus.list.items[i];
            struct perfdata_cache_level l = {.level = cache_number(f, "level", cpu, k)};
            if (!l.level)
                break;
            l.type = cache_text(f, "type", cpu, k);
            l.map = cache_text(f, "shared_cpu_list", cpu, k);
            bool there = false;
            for (uint32_t j = 0; j < c->count; j++)
                there |= same_cache(&c->items[j], &l);
            if (there)
                continue;
            l.size = cache_text(f, "size", cpu, k);
            l.line_size = cache_number(f, "coherency_line_size", cpu, k);
            l.sets = cache_number(f, "number_of_sets", cpu, k);
            l.ways = cache_number(f, "ways_of_associativity", cpu, k);
            uint32_t at = c->count++;
            for (; at > 0 && c->items[at - 1].level > l.level; at--)
                c->items[at] = c->items[at - 1];
            c->items[at] = l;
        }
    if (c->count)
        record_facts_add(f, &v);
    vec_fini(&cpus.list);
}

/* The memory blocks of a node, "memoryN" in its directory, as a bitmap. */
static bool read_node(struct record_facts *f, uint32_t node, struct perfdata_memory_node *out) {
    enum { BLOCKS_MAX = 1 << 20 };
    char path[64];
    struct sysfs_names names;
    uint64_t blocks = 0;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u", node);
    if (!f->sys->list(f->sys, path, &f->arena, &names, NULL))
        return false;
    uint64_t *words = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < names.count; i++) {
            const char *name = names.items[i];
            if (strncmp(name, "memory", 6) != 0 || !isdigit((unsigned char)name[6]))
                continue;
            uint64_t n = strtoull(name + 6, NULL, 10);
            if (n >= BLOCKS_MAX)
                continue;
            if (words)
                words[n / 64] |= 1ull << n % 64;
            else if (n >= blocks)
                blocks = n + 1;
        }
        if (!words && (!blocks || !(words = arena_zalloc(&f->arena, (blocks + 63) / 64 * 8))))
            return false;
    }
    *out = (struct perfdata_memory_node){.node = node,
                                         .size = blocks,
                                         .bitmap_bits = blocks,
                                         .bitmap = {(uint8_t *)words, (blocks + 63) / 64, false}};
    return true;
}

static void add_memory(struct record_facts *f) {
    const char *block = record_facts_read(f, "/sys/devices/system/memory/block_size_bytes");
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_MEM_TOPOLOGY, .mem_topology.version = 1};
    struct perfdata_mem_topology *m = &v.mem_topology;
    struct numbers nodes = {0};
    if (block && (m->block_bytes = strtoull(block, NULL, 16)) != 0 &&
        numbers_read(f, "/sys/devices/system/node/online", &nodes) &&
        (m->items = arena_zalloc(&f->arena, nodes.list.count * sizeof *m->items)) != NULL) {
        for (size_t i = 0; i < nodes.list.count; i++)
            m->count += read_node(f, nodes.list.items[i], &m->items[m->count]);
        if (m->count)
            record_facts_add(f, &v);
    }
    vec_fini(&nodes.list);
}

bool record_facts_topology(struct record_facts *f) {
    add_cpu_topology(f);
    add_numa(f);
    add_caches(f);
    add_memory(f);
    return !f->failed;
}
