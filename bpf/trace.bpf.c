/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * System calls: summed here by thread and number, or reported one by one with the texts and small structs
 * that their arguments point to. What the kernel writes is read when the call returns; so is what was not
 * resident in memory when it was entered.
 *
 * Sums are always kept by thread: nobody else adds to them then, even where these programs can be preempted.
 */
#include "trace.h"
#include "kernel.h"
#include "verifier.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_trace_options options;

#define MAX_ERRNO 4095
enum { IN_COMPAT_CALL = 2 }; /* TS_COMPAT of x86 */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
/* Where the arguments are: System V ABI for AMD64, "A.2.1"; i386's entry; AAPCS64. */
struct pt_regs___args {
    unsigned long bx, cx, dx, si, di, bp, r8, r9, r10, orig_ax;
};
struct pt_regs___arm64args {
    unsigned long long regs[31];
    unsigned long long orig_x0;
    int syscallno;
};
#pragma clang attribute pop

struct thread {
    __u64 enter_ns; /* 0: it is in no call, or the call's beginning was not seen */
    __s32 number;
    __u32 compat;
    __u32 missing; /* a bit for each argument that could not be read */
    __u32 begins;  /* enum begins */
    __u32 room;    /* BPF_TRACE_LENGTH: the bytes there were room for on entry */
    __u32 unused;
    __u64 order; /* of the last half */
    __u64 args[BPF_TRACE_ARGS];
};

/* A command that sonde starts counts from the end of its execve on. */
enum begins { HAS_BEGUN, IS_NOT_THERE, IS_JUST_THERE };

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
    __uint(max_entries, BPF_TRACE_CALLS);
    __type(key, __u32);
    __type(value, struct bpf_trace_row);
} rows SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 15);
    __type(key, struct bpf_trace_key);
    __type(value, struct bpf_trace_sum);
} sums SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 13);
    __type(key, struct bpf_trace_key);
    __type(value, __u64);
} errors SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 22);
} halves SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_trace_counters);
} counters SEC(".maps");

enum { MEMORY = 4096 }; /* no less than all arguments' */

/* The argument that is being copied. */
struct copying {
    struct bpf_trace_arg arg;
    __u64 address, before, next;
    __s64 result;
    __u32 room, unused;
};

struct told {
    struct copying copying; /* not reported: it begins with `half` */
    struct bpf_trace_half half;
    __u8 memory[2 * MEMORY]; /* the last copy may begin at the end of the first half */
};

static const __u32 ZERO;

static struct bpf_trace_counters *count(void) {
    return bpf_map_lookup_elem(&counters, &ZERO);
}

/* Whether a thread is traced, and from when on (enum bpf_trace_target); 0: it is not. */
static __u32 wanted(struct task_struct *task) {
    __u32 tid = task->pid, pid = task->tgid, *how;
    if (options.self && pid == options.self)
        return 0;
    if (options.all)
        return BPF_TRACE_NOW;
    how = bpf_map_lookup_elem(&targets, &tid);
    return how ? *how : 0;
}

static __u32 is_compat(struct task_struct *task) {
    return bpf_core_field_exists(((struct pt_regs___args *)0)->orig_ax) &&
           bpf_core_field_exists(task->thread_info) && task->thread_info.status & IN_COMPAT_CALL;
}

/* --- sums --- */

static void add_square(struct bpf_trace_sum *s, __u64 ns) {
    __u64 high = ns >> 32, low = ns & 0xffffffff;
    __u64 middle = high * low;
    __u64 add = low * low, carry = high * high + (middle >> 31);
    __u64 part = middle << 33;
    add += part;
    carry += add < part;
    s->squares_low += add;
    s->squares_high += carry + (s->squares_low < add);
}

