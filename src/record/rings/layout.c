/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/layout.h"

#include <stdio.h>
#include <string.h>

#include "events/target.h"

void record_layout_fini(struct record_layout *l) {
    vec_fini(&l->groups);
}

static bool add_cpu(void *ctx, uint32_t cpu) {
    os_cpu_mask_add(ctx, cpu);
    return cpu < OS_AFFINITY_CPUS;
}

/* Those CPUs of a list "0-3,8" that are in `all`. */
static bool read_list(const char *text, const struct os_cpu_mask *all, struct os_cpu_mask *out) {
    *out = (struct os_cpu_mask){{0}};
    if (!perf_target_list(text, add_cpu, out))
        return false;
    os_cpu_mask_and(out, all);
    return true;
}

/* --- layouts that have a name --- */

/* A CPU's node, which sysfs shows as a link in its folder; false when there is none. */
static bool node_list(const struct sysfs *sys, int32_t cpu, struct arena *a, char path[96]) {
    struct sysfs_names names;
    char folder[64];
    snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%d", (int)cpu);
    if (!sys->list(sys, folder, a, &names, NULL))
        return false;
    for (size_t i = 0; i < names.count; i++)
        if (strncmp(names.items[i], "node", 4) == 0 && strlen(names.items[i]) < 16) {
            snprintf(path, 96, "/sys/devices/system/node/%s/cpulist", names.items[i]);
            return true;
        }
    return false;
}

/* The CPUs that share something with `cpu`: alone when nobody knows. `file`: of its topology, NULL: its node.
 */
static void neighbours(const struct sysfs *sys, const char *file, int32_t cpu, const struct os_cpu_mask *all,
                       struct os_cpu_mask *out) {
    struct arena a = ARENA_INIT;
    char path[96];
    bool known = true;
    if (file)
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", (int)cpu, file);
    else
        known = node_list(sys, cpu, &a, path);
    const char *text = known ? sys->read(sys, path, &a, NULL) : NULL;
    if (!text || !read_list(text, all, out))
        *out = (struct os_cpu_mask){{0}};
    os_cpu_mask_add(out, (uint32_t)cpu);
    arena_fini(&a);
}

static bool add_named(struct record_layout *l, const char *name, const struct sysfs *sys,
                      const struct os_cpu_mask *all, bool *known) {
    static const struct {
        const char *name, *file;
        bool alone;
    } NAMES[] = {{"cpu", NULL, true},
                 {"core", "core_cpus_list", false},
                 {"package", "package_cpus_list", false},
                 {"numa", NULL, false}};
    struct os_cpu_mask done = {{0}};
    *known = false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(NAMES[i].name, name) != 0)
            continue;
        *known = true;
        for (int32_t cpu = 0; cpu < OS_AFFINITY_CPUS; cpu++) {
            if (!os_cpu_mask_has(all, (uint32_t)cpu) || os_cpu_mask_has(&done, (uint32_t)cpu))
                continue;
            struct record_layout_group *g = vec_push(&l->groups);
            if (!g)
                return false;
            if (NAMES[i].alone)
                os_cpu_mask_add(&g->cpus, (uint32_t)cpu);
            else
                neighbours(sys, NAMES[i].file, cpu, all, &g->cpus);
            g->affinity = g->cpus;
            os_cpu_mask_or(&done, &g->cpus);
        }
    }
    return true;
}

/* --- masks --- */

static bool add_masks(struct record_layout *l, const char *text, const struct os_cpu_mask *all,
                      struct err *err) {
    struct os_cpu_mask read = {{0}}, runs = {{0}};
    char part[2][1024];
    for (const char *p = text;; p++) {
        size_t first = strcspn(p, "/:"), second = p[first] == '/' ? strcspn(p + first + 1, ":") : 0;
        struct record_layout_group *g = vec_push(&l->groups);
        if (!g)
            return err_memory(err, "threads");
        if (!second || first >= sizeof *part || second >= sizeof *part)
            return err_set(err, ERR_USAGE, "--threads",
                           "'%s': cpu, core, package, numa, or CPUS/CPUS:CPUS/CPUS...", text);
        snprintf(part[0], sizeof part[0], "%.*s", (int)first, p);
        snprintf(part[1], sizeof part[1], "%.*s", (int)second, p + first + 1);
        if (!read_list(part[0], all, &g->cpus) || !read_list(part[1], all, &g->affinity))
            return err_set(err, ERR_USAGE, "--threads", "'%s/%s' are no lists of CPUs", part[0], part[1]);
        if (os_cpu_mask_empty(&g->cpus) || os_cpu_mask_empty(&g->affinity))
            return err_set(err, ERR_USAGE, "--threads", "'%s/%s' has none of the CPUs that are recorded",
                           part[0], part[1]);
        if (os_cpu_mask_meets(&g->cpus, &read) || os_cpu_mask_meets(&g->affinity, &runs))
            return err_set(err, ERR_USAGE, "--threads", "'%s/%s' overlaps with one before", part[0], part[1]);
        os_cpu_mask_or(&read, &g->cpus);
        os_cpu_mask_or(&runs, &g->affinity);
        p += first + 1 + second;
        if (!*p)
            return true;
    }
}

bool record_layout_init(struct record_layout *l, const char *text, const struct sysfs *sys,
                        const int32_t *cpus, size_t count, struct err *err) {
    struct os_cpu_mask all = {{0}};
    bool known;
    *l = (struct record_layout){0};
    for (size_t i = 0; i < count; i++)
        if (cpus[i] >= 0)
            os_cpu_mask_add(&all, (uint32_t)cpus[i]);
    if (os_cpu_mask_empty(&all))
        return err_set(err, ERR_USAGE, "--threads", "it is for rings of CPUs, which --per-thread has not");
    if (!add_named(l, text, sys, &all, &known))
        return err_memory(err, "threads");
    return known || add_masks(l, text, &all, err);
}
