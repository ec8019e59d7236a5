/* SPDX-License-Identifier: Apache-2.0 */
#include "count/topology.h"

#include <ctype.h>
#include <stdio.h>

#define CPU_FOLDER "/sys/devices/system/cpu/cpu%d"

struct look {
    const struct sysfs *sys;
    int32_t cpu;
    struct arena arena;
};

static const char *text_of(struct look *l, const char *file) {
    char path[128];
    snprintf(path, sizeof path, CPU_FOLDER "/%s", (int)l->cpu, file);
    return l->sys->read(l->sys, path, &l->arena, NULL);
}

static int32_t number_of(struct look *l, const char *file) {
    const char *text = text_of(l, file);
    return text ? (int32_t)strtol(text, NULL, 10) : 0;
}

/* The CPU's node is a link in its folder. */
static int32_t node_of(struct look *l) {
    char path[64];
    struct sysfs_names names;
    snprintf(path, sizeof path, CPU_FOLDER, (int)l->cpu);
    if (!l->sys->list(l->sys, path, &l->arena, &names, NULL))
        return 0;
    for (size_t i = 0; i < names.count; i++)
        if (strncmp(names.items[i], "node", 4) == 0 && isdigit((unsigned char)names.items[i][4]))
            return (int32_t)strtol(names.items[i] + 4, NULL, 10);
    return 0;
}

static void read_cache(struct look *l, unsigned want, struct count_place *out) {
    enum { INDEXES = 10 };
    for (unsigned i = 0; i < INDEXES; i++) {
        char file[64];
        snprintf(file, sizeof file, "cache/index%u/level", i);
        const char *text = text_of(l, file);
        unsigned level = text ? (unsigned)strtoul(text, NULL, 10) : 0;
        if (!text)
            break;
        if (want ? level != want : level <= out->cache_level)
            continue;
        snprintf(file, sizeof file, "cache/index%u/shared_cpu_list", i);
        out->cache_level = level;
        out->cache = number_of(l, file); /* the list begins with it */
    }
}

void count_place_read(const struct sysfs *sys, int32_t cpu, enum count_level level, unsigned cache_level,
                      struct count_place *out) {
    struct look l = {.sys = sys, .cpu = cpu};
    *out = (struct count_place){0};
    if (level == COUNT_NODE)
        out->node = node_of(&l);
    if (level == COUNT_CORE || level == COUNT_CLUSTER || level == COUNT_CACHE || level == COUNT_DIE ||
        level == COUNT_SOCKET)
        out->socket = number_of(&l, "topology/physical_package_id");
    if (level == COUNT_CORE || level == COUNT_CLUSTER || level == COUNT_CACHE || level == COUNT_DIE)
        out->die = number_of(&l, "topology/die_id");
    if (level == COUNT_CORE)
        out->core = number_of(&l, "topology/core_id");
    if (level == COUNT_CLUSTER)
        out->cluster = number_of(&l, "topology/cluster_id");
    if (level == COUNT_CACHE)
        read_cache(&l, cache_level, out);
    arena_fini(&l.arena);
}

void count_place_text(const struct count_place *p, int32_t cpu, enum count_level level,
                      char out[COUNT_PLACE_TEXT]) {
    int die = snprintf(out, COUNT_PLACE_TEXT, "S%d-D%d", (int)p->socket, (int)p->die);
    char *rest = out + die;
    size_t room = COUNT_PLACE_TEXT - (size_t)die;
    switch (level) {
    case COUNT_CPU:
        snprintf(out, COUNT_PLACE_TEXT, "CPU%d", (int)cpu);
        break;
    case COUNT_CORE:
        snprintf(rest, room, "-C%d", (int)p->core);
        break;
    case COUNT_CLUSTER:
        snprintf(rest, room, "-CLS%d", (int)p->cluster);
        break;
    case COUNT_CACHE:
        snprintf(rest, room, "-L%u-ID%d", p->cache_level, (int)p->cache);
        break;
    case COUNT_DIE:
        break;
    case COUNT_SOCKET:
        snprintf(out, COUNT_PLACE_TEXT, "S%d", (int)p->socket);
        break;
    case COUNT_NODE:
        snprintf(out, COUNT_PLACE_TEXT, "N%d", (int)p->node);
        break;
    default:
        *out = 0;
    }
}

static int order(int32_t a, int32_t b) {
    return (a > b) - (a < b);
}

int count_place_compare(const struct count_place *a, const struct count_place *b, enum count_level level) {
    int by = order(a->socket, b->socket);
    by = by ? by : order(a->die, b->die);
    switch (level) {
    case COUNT_CORE:
        return by ? by : order(a->core, b->core);
    case COUNT_CLUSTER:
        return by ? by : order(a->cluster, b->cluster);
    case COUNT_CACHE:
        by = by ? by : order((int32_t)a->cache_level, (int32_t)b->cache_level);
        return by ? by : order(a->cache, b->cache);
    case COUNT_NODE:
        return order(a->node, b->node);
    default:
        return by;
    }
}
