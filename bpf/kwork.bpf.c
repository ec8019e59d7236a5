/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The kernel's own work, summed here by the rules of src/states/kwork.h: interrupts nest on their CPU, work
 * items are followed across CPUs, and what is raised twice counts from the first time.
 *
 *     on_irq_*, on_softirq_*, on_work_*    work that begins and ends
 *     on_switch                            who uses the CPU
 *     now                                  run on each CPU at the start and at the end
 *
 * A row is written by one CPU at a time: that of the interrupt, or the one on which the item ends.
 */
#include "kwork.h"
#include "kernel_kwork.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_kwork_options options;

__u64 begin_ns, end_ns; /* of the observed time; 0: not yet */
__u32 ending;           /* set by user space: `now` ends the time */

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, struct bpf_kwork_key);
    __type(value, struct bpf_kwork_row);
} rows SEC(".maps");

/* Nothing is taken out: another CPU may be raising the item. The kernel uses addresses again. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 15);
    __type(key, __u64); /* address */
    __type(value, struct bpf_kwork_item);
} items SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 16);
    __type(key, __u64);
    __type(value, struct bpf_kwork_thread);
} threads SEC(".maps");

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
    __type(value, struct bpf_kwork_cpu);
} states SEC(".maps");

/* By vector: the first raise since it was entered; 0: none. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, BPF_KWORK_VECTORS);
    __type(key, __u32);
    __type(value, __u64);
} raised SEC(".maps");

static const __u32 ZERO;

static struct bpf_kwork_cpu *this_cpu(void) {
    return bpf_map_lookup_elem(&states, &ZERO);
}

static bool wanted(__u32 cpu) {
    return !options.cpus || bpf_map_lookup_elem(&cpus, &cpu);
}

static bool observed(void) {
    return begin_ns && !end_ns;
}

/* ---- sums of work ---- */

static void add(struct bpf_kwork_sum *s, __u64 since_ns, __u64 until_ns) {
    __u64 ns = until_ns - since_ns;
    if (!s->count || ns > s->max_ns) {
        s->max_ns = ns;
        s->max_since_ns = since_ns;
        s->max_until_ns = until_ns;
    }
    s->count++;
    s->total_ns += ns;
}

static struct bpf_kwork_row *row_of(struct bpf_kwork_cpu *c, const struct bpf_kwork_key *key) {
    struct bpf_kwork_row *row = bpf_map_lookup_elem(&rows, key);
    if (row)
        return row;
    struct bpf_kwork_row fresh = {0};
    bpf_map_update_elem(&rows, key, &fresh, BPF_NOEXIST);
    row = bpf_map_lookup_elem(&rows, key);
    if (!row)
        c->full++;
    return row;
}

/* A run has ended: NULL if it does not count. */
static struct bpf_kwork_row *add_run(struct bpf_kwork_cpu *c, const struct bpf_kwork_key *key, __u64 raise_ns,
                                     __u64 since_ns, __u64 until_ns) {
    struct bpf_kwork_row *row = wanted(key->cpu) ? row_of(c, key) : NULL;
    if (!row)
        return NULL;
    add(&row->run, since_ns, until_ns);
    if (raise_ns)
        add(&row->delay, raise_ns, since_ns);
    return row;
}

/* ---- threads ---- */

static struct bpf_kwork_thread *thread_of(struct bpf_kwork_cpu *c, __u32 tid) {
    __u64 key = tid ? tid : 1ull << 32 | bpf_get_smp_processor_id();
    struct bpf_kwork_thread *t = bpf_map_lookup_elem(&threads, &key);
    if (t)
        return t;
    struct bpf_kwork_thread fresh = {0};
    bpf_map_update_elem(&threads, &key, &fresh, BPF_NOEXIST);
    t = bpf_map_lookup_elem(&threads, &key);
    if (!t)
        c->full++;
    return t;
}

/* An interrupt that is in no other one has ended in the current thread. */
static void add_inner(struct bpf_kwork_cpu *c, __u64 ns) {
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    struct bpf_kwork_thread *t = thread_of(c, tid);
    if (t)
        t->inner_ns += ns;
    if (!tid)
        c->idle_inner_ns += ns;
}

