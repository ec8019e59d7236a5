/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What user space tells probe.bpf.c: which probes there are, and how their arguments are fetched. */
#ifndef SONDE_BPF_PROBE_H
#define SONDE_BPF_PROBE_H

#include <linux/types.h>

enum {
    BPF_PROBE_OPS = 256,    /* of one probe; a power of 2 */
    BPF_PROBE_FIXED = 2048, /* bytes of a record up to its texts, at most; a power of 2 */
    BPF_PROBE_TEXT = 2048,  /* bytes of one text, with its NUL */
    BPF_PROBE_COPY = 512,   /* bytes of one argument, at most */
    BPF_PROBE_DATA = 16384, /* bytes of a record, at most */
    BPF_PROBE_REGISTERS = 40,
};

/* One step, which changes the number that is worked on, or writes into the record. */
enum bpf_probe_code {
    BPF_PROBE_REGISTER, /* the number is the register: word `at` of struct pt_regs */
    BPF_PROBE_NUMBER,   /* it is `value` */
    BPF_PROBE_IMAGE,    /* it is the address of the probe + `value` */
    BPF_PROBE_ADD,      /* + `value` */
    BPF_PROBE_LOAD,     /* it is an address: the `at` bytes that are there */
    BPF_PROBE_BITS,     /* shifted right by `at`, and `value` of it: a mask */
    BPF_PROBE_STORE,    /* its low `value` bytes go to `at` of the record */
    BPF_PROBE_COPY_TO,  /* it is an address: `value` bytes from there go to `at` */
    BPF_PROBE_TEXT_TO,  /* it is an address: the text there goes to the end, where it lies to `at` */
    BPF_PROBE_COMM_TO,  /* likewise the thread's name */
};

struct bpf_probe_op {
    __u32 code, at;
    __s64 value;
};

struct bpf_probe {
    __u32 count; /* of ops */
    __u32 fixed; /* bytes of the record up to its texts */
    __u32 type;  /* its first member, common_type */
    __u32 returns;
    struct bpf_probe_op ops[BPF_PROBE_OPS];
};

/* Of a thread in the map `targets`. */
enum bpf_probe_target {
    BPF_PROBE_FOLLOWED = 1,
    BPF_PROBE_AT_EXEC, /* from its execve on */
};

struct bpf_probe_options {
    __u32 all;             /* all threads; else those in the map `targets` */
    __u32 inherit;         /* and what they create */
    __u32 cpus;            /* outputs of a probe: one for each */
    __u32 registers_bytes; /* of struct pt_regs */
    __u32 instruction;     /* the word of it that has the instruction pointer */
    __u32 unused;
};

struct bpf_probe_counters {
    __u64 missed;       /* hits without a record: no memory for it */
    __u64 lost_threads; /* that should have been followed, but the map was full */
};

#endif