static void add_error(struct bpf_trace_key *key, long result) {
    __u64 one = 1, *n;
    key->error = (__u32)-result;
    n = bpf_map_lookup_elem(&errors, key);
    if (n) {
        *n += 1;
    } else if (bpf_map_update_elem(&errors, key, &one, BPF_ANY)) {
        struct bpf_trace_counters *c = count();
        if (c)
            c->lost_sums++;
    }
}

static void add(struct task_struct *task, __s32 number, __u32 compat, long result, __u64 ns, bool timed) {
    struct bpf_trace_key key = {.tid = task->pid, .number = number, .compat = compat};
    bool failed = result < 0 && result >= -MAX_ERRNO && (result > -512 || result < -516);
    if (options.by_cgroup)
        key.cgroup = bpf_get_current_cgroup_id();
    struct bpf_trace_sum *s = bpf_map_lookup_elem(&sums, &key);
    if (!s) {
        struct bpf_trace_sum fresh = {.min_ns = ~0ull};
        bpf_map_update_elem(&sums, &key, &fresh, BPF_NOEXIST);
        s = bpf_map_lookup_elem(&sums, &key);
    }
    if (!s) {
        struct bpf_trace_counters *c = count();
        if (c)
            c->lost_sums++;
        return;
    }
    s->count++;
    s->errors += failed;
    if (timed) {
        s->timed++;
        s->total_ns += ns;
        s->min_ns = ns < s->min_ns ? ns : s->min_ns;
        s->max_ns = ns > s->max_ns ? ns : s->max_ns;
        add_square(s, ns);
    }
    if (failed && options.errnos)
        add_error(&key, result);
}

/* --- one by one --- */

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct told);
} scratch SEC(".maps");

static void read_args(struct pt_regs *regs, __u32 compat, __u64 *args) {
    if (bpf_core_field_exists(((struct pt_regs___args *)0)->orig_ax)) {
        struct pt_regs___args *r = (void *)regs;
        args[0] = compat ? BPF_CORE_READ(r, bx) : BPF_CORE_READ(r, di);
        args[1] = compat ? BPF_CORE_READ(r, cx) : BPF_CORE_READ(r, si);
        args[2] = BPF_CORE_READ(r, dx);
        args[3] = compat ? BPF_CORE_READ(r, si) : BPF_CORE_READ(r, r10);
        args[4] = compat ? BPF_CORE_READ(r, di) : BPF_CORE_READ(r, r8);
        args[5] = compat ? BPF_CORE_READ(r, bp) : BPF_CORE_READ(r, r9);
    } else if (bpf_core_field_exists(((struct pt_regs___arm64args *)0)->orig_x0)) {
        struct pt_regs___arm64args *r = (void *)regs;
        args[0] = BPF_CORE_READ(r, orig_x0);
        args[1] = BPF_CORE_READ(r, regs[1]);
        args[2] = BPF_CORE_READ(r, regs[2]);
        args[3] = BPF_CORE_READ(r, regs[3]);
        args[4] = BPF_CORE_READ(r, regs[4]);
        args[5] = BPF_CORE_READ(r, regs[5]);
    }
}

/*
 * What copies one argument returns how many bytes there are, with COPY_CUT if there is more; a negative
 * number: it could not be read. Not static, so that each is verified once and not for each argument.
 */
enum { COPY_CUT = 1 << 16 };

static void *place(struct told *t, __u32 at) {
    BOUND(at, MEMORY - 1);
    return &t->memory[at];
}

static int copy_string(struct told *t, __u32 at, __u64 address) {
    long n = bpf_probe_read_user_str(place(t, at), BPF_TRACE_TEXT, (void *)address);
    return n <= 0 ? -1 : n == BPF_TRACE_TEXT ? (BPF_TRACE_TEXT - 1) | COPY_CUT : (int)n - 1;
}

