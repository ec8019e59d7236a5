/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a filter for `script --dlfilter` is compiled against: the interface that perf-dlfilter(1) documents,
 * in our own words. A filter built for perf runs unchanged, and one built with this header runs in perf.
 *
 * A filter is a shared object that defines any of
 *
 *     struct perf_dlfilter_fns perf_dlfilter_fns;      filled in before start is called
 *     int start(void **data, void *ctx);               0, or negative: give up
 *     int stop(void *data, void *ctx);
 *     int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
 *     int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
 *     const char *filter_description(const char **long_description);
 *
 * filter_event returns 0 to keep the sample, 1 to drop it, negative to give up; filter_event_early is asked
 * before other filters (-S, --comms...) are. What they are given is valid until they return.
 */
#ifndef PERF_DLFILTER_H
#define PERF_DLFILTER_H

#include <linux/perf_event.h>
#include <linux/types.h>

#define PERF_DLFILTER_HAS_MACHINE_PID

/* perf_dlfilter_sample.flags: of branches that an instruction trace gave. */
enum {
    PERF_DLFILTER_FLAG_BRANCH = 1ULL << 0,
    PERF_DLFILTER_FLAG_CALL = 1ULL << 1,
    PERF_DLFILTER_FLAG_RETURN = 1ULL << 2,
    PERF_DLFILTER_FLAG_CONDITIONAL = 1ULL << 3,
    PERF_DLFILTER_FLAG_SYSCALLRET = 1ULL << 4,
    PERF_DLFILTER_FLAG_ASYNC = 1ULL << 5,
    PERF_DLFILTER_FLAG_INTERRUPT = 1ULL << 6,
    PERF_DLFILTER_FLAG_TX_ABORT = 1ULL << 7,
    PERF_DLFILTER_FLAG_TRACE_BEGIN = 1ULL << 8,
    PERF_DLFILTER_FLAG_TRACE_END = 1ULL << 9,
    PERF_DLFILTER_FLAG_IN_TX = 1ULL << 10,
    PERF_DLFILTER_FLAG_VMENTRY = 1ULL << 11,
    PERF_DLFILTER_FLAG_VMEXIT = 1ULL << 12,
};

/* A sample; for the members see perf_event_open(2). What was not recorded is 0. */
struct perf_dlfilter_sample {
    __u32 size; /* of this structure: later members may be missing */
    __u16 ins_lat;
    __u16 p_stage_cyc;
    __u64 ip;
    __s32 pid;
    __s32 tid;
    __u64 time;
    __u64 addr;
    __u64 id;
    __u64 stream_id;
    __u64 period;
    __u64 weight;
    __u64 transaction;
    __u64 insn_cnt;
    __u64 cyc_cnt;
    __s32 cpu;
    __u32 flags; /* PERF_DLFILTER_FLAG_* */
    __u64 data_src;
    __u64 phys_addr;
    __u64 data_page_size;
    __u64 code_page_size;
    __u64 cgroup;
    __u8 cpumode;             /* PERF_RECORD_MISC_CPUMODE_MASK's part of misc */
    __u8 addr_correlates_sym; /* resolve_addr can be called */
    __u16 misc;               /* of the record's header */
    __u32 raw_size;
    const void *raw_data;
    __u64 brstack_nr;
    const struct perf_branch_entry *brstack;
    __u64 raw_callchain_nr;
    const __u64 *raw_callchain; /* with PERF_CONTEXT_* markers */
    const char *event;
    __s32 machine_pid;
    __s32 vcpu;
};

/* Where an address lies. */
struct perf_dlfilter_al {
    __u32 size; /* of this structure; set it before resolve_address */
    __u32 symoff;
    const char *sym; /* NULL: no name */
    __u64 addr;      /* in the units of the two below */
    __u64 sym_start;
    __u64 sym_end;
    const char *dso;  /* NULL: in no mapping */
    __u8 sym_binding; /* STB_*, see elf(5) */
    __u8 is_64_bit;   /* of the dso */
    __u8 is_kernel_ip;
    __u32 buildid_size;
    __u8 *buildid;
    /* resolve_ip only */
    __u8 filtered;
    const char *comm;
    void *priv; /* not the filter's */
};

/* What a filter can ask; `ctx` is the one it was given. */
struct perf_dlfilter_fns {
    const struct perf_dlfilter_al *(*resolve_ip)(void *ctx);
    const struct perf_dlfilter_al *(*resolve_addr)(void *ctx);
    char **(*args)(void *ctx, int *dlargc); /* of --dlarg; also from start and stop */
    __s32 (*resolve_address)(void *ctx, __u64 address, struct perf_dlfilter_al *al); /* 0, or -1 */
    const __u8 *(*insn)(void *ctx, __u32 *length);
    const char *(*srcline)(void *ctx, __u32 *line_number);
    struct perf_event_attr *(*attr)(void *ctx);
    __s32 (*object_code)(void *ctx, __u64 ip, void *buf, __u32 len); /* bytes read */
    void (*al_cleanup)(void *ctx, struct perf_dlfilter_al *al);      /* after resolve_address */
    void *(*reserved[119])(void *);
};

#endif
