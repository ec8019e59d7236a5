/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The options and results of trace.bpf.c: system calls, in sums, or one by one with what their arguments
 * point to. */
#ifndef SONDE_BPF_TRACE_H
#define SONDE_BPF_TRACE_H

#include <linux/types.h>

enum {
    BPF_TRACE_CALLS = 512, /* numbers that have a row; others are taken, too */
    BPF_TRACE_ARGS = 6,
    BPF_TRACE_TEXT = 256, /* most bytes that are copied of a text, with its NUL */
    BPF_TRACE_MOST = 511  /* of any argument */
};

/* What is copied of an argument. */
enum bpf_trace_copy {
    BPF_TRACE_NOTHING,
    BPF_TRACE_STRING, /* up to its NUL */
    BPF_TRACE_UNITS,  /* one or several of the same size */
    /* Pointers to texts, the last one NULL: each text with its NUL. A text that is truncated is the last one,
     * and has none. */
    BPF_TRACE_STRINGS,
    /* struct iovec, at most BPF_TRACE_VECTORS, then of each its first BPF_TRACE_VECTOR_BYTES; where these
     * could not be read it ends. */
    BPF_TRACE_IOVECS,
    /* struct msghdr, at most BPF_TRACE_NAME bytes of its address, whose pointer is 0 here if it was not
     * copied, and its vectors as above. */
    BPF_TRACE_MESSAGE,
};
enum {
    BPF_TRACE_STRING_COUNT = 16, /* texts of BPF_TRACE_STRINGS */
    BPF_TRACE_STRING_BYTES = 128,
    BPF_TRACE_VECTORS = 4,
    BPF_TRACE_VECTOR_BYTES = 64,
    BPF_TRACE_NAME = 128,
};

/* When; bits. */
enum bpf_trace_when {
    BPF_TRACE_ON_ENTER = 1,
    BPF_TRACE_ON_EXIT = 2,     /* if the call did not fail */
    BPF_TRACE_ON_POSITIVE = 4, /* on exit, if the result is above 0 */
};

/* How many units. */
enum bpf_trace_many {
    BPF_TRACE_ONE,
    BPF_TRACE_PAIR,
    BPF_TRACE_NEXT,        /* as the next argument says */
    BPF_TRACE_BEFORE,      /* as the one before */
    BPF_TRACE_RESULT,      /* as the result */
    BPF_TRACE_RESULT_NEXT, /* but no more than the next argument */
    BPF_TRACE_LENGTH,      /* as the next argument points to, then and when the call was entered */
};

struct bpf_trace_arg {
    __u8 how, when, many, unused;
    __u16 unit, most; /* bytes */
};

/* From when on a thread in the map `targets` is traced. */
enum bpf_trace_target {
    BPF_TRACE_NOW = 1,
    BPF_TRACE_FROM_EXEC, /* from its next execve on */
};

/* What is done with a system call, by its number. */
struct bpf_trace_row {
    __u8 skip;  /* it is not traced */
    __u8 never; /* it does not return: counted when it is entered */
    __u8 unused[6];
    struct bpf_trace_arg args[BPF_TRACE_ARGS];
};

struct bpf_trace_options {
    __u32 all;       /* all threads; else those in the map `targets`, and what they create */
    __u32 inherit;   /* what they create, too */
    __u32 self;      /* a process that is left out; 0: none */
    __u32 lines;     /* calls are reported one by one; else they are summed */
    __u32 errnos;    /* errors are summed by their number, too */
    __u32 by_cgroup; /* sums are by control group, too */
};

struct bpf_trace_key {
    __u64 cgroup; /* 0: not asked */
    __u32 tid;
    __s32 number;
    __u32 compat;
    __u32 error; /* of the sums of errors; else 0 */
};

struct bpf_trace_sum {
    __u64 count, errors; /* calls that ended, and of these with an error */
    __u64 timed;         /* of which the beginning was seen; all below are of these */
    __u64 total_ns, min_ns, max_ns;
    __u64 squares_low, squares_high; /* the sum of squared ns, 128 bits */
};

enum bpf_trace_kind { BPF_TRACE_ENTER, BPF_TRACE_EXIT };

/* A half of a call; what was copied follows, argument by argument. */
struct bpf_trace_half {
    __u64 time_ns; /* CLOCK_MONOTONIC */
    __u64 lost;    /* halves that this CPU could not report so far */
    __u32 tid, pid, cpu;
    __s32 number;
    __u32 kind, compat;
    __u64 order; /* of the thread's halves, whether they could be reported or not */
    __s64 result;
    __u64 args[BPF_TRACE_ARGS];
    char comm[16];
    __u16 sizes[BPF_TRACE_ARGS]; /* bytes copied, plus 1; 0: nothing could be copied, or is to be */
    __u16 cut;                   /* a bit for each argument that was truncated */
    __u16 bytes;                 /* of all */
};

/* By CPU. */
struct bpf_trace_counters {
    __u64 lost_halves;  /* the ring was full */
    __u64 lost_sums;    /* a map of sums was full */
    __u64 lost_threads; /* a thread could not be followed */
};

#endif
