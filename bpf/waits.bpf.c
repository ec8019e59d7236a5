/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Every thread with its state, system call and kernel stack, and every pipe and socket that is open: what
 * /proc has in five files for each thread and in one link for each descriptor.
 */
#include "waits.h"
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { PF_KTHREAD = 0x00200000 };
enum {
    FMODE_READ = 1,
    FMODE_WRITE = 2,
    TS_COMPAT = 2,
    S_IFMT = 0170000,
    S_IFSOCK = 0140000,
    S_IFIFO = 0010000
};
enum { PIPEFS = 0x50495045, SOCKFS = 0x534f434b }; /* linux/magic.h; socket.c */
enum { NAMES = 16384 };

/* Addresses of the kernel's code -> names. An address is named when it is first seen. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, NAMES);
    __type(key, __u64);
    __type(value, char[BPF_WAITS_NAME]);
} names SEC(".maps");

/* Too large for the stack of a program. We read one iterator after the other, so nobody else writes here. */
struct bpf_waits_thread row;
char name[BPF_WAITS_NAME];
const volatile bool all_frames = false; /* else stacks are only as deep as it takes to find where they wait */

/*
 * Pointers are followed by BPF_CORE_READ, not by plain loads: for each plain load of a pointer the verifier
 * of Linux 6.x looks through all types of the kernel several times, half a millisecond each.
 */
static __always_inline __u32 number_at(struct pid *pid, __u32 level) {
    __u32 nr = 0;
    if (pid && level <= BPF_CORE_READ(pid, level))
        bpf_probe_read_kernel(&nr, sizeof nr,
                              (void *)pid + bpf_core_field_offset(struct pid, numbers) +
                                  level * bpf_core_type_size(struct upid) +
                                  bpf_core_field_offset(struct upid, nr));
    return nr;
}

static __always_inline __u32 our_level(void) {
    struct task_struct *us = (void *)bpf_get_current_task();
    return BPF_CORE_READ(us, thread_pid, level);
}

static __always_inline void take_call_x86(struct task_struct *task, struct pt_regs___x86 *regs) {
    __s32 call = (__s32)regs->orig_ax;
    bool compat = false;
    if (bpf_core_field_exists(task->thread_info.status))
        compat = task->thread_info.status & TS_COMPAT;
    row.call = call < 0 ? BPF_WAITS_NO_CALL : compat ? BPF_WAITS_COMPAT_CALL : call;
    row.args[0] = regs->di;
    row.args[1] = regs->si;
    row.args[2] = regs->dx;
    row.args[3] = regs->r10;
    row.args[4] = regs->r8;
    row.args[5] = regs->r9;
    row.sp = regs->sp;
    row.pc = regs->ip;
    row.regs_mask = 0xff01ff; /* all but flags and segments */
    row.regs[0] = regs->ax;
    row.regs[1] = regs->bx;
    row.regs[2] = regs->cx;
    row.regs[3] = regs->dx;
    row.regs[4] = regs->si;
    row.regs[5] = regs->di;
    row.regs[6] = regs->bp;
    row.regs[7] = regs->sp;
    row.regs[8] = regs->ip;
    row.regs[16] = regs->r8;
    row.regs[17] = regs->r9;
    row.regs[18] = regs->r10;
    row.regs[19] = regs->r11;
    row.regs[20] = regs->r12;
    row.regs[21] = regs->r13;
    row.regs[22] = regs->r14;
    row.regs[23] = regs->r15;
}

static __always_inline void take_call_arm64(struct pt_regs___arm64 *regs) {
    __s32 call = regs->syscallno;
    row.call = call < 0 ? BPF_WAITS_NO_CALL : call;
    bpf_core_read(&row.regs, sizeof regs->regs, &regs->regs);
    row.regs[31] = regs->sp;
    row.regs[32] = regs->pc;
    row.regs_mask = 0x1ffffffff;
    row.args[0] = regs->orig_x0;
    row.args[1] = row.regs[1];
    row.args[2] = row.regs[2];
    row.args[3] = row.regs[3];
    row.args[4] = row.regs[4];
    row.args[5] = row.regs[5];
    row.sp = regs->sp;
    row.pc = regs->pc;
}

