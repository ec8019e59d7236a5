/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/plan.h"

#include <time.h>

#include "events/event_attr.h"
#include "events/event_names.h"

enum { SOFTWARE_CPU_CLOCK = 0, SOFTWARE_TASK_CLOCK = 1 };

static void plan_counter(struct count_plan_event *p, const struct perf_events *events, uint32_t index,
                         const struct count_options *o, const struct perf_target *t) {
    const struct perf_event *e = &events->items.items[index];
    const struct perf_event *first = &events->items.items[e->leader];
    bool leader = e->leader == index;
    *p = (struct count_plan_event){
        .attr = e->attr,
        .name = e->name,
        .filter = e->filter,
        .probe_path = e->probe_path,
        .cpus = e->cpus,
        .leader = e->leader,
        .members = e->members,
        .weak = first->modifiers & PERF_EVENT_WEAK,
        .max_precise = e->modifiers & PERF_EVENT_MAX_PRECISE,
        .percore = e->terms.given & PERF_TERM_PERCORE && e->terms.percore,
        .tool = e->kind == PERF_EVENT_TOOL ? (uint32_t)e->attr.config : 0,
    };
    struct perfdata_attr *a = &p->attr;
    a->sample_period = 0;
    a->read_format = PERFDATA_FORMAT_TOTAL_TIME_ENABLED | PERFDATA_FORMAT_TOTAL_TIME_RUNNING;
    p->mode_fixed = perf_event_attr_modes(a, e, o->all_user, o->all_kernel);
    perf_event_attr_set(a, PERFDATA_ATTR_DISABLED, leader);
    perf_event_attr_set(a, PERFDATA_ATTR_INHERIT, !o->no_inherit && !t->system_wide);
    if (e->terms.given & PERF_TERM_INHERIT)
        perf_event_attr_set(a, PERFDATA_ATTR_INHERIT, e->terms.inherit);
    perf_event_attr_set(a, PERFDATA_ATTR_ENABLE_ON_EXEC, leader && t->exec && !o->delay_ms);
    if (t->exec && (o->level == COUNT_THREAD || o->level == COUNT_COMM)) {
        p->leader = index; /* they all follow a ring's event (tasks.h) */
        p->members = 1;
        a->read_format |= PERFDATA_FORMAT_ID;
        a->sample_type = PERFDATA_SAMPLE_TIME;
        a->clockid = CLOCK_MONOTONIC;
        a->flags |= PERFDATA_ATTR_SAMPLE_ID_ALL | PERFDATA_ATTR_USE_CLOCKID;
        perf_event_attr_set(a, PERFDATA_ATTR_INHERIT_STAT, a->flags & PERFDATA_ATTR_INHERIT);
        perf_event_attr_set(a, PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC, false);
    }
    perf_event_attr_size(a);
}

static bool is_software(const struct count_plan_event *e) {
    return e->attr.type == PERFDATA_TYPE_SOFTWARE || e->attr.type == PERFDATA_TYPE_TRACEPOINT;
}

static void find_software(struct count_plan *p) {
    struct count_plan_event *items = p->events.items;
    for (size_t i = 0; i < p->events.count; i++)
        items[i].software = is_software(&items[i]);
    for (size_t i = 0; i < p->events.count; i++)
        if (!is_software(&items[i]))
            items[items[i].leader].software = false;
    for (size_t i = 0; i < p->events.count; i++)
        items[i].software &= items[items[i].leader].software;
}

/*
 * Each read of another CPU's counter interrupts that CPU. Software events always fit beside each other, so
 * those of a CPU can be one group, which gives all values at once; it makes no difference to what they count.
 */
static void join_software(struct count_plan *p, const struct perf_target *t) {
    uint32_t leader = UINT32_MAX;
    for (uint32_t i = 0; i < p->events.count && t->system_wide && !p->by_task; i++) {
        struct count_plan_event *e = &p->events.items[i];
        const uint64_t odd = PERFDATA_ATTR_PINNED | PERFDATA_ATTR_EXCLUSIVE;
        if (e->attr.type != PERFDATA_TYPE_SOFTWARE || e->members != 1 || e->filter || e->cpus || e->tool ||
            e->attr.flags & odd || p->shown.items[i].cgroup || p->cgroups.count)
            continue;
        leader = leader == UINT32_MAX || p->events.items[leader].members == COUNT_TOGETHER_MAX ? i : leader;
        e->together = true;
        e->leader = leader;
        e->members = 0;
        e->attr.read_format |= PERFDATA_FORMAT_GROUP;
        p->events.items[leader].members++;
        perf_event_attr_set(&e->attr, PERFDATA_ATTR_DISABLED, i == leader);
    }
}

/* Events of one kind on PMUs of one kind, and with COUNT_CGROUP those of several groups, are one row. */
static uint32_t row_of(const struct count_plan *p, const struct perf_events *events, uint32_t index,
                       const struct count_options *o) {
    const struct perf_event *e = &events->items.items[index];
    for (uint32_t i = 0; i < index; i++) {
        const struct perf_event *other = &events->items.items[i];
        if (strcmp(other->name, e->name) != 0 || p->shown.items[i].row_of != i)
            continue;
        if (o->level == COUNT_CGROUP && e->cgroup && other->cgroup && strcmp(e->cgroup, other->cgroup) != 0)
            return i;
        bool same_group = !e->cgroup || !other->cgroup || strcmp(e->cgroup, other->cgroup) == 0;
        if (!o->no_merge && o->level != COUNT_CPU && same_group && strcmp(other->pmu, e->pmu) != 0)
            return i;
    }
    return index;
}

