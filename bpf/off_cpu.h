/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The options and results of off_cpu.bpf.c: how long threads did not run, and where. */
#ifndef SONDE_BPF_OFF_CPU_H
#define SONDE_BPF_OFF_CPU_H

#include <linux/types.h>

enum {
    BPF_OFF_CPU_FRAMES = 64, /* of a kernel stack, and of a user stack */
    BPF_OFF_CPU_PAGE = 8192, /* bytes of a page of copies */
    BPF_OFF_CPU_REGISTERS = 14,
    BPF_OFF_CPU_CALLS = 512, /* system calls with a larger number are not looked at */
    BPF_OFF_CPU_NAME = 40,   /* of an object */
    BPF_OFF_CPU_BEFORE = 12, /* bytes that are read in front of a futex, */
    BPF_OFF_CPU_AROUND = 36, /* and in all */
    BPF_OFF_CPU_WAKERS = 5,  /* length of a chain */
    BPF_OFF_CPU_ENTRIES = 3, /* ranges of the kernel's code */
    BPF_OFF_CPU_RANGES = 64, /* of a process's code: a power of two */
};

/* Which registers are copied: those that unwinding needs, as bits numbered as in asm/perf_regs.h. */
#define BPF_OFF_CPU_REGS_X86   0xf001c2ull    /* bx, bp, sp, ip, r12 to r15 */
#define BPF_OFF_CPU_REGS_ARM64 0x1fff80000ull /* x19 to x30, sp, pc */

/* Why a thread does not run. */
enum bpf_off_cpu_kind {
    BPF_OFF_CPU_RUNS,     /* it does */
    BPF_OFF_CPU_SLEEPS,   /* interruptible */
    BPF_OFF_CPU_BLOCKED,  /* uninterruptible: disk, page, kernel lock */
    BPF_OFF_CPU_STOPPED,  /* by a signal or a debugger */
    BPF_OFF_CPU_RUNNABLE, /* it was woken, or preempted, and waits for a CPU */
    BPF_OFF_CPU_KINDS
};

struct bpf_off_cpu_range {
    __u64 start, size;
};

struct bpf_off_cpu_options {
    __u64 min_ns;    /* shorter waits are only summed by thread, without stacks */
    __u64 direct_ns; /* waits of at least this length are reported one by one; 0: none */
    __u32 all;       /* all threads; else those in the map `targets` and what they create */
    __u32 inherit;   /* what they create too */
    __u32 kernel_stacks, user_stacks;
    __u32 copy_bytes; /* user stacks are copied, so many bytes of each; 0: walked by frame pointers */
    __u32 pages;      /* for the copies of one generation */
    __u32 objects;    /* what is waited for is looked at */
    __u32 wakers;     /* who woke it, too */
    /* Code that is on the stack of each interrupt; unused ones have size 0. */
    struct bpf_off_cpu_range entries[BPF_OFF_CPU_ENTRIES];
};

/* What a system call waits for, and which of its arguments says that. */
enum bpf_off_cpu_argument {
    BPF_OFF_CPU_NOTHING, /* nothing that we look at */
    BPF_OFF_CPU_FD,
    BPF_OFF_CPU_POLLFDS, /* a struct pollfd, and in the next argument how many */
    BPF_OFF_CPU_WORD,    /* a futex */
    BPF_OFF_CPU_PROCESS, /* a child */
};
struct bpf_off_cpu_call {
    __u8 argument, index;
    __u8 writes; /* to the file, else it reads or something else */
};

enum bpf_off_cpu_object_kind {
    BPF_OFF_CPU_NO_OBJECT,
    BPF_OFF_CPU_FILE,
    BPF_OFF_CPU_PIPE,
    BPF_OFF_CPU_SOCKET,
    BPF_OFF_CPU_FUTEX,
    BPF_OFF_CPU_CHILD,
    BPF_OFF_CPU_THREAD, /* the end of one */
};

/* What a thread waits for; kept under a hash of the first BPF_OFF_CPU_IDENTITY bytes. */
struct bpf_off_cpu_object {
    __u64 ino;             /* of a file, pipe or socket; address of a futex */
    __u32 dev, generation; /* of the file, as the kernel has them; dev of a futex: its process */
    __u32 kind;            /* enum bpf_off_cpu_object_kind */
    __u16 family, local_port, remote_port;
    __u8 listens, writes;        /* writes: it waits to write to a pipe */
    __u8 remote[16];             /* address of an Internet socket's other end */
    char name[BPF_OFF_CPU_NAME]; /* last part of a file's path; a child's or thread's name */
    __u32 type;                  /* of a socket: SOCK_STREAM and so on */
    /* Not what it is, but who waited for it, and with which words. */
    __u32 pid, tid, fd;
    __u32 op, value, limited;        /* of futex(2); limited: with a timeout */
    __u8 around[BPF_OFF_CPU_AROUND]; /* the memory around the futex when the wait began */
    __u32 unused_end;
};
#define BPF_OFF_CPU_IDENTITY 88

