/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What the iterators of waits.bpf.c write: a row for each thread, one for each pipe and socket that a process
 * has open, and names of the kernel's functions. */
#ifndef SONDE_BPF_WAITS_H
#define SONDE_BPF_WAITS_H

#include <linux/types.h>

enum {
    BPF_WAITS_ARGS = 6,
    BPF_WAITS_FRAMES = 32,
    BPF_WAITS_NAME = 64,
    BPF_WAITS_REGS = 33,
    BPF_WAITS_NO_CALL = -1,
    BPF_WAITS_OTHER_CPU = -2,   /* the system call is not where we know it: ask /proc */
    BPF_WAITS_COMPAT_CALL = -3, /* of a 32-bit program */
};

/* Numbers of threads and processes are those that the reader's pid namespace has for them; 0: none. */
struct bpf_waits_thread {
    __u32 tid, pid, parent;
    __u32 inner_tid;                /* in its own pid namespace */
    __u32 state, exit_state, flags; /* of task_struct */
    __u32 uid;
    __s32 cpu;
    __u32 on_cpu;
    __s32 call;
    __u32 frames; /* bytes of `stack` that are set; more than that there may be */
    __u64 args[BPF_WAITS_ARGS];
    __u64 sp, pc;
    __u64 regs_mask; /* which of `regs` are set: numbered as in asm/perf_regs.h */
    __u64 regs[BPF_WAITS_REGS];
    __u64 exec_start; /* the CPU's clock when it ran last */
    __u64 clear_tid;  /* the word that the kernel clears when the thread ends; 0: none */
    __u64 stack[BPF_WAITS_FRAMES];
    char comm[16], process[16];
};

struct bpf_waits_file {
    __u64 ino;
    __u32 pid, fd;
    __u32 socket; /* else a pipe */
    __u32 mode;   /* 1: it may read, 2: write */
};

#endif
