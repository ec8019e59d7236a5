/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of header features as values, decode beside encode. Source:
 * perf.data-file-format.txt, "Flags section"; what it leaves open (padding of
 * strings, the words around SAMPLE_TIME, simpleperf's features) was learned from files.
 *
 * A text is a `struct bytes` over the whole room that the producer gave it:
 * text, NUL, padding. bytes_text_len() is the length of the text; encoding
 * gives the same bytes again.
 *
 * Damage: a content that ends before its own counts do, or contradicts itself,
 * decodes to the whole items before that, and `cut`.
 */
#ifndef SONDE_FORMAT_PERFDATA_HEADER_FEATURE_H
#define SONDE_FORMAT_PERFDATA_HEADER_FEATURE_H

#include "base/arena.h"
#include "base/writer.h"
#include "format/perfdata/header/header.h"

/* simpleperf's own features, from its bit 128 on (its record_file_format documentation). */
enum {
    PERFDATA_FEATURE_SIMPLEPERF_FILE = PERFDATA_FEATURE_SIMPLEPERF_START,
    PERFDATA_FEATURE_SIMPLEPERF_META_INFO,
    PERFDATA_FEATURE_SIMPLEPERF_DEBUG_UNWIND,
    PERFDATA_FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE,
    PERFDATA_FEATURE_SIMPLEPERF_FILE2,
    PERFDATA_FEATURE_SIMPLEPERF_KNOWN_END,
};

struct perfdata_texts {
    struct bytes *items; /* in the arena given to perfdata_feature_decode, as all arrays here */
    uint32_t count;
};

struct perfdata_feature_build_id {
    uint32_t type; /* 67, or 0 from perf before it filled the field in */
    uint16_t misc; /* cpumode, PERFDATA_MISC_BUILD_ID_SIZE */
    uint16_t size; /* of the entry */
    int32_t pid;   /* -1: the host; else the guest's */
    uint8_t id[24];
    uint8_t id_size; /* valid bytes of id: the size byte (at most 20), or 20 without */
    struct bytes name;
};
struct perfdata_feature_build_ids {
    struct perfdata_feature_build_id *items;
    uint32_t count;
};

struct perfdata_feature_nr_cpus {
    uint32_t available, online;
};

struct perfdata_event_desc {
    struct perfdata_attr attr; /* attr.tail fills attr_size */
    struct bytes name;
    struct perfdata_u64s ids;
};
struct perfdata_event_descs {
    uint32_t attr_size; /* bytes */
    struct perfdata_event_desc *items;
    uint32_t count;
};

struct perfdata_cpu_place {
    uint32_t core, socket;
    uint32_t die; /* third revision */
};
struct perfdata_cpu_topology {
    struct perfdata_texts cores, threads; /* lists of siblings, like "0-3" */
    struct perfdata_cpu_place *cpus;      /* second revision: one per CPU of NRCPUS */
    uint32_t cpu_count;                   /* 0: first revision */
    bool has_dies;                        /* third revision: dies, and cpus[].die */
    struct perfdata_texts dies;
};

struct perfdata_numa_node {
    uint32_t node;
    uint64_t total_kb, free_kb;
    struct bytes cpus; /* list, like "0-3" */
};
struct perfdata_numa_nodes {
    struct perfdata_numa_node *items;
    uint32_t count;
};

struct perfdata_pmu_mapping {
    uint32_t type; /* attr.type */
    struct bytes name;
};
struct perfdata_pmu_mappings {
    struct perfdata_pmu_mapping *items;
    uint32_t count;
};

struct perfdata_group {
    struct bytes name;
    uint32_t leader, members; /* index of the first event; how many, itself included */
};
struct perfdata_groups {
    struct perfdata_group *items;
    uint32_t count;
};
/* True for the name that perf gives to a group that got none: "{anon_group}". */
bool perfdata_group_anonymous(const struct perfdata_group *g);

struct perfdata_auxtrace_entry {
    uint64_t file_offset, size;
};
struct perfdata_auxtrace_index {
    struct perfdata_auxtrace_entry *items;
    uint32_t count;
    bool bare; /* simpleperf: the entries without perf's leading u64 count */
};

struct perfdata_cache_level {
    uint32_t level, line_size, sets, ways;
    struct bytes type, size, map;
};
struct perfdata_caches {
    uint32_t version;
    struct perfdata_cache_level *items;
    uint32_t count;
};

struct perfdata_sample_time {
    uint64_t first_ns, last_ns;
};

struct perfdata_memory_node {
    uint64_t node, size; /* size: bits of the bitmap */
    uint64_t bitmap_bits;
    struct perfdata_u64s bitmap; /* one bit per memory block */
};
struct perfdata_mem_topology {
    uint64_t version, block_bytes;
    struct perfdata_memory_node *items;
    uint32_t count;
};

struct perfdata_bpf_prog {
    uint32_t info_len, data_len;
    uint64_t arrays;
    struct bytes info; /* struct bpf_prog_info of the producer's size */
    struct bytes data;
};
struct perfdata_bpf_progs {
    struct perfdata_bpf_prog *items;
    uint32_t count;
};

struct perfdata_btf {
    uint32_t id;
    struct bytes data;
};
struct perfdata_btfs {
    struct perfdata_btf *items;
    uint32_t count;
};

struct perfdata_compression {
    uint32_t version, type, level, ratio, mmap_len; /* type 1 is zstd */
};

struct perfdata_pair {
    struct bytes name, value;
};
struct perfdata_pairs { /* CPU_PMU_CAPS; HYBRID_TOPOLOGY (PMU, CPUs); simpleperf's META_INFO */
    struct perfdata_pair *items;
    uint32_t count;
};

struct perfdata_clock_data {
    uint32_t version, clockid;
    uint64_t wall_ns, clock_ns;
};

struct perfdata_pmu_cap {
    struct perfdata_pairs caps;
    struct bytes pmu;
};
struct perfdata_pmu_caps {
    struct perfdata_pmu_cap *items;
    uint32_t count;
};

struct perfdata_domain {
    uint32_t domain;
    struct bytes name, mask, list;
};
struct perfdata_cpu_domains {
    uint32_t cpu, count;
    struct perfdata_domain *items;
};
/* CPU_DOMAIN_INFO: per CPU the scheduling domains it is in; the format document omits the two leading words.
 */
struct perfdata_cpu_domain_info {
    uint32_t schedstat_version, max_domains;
    struct perfdata_cpu_domains *items;
    uint32_t count;
};

struct perfdata_e_machine {
    uint32_t machine, flags;
};

struct perfdata_file_span { /* simpleperf's FILE and FILE2: one file's symbols, not looked into */
    struct bytes path;      /* empty when it could not be found */
    struct bytes data;      /* the whole entry, less its length word */
};
struct perfdata_file_spans {
    struct perfdata_file_span *items;
    uint32_t count;
};

struct perfdata_feature_value {
    uint32_t id;
    bool cut;
    bool no_memory; /* memory ran out: the value is not all there */
    union {
        struct bytes text; /* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID */
        uint64_t u64;      /* TOTAL_MEM (kB), CLOCKID (resolution), DIR_FORMAT (version) */
        uint32_t u32;      /* CLN_SIZE (bytes) */
        struct perfdata_texts cmdline;
        struct perfdata_feature_build_ids build_ids;
        struct perfdata_feature_nr_cpus nr_cpus;
        struct perfdata_event_descs event_desc;
        struct perfdata_cpu_topology cpu_topology;
        struct perfdata_numa_nodes numa;
        struct perfdata_pmu_mappings pmu_mappings;
        struct perfdata_groups groups;
        struct perfdata_auxtrace_index auxtrace;
        struct perfdata_caches caches;
        struct perfdata_sample_time sample_time;
        struct perfdata_mem_topology mem_topology;
        struct perfdata_bpf_progs bpf_progs;
        struct perfdata_btfs btfs;
        struct perfdata_compression compression;
        struct perfdata_clock_data clock_data;
        struct perfdata_pairs pairs; /* CPU_PMU_CAPS, HYBRID_TOPOLOGY, simpleperf's META_INFO */
        struct perfdata_pmu_caps pmu_caps;
        struct perfdata_cpu_domain_info cpu_domains;
        struct perfdata_e_machine e_machine;
        struct perfdata_file_spans files; /* simpleperf's FILE, FILE2 */
    };
    struct bytes tail; /* what follows the known part; the whole content when nobody knows the feature */
};

/* What decoding needs to know of the recording. */
struct perfdata_feature_env {
    bool swap;
    uint32_t cpus_available; /* NRCPUS; 0 when unknown: CPU_TOPOLOGY then has its first revision only */
};

/*
 * Decodes a feature's content. Spans borrow from `content`, arrays live in `arena`. Features without a layout
 * here (TRACING_DATA: see tracefs/tracing_data.h; BRANCH_STACK, STAT: no content; unknown ones) give a `tail`
 * of everything. False only when memory ran out.
 */
bool perfdata_feature_decode(uint32_t id, struct bytes content, const struct perfdata_feature_env *env,
                             struct arena *arena, struct perfdata_feature_value *out);

/* Decodes feature `id` of a header. False when the header has none, it lies outside the file, or memory ran
 * out (out->no_memory). */
bool perfdata_feature_get(const struct perfdata_header *h, uint32_t id, struct arena *arena,
                          struct perfdata_feature_value *out);

/* Copies a text of a header, such as the one of PERFDATA_FEATURE_ARCH, and ends it with NUL. "" and false
 * when the header has none, it is empty, or it does not fit in `size` bytes. */
bool perfdata_feature_text(const struct perfdata_header *h, uint32_t id, char *text, size_t size);

/* Writes the content again; byte for byte unless the value is `cut`. */
void perfdata_feature_encode(const struct perfdata_feature_value *v, struct writer *w);

/* The name without HEADER_ ("NRCPUS"; simpleperf's with SP_ before it), or NULL. */
const char *perfdata_feature_name(uint32_t id);

/*
 * Names events from EVENT_DESC (the event that has the description's first id, else the one at the same place
 * with the same type and config), and groups them from GROUP_DESC. Events that have a name keep it. Nothing
 * is done for a pipe: there perf names events from EVENT_UPDATE records or their attrs, and knows no groups.
 * False when memory ran out.
 */
bool perfdata_feature_apply_names(const struct perfdata_header *h, struct perfdata_events *events);

#endif