/*
 * The task ran until now. If another one was seen to begin, the switch between them came without an event
 * (Linux 6.18 leaves out those of idle threads): then the kernel's own sum tells how long the task ran, if
 * it was seen before, and the rest was idle if the idle thread was seen to begin.
 */
static void charge(struct bpf_kwork_cpu *c, struct task_struct *task, __u64 now) {
    __u32 tid = BPF_CORE_READ(task, pid);
    struct bpf_kwork_thread *t = thread_of(c, tid);
    if (end_ns && now > end_ns)
        now = end_ns; /* user space comes to this CPU later */
    if (now < c->since_ns)
        return;
    __u64 kernel_ns = BPF_CORE_READ(task, se.sum_exec_runtime), ns = now - c->since_ns;
    if (tid != c->tid) {
        __u64 all_ns = ns;
        ns = tid && t && t->kernel_ns && kernel_ns > t->kernel_ns ? kernel_ns - t->kernel_ns : 0;
        ns = ns < all_ns ? ns : all_ns;
        c->idle_ns += c->tid ? 0 : all_ns - ns;
        c->untold++;
    }
    if (tid)
        c->run_ns += ns;
    else
        c->idle_ns += ns;
    if (!t)
        return;
    t->run_ns += ns;
    t->kernel_ns = kernel_ns;
    bpf_probe_read_kernel_str(t->comm, sizeof t->comm, &task->comm);
}

/* From now on the task runs. */
static void hold(struct bpf_kwork_cpu *c, struct task_struct *task, __u64 now) {
    struct bpf_kwork_thread *t = thread_of(c, BPF_CORE_READ(task, pid));
    if (t)
        t->kernel_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
    c->tid = BPF_CORE_READ(task, pid);
    c->since_ns = now;
    c->begun = 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next) {
    struct bpf_kwork_cpu *c = this_cpu();
    __u64 now = bpf_ktime_get_ns();
    if (!c || !begin_ns || !wanted(bpf_get_smp_processor_id()))
        return 0;
    if (c->begun)
        charge(c, prev, now);
    hold(c, next, now);
    return 0;
}

/* Not attached: user space runs it on each CPU at the start and at the end. */
SEC("raw_tp/sched_switch")
int now(void *ctx) {
    struct bpf_kwork_cpu *c = this_cpu();
    struct task_struct *task = bpf_get_current_task_btf();
    __u64 ns = bpf_ktime_get_ns();
    if (!begin_ns)
        begin_ns = ns;
    if (ending && !end_ns)
        end_ns = ns;
    if (!c || !options.threads || !wanted(bpf_get_smp_processor_id()))
        return 0;
    if (c->begun)
        charge(c, task, ns);
    hold(c, task, ns);
    return 0;
}

/* ---- interrupts ---- */

/* Takes an interrupt off the stack, and those in it that have not ended. False: it is not there. */
static __always_inline bool leave(struct bpf_kwork_cpu *c, __u32 class, __u64 id,
                                  struct bpf_kwork_open *left) {
    for (int i = BPF_KWORK_DEPTH - 1; i >= 0; i--) {
        struct bpf_kwork_open *o = &c->open[i];
        if ((__u32)i >= c->depth || o->class != class || o->id != id)
            continue;
        *left = *o;
        c->entries += c->depth - 1 - i;
        c->depth = i;
        return true;
    }
    return false;
}

static __always_inline void enter(__u32 class, __u64 id, __u64 raise_ns, __u64 now) {
    struct bpf_kwork_cpu *c = this_cpu();
    struct bpf_kwork_open missed;
    if (!c || !observed())
        return;
    c->events++;
    c->entries += leave(c, class, id, &missed); /* its exit is missing */
    if (c->depth >= BPF_KWORK_DEPTH) {
        c->entries += c->depth;
        c->depth = 0;
    }
    c->open[c->depth++ & (BPF_KWORK_DEPTH - 1)] =
        (struct bpf_kwork_open){.class = class, .id = id, .since_ns = now, .raise_ns = raise_ns};
}

