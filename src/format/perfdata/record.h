/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every record type of perf.data except SAMPLE (sample.h) as values: one row
 * per type drives decode, encode, dump, script, inject and fuzzing.
 */
#ifndef SONDE_FORMAT_PERFDATA_RECORD_H
#define SONDE_FORMAT_PERFDATA_RECORD_H

#include "base/bytes.h"
#include "base/writer.h"
#include "format/perfdata/abi.h"
#include "format/perfdata/perfdata_sample.h"

enum { PERFDATA_HEADER_SIZE = 8 }; /* struct perf_event_header: u32 type, u16 misc, u16 size */

/* A record as it lies in the stream. Borrowed. */
struct perfdata_raw {
    uint32_t type;
    uint16_t misc;
    uint32_t size;     /* header included, payload not: perfdata_record_size() of the header's fields */
    struct bytes body; /* the size - 8 bytes after the header */
    struct bytes
        payload; /* what follows the record by its own count: AUXTRACE, HEADER_TRACING_DATA; else empty */
};

/*
 * A record's size with its header, from the header's fields. Simpleperf's own types use the misc field as the
 * size's upper half (struct simpleperf_record_header in its record.h). Below 8 the record is broken.
 */
static inline uint32_t perfdata_record_size(uint32_t type, uint16_t misc, uint16_t size) {
    bool wide = type >= PERFDATA_RECORD_SIMPLEPERF_START && type < PERFDATA_RECORD_SIMPLEPERF_END;
    return wide ? (uint32_t)misc << 16 | size : size;
}

/*
 * How many bytes follow the record that its size does not count: `size` of an AUXTRACE, `size` rounded up to
 * 8 of a HEADER_TRACING_DATA (but 0 where the record itself holds the data, as simpleperf writes it), 0 of
 * all others. False when the body is too short to say.
 */
bool perfdata_record_payload_size(const struct perfdata_raw *raw, bool swap, uint64_t *out);

/*
 * Text fields are `struct bytes` over the whole area up to the sample_id: text, NUL, padding and whatever the
 * producer left there, so that encoding gives the same bytes. bytes_text_len() is the length of the text.
 */
struct perfdata_mmap {
    uint32_t pid, tid;
    uint64_t addr, len, pgoff;
    struct bytes filename;
};
struct perfdata_mmap2 {
    uint32_t pid, tid;
    uint64_t addr, len, pgoff;
    bool has_build_id; /* PERFDATA_MISC_MMAP_BUILD_ID: the second group counts, else the first */
    uint32_t maj, min;
    uint64_t ino, ino_generation;
    uint8_t build_id_size, reserved_1; /* at most 20 bytes are valid whatever the size byte says */
    uint16_t reserved_2;
    uint8_t build_id[20];
    uint32_t prot, flags; /* PROT_*, MAP_* */
    struct bytes filename;
};
/*
 * Linux (seen on 6.18) puts PERFDATA_MISC_MMAP_BUILD_ID on the records of all events while somebody else's
 * ask for build-ids: then the first group is there nevertheless, and is brought where it belongs. `asked`:
 * the record's event has PERFDATA_ATTR_BUILD_ID (producers that put build-ids in later need not say so).
 * perfdata_record_decode does this where it is given a plan, and takes the bit from the record's misc.
 */
void perfdata_mmap2_settle(struct perfdata_mmap2 *m, bool asked, bool swap);

struct perfdata_comm {
    uint32_t pid, tid;
    struct bytes comm;
};
struct perfdata_task { /* FORK, EXIT */
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};
struct perfdata_throttle {
    uint64_t time, id, stream_id;
};
struct perfdata_lost {
    uint64_t id, lost;
};
struct perfdata_read_record {
    uint32_t pid, tid;
    struct perfdata_read values;
};
struct perfdata_aux {
    uint64_t aux_offset, aux_size, flags;
};
struct perfdata_itrace_start {
    uint32_t pid, tid;
};
struct perfdata_lost_samples {
    uint64_t lost;
};
struct perfdata_switch_cpu_wide {
    uint32_t next_prev_pid, next_prev_tid;
};
struct perfdata_namespaces {
    uint32_t pid, tid;
    uint64_t nr;
    struct perfdata_u64s links; /* dev, inode pairs: 2 * nr words */
};
enum { PERFDATA_KSYMBOL_UNREGISTER = 1 }; /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER of perf_event.h */
struct perfdata_ksymbol {
    uint64_t addr;
    uint32_t len;
    uint16_t ksym_type, flags;
    struct bytes name;
};
struct perfdata_bpf_event {
    uint16_t type, flags;
    uint32_t id;
    uint8_t tag[8];
};
struct perfdata_cgroup {
    uint64_t id;
    struct bytes path;
};
struct perfdata_text_poke {
    uint64_t addr;
    uint16_t old_len, new_len;
    struct bytes bytes; /* old_len old bytes, new_len new ones, padding */
};
struct perfdata_aux_output_hw_id {
    uint64_t hw_id;
};
struct perfdata_callchain_deferred {
    uint64_t cookie, nr;
    struct perfdata_u64s ips;
};
/* User records (perf.data-file-format.txt; what it leaves out was learned from files and from perf's dump of
 * them). */
