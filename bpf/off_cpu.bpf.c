/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * How long threads do not run, why, and where: summed here, as a recording of every context switch would be
 * large and expensive.
 *
 *     sched_switch away     the wait begins
 *     sched_waking          the wait ends, and a wait for a CPU begins; after a long wait
 *                           the sleeper's kernel stack is taken
 *     sched_switch to it    the wait for a CPU ends
 *     sys_exit              the thread is current, and its user stack unchanged: it is read,
 *                           and the wait is added up
 *
 * A user stack is read by walking it by frame pointers, or by copying it (off_cpu_copies.h) for user space to
 * unwind.
 *
 * If a thread waits again before it leaves the system call, its user stack is the same, and is read when it
 * leaves its CPU. If a thread waits outside a system call (in a page fault), it is read when the wait begins.
 */
#include "off_cpu.h"
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_off_cpu_options options;

enum {
    BLOCKED_STATES = 2,
    SLEEPING_STATES = 1,
    STOPPED_STATES = 4 | 8,
    DEAD_STATES = 0x10 | 0x20 | 0x80
};                                   /* sched.h */
enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD */
enum { IN_COMPAT_CALL = 2 };         /* TS_COMPAT of x86 */

/* A wait that has ended and lacks only its user stack. */
struct finished {
    __u64 ns, kernel_stack, object, waker;
    __u64 cpu_ns; /* how long it waited for a CPU afterwards; 0: less than min_ns */
    __u32 kind;
    __s32 syscall;
};

/* What a thread that begins to wait waits for. */
struct noted {
    __u32 argument; /* enum bpf_off_cpu_argument */
    __u32 fd, op, value, limited, writes;
    __u8 around[BPF_OFF_CPU_AROUND];
    __u64 word; /* an open file's address in the kernel, a futex's, a process id */
};

/* Who ended the last wait that was long. */
struct woken {
    __u64 by, at_ns;
    __u32 depth, unused;
};

struct thread {
    __u64 since_ns; /* it has not run since then; 0: it runs, or nothing is known */
    __u64 ran_ns;   /* its total run time when it last left its CPU */
    __u64 user_stack;
    __u32 kind;
    __u32 has_user_stack;
    struct finished last; /* ns 0: none */
    struct noted noted;
    struct woken woken;
    __u64 short_ns[BPF_OFF_CPU_KINDS], short_count[BPF_OFF_CPU_KINDS];
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

struct sums {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 15);
    __type(key, struct bpf_off_cpu_key);
    __type(value, struct bpf_off_cpu_sum);
} sums_a SEC(".maps"), sums_b SEC(".maps"); /* one is written to while the other is read */

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, 1);
    __type(key, __u32);
    __array(values, struct sums);
} sums SEC(".maps") = {.values = {&sums_a}};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, __u64);
    __type(value, struct bpf_off_cpu_stack);
} stacks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 20);
} directs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_off_cpu_counters);
} counters SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_off_cpu_stack);
} scratch SEC(".maps"), user_scratch
    SEC(".maps"); /* an interrupt may wake somebody while a user stack is read */

/* How many entries the map of sums has that is written to now: user space swaps the maps before this one is
 * full. */
__u64 entries;
__u64 news; /* how often an object or a waker was put into its map: user space names them soon */

static const __u32 ZERO;

static struct bpf_off_cpu_counters *count(void) {
    return bpf_map_lookup_elem(&counters, &ZERO);
}

/* The state of a thread; NULL: it is not watched. It is made when a thread in `targets` is first seen, or
 * when a watched thread forks, and stays with the task until it ends: thread ids are reused, so that later
 * lookups must not depend on them. */
static struct thread *thread_of(struct task_struct *task) {
    struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
    __u32 tid = task->pid;
    if (t || !tid || (!options.all && !bpf_map_lookup_elem(&targets, &tid)))
        return t;
    t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    struct bpf_off_cpu_counters *c = t ? NULL : count();
    if (c)
        c->lost_threads++;
    return t;
}

/* The system call that the thread is in. */
static __s32 syscall_of(struct task_struct *task) {
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    __s32 call;
    if (task->flags & KERNEL_THREAD)
        return BPF_OFF_CPU_NO_CALL;
    if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax))
        call = (__s32)((struct pt_regs___x86 *)regs)->orig_ax;
    else if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->syscallno))
        call = BPF_CORE_READ((struct pt_regs___arm64 *)regs, syscallno);
    else
        return BPF_OFF_CPU_UNTOLD;
    if (call < 0)
        return BPF_OFF_CPU_NO_CALL;
    /* 32-bit programs have other system call numbers. */
    return bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax) &&
                   bpf_core_field_exists(task->thread_info) && task->thread_info.status & IN_COMPAT_CALL
               ? BPF_OFF_CPU_UNKNOWN_CALL
               : call;
}

