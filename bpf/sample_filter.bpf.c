/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Which samples of an event are recorded: an expression, given as data that no longer change when this is
 * loaded, so that the kernel compiles what is asked for and no more.
 */
#include "sample_filter.h"
#include "kernel_samples.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_filter filter;

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_filter_counters);
} counters SEC(".maps");

static const __u32 ZERO;

/* PERF_SAMPLE_* of linux/perf_event.h: one of these says that the field is set; 0: it always is. */
static __always_inline __u64 needs(__u8 field) {
    switch (field) {
    case BPF_FILTER_IP:
        return 1 << 0;
    case BPF_FILTER_TID:
    case BPF_FILTER_PID:
        return 1 << 1;
    case BPF_FILTER_TIME:
        return 1 << 2;
    case BPF_FILTER_ADDR:
        return 1 << 3;
    case BPF_FILTER_ID:
        return 1 << 6 | 1 << 16;
    case BPF_FILTER_WEIGHT:
        return 1 << 14 | 1 << 24;
    case BPF_FILTER_DATA_SRC:
        return 1 << 15;
    case BPF_FILTER_TXN:
        return 1 << 17;
    case BPF_FILTER_PHYS_ADDR:
        return 1 << 19;
    case BPF_FILTER_DATA_PAGE:
        return 1 << 22;
    case BPF_FILTER_CODE_PAGE:
        return 1 << 23;
    default:
        return 0;
    }
}

static __always_inline __u64 read(struct perf_sample_data *d, __u8 field) {
    switch (field) {
    case BPF_FILTER_IP:
        return BPF_CORE_READ(d, ip);
    case BPF_FILTER_ID:
        return BPF_CORE_READ(d, id);
    case BPF_FILTER_TID:
        return BPF_CORE_READ(d, tid_entry.tid);
    case BPF_FILTER_PID:
        return BPF_CORE_READ(d, tid_entry.pid);
    case BPF_FILTER_CPU:
        return bpf_get_smp_processor_id();
    case BPF_FILTER_TIME:
        return BPF_CORE_READ(d, time);
    case BPF_FILTER_ADDR:
        return BPF_CORE_READ(d, addr);
    case BPF_FILTER_PERIOD:
        return BPF_CORE_READ(d, period);
    case BPF_FILTER_TXN:
        return BPF_CORE_READ(d, txn);
    case BPF_FILTER_WEIGHT:
        return BPF_CORE_READ(d, weight.full);
    case BPF_FILTER_PHYS_ADDR:
        return BPF_CORE_READ(d, phys_addr);
    case BPF_FILTER_CODE_PAGE:
        return BPF_CORE_READ(d, code_page_size);
    case BPF_FILTER_DATA_PAGE:
        return BPF_CORE_READ(d, data_page_size);
    case BPF_FILTER_DATA_SRC:
        return BPF_CORE_READ(d, data_src.val);
    case BPF_FILTER_UID:
        return (__u32)bpf_get_current_uid_gid();
    default: /* BPF_FILTER_GID */
        return bpf_get_current_uid_gid() >> 32;
    }
}

static __always_inline bool compare(__u64 is, __u8 how, __u64 value) {
    switch (how) {
    case BPF_FILTER_EQUAL:
        return is == value;
    case BPF_FILTER_UNEQUAL:
        return is != value;
    case BPF_FILTER_MORE:
        return is > value;
    case BPF_FILTER_AT_LEAST:
        return is >= value;
    case BPF_FILTER_LESS:
        return is < value;
    case BPF_FILTER_AT_MOST:
        return is <= value;
    case BPF_FILTER_ANY:
        return (is & value) != 0;
    case BPF_FILTER_ALL:
        return (is & value) == value;
    default: /* BPF_FILTER_MISS */
        return (is & value) != value;
    }
}

enum verdict { NO, YES, UNKNOWN };

/* Not inlined, so that the verifier checks it once. `data`: a pointer that it need not know. */
__noinline int judge(__u64 data, __u32 i) {
    struct perf_sample_data *d = (struct perf_sample_data *)data;
    if (i >= BPF_FILTER_TERMS)
        return NO;
    const volatile struct bpf_filter_term *t = &filter.terms[i];
    __u8 field = t->field, bits = t->bits;
    __u64 need = needs(field);
    if (need && bpf_core_field_exists(d->sample_flags) && !(BPF_CORE_READ(d, sample_flags) & need))
        return UNKNOWN;
    __u64 is = read(d, field) >> (t->shift & 63);
    if (bits && bits < 64)
        is &= (1ull << bits) - 1;
    return compare(is, t->how, t->value) ? YES : NO;
}

SEC("perf_event")
int on_sample(void *ctx) {
    struct perf_sample_data *d = BPF_CORE_READ((struct bpf_perf_event_data_kern *)ctx, data);
    struct bpf_filter_counters *c = bpf_map_lookup_elem(&counters, &ZERO);
    bool holds = false, unknown = false, all = true;
    if (!c)
        return 1;
    for (__u32 i = 0; i < BPF_FILTER_TERMS && i < filter.count; i++) {
        int verdict = holds ? YES : judge((__u64)d, i);
        holds = verdict == YES;
        unknown |= verdict == UNKNOWN;
        if (filter.terms[i].either)
            continue;
        all &= holds;
        holds = false;
    }
    c->passed += all;
    c->dropped += !all;
    c->unknown += !all && unknown;
    return all;
}
