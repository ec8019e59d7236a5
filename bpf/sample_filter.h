/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What sample_filter.bpf.c and its loader share: an expression over a sample's fields (record --filter). */
#ifndef SONDE_BPF_SAMPLE_FILTER_H
#define SONDE_BPF_SAMPLE_FILTER_H

#include <linux/types.h>

enum { BPF_FILTER_TERMS = 32 };

/* What a term looks at: a number of 64 bits. */
enum {
    BPF_FILTER_IP,
    BPF_FILTER_ID,
    BPF_FILTER_TID,
    BPF_FILTER_PID,
    BPF_FILTER_CPU,
    BPF_FILTER_TIME,
    BPF_FILTER_ADDR,
    BPF_FILTER_PERIOD,
    BPF_FILTER_TXN,
    BPF_FILTER_WEIGHT,
    BPF_FILTER_PHYS_ADDR,
    BPF_FILTER_CODE_PAGE,
    BPF_FILTER_DATA_PAGE,
    BPF_FILTER_DATA_SRC,
    BPF_FILTER_UID,
    BPF_FILTER_GID,
};

enum {
    BPF_FILTER_EQUAL,
    BPF_FILTER_UNEQUAL,
    BPF_FILTER_MORE,
    BPF_FILTER_AT_LEAST,
    BPF_FILTER_LESS,
    BPF_FILTER_AT_MOST,
    BPF_FILTER_ANY,  /* of these bits */
    BPF_FILTER_ALL,  /* of these bits */
    BPF_FILTER_MISS, /* at least one of these bits */
};

struct bpf_filter_term {
    __u64 value;
    __u8 field, how;
    __u8 shift, bits; /* these bits of the field; bits 0: all */
    __u32 either;     /* this one or the next */
};

/* Terms that are joined by `either` are one condition; all conditions must hold. */
struct bpf_filter {
    struct bpf_filter_term terms[BPF_FILTER_TERMS];
    __u32 count, pad;
};

struct bpf_filter_counters {
    __u64 passed, dropped;
    __u64 unknown; /* dropped, as the kernel did not say what a term looks at */
};

#endif
