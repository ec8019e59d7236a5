/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The time between two events in one thread, summed here: from the latest of the first kind to one of the
 * second. The programs use none of the tracepoints' arguments, so they can be attached to any.
 *
 *     on_begin     begins, or begins anew
 *     on_end       ends
 *     on_both      instead of them, if both are the same event
 */
#include "latency.h"
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_latency_options options;

/* When it began, by thread; of idle threads by CPU, with bit 32 set. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 16);
    __type(key, __u64);
    __type(value, __u64);
} begins SEC(".maps");

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

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_latency_sum);
} sums SEC(".maps");

static const __u32 ZERO;

static bool is_wanted(__u64 id) {
    if (options.cpus) {
        __u32 cpu = bpf_get_smp_processor_id();
        if (!bpf_map_lookup_elem(&cpus, &cpu))
            return false;
    }
    if (options.all)
        return true;
    __u64 pid = id >> 32, tid = (__u32)id | 1ull << 32;
    return bpf_map_lookup_elem(&targets, &pid) || bpf_map_lookup_elem(&targets, &tid);
}

static __u64 thread_key(__u64 id) {
    __u32 tid = (__u32)id;
    return tid ? tid : 1ull << 32 | bpf_get_smp_processor_id();
}

static __u32 bucket_of(__u64 ns) {
    __u64 v = options.unit_ns > 1 ? ns / 1000 : ns, bucket = 0;
    if (options.range) {
        if (v >= options.least)
            bucket = (v - options.least) / options.range + (options.least != 0);
    } else {
        for (int i = 0; i < BPF_LATENCY_BUCKETS && v; i++, v >>= 1)
            bucket++;
    }
    return bucket < options.last ? bucket : options.last;
}

static void add(struct bpf_latency_sum *s, __u64 ns) {
    __u32 bucket = bucket_of(ns);
    if (bucket < BPF_LATENCY_BUCKETS)
        s->buckets[bucket]++;
    if (!s->count || ns < s->min_ns)
        s->min_ns = ns;
    if (ns > s->max_ns)
        s->max_ns = ns;
    s->total_ns += ns;
    s->count++;
}

static int begin(__u64 id) {
    __u64 key = thread_key(id), now = bpf_ktime_get_ns();
    if (bpf_map_update_elem(&begins, &key, &now, BPF_ANY)) {
        struct bpf_latency_sum *s = bpf_map_lookup_elem(&sums, &ZERO);
        if (s)
            s->full++;
    }
    return 0;
}

static int end(__u64 id) {
    __u64 key = thread_key(id), now = bpf_ktime_get_ns();
    __u64 *since = bpf_map_lookup_elem(&begins, &key);
    struct bpf_latency_sum *s = bpf_map_lookup_elem(&sums, &ZERO);
    if (!s)
        return 0;
    if (since && *since <= now)
        add(s, now - *since);
    else
        s->unmatched += !options.same;
    if (since)
        bpf_map_delete_elem(&begins, &key);
    return 0;
}

SEC("raw_tp/sched_waking")
int on_begin(void *ctx) {
    __u64 id = bpf_get_current_pid_tgid();
    return is_wanted(id) ? begin(id) : 0;
}

SEC("raw_tp/sched_switch")
int on_end(void *ctx) {
    __u64 id = bpf_get_current_pid_tgid();
    return is_wanted(id) ? end(id) : 0;
}

SEC("raw_tp/sched_waking")
int on_both(void *ctx) {
    __u64 id = bpf_get_current_pid_tgid();
    if (!is_wanted(id))
        return 0;
    end(id);
    return begin(id);
}

/* Children of a measured process are measured. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    __u64 pid = parent->tgid, new = child->tgid;
    __u32 one = 1;
    if (pid != new &&bpf_map_lookup_elem(&targets, &pid))
        bpf_map_update_elem(&targets, &new, &one, BPF_ANY);
    return 0;
}
