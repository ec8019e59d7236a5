/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Probes of programs with arguments, without tracefs. Two programs are attached to each place: the first may
 * sleep, so that memory which is not resident is read all the same; it makes the record of the hit, in memory
 * of the thread. The second, which may not, writes it where perf's rings are. The kernel calls what was
 * attached last first.
 *
 * Records look as those of tracefs' probes do.
 */
#include "probe.h"
#include "kernel.h"
#include "verifier.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_probe_options options;

struct thread {
    __u32 ready; /* a record has been made, and not written */
    __u32 used;  /* its bytes */
    __u64 registers[BPF_PROBE_REGISTERS];
    __u8 data[BPF_PROBE_DATA];
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 16);
    __type(key, __u32);
    __type(value, __u32);
} targets SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_probe);
} probes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} outputs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_probe_counters);
} counters SEC(".maps");

static const __u32 ZERO;

static struct bpf_probe_counters *count(void) {
    return bpf_map_lookup_elem(&counters, &ZERO);
}

static bool is_wanted(void) {
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    __u32 *how = options.all ? NULL : bpf_map_lookup_elem(&targets, &tid);
    return options.all || (how && *how == BPF_PROBE_FOLLOWED);
}

struct run {
    const struct bpf_probe *probe;
    struct thread *t;
    __u64 number, place;
};

static long read_user(void *to, __u32 n, __u64 from) {
    long why = bpf_probe_read_user(to, n, (void *)from);
    return why ? bpf_copy_from_user(to, n, (void *)from) : 0;
}

static __u64 load(__u64 from, __u32 n) {
    __u64 value[2] = {0}; /* as large as the mask allows */
    if (n == 0 || n > sizeof *value)
        return 0;
    BOUND(n, sizeof value - 1); /* Linux 6.1 forgets the comparison */
    if (read_user(value, n, from))
        return 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    *value >>= 8 * (sizeof *value - n);
#endif
    return *value;
}

static void store(struct thread *t, __u32 at, __u64 number, __u64 n) {
    BOUND(at, BPF_PROBE_FIXED - 1);
    __u8 *to = t->data + at;
    if (n == 1)
        *to = (__u8)number;
    else if (n == 2)
        __builtin_memcpy(to, &(__u16){(__u16)number}, 2);
    else if (n == 4)
        __builtin_memcpy(to, &(__u32){(__u32)number}, 4);
    else
        __builtin_memcpy(to, &number, 8);
}

/* A text that may reach into a page that is not resident: each page is touched, and the text read again. */
static long read_text(__u8 *to, __u64 from) {
    __u8 byte;
    long n = bpf_probe_read_user_str(to, BPF_PROBE_TEXT, (void *)from);
    if (n >= 0)
        return n;
    if (bpf_copy_from_user(&byte, 1, (void *)from))
        return n;
    n = bpf_probe_read_user_str(to, BPF_PROBE_TEXT, (void *)from);
    if (n >= 0 || bpf_copy_from_user(&byte, 1, (void *)((from | 4095) + 1)))
        return n;
    return bpf_probe_read_user_str(to, BPF_PROBE_TEXT, (void *)from);
}

/* Puts a text at the end, and where it lies to `at`: its length above its offset. */
static void put_text(struct run *r, __u32 at, bool comm) {
    struct thread *t = r->t;
    __u32 end = t->used;
    long n = -1;
    if (end <= BPF_PROBE_DATA - BPF_PROBE_TEXT) {
        if (comm) {
            bpf_get_current_comm(t->data + end, 16);
            for (n = 0; n < 15 && t->data[end + n]; n++)
                ;
            n++;
        } else {
            n = read_text(t->data + end, r->number);
        }
    }
    if (n < 0 || n > BPF_PROBE_TEXT)
        n = 0;
    store(t, at, (__u64)n << 16 | end, 4);
    t->used = end + (__u32)n;
}