/* Whether its user stack stays as it is until sys_exit. */
static bool in_call(__s32 call) {
    return call >= 0 || call == BPF_OFF_CPU_UNKNOWN_CALL;
}

/* --- stacks --- */

/* Stores the stack in `s`, which has `bytes` bytes. Returns its hash, or 0 for none. */
static __u64 keep_stack(struct bpf_off_cpu_stack *s, long bytes) {
    __u64 hash = 0x9e3779b97f4a7c15ull;
    if (bytes <= 0)
        return 0;
    __u32 n = (__u32)bytes / 8;
    for (__u32 i = 0; i < BPF_OFF_CPU_FRAMES; i++) {
        if (i >= n)
            break;
        hash = (hash ^ s->ips[i]) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    hash = hash ? hash : 1;
    if (bpf_map_lookup_elem(&stacks, &hash))
        return hash;
    s->count = n;
    long status = bpf_map_update_elem(&stacks, &hash, s, BPF_NOEXIST);
    if (status && !bpf_map_lookup_elem(&stacks, &hash)) {
        struct bpf_off_cpu_counters *c = count();
        if (c)
            c->lost_stacks++;
        return 0;
    }
    return hash;
}

#include "off_cpu_copies.h"
#include "off_cpu_objects.h"
#include "off_cpu_wakers.h"

/* Of a thread that does not run. */
static __u64 kernel_stack(struct task_struct *task) {
    struct bpf_off_cpu_stack *s = bpf_map_lookup_elem(&scratch, &ZERO);
    if (!s || !options.kernel_stacks || (bpf_core_field_exists(task->on_cpu) && task->on_cpu))
        return 0;
    return keep_stack(s, bpf_get_task_stack(task, s->ips, sizeof s->ips, 0));
}

/* Of the current thread. */
static __u64 user_stack(void *ctx) {
    struct bpf_off_cpu_stack *s = bpf_map_lookup_elem(&user_scratch, &ZERO);
    __u64 copy = options.copy_bytes ? copy_user_stack() : 0;
    if (copy)
        return copy;
    return s ? keep_stack(s, bpf_get_stack(ctx, s->ips, sizeof s->ips, BPF_F_USER_STACK)) : 0;
}

/* --- sums --- */

static void add(const struct bpf_off_cpu_key *key, __u64 ns, __u64 n) {
    struct bpf_off_cpu_counters *c = count();
    void *map = bpf_map_lookup_elem(&sums, &ZERO);
    if (!map || !c)
        return;
    struct bpf_off_cpu_sum *sum = bpf_map_lookup_elem(map, key);
    if (!sum) {
        struct bpf_off_cpu_sum first = {.ns = ns, .count = n, .last_ns = bpf_ktime_get_ns()};
        if (bpf_map_update_elem(map, key, &first, BPF_NOEXIST) == 0) {
            __sync_fetch_and_add(&entries, 1);
            return;
        }
        sum = bpf_map_lookup_elem(map, key); /* another CPU was faster, or it is full */
    }
    if (!sum) {
        c->lost_sums += n;
        c->lost_sums_ns += ns;
        return;
    }
    __sync_fetch_and_add(&sum->ns, ns);
    __sync_fetch_and_add(&sum->count, n);
    sum->last_ns = bpf_ktime_get_ns();
}

/* Reports one wait at once if it is long enough for that, otherwise adds it to the sums. */
static void settle_one(const struct bpf_off_cpu_key *key, __u64 ns) {
    if (options.direct_ns && ns >= options.direct_ns) {
        struct bpf_off_cpu_direct d = {.key = *key, .at_ns = bpf_ktime_get_ns(), .ns = ns};
        if (bpf_ringbuf_output(&directs, &d, sizeof d, 0) == 0)
            return;
    }
    add(key, ns, 1);
}

/* Adds the thread's finished wait to the sums, and the wait for a CPU after it. */
static void settle(struct task_struct *task, struct thread *t, __u64 user) {
    struct bpf_off_cpu_key key = {.pid = task->tgid,
                                  .tid = task->pid,
                                  .kernel_stack = t->last.kernel_stack,
                                  .user_stack = user,
                                  .kind = t->last.kind,
                                  .syscall = t->last.syscall,
                                  .object = t->last.object,
                                  .waker = t->last.waker};
    settle_one(&key, t->last.ns);
    if (t->last.cpu_ns) {
        key.kind = BPF_OFF_CPU_RUNNABLE;
        key.object = key.waker = 0;
        settle_one(&key, t->last.cpu_ns);
    }
    t->last.ns = t->last.cpu_ns = 0;
}

/* A wait of the thread, which does not run now, has ended; by what runs here, if `woken` is the program's
 * context. */
static void finish(struct task_struct *task, struct thread *t, __u64 now, void *woken) {
    __u64 ns = now > t->since_ns ? now - t->since_ns : 0;
    __u32 kind = t->kind < BPF_OFF_CPU_KINDS ? t->kind : 0;
    struct bpf_off_cpu_counters *c = count();
    if (c)
        c->waits++;
    if (ns < options.min_ns || !ns) {
        t->short_ns[kind] += ns;
        t->short_count[kind]++;
        return;
    }
    if (t->last.ns) { /* until `last` is settled only a wait for a CPU can follow */
        t->last.cpu_ns = ns;
        return;
    }
    t->last.ns = ns;
    t->last.kind = kind;
    t->last.syscall = syscall_of(task);
    t->last.kernel_stack = kernel_stack(task);
    t->last.object =
        options.objects && kind != BPF_OFF_CPU_RUNNABLE ? object_of(task, &t->noted, woken != NULL) : 0;
    t->last.waker = options.wakers && woken ? waker_of(woken, &t->woken, t->since_ns, now) : 0;
    if (t->has_user_stack)
        settle(task, t, t->user_stack);
    else if (!options.user_stacks || !in_call(t->last.syscall) || kind == BPF_OFF_CPU_RUNNABLE)
        settle(task, t, 0);
    t->has_user_stack = 0;
}

/*
 * Kernels leave out some switches from the idle task (Linux 6.18: a few in a thousand), and the wake-ups
 * that belong to them. When the thread leaves its CPU again, its run time still tells how long it had
 * waited.
 */
static void make_up(struct task_struct *task, struct thread *t, __u64 now) {
    __u64 ran = task->se.sum_exec_runtime - t->ran_ns, passed = now - t->since_ns;
    __u32 kind = t->kind < BPF_OFF_CPU_KINDS ? t->kind : 0;
    if (ran >= passed)
        return;
    if (passed - ran < options.min_ns) {
        t->short_ns[kind] += passed - ran;
        t->short_count[kind]++;
    } else {
        struct bpf_off_cpu_key key = {
            .pid = task->tgid, .tid = task->pid, .kind = kind, .syscall = BPF_OFF_CPU_UNKNOWN_CALL};
        settle_one(&key, passed - ran);
    }
}

/* Adds to the sums what a thread's state still holds. */
static void flush(struct task_struct *task, struct thread *t) {
    if (t->last.ns)
        settle(task, t, 0);
    for (__u32 i = 0; i < BPF_OFF_CPU_KINDS; i++) {
        struct bpf_off_cpu_key key = {
            .pid = task->tgid, .tid = task->pid, .kind = i, .syscall = BPF_OFF_CPU_SHORT};
        if (t->short_count[i])
            add(&key, t->short_ns[i], t->short_count[i]);
        t->short_ns[i] = t->short_count[i] = 0;
    }
}

/* --- events --- */

static void leave(void *ctx, bool preempt, struct task_struct *prev) {
    struct bpf_off_cpu_counters *c = count();
    __u32 state = prev->__state;
    struct thread *t = thread_of(prev);
    if (!c || !t)
        return;
    __u64 now = bpf_ktime_get_ns();
    if (t->last.ns) /* it is still in that system call, unless the exit was missed */
        settle(prev, t, t->since_ns ? 0 : user_stack(ctx));
    if (t->since_ns) {
        c->unseen++;
        make_up(prev, t, now);
    }
    t->has_user_stack = 0;
    t->since_ns = now;
    t->ran_ns = prev->se.sum_exec_runtime;
    if (preempt || !state) {
        c->switches_involuntary += 1;
        t->kind = BPF_OFF_CPU_RUNNABLE;
        return;
    }
    c->switches_voluntary++;
    if (state & DEAD_STATES) {
        t->since_ns = 0;
        flush(prev, t); /* what came after on_exit */
        return;
    }
    t->kind = state & SLEEPING_STATES  ? BPF_OFF_CPU_SLEEPS
              : state & BLOCKED_STATES ? BPF_OFF_CPU_BLOCKED
              : state & STOPPED_STATES ? BPF_OFF_CPU_STOPPED
                                       : BPF_OFF_CPU_SLEEPS;
    __s32 call = syscall_of(prev);
    if (options.objects)
        note_object(prev, &t->noted, call, true);
    if (options.user_stacks && !(prev->flags & KERNEL_THREAD) && !in_call(call)) {
        t->user_stack = user_stack(ctx);
        t->has_user_stack = 1;
    }
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next) {
    leave(ctx, preempt, prev);
    struct thread *t = bpf_task_storage_get(&threads, next, 0, 0);
    if (t && t->since_ns) {
        finish(next, t, bpf_ktime_get_ns(), NULL);
        t->since_ns = 0;
    }
    struct bpf_off_cpu_counters *c = count();
    if (c)
        c->due = t && t->last.ns;
    return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task) {
    struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
    if (t && t->since_ns && t->kind != BPF_OFF_CPU_RUNNABLE) {
        __u64 now = bpf_ktime_get_ns();
        finish(task, t, now, ctx);
        t->since_ns = now;
        t->kind = BPF_OFF_CPU_RUNNABLE;
    }
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result) {
    struct bpf_off_cpu_counters *c = count();
    if (!c || !c->due) /* the usual case */
        return 0;
    c->due = 0;
    struct task_struct *task = bpf_get_current_task_btf();
    struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
    if (t && t->last.ns)
        settle(task, t, user_stack(ctx));
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    struct bpf_off_cpu_counters *c = count();
    if (!options.all && options.inherit && thread_of(parent) &&
        !bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE) && c)
        c->lost_threads++;
    return 0;
}

