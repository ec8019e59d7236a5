/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Who woke a thread, and who had woken that one while it waited, and so on: for off_cpu.bpf.c alone.
 *
 *     wakers   hash of all members -> name, system call, hash of the waker before
 */
#ifndef SONDE_BPF_OFF_CPU_WAKERS_H
#define SONDE_BPF_OFF_CPU_WAKERS_H

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 13);
    __type(key, __u64);
    __type(value, struct bpf_off_cpu_waker);
} wakers SEC(".maps");

/* Whether what runs here is an interrupt, and not the current thread: then its entry, or the loop of
 * softirqs, is on the stack. */
static bool in_interrupt(void *ctx) {
    struct bpf_off_cpu_stack *s = bpf_map_lookup_elem(&scratch, &ZERO);
    long bytes = s ? bpf_get_stack(ctx, s->ips, sizeof s->ips, 0) : 0;
    if (!s || bytes <= 0)
        return true;
    for (__u32 i = 0; i < BPF_OFF_CPU_FRAMES && i < (__u32)bytes / 8; i++)
        for (__u32 k = 0; k < BPF_OFF_CPU_ENTRIES; k++)
            if (s->ips[i] - options.entries[k].start < options.entries[k].size)
                return true;
    return false;
}

/* The chain of wakers of a thread that has not run since `since_ns`, and is being woken. */
static __u64 waker_of(void *ctx, struct woken *self, __u64 since_ns, __u64 now) {
    struct bpf_off_cpu_waker w = {.call = BPF_OFF_CPU_INTERRUPT, .depth = 1};
    if (!in_interrupt(ctx)) {
        struct task_struct *by = bpf_get_current_task_btf();
        struct thread *t = bpf_task_storage_get(&threads, by, 0, 0);
        w.call = syscall_of(by);
        bpf_get_current_comm(w.comm, sizeof w.comm);
        if (t && t->woken.by && t->woken.at_ns > since_ns && t->woken.depth < BPF_OFF_CPU_WAKERS) {
            w.before = t->woken.by;
            w.depth += t->woken.depth;
        }
    }
    __u64 hash = 0x9e3779b97f4a7c15ull;
    for (__u32 i = 0; i < sizeof w / 8; i++) {
        hash = (hash ^ ((const __u64 *)&w)[i]) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    hash = hash ? hash : 1;
    if (!bpf_map_lookup_elem(&wakers, &hash)) {
        struct bpf_off_cpu_counters *c = count();
        __sync_fetch_and_add(&news, 1);
        if (bpf_map_update_elem(&wakers, &hash, &w, BPF_ANY)) {
            if (c)
                c->lost_wakers++;
            hash = 0;
        }
    }
    self->by = hash;
    self->at_ns = now;
    self->depth = w.depth;
    return hash;
}

#endif