static long step(__u32 i, struct run *r) {
    BOUND(i, BPF_PROBE_OPS - 1);
    const struct bpf_probe_op *op = &r->probe->ops[i];
    struct thread *t = r->t;
    __u64 value = (__u64)op->value;
    __u32 at = op->at;
    switch (op->code) {
    case BPF_PROBE_REGISTER:
        r->number = at < BPF_PROBE_REGISTERS ? t->registers[at] : 0;
        break;
    case BPF_PROBE_NUMBER:
        r->number = value;
        break;
    case BPF_PROBE_IMAGE:
        r->number = r->place + value;
        break;
    case BPF_PROBE_ADD:
        r->number += value;
        break;
    case BPF_PROBE_LOAD:
        r->number = load(r->number, at);
        break;
    case BPF_PROBE_BITS:
        r->number = r->number >> (at & 63) & value;
        break;
    case BPF_PROBE_STORE:
        store(t, at, r->number, value);
        break;
    case BPF_PROBE_COPY_TO:
        BOUND(at, BPF_PROBE_FIXED - 1);
        if (value > BPF_PROBE_COPY)
            break;
        BOUND(value, 2 * BPF_PROBE_COPY - 1); /* as in load */
        read_user(t->data + at, (__u32)value, r->number);
        break;
    case BPF_PROBE_TEXT_TO:
        put_text(r, at, false);
        break;
    case BPF_PROBE_COMM_TO:
        put_text(r, at, true);
        break;
    }
    return 0;
}

SEC("uprobe.s")
int gather(void *ctx) {
    __u32 index = (__u32)bpf_get_attach_cookie(ctx), word = options.instruction;
    const struct bpf_probe *p = is_wanted() ? bpf_map_lookup_elem(&probes, &index) : NULL;
    struct thread *t =
        p ? bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE)
          : NULL;
    __u32 bytes = options.registers_bytes;
    if (!t || bytes > sizeof t->registers || word >= BPF_PROBE_REGISTERS)
        return 0;
    bpf_probe_read_kernel(t->registers, bytes, ctx);
    struct run r = {.probe = p, .t = t, .place = t->registers[word]};
    store(t, 0, p->type, 4); /* common_type, common_flags, common_preempt_count */
    store(t, 4, (__u32)bpf_get_current_pid_tgid(), 4);
    store(t, 8, p->returns ? bpf_get_func_ip(ctx) : r.place, 8);
    if (p->returns)
        store(t, 16, r.place, 8);
    t->used = p->fixed;
    bpf_loop(p->count, step, &r, 0);
    t->ready = 1;
    return 0;
}

SEC("uprobe")
int tell(void *ctx) {
    if (!is_wanted())
        return 0;
    __u64 cpu = bpf_get_smp_processor_id();
    struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
    __u32 n = t ? t->used : 0;
    if (!t || !t->ready || n > BPF_PROBE_DATA) {
        struct bpf_probe_counters *c = count();
        if (c)
            __sync_fetch_and_add(&c->missed, 1);
        return 0;
    }
    t->ready = 0;
    /* Refused while the event is off, or where the CPU is not recorded. */
    bpf_perf_event_output(ctx, &outputs, bpf_get_attach_cookie(ctx) * options.cpus + cpu, t->data, n);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task) {
    __u32 tid = task->pid, *how = bpf_map_lookup_elem(&targets, &tid);
    if (how)
        *how = BPF_PROBE_FOLLOWED;
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    __u32 tid = parent->pid, *how = NULL, state;
    if (!options.all && options.inherit)
        how = bpf_map_lookup_elem(&targets, &tid);
    if (how) {
        state = *how;
        tid = child->pid;
        struct bpf_probe_counters *c;
        if (bpf_map_update_elem(&targets, &tid, &state, BPF_ANY) && (c = count()))
            __sync_fetch_and_add(&c->lost_threads, 1);
    }
    return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task) {
    __u32 tid = task->pid;
    if (!options.all)
        bpf_map_delete_elem(&targets, &tid);
    return 0;
}
