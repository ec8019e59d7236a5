/* SPDX-License-Identifier: Apache-2.0 */
/* What `lock contention -b` measures, as the options say, handed to the programs. */
#include <stdlib.h>
#include <string.h>

#include "bpf/dist/locks.h"
#include "cmd/lock/lock_live.h"
#include "events/cgroups.h"

static bool put_targets(struct lock_live *l, const struct filter_ranges *ranges, uint64_t bit,
                        struct err *err) {
    const uint32_t one = 1;
    for (size_t i = 0; ranges && i < ranges->list.count; i++)
        for (uint64_t n = ranges->list.items[i].first; n <= ranges->list.items[i].last; n++) {
            uint64_t key = n | bit;
            int e = os_bpf_update(l->bpf, l->object.maps[LOCKS_MAP_TARGETS].fd, &key, &one);
            if (e < 0)
                return err_errno(err, -e, "-p", "too many processes or threads");
        }
    return true;
}

static bool put_cpus(struct lock_live *l, struct err *err) {
    const uint32_t one = 1;
    for (size_t i = 0; i < l->cpus->list.count; i++)
        for (uint64_t n = l->cpus->list.items[i].first; n <= l->cpus->list.items[i].last; n++) {
            uint32_t cpu = (uint32_t)n;
            int e = os_bpf_update(l->bpf, l->object.maps[LOCKS_MAP_CPUS].fd, &cpu, &one);
            if (e < 0)
                return err_errno(err, -e, "-C", "too many CPUs");
        }
    return true;
}

static bool put_lock(struct lock_live *l, uint64_t address, struct err *err) {
    const uint32_t one = 1;
    int e = os_bpf_update(l->bpf, l->object.maps[LOCKS_MAP_LOCKS].fd, &address, &one);
    return e >= 0 || err_errno(err, -e, "-L", "too many locks");
}

/* A variable of the kernel, or all of that name. */
static bool put_variable(struct lock_live *l, const char *name, struct err *err) {
    size_t found = 0, n = strlen(name);
    if (!l->kernel.text.size && !kernel_names_read(&l->kernel, err))
        return false;
    for (size_t i = 0; i < l->kernel.variables.list.count; i++) {
        const struct kallsyms_place *p = &l->kernel.variables.list.items[i];
        if (p->name.size != n || memcmp(p->name.data, name, n) != 0)
            continue;
        if (!put_lock(l, p->address, err))
            return false;
        found++;
    }
    return found || err_set(err, ERR_ABSENT, "--lock-filter",
                            "%s is no variable that this kernel lists: give the lock's address, which "
                            "'lock contention -b -l' shows",
                            name);
}

static bool put_locks(struct lock_live *l, struct err *err) {
    for (size_t i = 0; l->locks && i < l->locks->list.count; i++) {
        const char *text = l->locks->list.items[i];
        char *end = NULL;
        uint64_t address = strtoull(text, &end, 16);
        if (*text && !*end ? !put_lock(l, address, err) : !put_variable(l, text, err))
            return false;
    }
    return true;
}

static bool put_groups(struct lock_live *l, struct err *err) {
    const uint32_t one = 1;
    for (size_t i = 0; l->groups && i < l->groups->list.count; i++) {
        uint64_t id;
        if (!perf_cgroups_find(&os_proc_system, l->groups->list.items[i], &id))
            return err_set(err, ERR_ABSENT, l->groups->list.items[i], "there is no such control group");
        int e = os_bpf_update(l->bpf, l->object.maps[LOCKS_MAP_GROUPS].fd, &id, &one);
        if (e < 0)
            return err_errno(err, -e, "-G", "too many control groups");
    }
    return true;
}

/* The flags of events that have one of these types. */
static uint64_t flags_of(uint32_t types) {
    uint64_t flags = 0;
    for (unsigned f = 0; f < 64 && types; f++)
        if (types & UINT32_C(1) << lock_type(f))
            flags |= UINT64_C(1) << f;
    return flags;
}

static uint32_t told_apart_by(const struct lock_live *l) {
    if (l->owners)
        return BPF_LOCKS_BY_OWNER;
    return l->table.by == LOCK_BY_THREAD    ? BPF_LOCKS_BY_THREAD
           : l->table.by == LOCK_BY_ADDRESS ? BPF_LOCKS_BY_ADDRESS
           : l->table.by == LOCK_BY_GROUP   ? BPF_LOCKS_BY_GROUP
                                            : BPF_LOCKS_BY_STACK;
}

bool lock_live_load(struct lock_live *l, struct err *err) {
    static const uint32_t MAPS[] = {LOCKS_MAP_WAITS, LOCKS_MAP_SUMS, LOCKS_MAP_STACKS};
    if (!os_bpf_open(&l->object, l->bpf, &bpf_locks, err))
        return false;
    struct bpf_locks_rodata *data = os_bpf_data(&l->object, LOCKS_MAP_RODATA);
    data->options = (struct bpf_locks_options){
        .by = told_apart_by(l),
        .stacks = told_apart_by(l) == BPF_LOCKS_BY_STACK || l->site.filter,
        .all = l->all,
        .cpus = l->cpus && l->cpus->list.count,
        .types = flags_of(l->types),
        .locks = l->locks && l->locks->list.count,
        .groups = l->groups && l->groups->list.count,
    };
    for (size_t i = 0; l->entries && i < sizeof MAPS / sizeof *MAPS; i++)
        os_bpf_set_entries(&l->object, MAPS[i], l->entries);
    return os_bpf_load(&l->object, l->verbose, err) && put_targets(l, l->pids, 0, err) &&
           put_targets(l, l->tids, UINT64_C(1) << 32, err) && (!l->cpus || put_cpus(l, err)) &&
           put_locks(l, err) && put_groups(l, err);
}

bool lock_live_measure_process(struct lock_live *l, uint64_t pid, struct err *err) {
    struct filter_range one = {pid, pid};
    struct filter_ranges own = {.list = {&one, 1, 1}};
    return put_targets(l, &own, 0, err);
}
