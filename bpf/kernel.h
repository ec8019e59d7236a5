/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What our programs read of the kernel's structs: only the members used, by the kernel's names. The loader
 * moves each access to where the running kernel has the member (BPF CO-RE), so order and distances here mean
 * nothing. A member that not every kernel from 5.15 on has is asked for with bpf_core_field_exists.
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
};

struct task_struct {
    struct thread_info thread_info;
    int on_cpu;
    int pid, tgid; /* thread and process, in user space's words */
    unsigned int __state;
    unsigned int flags;
    unsigned long nvcsw, nivcsw; /* voluntary and involuntary switches */
    char comm[16];
    struct mm_struct *mm; /* NULL: a kernel thread */
    struct task_struct *group_leader;
};

/* Registers of user space, by architecture. */
struct pt_regs___x86 {
    unsigned long bp, ip, sp, orig_ax;
};

struct pt_regs___arm64 {
    int syscallno;
};

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task; /* NULL: the end */
};

#pragma clang attribute pop

#endif