/* Who woke a thread; kept under a hash of it. */
struct bpf_off_cpu_waker {
    __u64 before; /* the one that had woken this one meanwhile; 0: none is known */
    __s32 call;   /* the system call that it was in, or one of the values below */
    __u32 depth;  /* 1: none before */
    char comm[16];
};

/* A thread's user-space registers. */
struct bpf_off_cpu_registers {
    __u64 mask;                          /* BPF_OFF_CPU_REGS_; 0: not known */
    __u64 abi;                           /* PERF_SAMPLE_REGS_ABI_ */
    __u64 values[BPF_OFF_CPU_REGISTERS]; /* lowest bit of the mask first */
};

/* A copied user stack, from the stack pointer on. What was copied since user space last read the sums is one
 * generation, what was copied before that is the other, which is dropped once the sums that refer to it have
 * been read. */
struct bpf_off_cpu_copy_key {
    __u64 hash;
    __u32 generation, unused; /* 0 or 1 */
};

struct bpf_off_cpu_copy {
    struct bpf_off_cpu_registers registers;
    __u32 first_page, bytes; /* the pages are contiguous */
};

/* Where a process's code lies. The kernel makes an entry without ranges, and user space fills it; it is valid
 * while the process has the same memory, with as many pages of code. */
struct bpf_off_cpu_code {
    __u64 memory, pages; /* address of struct mm_struct, exec_vm */
    __u32 filled, unused;
    struct bpf_off_cpu_range ranges[BPF_OFF_CPU_RANGES]; /* by start; unused ones begin at UINT64_MAX */
};

struct bpf_off_cpu_page {
    __u8 bytes[BPF_OFF_CPU_PAGE];
};

/* Addresses, innermost first; kept under a hash of them. */
struct bpf_off_cpu_stack {
    __u32 count, unused;
    __u64 ips[BPF_OFF_CPU_FRAMES];
};

struct bpf_off_cpu_key {
    __u32 pid, tid;
    __u64 kernel_stack, user_stack; /* hashes; 0: none */
    __u32 kind;                     /* enum bpf_off_cpu_kind */
    __s32 syscall;                  /* the system call that it waits in, or one of the values below */
    __u64 object, waker;            /* hashes; 0: none */
};

enum {
    BPF_OFF_CPU_NO_CALL = -1,
    BPF_OFF_CPU_UNKNOWN_CALL = -2, /* it is in one whose number is not known */
    BPF_OFF_CPU_UNTOLD = -4,       /* whether it is in one is not known on this architecture */
    BPF_OFF_CPU_SHORT = -3,        /* all waits that were too short for a stack */
    BPF_OFF_CPU_INTERRUPT = -5,    /* of a waker: an interrupt, whichever thread it hit */
};

struct bpf_off_cpu_sum {
    __u64 ns, count;
    __u64 last_ns; /* when the last of them was added: CLOCK_MONOTONIC */
};

/* One long wait. */
struct bpf_off_cpu_direct {
    struct bpf_off_cpu_key key;
    __u64 at_ns, ns; /* at_ns: when it was reported (CLOCK_MONOTONIC) */
};

/* At the end: a thread that still waits in a system call. Its user stack is not read here, as it is not the
 * current thread. */
struct bpf_off_cpu_still {
    struct bpf_off_cpu_key key;
    __u64 at_ns, ns;
    __u64 ip, frame; /* of user space: where it entered the kernel, and its frame pointer; 0: not known */
    __u64 switches;  /* voluntary ones: while their number stays the same, so does the user stack */
    struct bpf_off_cpu_registers registers; /* mask 0: stacks are not copied */
};

/* By CPU. */
struct bpf_off_cpu_counters {
    __u64 switches_voluntary, switches_involuntary; /* of watched threads */
    __u64 waits;
    __u64 lost_sums, lost_sums_ns; /* waits that found the map of sums full */
    __u64 lost_stacks;             /* waits whose stack found its map full */
    __u64 lost_copies; /* waits whose user stack could not be copied for lack of room: it was walked by frame
                          pointers instead */
    __u64 copies;      /* user stacks that were copied */
    __u64 lost_objects, lost_wakers; /* waits without a name or a waker, as the map was full */
    __u64 lost_threads;              /* threads whose state could not be kept */
    __u64 unseen;                    /* threads that ran without a switch to them having been seen */
    __u64 due; /* no counter: whether the thread that runs here has a wait to be added up */
};

#endif
