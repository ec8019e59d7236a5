/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The parts of the kernel's structs that our programs read: only the members used, under the kernel's names.
 * The loader relocates each access to where the running kernel has the member (BPF CO-RE), so order and
 * offsets here mean nothing. Members that some kernels from 5.15 on lack are tested for with
 * bpf_core_field_exists.
 */
#ifndef SONDE_BPF_KERNEL_H
#define SONDE_BPF_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
    unsigned int status; /* x86: TS_COMPAT and so on */
    unsigned int cpu;    /* on all architectures since 5.16; before that in task_struct */
};

struct upid {
    int nr;
};

struct pid {
    unsigned int level;     /* of the innermost namespace, */
    struct upid numbers[1]; /* and one for each down to it */
};

typedef struct {
    unsigned int val;
} kuid_t;

struct cred {
    kuid_t uid;
};

struct sched_entity {
    __u64 sum_exec_runtime; /* how long it ran, in ns */
    __u64 exec_start;       /* the CPU's clock (rq_clock_task) at the last update */
};

struct task_struct {
    struct thread_info thread_info;
    int on_cpu;
    int pid, tgid; /* what user space calls the thread id and the process id */
    unsigned int __state;
    unsigned int flags;
    unsigned long nvcsw, nivcsw; /* voluntary and involuntary switches */
    char comm[16];
    struct mm_struct *mm; /* NULL: a kernel thread */
    struct task_struct *group_leader, *real_parent;
    struct pid *thread_pid;
    const struct cred *real_cred;
    struct sched_entity se;
    int exit_state;
    int *clear_child_tid; /* of user space: set_tid_address(2) */
};

/* Kernels before 5.16 have a thread's CPU here. */
struct task_struct___with_cpu {
    unsigned int cpu;
};

/* Registers of user space, by architecture. */
struct pt_regs___x86 {
    unsigned long bp, ip, sp, orig_ax;
    unsigned long ax, bx, cx, dx, si, di, r8, r9, r10, r11, r12, r13, r14, r15;
    unsigned short cs;
};

struct pt_regs___arm64 {
    int syscallno;
    unsigned long regs[31], sp, pc, orig_x0;
};

struct super_block {
    unsigned long s_magic;
};

struct inode {
    unsigned short i_mode;
    unsigned long i_ino;
    struct super_block *i_sb;
};

struct file {
    unsigned int f_mode;
    struct inode *f_inode;
};

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task; /* NULL: the end */
};

struct bpf_iter__task_file {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
    unsigned int fd;
    struct file *file; /* NULL: the end */
};

#pragma clang attribute pop

#endif
