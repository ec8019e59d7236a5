/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording is asked to be: filled once by the command, const from then on. perf-record(1) describes
 * the options named here. */
#ifndef SONDE_RECORD_OPTIONS_H
#define SONDE_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/target.h"
#include "record/keep/keep.h"

enum { RECORD_RANGES_MAX = 64 };

enum record_callgraph {
    RECORD_CALLGRAPH_NONE,
    RECORD_CALLGRAPH_FP,
    RECORD_CALLGRAPH_DWARF,
    RECORD_CALLGRAPH_LBR
};

/* Where the reader runs while it takes what is in a ring. */
enum record_affinity {
    RECORD_AFFINITY_AUTO, /* at the ring's CPU, unless others wait for that */
    RECORD_AFFINITY_SYSTEM,
    RECORD_AFFINITY_NODE,
    RECORD_AFFINITY_CPU
};

struct record_options {
    /* Target. */
    char *const *command; /* ended by NULL; NULL: none */
    struct perf_target_options target;
    bool inherit;

    /* Rate. At most one of freq_hz and period is set; both 0: the default. */
    uint64_t freq_hz, period;
    bool freq_max, strict_freq, no_samples;
    int64_t delay_ms; /* 0: none; -1: start with events disabled */
    struct record_range {
        int64_t start_ms, end_ms;
    } ranges[RECORD_RANGES_MAX]; /* -D with ranges: events count only then; delay_ms is the first start */
    size_t range_count;

    /* Contents of samples. */
    enum record_callgraph callgraph;
    uint32_t stack_bytes; /* of a dwarf callgraph */
    bool unwind;          /* --unwind=record: its stacks are unwound at once, and not recorded */
    uint16_t max_stack;   /* 0: the kernel's default */
    bool defer_callchain, kernel_callchains, user_callchains;
    bool addresses, phys_addresses, data_mmap, data_page_size, code_page_size, weight, transaction;
    bool period_given, sample_period; /* -P, --no-period */
    bool time_given, sample_time;     /* -T, --no-timestamp */
    bool raw, sample_cpu, identifier, read_stat, running_time, mem_info;
    uint64_t branch_type; /* PERF_SAMPLE_BRANCH_*; 0: none */
    uint64_t regs_intr, regs_user;
    bool use_clockid;
    int32_t clockid;

    /* Side records. */
    bool latency; /* what latency profiles need: context switches */
    bool namespaces, all_cgroups, switch_events, no_bpf_event, build_id_mmap;
    bool all_user, all_kernel;
    bool no_tasks, no_mappings, no_cgroups; /* --synth: what is not told of the time before */
    bool tail_synth;                        /* tell it at the end instead */
    uint64_t synth_threads;                 /* that tell it; 0: one */

    /* Rings and output. */
    uint64_t pages;       /* of each ring, a power of two; 0: the default */
    uint64_t flush_bytes; /* a ring with less is left alone until the end; 0: none is */
    bool overwrite;       /* rings keep the newest, and are read at the end of a file */
    bool no_buffering;
    const char *threads;    /* of --threads: which threads read which CPUs (layout.h); NULL: none but one */
    unsigned write_buffers; /* that a thread of its own writes in turn; 0: the reader writes itself */
    int compression;        /* 0: none; else zstd's level */
    uint64_t max_bytes;     /* 0: no limit */
    bool no_build_ids;
    bool to_pipe;
    enum record_affinity affinity;
    enum record_keep_what keep;
    const char *control;                        /* --control's text; NULL: none */
    bool off_cpu;                               /* --off-cpu: how long threads do not run, too */
    bool off_cpu_wakers;                        /* and who woke them */
    uint64_t off_cpu_min_ns, off_cpu_direct_ns; /* the least waits with stacks; with samples of their own */
    const char *made_event; /* one event more, whose samples record_job.made makes; NULL: none */
    bool verbose;           /* failures are explained at length */
    /* Several files one after the other, the finished ones named after the time: on SIGUSR2 (with neither of
     * the two limits), from so many bytes on, every so many ms. */
    const char *kcore; /* the output is a folder, with a copy of this file's kernel in it; NULL: none */
    bool timestamp_names, switch_output;
    uint64_t switch_bytes, switch_ms;
    uint64_t switch_files; /* keep only the newest so many; 0: all */
};

enum { RECORD_DEFAULT_OFF_CPU_MIN_US = 20, RECORD_DEFAULT_OFF_CPU_THRESH_MS = 500 };
enum { RECORD_DEFAULT_FREQ_HZ = 4000, RECORD_DEFAULT_RING_BYTES = 512 << 10 /* root: twice that */ };

#endif