/* Adds up a thread's waits while user space can still look the thread up. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
    __u32 tid = task->pid;
    struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
    if (t && t->last.ns)
        settle(task, t, user_stack(ctx));
    if (t)
        flush(task, t);
    bpf_map_delete_elem(&targets, &tid); /* another thread may get the number */
    return 0;
}

/* At the start: threads that do not run wait from now on. */
SEC("iter/task")
int begin(struct bpf_iter__task *c) {
    struct task_struct *task = c->task;
    struct thread *t = task ? thread_of(task) : NULL;
    if (!t)
        return 0;
    __u32 state = task->__state;
    if (!state || state & DEAD_STATES || (bpf_core_field_exists(task->on_cpu) && task->on_cpu))
        return 0;
    if (!t->since_ns) {
        t->kind = state & SLEEPING_STATES  ? BPF_OFF_CPU_SLEEPS
                  : state & BLOCKED_STATES ? BPF_OFF_CPU_BLOCKED
                                           : BPF_OFF_CPU_STOPPED;
        t->since_ns = bpf_ktime_get_ns();
        t->ran_ns = task->se.sum_exec_runtime;
        if (options.objects)
            note_object(task, &t->noted, syscall_of(task), false);
    }
    return 0;
}

/* Writes the thread's wait to the reader of the iterator instead of adding it up. */
static void tell_still(struct bpf_iter__task *c, struct task_struct *task, struct thread *t) {
    struct bpf_off_cpu_still still = {.key = {.pid = task->tgid,
                                              .tid = task->pid,
                                              .kernel_stack = t->last.kernel_stack,
                                              .kind = t->last.kind,
                                              .syscall = t->last.syscall,
                                              .object = t->last.object},
                                      .at_ns = bpf_ktime_get_ns(),
                                      .ns = t->last.ns,
                                      .switches = task->nvcsw};
    if (options.copy_bytes)
        read_registers(task, &still.registers);
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax)) {
        still.ip = BPF_CORE_READ((struct pt_regs___x86 *)regs, ip);
        still.frame = BPF_CORE_READ((struct pt_regs___x86 *)regs, bp);
    } else if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->syscallno)) {
        still.ip = BPF_CORE_READ((struct pt_regs___arm64 *)regs, pc);
        still.frame = BPF_CORE_READ((struct pt_regs___arm64 *)regs, regs[29]);
    }
    if (bpf_seq_write(c->meta->seq, &still, sizeof still) == 0)
        t->last.ns = 0;
}

/* At the end, when nothing else is attached: waits that go on are counted up to now. */
SEC("iter/task")
int end(struct bpf_iter__task *c) {
    struct task_struct *task = c->task;
    if (!task)
        return 0;
    struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
    if (!t)
        return 0;
    if (t->since_ns && !t->last.ns) { /* it still waits, and not just for a CPU after a finished wait */
        finish(task, t, bpf_ktime_get_ns(), NULL);
        if (t->last.ns)
            tell_still(c, task, t);
    } else if (t->since_ns) {
        finish(task, t, bpf_ktime_get_ns(), NULL);
    }
    t->since_ns = 0;
    flush(task, t);
    return 0;
}