struct perfdata_header_attr {
    struct perfdata_attr attr;
    struct perfdata_u64s ids;
};
struct perfdata_event_type {
    uint64_t event_id;
    struct bytes name;
};
struct perfdata_tracing_data {
    uint32_t size; /* of the payload or, as simpleperf writes it, of what the record's tail begins with */
};
struct perfdata_build_id {
    int32_t pid;          /* -1: the host; else the guest machine's pid */
    uint8_t build_id[24]; /* 20 bytes of id; byte 20 is the size with PERFDATA_MISC_BUILD_ID_SIZE */
    struct bytes filename;
};
struct perfdata_id_index {
    uint64_t nr;
    struct perfdata_u64s entries; /* id, idx, cpu, tid: 4 * nr words */
    struct perfdata_u64s guests;  /* machine_pid, vcpu: 2 * nr words; empty where the producer wrote none */
};
struct perfdata_auxtrace_info {
    uint32_t type, reserved;
    struct perfdata_u64s priv;
};
struct perfdata_auxtrace {
    uint64_t size, offset, reference;
    uint32_t idx, tid, cpu, reserved;
};
struct perfdata_auxtrace_error {
    uint32_t type, code, cpu, pid, tid, fmt;
    uint64_t ip;
    bool has_time; /* fmt >= 1 */
    uint64_t time;
    struct bytes message; /* 64 bytes, or as many as there are */
    bool has_guest;       /* fmt >= 2 */
    uint32_t machine_pid, vcpu;
};
struct perfdata_thread_map {
    uint64_t nr;
    struct bytes entries; /* u64 pid, char comm[16] each */
};
struct perfdata_cpu_map {
    uint16_t map_type; /* 0 list, 1 mask, 2 range: cpu_map.h reads them */
    struct bytes data;
};
struct perfdata_stat_config {
    uint64_t nr;
    struct perfdata_u64s pairs; /* tag, value */
};
struct perfdata_stat {
    uint64_t id;
    uint32_t cpu, thread;
    uint64_t value, enabled, running;
};
struct perfdata_stat_round {
    uint64_t round_type, time;
};
struct perfdata_event_update {
    uint64_t update_type, id; /* 0 unit, 1 scale, 2 name, 3 cpus (a CPU_MAP's body) */
    struct bytes data;
};
struct perfdata_time_conv {
    uint64_t time_shift, time_mult, time_zero;
    bool has_cycles; /* the longer form, from Linux 5.10 on */
    uint64_t time_cycles, time_mask;
    uint8_t cap_user_time_zero, cap_user_time_short;
};
struct perfdata_header_feature {
    uint64_t id;
    struct bytes data;
};
struct perfdata_compressed { /* COMPRESSED, COMPRESSED2 */
    uint64_t data_size;      /* of a COMPRESSED2's frame without padding; of a COMPRESSED: all */
    struct bytes data;
};
struct perfdata_kmod_sec_map { /* of one section of a kernel module */
    uint32_t pid, reserved;
    uint64_t start, len, pgoff;
    uint16_t section_len, file_len; /* of the two texts, their NULs included */
    struct bytes names;
};
struct perfdata_opaque { /* types known by name only (simpleperf's, SCHEDSTAT...), and unknown ones */
    struct bytes data;
};

