/* SPDX-License-Identifier: Apache-2.0 */
/* Positions and meanings of the bits: perf_event.h, union perf_mem_data_src. The words are perf's. */
#include "format/perfdata/data_src.h"

/* mem_lvl, mem_lvl_num */
enum { LVL_HIT = 2, LVL_MISS = 4, LVL_NUM_NA = 15 };

static const struct {
    uint8_t shift, bits;
} fields[] = {
    [PERFDATA_SRC_LVL] = {5, 14}, [PERFDATA_SRC_SNOOP] = {19, 5}, [PERFDATA_SRC_LOCK] = {24, 2},
    [PERFDATA_SRC_TLB] = {26, 7}, [PERFDATA_SRC_BLK] = {40, 3},
};

uint64_t perfdata_src_bits(uint64_t v, enum perfdata_src_field field) {
    return v >> fields[field].shift & ((1ull << fields[field].bits) - 1);
}

/* Appends the names of the bits that are set, with " or " between them. False when there were none. */
static bool put_bits(struct out *o, uint64_t bits, const char *const *names, unsigned count) {
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        if (!(bits & 1u << i) || !names[i])
            continue;
        out_str(o, any ? " or " : "");
        out_str(o, names[i]);
        any = true;
    }
    return any;
}

void perfdata_src_level(struct out *o, uint64_t v) {
    static const char *const names[14] = {NULL,
                                          NULL,
                                          NULL,
                                          "L1",
                                          "LFB/MAB",
                                          "L2",
                                          "L3",
                                          "Local RAM",
                                          "Remote RAM (1 hop)",
                                          "Remote RAM (2 hops)",
                                          "Remote Cache (1 hop)",
                                          "Remote Cache (2 hops)",
                                          "I/O",
                                          "Uncached"};
    static const char *const numbers[LVL_NUM_NA] = {
        NULL,  "L1",  "L2",        "L3",      "L4",  "L2 MHB", "Memory-side Cache", "L0", "Uncached",
        "CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM"};
    static const char *const hops[8] = {NULL, "core, same node ", "node, same socket ", "socket, same board ",
                                        "board "};
    unsigned number = v >> 33 & 15, hop = v >> 43 & 7;
    uint64_t level = perfdata_src_bits(v, PERFDATA_SRC_LVL);
    bool remote = v >> 37 & 1, named;
    if (number && number != LVL_NUM_NA) {
        out_str(o, remote ? "Remote " : "");
        out_str(o, hops[hop] ? hops[hop] : "");
        out_str(o, numbers[number]);
        named = true;
    } else {
        named = put_bits(o, level, names, 14);
    }
    if (!named) {
        out_str(o, "N/A");
        return;
    }
    out_str(o, level & LVL_HIT ? " hit" : level & LVL_MISS ? " miss" : " ");
}

void perfdata_src_tlb(struct out *o, uint64_t v) {
    static const char *const names[7] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};
    enum { HIT = 2, MISS = 4 };
    uint64_t tlb = perfdata_src_bits(v, PERFDATA_SRC_TLB);
    if (!put_bits(o, tlb, names, 7))
        out_str(o, "N/A");
    out_str(o, tlb & HIT ? " hit" : "");
    out_str(o, tlb & MISS ? " miss" : "");
}

void perfdata_src_operation(struct out *o, uint64_t v) {
    /* What cannot be known outranks the rest; of several operations perf names the first. */
    static const char *const names[5] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
    unsigned op = v & 31;
    out_str(o, op ? names[__builtin_ctz(op)] : "No");
}

void perfdata_src_snoop(struct out *o, uint64_t v) {
    static const char *const names[7] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
    uint64_t bits = perfdata_src_bits(v, PERFDATA_SRC_SNOOP) | (v >> 38 & 3) << 5; /* mem_snoopx */
    if (!put_bits(o, bits, names, 7))
        out_str(o, "N/A");
}

void perfdata_src_locked(struct out *o, uint64_t v) {
    uint64_t lock = perfdata_src_bits(v, PERFDATA_SRC_LOCK);
    out_str(o, lock & 1 ? "N/A" : lock ? "Yes" : "No");
}

void perfdata_src_blocked(struct out *o, uint64_t v) {
    enum { NA = 1, DATA = 2, ADDR = 4 };
    uint64_t blk = perfdata_src_bits(v, PERFDATA_SRC_BLK);
    if (!blk || blk & NA) {
        out_str(o, " N/A");
        return;
    }
    out_str(o, blk & DATA ? " Data" : "");
    out_str(o, blk & ADDR ? " Addr" : "");
}