__attribute__((noinline)) int copy_strings(struct told *t, __u32 at, __u64 address, __u32 most) {
    __u32 n = 0;
    if (!t)
        return 0;
    for (int i = 0; i < BPF_TRACE_STRING_COUNT; i++) {
        __u64 text = 0;
        if (bpf_probe_read_user(&text, sizeof text, (void *)(address + 8 * i)))
            return n ? n | COPY_CUT : -1;
        if (!text)
            return n;
        if (n + BPF_TRACE_STRING_BYTES > most)
            return n | COPY_CUT;
        long size = bpf_probe_read_user_str(place(t, at + n), BPF_TRACE_STRING_BYTES, (void *)text);
        if (size <= 0)
            return n ? n | COPY_CUT : -1;
        n += (__u32)size;
        BOUND(n, BPF_TRACE_MOST);
        if (size == BPF_TRACE_STRING_BYTES)
            return (n - 1) | COPY_CUT;
    }
    return n | COPY_CUT;
}

__attribute__((noinline)) int copy_vectors(struct told *t, __u32 at, __u64 address, __u64 count) {
    __u64 vector[2];
    if (!t)
        return 0;
    __u32 k = count < BPF_TRACE_VECTORS ? (__u32)count : BPF_TRACE_VECTORS, n = 16 * k;
    for (__u32 i = 0; i < BPF_TRACE_VECTORS; i++) {
        if (i >= k)
            break;
        if (bpf_probe_read_user(place(t, at + 16 * i), sizeof vector, (void *)(address + 16 * i)))
            return -1;
    }
    for (__u32 i = 0; i < BPF_TRACE_VECTORS; i++) {
        if (i >= k)
            break;
        __builtin_memcpy(vector, place(t, at + 16 * i), sizeof vector);
        __u32 size = vector[1] < BPF_TRACE_VECTOR_BYTES ? (__u32)vector[1] : BPF_TRACE_VECTOR_BYTES;
        BOUND(size, 2 * BPF_TRACE_VECTOR_BYTES - 1);
        if (bpf_probe_read_user(place(t, at + n), size, (void *)vector[0]))
            break;
        n += size;
        BOUND(n, BPF_TRACE_MOST);
    }
    return count > k ? n | COPY_CUT : n;
}

/* struct msghdr. */
struct message {
    __u64 name;
    __u32 name_size, unused;
    __u64 vectors, count, control, control_size;
    __u64 flags;
};

/* `room`: the bytes there are for the address. */
__attribute__((noinline)) int copy_message(struct told *t, __u32 at, __u64 address, __u32 room) {
    struct message m;
    __u32 n = sizeof m, size;
    if (!t || bpf_probe_read_user(&m, sizeof m, (void *)address))
        return -1;
    size = m.name_size < BPF_TRACE_NAME ? m.name_size : BPF_TRACE_NAME;
    BOUND(size, 2 * BPF_TRACE_NAME - 1);
    if (m.name && (m.name_size > room || bpf_probe_read_user(place(t, at + n), size, (void *)m.name)))
        m.name = 0;
    __builtin_memcpy(place(t, at), &m, sizeof m);
    if (m.name)
        n += size;
    int more = copy_vectors(t, at + n, m.vectors, m.count);
    if (more < 0)
        return n | COPY_CUT;
    n += more & BPF_TRACE_MOST;
    return more & COPY_CUT ? n | COPY_CUT : n;
}

/* `spec`: unit | most << 16. */
__attribute__((noinline)) int copy_units(struct told *t, __u32 at, __u64 address, __u64 count, __u32 spec) {
    __u32 unit = spec & 0xffff, most = spec >> 16;
    if (!t)
        return 0;
    count = count < BPF_TRACE_MOST ? count : BPF_TRACE_MOST + 1;
    __u32 n = (__u32)count * unit, size = n < most ? n : most;
    BOUND(size, BPF_TRACE_MOST);
    if (!size)
        return 0;
    if (bpf_probe_read_user(place(t, at), size, (void *)address))
        return -1;
    return n > size ? size | COPY_CUT : size;
}