struct perfdata_record {
    uint32_t type;
    uint16_t misc;
    uint32_t size;
    union {
        struct perfdata_mmap mmap;
        struct perfdata_mmap2 mmap2;
        struct perfdata_comm comm;
        struct perfdata_task task; /* FORK, EXIT */
        struct perfdata_throttle throttle;
        struct perfdata_lost lost;
        struct perfdata_read_record read;
        struct perfdata_aux aux;
        struct perfdata_itrace_start itrace_start;
        struct perfdata_lost_samples lost_samples;
        struct perfdata_switch_cpu_wide switch_cpu_wide;
        struct perfdata_namespaces namespaces;
        struct perfdata_ksymbol ksymbol;
        struct perfdata_bpf_event bpf_event;
        struct perfdata_cgroup cgroup;
        struct perfdata_text_poke text_poke;
        struct perfdata_aux_output_hw_id aux_output_hw_id;
        struct perfdata_callchain_deferred callchain_deferred;
        struct perfdata_header_attr header_attr;
        struct perfdata_event_type event_type;
        struct perfdata_tracing_data tracing_data;
        struct perfdata_build_id build_id;
        struct perfdata_id_index id_index;
        struct perfdata_auxtrace_info auxtrace_info;
        struct perfdata_auxtrace auxtrace;
        struct perfdata_auxtrace_error auxtrace_error;
        struct perfdata_thread_map thread_map;
        struct perfdata_cpu_map cpu_map;
        struct perfdata_stat_config stat_config;
        struct perfdata_stat stat;
        struct perfdata_stat_round stat_round;
        struct perfdata_event_update event_update;
        struct perfdata_time_conv time_conv;
        struct perfdata_header_feature header_feature;
        struct perfdata_compressed compressed;
        struct perfdata_kmod_sec_map kmod_sec_map;
        struct perfdata_opaque opaque;
    };
    struct bytes tail;            /* bytes after the known fields, before the sample_id */
    struct perfdata_sample_id id; /* kernel records with sample_id_all; have is 0 otherwise */
};

/*
 * Decodes any record; a SAMPLE (which sample.h decodes) and unknown types as `opaque`. `plan` gives the
 * sample_id tail and read format for kernel records; it may be NULL (no tail). A body that holds the type's
 * fields but no sample_id is good, with id.have 0. False when the body is too short for the type's fields or
 * contradicts itself; `reason` (may be NULL) then points to a static text. Borrowed from raw.
 */
bool perfdata_record_decode(const struct perfdata_raw *raw, const struct perfdata_plan *plan, bool swap,
                            struct perfdata_record *out, const char **reason);

/*
 * Appends the whole record, header included, such that decode then encode gives the same bytes. The size
 * field is computed, a sample_id is written when id.have is not 0. Fails the writer when the record would be
 * larger than the header can say (65,535 bytes; simpleperf's types 4 GB).
 */
void perfdata_record_encode(const struct perfdata_record *rec, const struct perfdata_plan *plan,
                            struct writer *w);

/* The type's name as in the kernel's enum without its prefix ("MMAP2", "FINISHED_ROUND", "SP_DSO"), or NULL.
 */
const char *perfdata_record_name(uint32_t type);

/* True for the types of abi.h and the simpleperf types known by name: what damage recovery may trust. */
bool perfdata_record_known(uint32_t type);

/* The least body size of a known type, in bytes; 0 for unknown ones. */
uint32_t perfdata_record_min_body(uint32_t type);

enum perfdata_value_kind {
    PERFDATA_VALUE_DECIMAL,
    PERFDATA_VALUE_SIGNED, /* `number` as an int64_t */
    PERFDATA_VALUE_HEX,    /* addresses and masks */
    PERFDATA_VALUE_TEXT,   /* `bytes`, without the NUL and what follows it */
    PERFDATA_VALUE_BYTES,
};

struct perfdata_value {
    const char *name; /* static */
    enum perfdata_value_kind kind;
    uint64_t number;
    struct bytes bytes;    /* borrowed from the record */
    uint64_t index, count; /* element index of count of a list; 0 of 0 when it is no list's */
};

/*
 * Calls back for every field of a decoded record in file order, sample_id included (for JSON and generic
 * dumps). A list calls once per element.
 */
typedef void perfdata_describe_fn(void *ctx, const struct perfdata_value *value);
void perfdata_record_describe(const struct perfdata_record *rec, perfdata_describe_fn *fn, void *ctx);

/*
 * True when the body of a record with number 83 is a KMOD_SEC_MAP (Linux RFC "perf: kernel module section
 * maps"), and no COMPRESSED2: its two lengths lead to two texts, and the first one is a section's name.
 */
bool perfdata_is_kmod_sec_map(struct bytes body, bool swap);

/* Its texts, without NULs: the second one lies after the first, or one byte further. False: none. */
bool perfdata_kmod_names(const struct perfdata_kmod_sec_map *m, struct bytes *section, struct bytes *file);

#endif
