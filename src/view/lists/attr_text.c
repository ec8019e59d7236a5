/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/attr_text.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct bit_name {
    uint64_t bit;
    const char *name;
};

/* In perf's order, not that of the bits. perf omits TRANSACTION; here it is last. */
static const struct bit_name SAMPLE_TYPE[] = {
    {PERFDATA_SAMPLE_IP, "IP"},
    {PERFDATA_SAMPLE_TID, "TID"},
    {PERFDATA_SAMPLE_TIME, "TIME"},
    {PERFDATA_SAMPLE_ADDR, "ADDR"},
    {PERFDATA_SAMPLE_READ, "READ"},
    {PERFDATA_SAMPLE_CALLCHAIN, "CALLCHAIN"},
    {PERFDATA_SAMPLE_ID, "ID"},
    {PERFDATA_SAMPLE_CPU, "CPU"},
    {PERFDATA_SAMPLE_PERIOD, "PERIOD"},
    {PERFDATA_SAMPLE_STREAM_ID, "STREAM_ID"},
    {PERFDATA_SAMPLE_RAW, "RAW"},
    {PERFDATA_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
    {PERFDATA_SAMPLE_REGS_USER, "REGS_USER"},
    {PERFDATA_SAMPLE_STACK_USER, "STACK_USER"},
    {PERFDATA_SAMPLE_IDENTIFIER, "IDENTIFIER"},
    {PERFDATA_SAMPLE_REGS_INTR, "REGS_INTR"},
    {PERFDATA_SAMPLE_DATA_SRC, "DATA_SRC"},
    {PERFDATA_SAMPLE_WEIGHT, "WEIGHT"},
    {PERFDATA_SAMPLE_PHYS_ADDR, "PHYS_ADDR"},
    {PERFDATA_SAMPLE_AUX, "AUX"},
    {PERFDATA_SAMPLE_CGROUP, "CGROUP"},
    {PERFDATA_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
    {PERFDATA_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
    {PERFDATA_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
    {PERFDATA_SAMPLE_TRANSACTION, "TRANSACTION"},
    {0, NULL},
};

static const struct bit_name READ_FORMAT[] = {
    {PERFDATA_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED"},
    {PERFDATA_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING"},
    {PERFDATA_FORMAT_ID, "ID"},
    {PERFDATA_FORMAT_GROUP, "GROUP"},
    {PERFDATA_FORMAT_LOST, "LOST"},
    {0, NULL},
};

/* enum perf_branch_sample_type_shift */
static const struct bit_name BRANCH_SAMPLE_TYPE[] = {
    {1ull << 0, "USER"},
    {1ull << 1, "KERNEL"},
    {1ull << 2, "HV"},
    {1ull << 3, "ANY"},
    {1ull << 4, "ANY_CALL"},
    {1ull << 5, "ANY_RETURN"},
    {1ull << 6, "IND_CALL"},
    {1ull << 7, "ABORT_TX"},
    {1ull << 8, "IN_TX"},
    {1ull << 9, "NO_TX"},
    {1ull << 10, "COND"},
    {1ull << 11, "CALL_STACK"},
    {1ull << 12, "IND_JUMP"},
    {1ull << 13, "CALL"},
    {1ull << 14, "NO_FLAGS"},
    {1ull << 15, "NO_CYCLES"},
    {1ull << 16, "TYPE_SAVE"},
    {PERFDATA_BRANCH_HW_INDEX, "HW_INDEX"},
    {1ull << 18, "PRIV_SAVE"},
    {PERFDATA_BRANCH_COUNTERS, "COUNTERS"},
    {0, NULL},
};

/* The names of perf_event_attr's bitfields, by the bits of perfdata_attr.flags. */
static const char *const FLAGS[] = {
    "disabled",
    "inherit",
    "pinned",
    "exclusive",
    "exclude_user",
    "exclude_kernel",
    "exclude_hv",
    "exclude_idle",
    "mmap",
    "comm",
    "freq",
    "inherit_stat",
    "enable_on_exec",
    "task",
    "watermark",
    "precise_ip", /* two bits */
    NULL,
    "mmap_data",
    "sample_id_all",
    "exclude_host",
    "exclude_guest",
    "exclude_callchain_kernel",
    "exclude_callchain_user",
    "mmap2",
    "comm_exec",
    "use_clockid",
    "context_switch",
    "write_backward",
    "namespaces",
    "ksymbol",
    "bpf_event",
    "aux_output",
    "cgroup",
    "text_poke",
    "build_id",
    "inherit_thread",
    "remove_on_exec",
    "sigtrap",
    "defer_callchain",
    "defer_output",
};

static const char *const AUX_ACTIONS[] = {"aux_start_paused", "aux_pause", "aux_resume"};

enum form { TYPE, CONFIG, DECIMAL, SIGNED, HEX, BITS, FLAG_BITS, ACTION_BITS };

struct field {
    const char *name;
    uint8_t form;
    bool always; /* written even if it is 0 */
    uint8_t width;
    uint16_t member; /* offset in struct perfdata_attr */
    const struct bit_name *bits;
};

#define MEMBER(member) \
    sizeof((struct perfdata_attr *)0)->member, __builtin_offsetof(struct perfdata_attr, member)

static const struct field FIELDS[] = {
    {"type", TYPE, true, MEMBER(type), NULL},
    {"size", DECIMAL, true, MEMBER(size), NULL},
    {"config", CONFIG, true, MEMBER(config), NULL},
    {"{ sample_period, sample_freq }", DECIMAL, false, MEMBER(sample_period), NULL},
    {"sample_type", BITS, false, MEMBER(sample_type), SAMPLE_TYPE},
    {"read_format", BITS, false, MEMBER(read_format), READ_FORMAT},
    {NULL, FLAG_BITS, false, MEMBER(flags), NULL},
    {"{ wakeup_events, wakeup_watermark }", DECIMAL, false, MEMBER(wakeup), NULL},
    {"bp_type", DECIMAL, false, MEMBER(bp_type), NULL},
    {"{ bp_addr, config1 }", HEX, false, MEMBER(config1), NULL},
    {"{ bp_len, config2 }", HEX, false, MEMBER(config2), NULL},
    {"branch_sample_type", BITS, false, MEMBER(branch_sample_type), BRANCH_SAMPLE_TYPE},
    {"sample_regs_user", HEX, false, MEMBER(sample_regs_user), NULL},
    {"sample_stack_user", DECIMAL, false, MEMBER(sample_stack_user), NULL},
    {"clockid", SIGNED, false, MEMBER(clockid), NULL},
    {"sample_regs_intr", HEX, false, MEMBER(sample_regs_intr), NULL},
    {"aux_watermark", DECIMAL, false, MEMBER(aux_watermark), NULL},
    {"sample_max_stack", DECIMAL, false, MEMBER(sample_max_stack), NULL},
    {"aux_sample_size", DECIMAL, false, MEMBER(aux_sample_size), NULL},
    {"sig_data", DECIMAL, false, MEMBER(sig_data), NULL},
    {NULL, ACTION_BITS, false, MEMBER(aux_action), NULL},
};

/* In the order of the ABI's enums. */
static const char *const TYPES[] = {
    "PERF_TYPE_HARDWARE",   "PERF_TYPE_SOFTWARE", "PERF_TYPE_TRACEPOINT", "PERF_TYPE_HW_CACHE", NULL,
    "PERF_TYPE_BREAKPOINT",
};
static const char *const HARDWARE[] = {
    "CPU_CYCLES",
    "INSTRUCTIONS",
    "CACHE_REFERENCES",
    "CACHE_MISSES",
    "BRANCH_INSTRUCTIONS",
    "BRANCH_MISSES",
    "BUS_CYCLES",
    "STALLED_CYCLES_FRONTEND",
    "STALLED_CYCLES_BACKEND",
    "REF_CPU_CYCLES",
};
static const char *const SOFTWARE[] = {
    "CPU_CLOCK",        "TASK_CLOCK",      "PAGE_FAULTS",     "CONTEXT_SWITCHES",
    "CPU_MIGRATIONS",   "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS",
    "EMULATION_FAULTS", "DUMMY",           "BPF_OUTPUT",      "CGROUP_SWITCHES",
};
static const char *const CACHES[] = {"L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"};
static const char *const CACHE_OPS[] = {"READ", "WRITE", "PREFETCH"};
static const char *const CACHE_RESULTS[] = {"ACCESS", "MISS"};

static void put(struct out *o, struct bytes b) {
    out_mem(o, (const char *)b.data, b.size);
}

/* Writes as printf's %#x does: no 0x before 0. */
static void put_hex(struct out *o, uint64_t v) {
    if (v)
        out_str(o, "0x");
    out_hex(o, v, 0);
}

static void write_bits(const struct bit_name *names, uint64_t bits, struct out *o) {
    const char *between = "";
    for (; names->name; names++) {
        if (!(bits & names->bit))
            continue;
        out_str(o, between);
        out_str(o, names->name);
        between = "|";
        bits &= ~names->bit;
    }
    if (bits) {
        out_str(o, between);
        put_hex(o, bits);
    }
}

void attr_text_sample_type(uint64_t sample_type, struct out *o) {
    write_bits(SAMPLE_TYPE, sample_type, o);
}

static void write_type(const struct perfdata_namer *names, uint32_t type, struct out *o) {
    out_dec(o, type, 0);
    const char *abi = type < COUNT(TYPES) ? TYPES[type] : NULL;
    struct bytes pmu =
        abi ? (struct bytes){(const uint8_t *)abi, strlen(abi)} : perfdata_namer_pmu(names, type);
    if (!pmu.size)
        return;
    out_str(o, " (");
    put(o, pmu);
    out_char(o, ')');
}

/* Returns the constant's name for the lower half of config; empty: none. */
static void constant_name(uint32_t type, uint32_t config, char *name, size_t size) {
    *name = 0;
    if (type == PERFDATA_TYPE_HARDWARE) {
        if (config < COUNT(HARDWARE))
            snprintf(name, size, "PERF_COUNT_HW_%s", HARDWARE[config]);
        return;
    }
    unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
    if (cache < COUNT(CACHES) && op < COUNT(CACHE_OPS) && result < COUNT(CACHE_RESULTS))
        snprintf(name, size,
                 "PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s",
                 CACHE_RESULTS[result], CACHE_OPS[op], CACHES[cache]);
}

/* Writes the config of hardware and cache events, whose upper half is the type of the PMU; 0: any. */
static void write_core_config(const struct perfdata_namer *names, const struct perfdata_attr *a,
                              struct out *o) {
    char constant[128];
    constant_name(a->type, (uint32_t)a->config, constant, sizeof constant);
    uint32_t pmu_type = (uint32_t)(a->config >> 32);
    struct bytes pmu = pmu_type ? perfdata_namer_pmu(names, pmu_type) : (struct bytes){NULL, 0};
    if (!pmu.size && !*constant)
        return;
    out_str(o, " (");
    put(o, pmu);
    if (pmu.size)
        out_char(o, '/');
    out_str(o, constant);
    if (!*constant) {
        out_str(o, "config=");
        put_hex(o, a->config);
    }
    if (pmu.size)
        out_char(o, '/');
    out_char(o, ')');
}

static void write_config(const struct perfdata_namer *names, const struct perfdata_attr *a, struct out *o) {
    put_hex(o, a->config);
    if (a->type == PERFDATA_TYPE_HARDWARE || a->type == PERFDATA_TYPE_HW_CACHE) {
        write_core_config(names, a, o);
    } else if (a->type == PERFDATA_TYPE_SOFTWARE && a->config < COUNT(SOFTWARE)) {
        out_str(o, " (PERF_COUNT_SW_");
        out_str(o, SOFTWARE[a->config]);
        out_char(o, ')');
    } else if (a->type == PERFDATA_TYPE_TRACEPOINT && perfdata_namer_has_tracepoint(names, a->config)) {
        out_str(o, " (");
        perfdata_namer_write_tracepoint(names, a->config, o);
        out_char(o, ')');
    }
}

static void write_name(const char *name, const struct attr_text_style *style, struct out *o) {
    out_str(o, style->between);
    out_str(o, name);
    out_str(o, style->equals);
}

static void write_flags(const struct perfdata_attr *a, const struct attr_text_style *style, struct out *o) {
    for (unsigned i = 0; i < COUNT(FLAGS); i++) {
        uint64_t v = i == PERFDATA_ATTR_PRECISE_IP_SHIFT ? perfdata_attr_precise_ip(a) : a->flags >> i & 1;
        if (!v || !FLAGS[i])
            continue;
        write_name(FLAGS[i], style, o);
        out_dec(o, v, 0);
    }
}

static void write_actions(uint32_t actions, const struct attr_text_style *style, struct out *o) {
    for (unsigned i = 0; i < COUNT(AUX_ACTIONS); i++) {
        if (!(actions >> i & 1))
            continue;
        write_name(AUX_ACTIONS[i], style, o);
        out_char(o, '1');
    }
}

static uint64_t member(const struct perfdata_attr *a, const struct field *f) {
    const uint8_t *p = (const uint8_t *)a + f->member;
    return f->width == 8   ? bytes_load64(p, false)
           : f->width == 4 ? bytes_load32(p, false)
                           : bytes_load16(p, false);
}

void attr_text_write(const struct perfdata_namer *names, const struct perfdata_attr *attr,
                     const struct attr_text_style *style, struct out *o) {
    struct attr_text_style s = {"", style->equals}; /* no separator before the first field */
    for (size_t i = 0; i < COUNT(FIELDS); i++) {
        const struct field *f = &FIELDS[i];
        uint64_t v = member(attr, f);
        if (!v && !f->always)
            continue;
        if (f->name)
            write_name(f->name, &s, o);
        s.between = style->between;
        switch ((enum form)f->form) {
        case TYPE:
            write_type(names, (uint32_t)v, o);
            break;
        case CONFIG:
            write_config(names, attr, o);
            break;
        case DECIMAL:
            out_dec(o, v, 0);
            break;
        case SIGNED:
            out_int(o, (int32_t)v, 0);
            break;
        case HEX:
            put_hex(o, v);
            break;
        case BITS:
            write_bits(f->bits, v, o);
            break;
        case FLAG_BITS:
            write_flags(attr, &s, o);
            break;
        case ACTION_BITS:
            write_actions((uint32_t)v, &s, o);
            break;
        }
    }
}