static void describe(struct count_plan *p, const struct perf_events *events, uint32_t index,
                     const struct count_options *o) {
    const struct perf_event *e = &events->items.items[index];
    bool clock = e->attr.type == PERFDATA_TYPE_SOFTWARE &&
                 (e->attr.config == SOFTWARE_CPU_CLOCK || e->attr.config == SOFTWARE_TASK_CLOCK);
    bool tool = e->kind == PERF_EVENT_TOOL, time = tool && strstr(e->name, "_time");
    p->shown.items[index] = (struct count_event){
        .name = e->name,
        .unit = clock     ? "msec"
                : time    ? "ns"
                : e->unit ? e->unit
                          : "",
        .cgroup = o->level == COUNT_CGROUP || !e->cgroup || !*e->cgroup ? NULL : e->cgroup,
        .scale = clock ? 1e-6 : e->scale,
        .type = e->attr.type,
        .config = e->attr.config,
        .tool = tool,
        .clock = clock,
        .row_of = row_of(p, events, index, o),
    };
}

/* The number of the event's control group among those that are named. */
static bool number_group(struct count_plan *p, uint32_t index, const char *cgroup) {
    const char *name = cgroup && *cgroup ? cgroup : "/";
    size_t i = 0;
    while (i < p->cgroups.count && strcmp(p->cgroups.items[i], name) != 0)
        i++;
    p->events.items[index].key = (uint32_t)i;
    const char **slot = i < p->cgroups.count ? &p->cgroups.items[i] : vec_push(&p->cgroups);
    if (slot)
        *slot = name;
    return slot != NULL;
}

const char *count_plan_cgroup(const struct count_plan *p, uint32_t event) {
    return p->cgroups.count ? p->cgroups.items[p->events.items[event].key] : p->shown.items[event].cgroup;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_event(const struct count_plan_event *a, const struct count_plan_event *b) {
    const struct perfdata_attr *x = &a->attr, *y = &b->attr;
    return strcmp(a->name, b->name) == 0 && x->type == y->type && x->config == y->config &&
           x->config1 == y->config1 && x->config2 == y->config2 && x->flags == y->flags &&
           same_text(a->filter, b->filter) && same_text(a->probe_path, b->probe_path) &&
           same_text(a->cpus, b->cpus);
}

/* Whether two events have the same place in groups of the same events: one counter can do for both. */
static bool same_place(const struct count_plan *p, uint32_t a, uint32_t b) {
    const struct count_plan_event *items = p->events.items;
    uint32_t first = items[a].leader, other = items[b].leader, n = items[first].members;
    bool same = a - first == b - other && n == items[other].members && same_event(&items[a], &items[b]);
    for (uint32_t i = 0; i < n && same; i++)
        same = first + i < p->events.count && other + i < p->events.count &&
               same_event(&items[first + i], &items[other + i]);
    return same;
}

static void share_counters(struct count_plan *p, bool by_bpf) {
    struct count_plan_event *items = p->events.items;
    for (uint32_t i = 0; i < p->events.count; i++) {
        items[i].counted_by = i;
        items[i].by_bpf = by_bpf && !items[i].tool && count_plan_cgroup(p, i);
        for (uint32_t k = 0; k < i && items[i].by_bpf && items[i].counted_by == i; k++)
            if (items[k].by_bpf && items[k].counted_by == k && same_place(p, i, k))
                items[i].counted_by = k;
    }
}

bool count_plan_init(struct count_plan *p, const struct perf_events *events, const struct count_options *o,
                     const struct perf_target *t, struct err *err) {
    *p = (struct count_plan){.on_exec = t->exec && !o->delay_ms,
                             .quiet = o->for_machines,
                             .by_task = t->exec && (o->level == COUNT_THREAD || o->level == COUNT_COMM)};
    for (uint32_t i = 0; i < events->items.count; i++) {
        const struct perf_event *e = &events->items.items[i];
        if (e->cgroup && *e->cgroup && !t->system_wide)
            return err_set(err, ERR_USAGE, "-G", "control groups are counted by CPU: use -a or -C");
        struct count_plan_event *planned = vec_push(&p->events);
        struct count_event *shown = vec_push(&p->shown);
        if (!planned || !shown)
            return err_memory(err, "events");
        plan_counter(planned, events, i, o, t);
        describe(p, events, i, o);
        if (o->level == COUNT_CGROUP && !number_group(p, i, e->cgroup))
            return err_memory(err, "events");
    }
    share_counters(p, o->bpf_counters);
    find_software(p);
    join_software(p, t);
    return true;
}

void count_plan_fini(struct count_plan *p) {
    vec_fini(&p->events);
    vec_fini(&p->shown);
    vec_fini(&p->cgroups);
    arena_fini(&p->arena);
}
