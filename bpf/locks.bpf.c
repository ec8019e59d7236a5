/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * How long threads wait for the kernel's locks, summed here.
 *
 *     contention_begin     the wait begins; a mutex that no longer spins tells it again
 *     contention_end       it is added up, on this CPU
 *
 * A thread may wait for several locks at once, as an interrupt handler in it may wait, too: a wait is
 * identified by thread and lock, in idle threads by CPU and lock.
 */
#include "locks.h"
#include "kernel_groups.h"
#include "kernel_locks.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_locks_options options;

struct wait_key {
    __u64 thread, lock;
};

struct wait {
    __u64 since_ns, stack;
    __u32 flags, owner;
    char comm[16]; /* the owner's */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, struct wait_key);
    __type(value, struct wait);
} waits SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, struct bpf_locks_key);
    __type(value, struct bpf_locks_sum);
} sums SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, __u64);
    __type(value, struct bpf_locks_stack);
} stacks SEC(".maps");

/* Processes; threads have bit 32 set as well. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, __u64);
    __type(value, __u32);
} targets SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 13);
    __type(key, __u32);
    __type(value, __u32);
} cpus SEC(".maps");

/* Addresses. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 10);
    __type(key, __u64);
    __type(value, __u32);
} locks SEC(".maps");

/* Ids of control groups. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 10);
    __type(key, __u64);
    __type(value, __u32);
} groups SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_locks_counters);
} counters SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_locks_stack);
} scratch SEC(".maps");

static const __u32 ZERO;

static struct bpf_locks_counters *count(void) {
    return bpf_map_lookup_elem(&counters, &ZERO);
}

static bool in_groups(void) {
    struct cgroup_subsys_state *css = perf_state_of((struct task_struct *)bpf_get_current_task());
    for (int i = 0; i < BPF_LOCKS_LEVELS && css; i++) {
        __u64 id = BPF_CORE_READ(css, cgroup, kn, id);
        if (bpf_map_lookup_elem(&groups, &id))
            return true;
        css = BPF_CORE_READ(css, parent);
    }
    return false;
}

static bool wanted(__u64 pid_tid, __u32 flags, __u64 lock) {
    if (options.types && !(flags < 64 && options.types & 1ull << flags))
        return false;
    if (options.locks && !bpf_map_lookup_elem(&locks, &lock))
        return false;
    if (options.cpus) {
        __u32 cpu = bpf_get_smp_processor_id();
        if (!bpf_map_lookup_elem(&cpus, &cpu))
            return false;
    }
    if (options.groups && !in_groups())
        return false;
    if (options.all)
        return true;
    __u64 pid = pid_tid >> 32, tid = (__u32)pid_tid | 1ull << 32;
    return bpf_map_lookup_elem(&targets, &pid) || bpf_map_lookup_elem(&targets, &tid);
}

static __u64 thread_key(__u64 pid_tid) {
    __u32 tid = (__u32)pid_tid;
    return tid ? tid : 1ull << 32 | bpf_get_smp_processor_id();
}

static __u64 take_stack(void *ctx) {
    struct bpf_locks_stack *s = bpf_map_lookup_elem(&scratch, &ZERO);
    __u64 hash = 0x9e3779b97f4a7c15ull;
    if (!s)
        return 0;
    long bytes = bpf_get_stack(ctx, s->ips, sizeof s->ips, 0);
    if (bytes <= 0)
        return 0;
    __u32 n = (__u32)bytes / 8;
    for (__u32 i = 0; i < BPF_LOCKS_FRAMES; i++) {
        if (i >= n)
            break;
        hash = (hash ^ s->ips[i]) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    hash = hash ? hash : 1;
    if (bpf_map_lookup_elem(&stacks, &hash))
        return hash;
    s->count = n;
    if (bpf_map_update_elem(&stacks, &hash, s, BPF_NOEXIST) && !bpf_map_lookup_elem(&stacks, &hash)) {
        struct bpf_locks_counters *c = count();
        if (c)
            c->full_stacks++;
    }
    return hash;
}

/* A mutex stores its owner; a reader-writer semaphore does if the owner is a writer. The low bits of the word
 * are flags. */
