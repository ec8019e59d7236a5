/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/by_bpf.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "bpf/dist/group_counts.h"
#include "os/bpf/bpf_maps.h"

static const char OPTION[] = "--bpf-counters";

/* The number of a group among those that are named. */
static bool number_group(struct count_by_bpf *b, const char *name, uint32_t *number) {
    uint32_t i = 0;
    while (i < b->groups.count && strcmp(b->groups.items[i], name) != 0)
        i++;
    *number = i;
    const char **slot = i < b->groups.count ? &b->groups.items[i] : vec_push(&b->groups);
    if (slot)
        *slot = name;
    return slot != NULL;
}

static bool number_events(struct count_by_bpf *b, const struct count_plan *p, struct err *err) {
    for (uint32_t i = 0; i < p->events.count; i++) {
        const struct count_plan_event *e = &p->events.items[i];
        struct count_by_bpf_event *own = vec_push(&b->events);
        if (!own)
            return err_memory(err, OPTION);
        *own = (struct count_by_bpf_event){0};
        if (!e->by_bpf)
            continue;
        own->counter = e->counted_by == i ? b->counters++ : b->events.items[e->counted_by].counter;
        if (!number_group(b, count_plan_cgroup(p, i), &own->group))
            return err_memory(err, OPTION);
    }
    return b->counters <= BPF_GROUP_COUNTS_EVENTS ||
           err_set(err, ERR_USAGE, OPTION, "at most %d events are counted so, and there are %u: name fewer",
                   BPF_GROUP_COUNTS_EVENTS, (unsigned)b->counters);
}

static bool load(struct count_by_bpf *b, const struct os_bpf *bpf, struct err *err) {
    if (!os_bpf_open(&b->object, bpf, &bpf_group_counts, err))
        return false;
    struct bpf_group_counts_rodata *data = os_bpf_data(&b->object, GROUP_COUNTS_MAP_RODATA);
    data->options = (struct bpf_group_counts_options){.events = b->counters, .cpus = b->cpus};
    os_bpf_set_entries(&b->object, GROUP_COUNTS_MAP_COUNTERS, b->counters * b->cpus);
    os_bpf_set_entries(&b->object, GROUP_COUNTS_MAP_GROUPS, (uint32_t)b->groups.count);
    os_bpf_set_entries(&b->object, GROUP_COUNTS_MAP_SUMS, (uint32_t)b->groups.count * b->counters);
    return os_bpf_load(&b->object, false, err);
}

/* Passes the groups to the program. Their ids are their folders' inode numbers (cgroups(7)). */
static bool put_groups(const struct count_by_bpf *b, const struct count_by_bpf_from *from, struct err *err) {
    for (uint32_t i = 0; i < b->groups.count; i++) {
        char path[1024];
        struct os_identity id;
        snprintf(path, sizeof path, "%s/%s", from->cgroup_folder, b->groups.items[i]);
        if (!from->proc->identity(from->proc->ctx, path, &id, err))
            return false;
        int why = -os_bpf_update(from->bpf, b->object.maps[GROUP_COUNTS_MAP_GROUPS].fd, &id.ino, &i);
        if (why)
            return err_errno(err, why, b->groups.items[i], "a BPF program cannot be told of the group");
    }
    return true;
}

static bool put_counters(const struct count_by_bpf *b, const struct os_bpf *bpf,
                         const struct count_counters *c, const struct count_plan *p,
                         const struct perf_target *t, struct err *err) {
    for (size_t i = 0; i < c->list.count; i++) {
        const struct count_counter *k = &c->list.items[i];
        const struct count_plan_event *e = &p->events.items[k->event];
        uint32_t cpu = (uint32_t)t->cpus.items[k->cpu];
        if (!e->by_bpf || k->fd < 0 || cpu >= b->cpus)
            continue;
        uint32_t key = b->events.items[k->event].counter * b->cpus + cpu, fd = (uint32_t)k->fd;
        int why = -os_bpf_update(bpf, b->object.maps[GROUP_COUNTS_MAP_COUNTERS].fd, &key, &fd);
        if (why == EOPNOTSUPP || why == EINVAL)
            return err_set(err, ERR_UNSUPPORTED, e->name,
                           "the kernel lets no BPF program read this event: count it without %s", OPTION);
        if (why)
            return err_errno(err, why, e->name, "a BPF program cannot be given the counter");
    }
    return true;
}