static __u64 count_of(const struct copying *c) {
    __u32 length = 0;
    switch (c->arg.many) {
    case BPF_TRACE_PAIR:
        return 2;
    case BPF_TRACE_NEXT:
        return c->next;
    case BPF_TRACE_BEFORE:
        return c->before;
    case BPF_TRACE_RESULT:
        return c->result;
    case BPF_TRACE_RESULT_NEXT:
        return (__u64)c->result < c->next ? (__u64)c->result : c->next;
    case BPF_TRACE_LENGTH:
        bpf_probe_read_user(&length, sizeof length, (void *)c->next);
        return length < c->room ? length : c->room;
    default:
        return 1;
    }
}

__attribute__((noinline)) int copy_one(struct told *t, __u32 at) {
    if (!t)
        return 0;
    const struct copying *c = &t->copying;
    const struct bpf_trace_arg *a = &c->arg;
    switch (a->how) {
    case BPF_TRACE_STRING:
        return copy_string(t, at, c->address);
    case BPF_TRACE_STRINGS:
        return copy_strings(t, at, c->address, a->most);
    case BPF_TRACE_IOVECS:
        return copy_vectors(t, at, c->address, c->next);
    case BPF_TRACE_MESSAGE:
        return copy_message(t, at, c->address, a->when & BPF_TRACE_ON_ENTER ? ~0u : c->room);
    default:
        return copy_units(t, at, c->address, count_of(c), a->unit | (__u32)a->most << 16);
    }
}

/*
 * Copies the arguments that are copied at a time that `when` has a bit for, and those in `which`. Returns
 * those that could not be read.
 */
static __u32 copy_all(struct told *t, const struct bpf_trace_row *row, const struct thread *s, __u32 when,
                      __u32 which) {
    __u32 at = 0, missing = 0;
    for (int i = 0; i < BPF_TRACE_ARGS; i++) {
        const struct bpf_trace_arg *a = &row->args[i];
        if (!a->how || !s->args[i] || !(a->when & when || which & 1u << i))
            continue;
        t->copying = (struct copying){
            .arg = *a,
            .address = s->args[i],
            .before = i ? s->args[i - 1] : 0,
            .next = i + 1 < BPF_TRACE_ARGS ? s->args[i + 1] : 0,
            .result = t->half.result,
            .room = s->room,
        };
        int n = copy_one(t, at);
        if (n < 0) {
            missing |= 1u << i;
            continue;
        }
        t->half.cut |= (n & COPY_CUT ? 1 : 0) << i;
        n &= BPF_TRACE_MOST;
        t->half.sizes[i] = (__u16)(n + 1);
        at += (__u32)n;
    }
    t->half.bytes = (__u16)at;
    return missing;
}

/* How many bytes the program has room for, of what the kernel will say how long it is. */
static __u32 room_of(const struct bpf_trace_row *row, const struct thread *s) {
    enum { NAME_SIZE_AT = 8 }; /* of struct msghdr */
    __u32 room = 0;
    for (int i = 0; i < BPF_TRACE_ARGS - 1; i++) {
        const struct bpf_trace_arg *a = &row->args[i];
        if (a->many == BPF_TRACE_LENGTH && s->args[i])
            bpf_probe_read_user(&room, sizeof room, (void *)s->args[i + 1]);
        else if (a->how == BPF_TRACE_MESSAGE && s->args[i])
            bpf_probe_read_user(&room, sizeof room, (void *)(s->args[i] + NAME_SIZE_AT));
    }
    return room;
}

static void tell(struct told *t, struct task_struct *task, struct thread *s, __u32 kind) {
    struct bpf_trace_counters *c = count();
    if (!c)
        return;
    t->half.time_ns = bpf_ktime_get_ns();
    t->half.lost = c->lost_halves;
    t->half.tid = task->pid;
    t->half.pid = task->tgid;
    t->half.cpu = bpf_get_smp_processor_id();
    t->half.number = s->number;
    t->half.kind = kind;
    t->half.compat = s->compat;
    t->half.order = ++s->order;
    bpf_get_current_comm(t->half.comm, sizeof t->half.comm);
    __u32 bytes = t->half.bytes;
    BOUND(bytes, MEMORY - 1);
    if (bpf_ringbuf_output(&halves, &t->half, sizeof t->half + bytes, 0))
        c->lost_halves++;
}

