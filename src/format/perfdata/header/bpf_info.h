/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the header features BPF_PROG_INFO and BPF_BTF say of the functions that
 * BPF programs were compiled to: address, size, name.
 *
 * Sources: struct bpf_prog_info (include/uapi/linux/bpf.h; a field exists if it
 * lies inside the producer's info_len; what are pointers in the kernel are
 * offsets in the entry's data here) and BTF (Documentation/bpf/btf.rst).
 */
#ifndef SONDE_FORMAT_PERFDATA_HEADER_BPF_INFO_H
#define SONDE_FORMAT_PERFDATA_HEADER_BPF_INFO_H

#include "format/perfdata/header/feature.h"

/* The names of functions by BTF id and type id; each BTF is walked once, when it is first asked. */
struct perfdata_btf_names {
    struct perfdata_btfs btfs;
    bool swap;
    struct hash_map by_id;             /* BTF id -> index in btfs */
    struct perfdata_btf_table *tables; /* by the same index */
    struct arena arena;
};

/* `btfs` and the file's bytes must outlive it. False when memory ran out; perfdata_btf_names_fini in any
 * case. */
bool perfdata_btf_names_init(struct perfdata_btf_names *n, const struct perfdata_btfs *btfs, bool swap);
void perfdata_btf_names_fini(struct perfdata_btf_names *n);
/* The name of type `type` in BTF `id`; empty when there is none. Borrowed from the BTF. */
struct bytes perfdata_btf_name(struct perfdata_btf_names *n, uint32_t id, uint32_t type);

struct perfdata_bpf_info {
    uint32_t id;
    uint32_t btf_id; /* 0: none */
    uint8_t tag[8];
    struct bytes name;       /* of the program, at most 15 characters */
    uint32_t function_count; /* the program's main function and those it calls */
    struct perfdata_u64s addresses;
    struct bytes sizes;     /* u32 each; may be shorter than function_count */
    struct bytes tags;      /* 8 bytes each; may be shorter */
    struct bytes func_info; /* func_info_size bytes each: u32 instruction, u32 BTF type; may be shorter */
    uint32_t func_info_size;
    struct bytes code; /* machine code of all functions, one after the other; empty: not recorded */
    bool swap;
};

/* False when nothing was compiled, or the entry contradicts itself. Borrowed from `prog`. */
bool perfdata_bpf_info_decode(const struct perfdata_bpf_prog *prog, bool swap, struct perfdata_bpf_info *out);

/* Function i (< function_count). The name is the kernel's: bpf_prog_TAG_NAME. */
struct perfdata_bpf_function {
    uint64_t address;
    uint32_t size; /* bytes; 0 when not recorded */
    char name[160];
};
struct perfdata_bpf_function perfdata_bpf_info_function(const struct perfdata_bpf_info *info,
                                                        struct perfdata_btf_names *names, uint32_t i);
/* The machine code of function i (< function_count); empty: not recorded. */
struct bytes perfdata_bpf_info_code(const struct perfdata_bpf_info *info, uint32_t i);

#endif