/* Makes each CPU add up what the task that runs there has counted until now. */
static bool settle(const struct count_by_bpf *b, const struct perf_target *t, struct err *err) {
    for (size_t i = 0; i < t->cpus.count; i++) {
        int why = -os_bpf_run_on(&b->object, GROUP_COUNTS_PROGRAM_NOW, (uint32_t)t->cpus.items[i]);
        if (why && why != ENXIO) /* it was turned off meanwhile */
            return err_errno(err, why, OPTION, "counters of CPU %d cannot be read by a BPF program",
                             (int)t->cpus.items[i]);
    }
    return true;
}

bool count_by_bpf_open(struct count_by_bpf *b, const struct count_by_bpf_from *from,
                       const struct count_counters *c, const struct count_plan *p,
                       const struct perf_target *t, struct err *err) {
    *b = (struct count_by_bpf){0};
    bool any = false;
    for (size_t i = 0; i < p->events.count; i++)
        any |= p->events.items[i].by_bpf;
    if (!any)
        return true;
    if (!from->bpf || !from->proc || !from->cgroup_folder)
        return err_set(err, ERR_ABSENT, OPTION,
                       "no hierarchy of control groups is mounted: mount -t cgroup2 none /sys/fs/cgroup");
    b->open = true;
    if (!number_events(b, p, err))
        return false;
    if (!(b->cpus = from->bpf->cpus(from->bpf->ctx)))
        return err_set(err, ERR_ABSENT, OPTION, "the number of CPUs is not known: is /sys mounted?");
    if (!(b->values = calloc(b->cpus, sizeof(struct bpf_group_counts_reading))))
        return err_memory(err, OPTION);
    return load(b, from->bpf, err) && put_groups(b, from, err) && put_counters(b, from->bpf, c, p, t, err) &&
           os_bpf_attach_one(&b->object, GROUP_COUNTS_PROGRAM_ON_SWITCH, err) &&
           os_bpf_attach_one(&b->object, GROUP_COUNTS_PROGRAM_ON_MOVE, err) && settle(b, t, err);
}

bool count_by_bpf_read(struct count_by_bpf *b, struct count_counters *c, const struct count_plan *p,
                       const struct perf_target *t, struct err *err) {
    const struct bpf_group_counts_reading *values = b->values;
    uint32_t at = UINT32_MAX; /* which sum is in values */
    if (!b->open)
        return true;
    if (!settle(b, t, err))
        return false;
    for (size_t i = 0; i < c->list.count; i++) {
        struct count_counter *k = &c->list.items[i];
        const struct count_by_bpf_event *e = &b->events.items[k->event];
        uint32_t key = e->group * b->counters + e->counter, cpu = (uint32_t)t->cpus.items[k->cpu];
        if (!p->events.items[k->event].by_bpf || cpu >= b->cpus)
            continue;
        int why = key == at ? 0
                            : -os_bpf_lookup(b->object.bpf, b->object.maps[GROUP_COUNTS_MAP_SUMS].fd, &key,
                                             b->values);
        if (why)
            return err_errno(err, why, OPTION, "the sums of a BPF program cannot be read");
        at = key;
        k->now = (struct count_reading){values[cpu].value, values[cpu].enabled_ns, values[cpu].running_ns};
    }
    const struct bpf_group_counts_bss *shared = os_bpf_data(&b->object, GROUP_COUNTS_MAP_BSS);
    log_line(LOG_INFO, "%s: %llu switches were not told of", OPTION, (unsigned long long)shared->untold);
    return true;
}

void count_by_bpf_fini(struct count_by_bpf *b) {
    if (b->object.bpf)
        os_bpf_close(&b->object);
    vec_fini(&b->events);
    vec_fini(&b->groups);
    free(b->values);
    *b = (struct count_by_bpf){0};
}
