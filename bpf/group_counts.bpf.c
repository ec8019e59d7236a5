/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * One set of counters on each CPU serves any number of control groups: at each context switch, what the
 * counters have advanced by since the previous switch is added to the group that ran and to its ancestors.
 * Groups are those of the perf_event controller, as for the kernel's own per-group counters.
 */
#include "group_counts.h"
#include "kernel_groups.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_group_counts_options options;

__u64 untold; /* context switches for which no sched_switch event came */

/* What runs on this CPU, and what its counters were when that began. */
struct running {
    __u64 group; /* its id */
    int thread;  /* 0: idle */
    __u32 begun;
    __u32 busy;   /* the sums of this CPU are being updated: an interrupt must not do it, too */
    __u32 places; /* how many entries of `place` are used */
    __u32 place[BPF_GROUP_COUNTS_LEVELS]; /* numbers of the requested groups that `group` is, or lies in */
    struct bpf_group_counts_reading last[BPF_GROUP_COUNTS_EVENTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} counters SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, __u64); /* a group's id */
    __type(value, __u32);
} groups SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32); /* group * options.events + event. */
    __type(value, struct bpf_group_counts_reading);
} sums SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct running);
} cpus SEC(".maps");

/* Not inlined, so that the verifier checks it once and not for each event. */
__noinline int charge_event(__u32 e) {
    __u32 zero = 0, cpu = bpf_get_smp_processor_id();
    struct running *r = bpf_map_lookup_elem(&cpus, &zero);
    struct bpf_perf_event_value now;
    if (!r || e >= BPF_GROUP_COUNTS_EVENTS)
        return 0;
    /* A PMU may have no counter on this CPU. */
    if (bpf_perf_event_read_value(&counters, e * options.cpus + cpu, &now, sizeof now) != 0)
        return 0;
    struct bpf_group_counts_reading *last = &r->last[e];
    struct bpf_group_counts_reading more = {now.counter - last->value, now.enabled - last->enabled_ns,
                                            now.running - last->running_ns};
    *last = (struct bpf_group_counts_reading){now.counter, now.enabled, now.running};
    for (__u32 i = 0; i < BPF_GROUP_COUNTS_LEVELS; i++) {
        if (!r->begun || i >= r->places)
            break;
        __u32 at = r->place[i] * options.events + e;
        struct bpf_group_counts_reading *sum = bpf_map_lookup_elem(&sums, &at);
        if (!sum)
            continue;
        sum->value += more.value;
        sum->enabled_ns += more.enabled_ns;
        sum->running_ns += more.running_ns;
    }
    return 0;
}

static __always_inline void charge(struct running *r) {
    for (__u32 e = 0; e < BPF_GROUP_COUNTS_EVENTS && e < options.events; e++)
        charge_event(e);
    r->begun = 1;
}

/* From now on the control group of `css` runs on this CPU. */
static __always_inline void hold(struct running *r, struct cgroup_subsys_state *css) {
    __u64 group = BPF_CORE_READ(css, cgroup, kn, id);
    if (group == r->group)
        return;
    r->group = group;
    r->places = 0;
    for (int i = 0; i < BPF_GROUP_COUNTS_LEVELS && css; i++) {
        __u64 id = BPF_CORE_READ(css, cgroup, kn, id);
        __u32 *place = bpf_map_lookup_elem(&groups, &id);
        if (place && r->places < BPF_GROUP_COUNTS_LEVELS)
            r->place[r->places++] = *place;
        css = BPF_CORE_READ(css, parent);
    }
}

/*
 * Charges what was counted so far to the group that ran; from now on `next` runs. `prev`: the task that ran;
 * NULL: the one that was recorded as running.
 *
 * Some context switches come without an event (seen on Linux 6.18: 1 in 500). So sums are updated at each
 * event, even if the group stays the same: otherwise a missed switch would move all counts since the group
 * began to another group. Counts around a missed switch go to the thread that is found running.
 */
static __always_inline void turn(struct task_struct *prev, struct task_struct *next) {
    __u32 zero = 0;
    struct running *r = bpf_map_lookup_elem(&cpus, &zero);
    if (!r || r->busy)
        return;
    r->busy = 1;
    if (prev && BPF_CORE_READ(prev, pid) != r->thread) {
        if (r->begun)
            __sync_fetch_and_add(&untold, 1);
        hold(r, perf_state_of(prev));
    }
    charge(r);
    hold(r, perf_state_of(next));
    r->thread = BPF_CORE_READ(next, pid);
    r->busy = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next) {
    turn(prev, next);
    return 0;
}

/* A task moves itself to another group. A task that is moved while it runs on another CPU counts for its old
 * group until it is switched out. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_move) {
    turn(NULL, bpf_get_current_task_btf());
    return 0;
}

/* Not attached: user space runs it on each CPU at the start and before it reads the sums. */
SEC("raw_tp/sched_switch")
int now(void *ctx) {
    turn(NULL, bpf_get_current_task_btf());
    return 0;
}