/* The row of the run, or NULL. */
static __always_inline struct bpf_kwork_row *end(__u32 class, __u64 id, __u64 now) {
    struct bpf_kwork_cpu *c = this_cpu();
    struct bpf_kwork_open o;
    struct bpf_kwork_key key = {.id = id, .class = class, .cpu = bpf_get_smp_processor_id()};
    if (!c || !observed())
        return NULL;
    c->events++;
    if (!leave(c, class, id, &o)) {
        c->exits++;
        return NULL;
    }
    __u64 ns = now - o.since_ns, own_ns = ns > o.inner_ns ? ns - o.inner_ns : 0;
    if (c->depth)
        c->open[(c->depth - 1) & (BPF_KWORK_DEPTH - 1)].inner_ns += ns;
    if (!options.threads)
        return add_run(c, &key, o.raise_ns, o.since_ns, now);
    if (!wanted(key.cpu))
        return NULL;
    if (class == BPF_KWORK_IRQ)
        c->irq_ns += own_ns;
    else
        c->softirq_ns += own_ns;
    if (!c->depth)
        add_inner(c, ns);
    return NULL;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq, struct irqaction *action) {
    enter(BPF_KWORK_IRQ, (__u64)(__s64)irq, 0, bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq, struct irqaction *action, int ret) {
    struct bpf_kwork_row *row = end(BPF_KWORK_IRQ, (__u64)(__s64)irq, bpf_ktime_get_ns());
    if (row && !row->name[0])
        bpf_probe_read_kernel_str(row->name, sizeof row->name, BPF_CORE_READ(action, name));
    return 0;
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int vector) {
    struct bpf_kwork_cpu *c = this_cpu();
    __u64 *raise_ns = bpf_map_lookup_elem(&raised, &vector);
    if (!c || !raise_ns)
        return 0;
    c->events++;
    if (!*raise_ns)
        *raise_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector) {
    __u64 now = bpf_ktime_get_ns();
    __u64 *raise_ns = bpf_map_lookup_elem(&raised, &vector);
    enter(BPF_KWORK_SOFTIRQ, vector, raise_ns ? *raise_ns : 0, now);
    if (raise_ns)
        *raise_ns = 0; /* it may be raised again from now on */
    return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector) {
    end(BPF_KWORK_SOFTIRQ, vector, bpf_ktime_get_ns());
    return 0;
}

/* ---- work items ---- */

static struct bpf_kwork_item *item_of(struct bpf_kwork_cpu *c, __u64 address) {
    struct bpf_kwork_item *item = bpf_map_lookup_elem(&items, &address);
    if (item)
        return item;
    struct bpf_kwork_item fresh = {0};
    bpf_map_update_elem(&items, &address, &fresh, BPF_NOEXIST);
    item = bpf_map_lookup_elem(&items, &address);
    if (!item)
        c->full++;
    return item;
}

SEC("tp_btf/workqueue_activate_work")
int BPF_PROG(on_work_raise, struct work_struct *work) {
    struct bpf_kwork_cpu *c = this_cpu();
    struct bpf_kwork_item *item = c ? item_of(c, (__u64)work) : NULL;
    if (!item)
        return 0;
    c->events++;
    if (!item->raise_ns)
        item->raise_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(on_work_entry, struct work_struct *work) {
    __u64 now = bpf_ktime_get_ns();
    struct bpf_kwork_cpu *c = this_cpu();
    struct bpf_kwork_item *item = c && observed() ? item_of(c, (__u64)work) : NULL;
    if (!item)
        return 0;
    c->events++;
    c->entries += item->since_ns != 0;
    item->run_raise_ns = item->raise_ns;
    item->raise_ns = 0; /* it may be activated again from now on */
    item->since_ns = now;
    item->function = (__u64)BPF_CORE_READ(work, func);
    item->cpu = bpf_get_smp_processor_id();
    return 0;
}

/* The item itself may be freed by now. */
SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(on_work_exit, struct work_struct *work) {
    __u64 now = bpf_ktime_get_ns(), address = (__u64)work;
    struct bpf_kwork_cpu *c = this_cpu();
    struct bpf_kwork_item *item = bpf_map_lookup_elem(&items, &address);
    if (!c || !observed())
        return 0;
    c->events++;
    if (!item || !item->since_ns) {
        c->exits++;
        return 0;
    }
    struct bpf_kwork_key key = {.id = address, .class = BPF_KWORK_WORKQUEUE, .cpu = item->cpu};
    struct bpf_kwork_row *row = add_run(c, &key, item->run_raise_ns, item->since_ns, now);
    if (row)
        row->function = item->function;
    item->since_ns = 0;
    return 0;
}