static struct told *begin(void) {
    struct told *t = bpf_map_lookup_elem(&scratch, &ZERO);
    if (t)
        __builtin_memset(&t->half, 0, sizeof t->half);
    return t;
}

/* --- programs --- */

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long id) {
    struct task_struct *task = bpf_get_current_task_btf();
    struct thread *s = bpf_task_storage_get(&threads, task, 0, 0);
    if (!s) {
        __u32 how = wanted(task);
        if (!how)
            return 0;
        s = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
        if (!s) {
            struct bpf_trace_counters *c = count();
            if (c)
                c->lost_threads++;
            return 0;
        }
        s->begins = how == BPF_TRACE_FROM_EXEC ? IS_NOT_THERE : HAS_BEGUN;
    }
    if (s->begins) {
        s->number = (__s32)id;
        return 0;
    }
    __u32 index = (__u32)id, compat = is_compat(task);
    struct bpf_trace_row *row = compat ? NULL : bpf_map_lookup_elem(&rows, &index);
    s->enter_ns = 0;
    if (row && row->skip)
        return 0;
    s->number = (__s32)id;
    s->compat = compat;
    s->missing = 0;
    if (options.lines) {
        struct told *t = begin();
        if (!t)
            return 0;
        read_args(regs, compat, t->half.args);
        __builtin_memcpy(s->args, t->half.args, sizeof s->args);
        s->room = 0;
        if (row) {
            s->missing = copy_all(t, row, s, BPF_TRACE_ON_ENTER, 0);
            s->room = room_of(row, s);
        }
        tell(t, task, s, BPF_TRACE_ENTER);
    } else if (row && row->never) {
        add(task, (__s32)id, compat, 0, 0, false);
    }
    s->enter_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long result) {
    struct task_struct *task = bpf_get_current_task_btf();
    __u64 now = bpf_ktime_get_ns();
    struct thread *s = bpf_task_storage_get(&threads, task, 0, 0);
    if (!s || (!s->enter_ns && s->begins != IS_JUST_THERE))
        return 0;
    bool timed = s->enter_ns;
    __u64 ns = timed ? now - s->enter_ns : 0;
    s->enter_ns = 0;
    s->begins = HAS_BEGUN;
    __u32 index = (__u32)s->number;
    struct bpf_trace_row *row =
        s->compat || (timed && !options.lines) ? NULL : bpf_map_lookup_elem(&rows, &index);
    if (!timed && row && row->skip)
        return 0;
    if (!options.lines) {
        add(task, s->number, s->compat, result, ns, timed);
        return 0;
    }
    struct told *t = begin();
    if (!t)
        return 0;
    t->half.result = result;
    if (row && timed)
        copy_all(t, row, s, (result >= 0 ? BPF_TRACE_ON_EXIT : 0) | (result > 0 ? BPF_TRACE_ON_POSITIVE : 0),
                 s->missing);
    tell(t, task, s, BPF_TRACE_EXIT);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task) {
    struct thread *s = bpf_task_storage_get(&threads, task, 0, 0);
    if (s && s->begins == IS_NOT_THERE)
        s->begins = IS_JUST_THERE;
    if (s)
        s->missing = 0; /* the memory that its arguments point to is gone */
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    __u32 tid = parent->pid, one = 1;
    if (!options.all && options.inherit && bpf_map_lookup_elem(&targets, &tid)) {
        tid = child->pid;
        if (bpf_map_update_elem(&targets, &tid, &one, BPF_ANY)) {
            struct bpf_trace_counters *c = count();
            if (c)
                c->lost_threads++;
        }
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
