/* SPDX-License-Identifier: Apache-2.0 */
#include "count/tool.h"

#include <stdio.h>

#include "count/topology.h"
#include "os/limits.h"

static bool count_one(void *ctx, uint32_t n) {
    (void)n;
    ++*(double *)ctx;
    return true;
}

/* How many CPUs the list in a file of /sys/devices/system/cpu has. */
static bool count_list(const struct sysfs *sys, const char *file, double *value) {
    struct arena a = ARENA_INIT;
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/%s", file);
    const char *text = sys->read(sys, path, &a, NULL);
    *value = 0;
    bool ok = text && perf_target_list(text, count_one, value);
    arena_fini(&a);
    return ok;
}

struct distinct {
    const struct sysfs *sys;
    enum count_level level;
    VEC(struct count_place) found;
    bool failed;
};

static bool add_place(void *ctx, uint32_t cpu) {
    struct distinct *d = ctx;
    struct count_place p, *slot;
    count_place_read(d->sys, (int32_t)cpu, d->level, 0, &p);
    for (size_t i = 0; i < d->found.count; i++)
        if (count_place_compare(&d->found.items[i], &p, d->level) == 0)
            return true;
    if ((slot = vec_push(&d->found)))
        *slot = p;
    d->failed = !slot;
    return slot != NULL;
}

/* How many cores, dies or packages the online CPUs make. */
static bool count_places(const struct sysfs *sys, enum count_level level, double *value) {
    struct distinct d = {.sys = sys, .level = level};
    struct arena a = ARENA_INIT;
    const char *text = sys->read(sys, "/sys/devices/system/cpu/online", &a, NULL);
    bool ok = text && perf_target_list(text, add_place, &d) && !d.failed;
    *value = (double)d.found.count;
    vec_fini(&d.found);
    arena_fini(&a);
    return ok;
}

static bool smt_on(const struct sysfs *sys, double *value) {
    struct arena a = ARENA_INIT;
    const char *text = sys->read(sys, "/sys/devices/system/cpu/smt/active", &a, NULL);
    *value = text && *text == '1';
    arena_fini(&a);
    return true;
}

static bool has_file(const struct sysfs *sys, const char *path, double *value) {
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    *value = sys->read(sys, path, &a, &err) || err.code == ERR_PERMISSION;
    arena_fini(&a);
    return true;
}

bool count_tool_value(const struct count_tool_times *t, uint32_t tool, double *value) {
    switch (tool) {
    case COUNT_TOOL_DURATION_TIME:
        *value = t->elapsed_ns;
        return true;
    case COUNT_TOOL_USER_TIME:
        *value = t->user_ns;
        return true;
    case COUNT_TOOL_SYSTEM_TIME:
        *value = t->system_ns;
        return true;
    case COUNT_TOOL_HAS_PMEM:
        return has_file(t->sys, "/sys/firmware/acpi/tables/NFIT", value);
    case COUNT_TOOL_NUM_CORES:
        return count_places(t->sys, COUNT_CORE, value);
    case COUNT_TOOL_NUM_CPUS:
        return count_list(t->sys, "present", value);
    case COUNT_TOOL_NUM_CPUS_ONLINE:
        return count_list(t->sys, "online", value);
    case COUNT_TOOL_NUM_DIES:
        return count_places(t->sys, COUNT_DIE, value);
    case COUNT_TOOL_NUM_PACKAGES:
        return count_places(t->sys, COUNT_SOCKET, value);
    case COUNT_TOOL_SMT_ON:
        return smt_on(t->sys, value);
    case COUNT_TOOL_CORE_WIDE:
        smt_on(t->sys, value);
        *value = *value == 0 || t->target_cpu;
        return true;
    case COUNT_TOOL_TARGET_CPU:
        *value = t->target_cpu;
        return true;
    default:
        return false;
    }
}

/* Fields 14 and 15 of /proc/PID/stat, 16 and 17 of children that were waited for (proc_pid_stat(5)); the name
 * before them may hold anything. */
static bool add_thread(const struct sysfs *sys, int32_t tid, bool children, double ticks[2]) {
    enum { BEFORE = 11 };
    struct arena a = ARENA_INIT;
    char path[64];
    snprintf(path, sizeof path, children ? "/proc/%d/stat" : "/proc/%d/task/%d/stat", (int)tid, (int)tid);
    const char *text = sys->read(sys, path, &a, NULL), *p = text ? strrchr(text, ')') : NULL;
    for (int i = 0; p && i <= BEFORE; i++)
        p = strchr(p + 1, ' ');
    unsigned long long n[4] = {0};
    bool ok = p && sscanf(p, "%llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3]) == 4;
    ticks[0] += ok ? (double)(n[0] + (children ? n[2] : 0)) : 0;
    ticks[1] += ok ? (double)(n[1] + (children ? n[3] : 0)) : 0;
    arena_fini(&a);
    return ok;
}

/* "cpu  USER NICE SYSTEM ..." (proc_stat(5)) */
static bool read_machine(const struct sysfs *sys, double ticks[2]) {
    struct arena a = ARENA_INIT;
    const char *text = sys->read(sys, "/proc/stat", &a, NULL);
    unsigned long long n[3];
    bool ok = text && sscanf(text, "cpu %llu %llu %llu", &n[0], &n[1], &n[2]) == 3;
    if (ok) {
        ticks[0] = (double)(n[0] + n[1]);
        ticks[1] = (double)n[2];
    }
    arena_fini(&a);
    return ok;
}

bool count_tool_cpu_time(const struct sysfs *sys, const struct perf_target *t, double *user_ns,
                         double *system_ns) {
    double ticks[2] = {0}, tick_ns = os_limits_tick_ns();
    bool any = false;
    if (t->system_wide)
        any = read_machine(sys, ticks);
    for (size_t i = 0; i < t->threads.count && !t->system_wide; i++)
        any |= add_thread(sys, t->threads.items[i].tid, t->exec, ticks);
    *user_ns = ticks[0] * tick_ns;
    *system_ns = ticks[1] * tick_ns;
    return any;
}