static __always_inline void take_call(struct task_struct *task) {
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    row.call = BPF_WAITS_OTHER_CPU;
    if (bpf_core_field_exists(((struct pt_regs___x86 *)regs)->orig_ax))
        take_call_x86(task, (void *)regs);
    else if (bpf_core_field_exists(((struct pt_regs___arm64 *)regs)->orig_x0))
        take_call_arm64((void *)regs);
}

static __always_inline __s32 cpu_of(struct task_struct *task) {
    struct task_struct___with_cpu *older = (void *)task;
    if (bpf_core_field_exists(task->thread_info.cpu))
        return (__s32)task->thread_info.cpu;
    return bpf_core_field_exists(older->cpu) ? (__s32)older->cpu : -1;
}

static __always_inline void name_frames(__u32 count) {
    static const char format[] = "%ps";
    for (__u32 i = 0; i < BPF_WAITS_FRAMES; i++) {
        __u64 address = row.stack[i];
        if (i >= count)
            break;
        if (bpf_map_lookup_elem(&names, &address))
            continue;
        bpf_snprintf(name, sizeof name, format, &address, sizeof address);
        bpf_map_update_elem(&names, &address, name, BPF_NOEXIST);
    }
}

static __always_inline void take_stack(struct task_struct *task) {
    enum { FEW = 8 };
    long bytes = bpf_get_task_stack(task, row.stack, all_frames ? sizeof row.stack : FEW * 8, 0);
    row.frames = bytes > 0 ? (__u32)bytes / 8 : 0;
    name_frames(row.frames);
}

SEC("iter/task")
int threads(struct bpf_iter__task *c) {
    struct task_struct *task = c->task;
    if (!task)
        return 0;
    __u32 level = our_level();
    struct pid *pid = BPF_CORE_READ(task, thread_pid);
    __builtin_memset(&row, 0, sizeof row);
    row.tid = number_at(pid, level);
    row.pid = number_at(BPF_CORE_READ(task, group_leader, thread_pid), level);
    row.parent = number_at(BPF_CORE_READ(task, real_parent, group_leader, thread_pid), level);
    row.inner_tid = number_at(pid, BPF_CORE_READ(pid, level));
    row.state = task->__state;
    row.exit_state = task->exit_state;
    row.flags = task->flags;
    row.uid = BPF_CORE_READ(task, real_cred, uid.val);
    row.cpu = cpu_of(task);
    row.on_cpu = task->on_cpu;
    row.exec_start = task->se.exec_start;
    row.clear_tid = (__u64)BPF_CORE_READ(task, clear_child_tid);
    BPF_CORE_READ_STR_INTO(&row.comm, task, comm);
    BPF_CORE_READ_STR_INTO(&row.process, task, group_leader, comm);
    row.call = BPF_WAITS_NO_CALL;
    if (!(row.flags & PF_KTHREAD))
        take_call(task);
    if (row.state)
        take_stack(task);
    bpf_seq_write(c->meta->seq, &row, sizeof row);
    return 0;
}

SEC("iter/task_file")
int files(struct bpf_iter__task_file *c) {
    struct task_struct *task = c->task;
    struct file *file = c->file;
    struct bpf_waits_file out = {0};
    if (!task || !file)
        return 0;
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    __u32 mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
    if (mode != S_IFIFO && mode != S_IFSOCK)
        return 0;
    if (BPF_CORE_READ(inode, i_sb, s_magic) != (mode == S_IFSOCK ? SOCKFS : PIPEFS))
        return 0;
    out.ino = BPF_CORE_READ(inode, i_ino);
    out.pid = number_at(BPF_CORE_READ(task, group_leader, thread_pid), our_level());
    out.fd = c->fd;
    out.socket = mode == S_IFSOCK;
    out.mode = file->f_mode & (FMODE_READ | FMODE_WRITE);
    bpf_seq_write(c->meta->seq, &out, sizeof out);
    return 0;
}