static void find_owner(void *lock, __u32 flags, struct wait *w) {
    enum { READER_OWNED = 1, FLAGS = 7 };
    unsigned long owner = 0;
    if (flags & BPF_LOCK_MUTEX)
        owner = BPF_CORE_READ((struct mutex *)lock, owner.counter);
    else if (flags == BPF_LOCK_READ || flags == BPF_LOCK_WRITE)
        owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter);
    if ((flags & BPF_LOCK_MUTEX) == 0 && owner & READER_OWNED)
        return;
    struct task_struct *task = (struct task_struct *)(owner & ~(unsigned long)FLAGS);
    if (!task)
        return;
    w->owner = BPF_CORE_READ(task, pid);
    bpf_probe_read_kernel_str(w->comm, sizeof w->comm, &task->comm);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_begin, void *lock, unsigned int flags) {
    __u64 id = bpf_get_current_pid_tgid();
    struct wait_key key = {.thread = thread_key(id), .lock = (__u64)lock};
    struct wait w = {0};
    if (!wanted(id, flags, key.lock) || bpf_map_lookup_elem(&waits, &key))
        return 0;
    w.flags = flags;
    if (options.stacks)
        w.stack = take_stack(ctx);
    if (options.by == BPF_LOCKS_BY_OWNER)
        find_owner(lock, flags, &w);
    w.since_ns = bpf_ktime_get_ns();
    if (bpf_map_update_elem(&waits, &key, &w, BPF_ANY)) {
        struct bpf_locks_counters *c = count();
        if (c)
            c->full_waits++;
    }
    return 0;
}

static void add(struct bpf_locks_sum *s, __u64 ns) {
    s->count++;
    s->total_ns += ns;
    if (ns > s->max_ns)
        s->max_ns = ns;
    if (ns < s->min_ns)
        s->min_ns = ns;
}

static void add_up(const struct wait *w, __u64 id, __u64 lock, __u64 ns) {
    struct bpf_locks_key key = {.stack = w->stack, .flags = w->flags};
    struct bpf_locks_sum fresh = {.min_ns = ~0ull, .address = lock, .tid = (__u32)id, .pid = id >> 32};
    switch (options.by) {
    case BPF_LOCKS_BY_THREAD:
        key.what = (__u32)id;
        break;
    case BPF_LOCKS_BY_ADDRESS:
        key.what = lock;
        break;
    case BPF_LOCKS_BY_OWNER:
        key.what = w->owner;
        break;
    case BPF_LOCKS_BY_GROUP:
        key.what = BPF_CORE_READ(perf_state_of((struct task_struct *)bpf_get_current_task()), cgroup, kn, id);
        break;
    default:
        break;
    }
    struct bpf_locks_sum *s = bpf_map_lookup_elem(&sums, &key);
    if (!s) {
        if (options.by == BPF_LOCKS_BY_OWNER) {
            fresh.tid = w->owner;
            __builtin_memcpy(fresh.comm, w->comm, sizeof fresh.comm);
        } else {
            bpf_get_current_comm(fresh.comm, sizeof fresh.comm);
        }
        /* Other CPUs' values of a new key are zero: no counts. */
        bpf_map_update_elem(&sums, &key, &fresh, BPF_NOEXIST);
        s = bpf_map_lookup_elem(&sums, &key);
    }
    if (!s) {
        struct bpf_locks_counters *c = count();
        if (c)
            c->full_sums++;
        return;
    }
    if (!s->count) {
        s->min_ns = ~0ull;
        s->address = lock;
        s->tid = fresh.tid;
        s->pid = fresh.pid;
        if (options.by == BPF_LOCKS_BY_OWNER)
            __builtin_memcpy(s->comm, w->comm, sizeof s->comm);
        else
            bpf_get_current_comm(s->comm, sizeof s->comm);
    }
    if (options.by == BPF_LOCKS_BY_OWNER)
        s->tid = w->owner;
    add(s, ns);
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_end, void *lock, int ret) {
    __u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
    struct wait_key key = {.thread = thread_key(id), .lock = (__u64)lock};
    struct wait *w = bpf_map_lookup_elem(&waits, &key);
    if (!w)
        return 0;
    add_up(w, id, key.lock, now - w->since_ns);
    bpf_map_delete_elem(&waits, &key);
    return 0;
}

/* Children of a measured process are measured. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    __u64 pid = parent->tgid, new = child->tgid;
    __u32 one = 1;
    if (!options.all && pid != new &&bpf_map_lookup_elem(&targets, &pid))
        bpf_map_update_elem(&targets, &new, &one, BPF_ANY);
    return 0;
}
