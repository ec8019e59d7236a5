/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PERF_RECORD_SAMPLE, and the sample_id tail of all other kernel records
 * (include/uapi/linux/perf_event.h, "struct sample_id" and PERF_RECORD_SAMPLE).
 *
 * What a sample holds depends on its attr alone, so everything that can be
 * computed from the attr is computed once, into a plan.
 */
#ifndef SONDE_FORMAT_PERFDATA_PERFDATA_SAMPLE_H
#define SONDE_FORMAT_PERFDATA_PERFDATA_SAMPLE_H

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/writer.h"
#include "format/perfdata/events/attr.h"

enum { PERFDATA_NO_FIELD = 0xff };

/* The fields with a fixed offset, in file order. All others follow them and must be walked. */
#define PERFDATA_SAMPLE_FIXED                                                                       \
    (PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | \
     PERFDATA_SAMPLE_ADDR | PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU |  \
     PERFDATA_SAMPLE_PERIOD)
#define PERFDATA_SAMPLE_VARIABLE (PERFDATA_SAMPLE_KNOWN & ~PERFDATA_SAMPLE_FIXED)

/* Offsets are in bytes from the start of the body (after the 8-byte record header); PERFDATA_NO_FIELD: not
 * there. */
struct perfdata_plan {
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t branch_sample_type;
    uint64_t regs_user, regs_intr; /* masks */
    bool swap;
    bool sample_id_all;
    bool build_ids; /* the event asks for build-ids in map records */
    uint8_t identifier_at, ip_at, tid_at, time_at, addr_at, id_at, stream_id_at, cpu_at, period_at;
    uint8_t fixed_size; /* bytes of the fields above: where the variable part starts */
    /* The sample_id tail: its size in bytes (0 without sample_id_all), and distances from the END of the
     * body. */
    uint8_t tail_size, tail_tid_back, tail_time_back, tail_id_back, tail_stream_id_back, tail_cpu_back,
        tail_identifier_back;
};

/* `swap`: the file is in the other byte order. */
void perfdata_plan_init(struct perfdata_plan *plan, const struct perfdata_attr *attr, bool swap);

/* A borrowed list of u64 in file order and at any alignment. */
struct perfdata_u64s {
    const uint8_t *data;
    uint64_t count;
    bool swap;
};

static inline uint64_t perfdata_u64_at(const struct perfdata_u64s *l, uint64_t i) {
    return bytes_load64(l->data + 8 * i, l->swap);
}

/* A branch stack entry's third word, with the bitfields of struct perf_branch_entry in host order. */
struct perfdata_branch {
    uint64_t from, to;
    bool mispred, predicted, in_tx, abort;
    uint16_t cycles;
    uint8_t type, spec, new_type, priv;
    uint64_t flags; /* the whole word as in the file (byte order corrected only) */
};

struct perfdata_regs {
    uint64_t abi; /* 0 none, 1 32-bit, 2 64-bit */
    uint64_t mask;
    struct perfdata_u64s values; /* one per bit of mask, lowest bit first; empty when abi is 0 */
};

/* struct read_format: count entries; with PERFDATA_FORMAT_GROUP several, else one. */
struct perfdata_read {
    uint64_t format; /* PERFDATA_FORMAT_* */
    uint64_t count;
    uint64_t time_enabled, time_running; /* 0 when not in the format */
    const uint8_t
        *entries; /* the first value; perfdata_read_at knows the rest (without GROUP the times lie between) */
    bool swap;
};

struct perfdata_read_value {
    uint64_t value, id, lost; /* id, lost: 0 when not in the format */
};

/* Reads a struct read_format from c. False, and c failed, when it does not fit. Borrows from c's bytes. */
bool perfdata_read_decode(struct cursor *c, uint64_t format, struct perfdata_read *out);
void perfdata_read_encode(const struct perfdata_read *r, struct writer *w);

/* Entry i (< count) of a read. */
struct perfdata_read_value perfdata_read_at(const struct perfdata_read *r, uint64_t i);

/* Decoded sample, all fields in host order; pointers borrow from the record. Only fields whose bit is in
 * `have` are set. */
struct perfdata_sample {
    uint64_t have; /* PERFDATA_SAMPLE_* bits decoded */
    uint64_t identifier, ip, time, addr, id, stream_id, period;
    uint32_t pid, tid;
    uint32_t cpu, cpu_reserved;
    struct perfdata_read read;
    struct perfdata_u64s callchain; /* PERFDATA_CONTEXT_* markers included */
    struct bytes raw;
    bool has_branch_hw_index; /* the attr asks for it, but the kernel leaves it out of an empty stack at times
                               */
    uint64_t branch_hw_index;
    uint64_t branch_count;
    const uint8_t *branches;              /* 24 bytes each: see perfdata_branch_at */
    struct perfdata_u64s branch_counters; /* with PERFDATA_BRANCH_COUNTERS */
    struct perfdata_regs regs_user, regs_intr;
    struct bytes stack_user;   /* as dumped; the first stack_dyn_size bytes are valid */
    uint64_t stack_dyn_size;   /* 0 when stack_user is empty */
    uint64_t weight;           /* the whole word (WEIGHT), or var1_dw (WEIGHT_STRUCT) */
    uint16_t ins_lat, weight3; /* var2_w and var3_w of WEIGHT_STRUCT */
    uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
    struct bytes aux;
    struct bytes tail; /* bytes after the last known field; empty when decoding stopped before that */
    bool swap;
};

/* For perfdata_sample_decode's use only: everything that is not the quick case. */
bool perfdata_sample_decode_slow(const struct perfdata_plan *plan, struct bytes body, uint64_t want,
                                 struct perfdata_sample *out);

/* Loads the fixed fields of `have`. The body must hold plan->fixed_size bytes. */
static inline void perfdata_sample_load_fixed(const struct perfdata_plan *plan, const uint8_t *p, bool swap,
                                              uint64_t have, struct perfdata_sample *out) {
    out->have = have;
    out->swap = swap;
    if (have & PERFDATA_SAMPLE_IDENTIFIER)
        out->identifier = bytes_load64(p, swap);
    if (have & PERFDATA_SAMPLE_IP)
        out->ip = bytes_load64(p + plan->ip_at, swap);
    if (have & PERFDATA_SAMPLE_TID) {
        out->pid = bytes_load32(p + plan->tid_at, swap);
        out->tid = bytes_load32(p + plan->tid_at + 4, swap);
    }
    if (have & PERFDATA_SAMPLE_TIME)
        out->time = bytes_load64(p + plan->time_at, swap);
    if (have & PERFDATA_SAMPLE_ADDR)
        out->addr = bytes_load64(p + plan->addr_at, swap);
    if (have & PERFDATA_SAMPLE_ID)
        out->id = bytes_load64(p + plan->id_at, swap);
    if (have & PERFDATA_SAMPLE_STREAM_ID)
        out->stream_id = bytes_load64(p + plan->stream_id_at, swap);
    if (have & PERFDATA_SAMPLE_CPU) {
        out->cpu = bytes_load32(p + plan->cpu_at, swap);
        out->cpu_reserved = bytes_load32(p + plan->cpu_at + 4, swap);
    }
    if (have & PERFDATA_SAMPLE_PERIOD)
        out->period = bytes_load64(p + plan->period_at, swap);
}

/*
 * Decodes at least the fields of `want` (PERFDATA_SAMPLE_* bits, ~0 for all; what the attr lacks is not
 * wanted) from a sample's body; it stops after the last wanted field. False when the body is too short for
 * what the plan says, or claims lists longer than itself: the record is bad, `out` holds what came before
 * (have says what). The quick case, fixed fields and perhaps a callchain in host order, is inline: with a
 * constant `want` only its loads remain.
 */
static inline bool perfdata_sample_decode(const struct perfdata_plan *plan, struct bytes body, uint64_t want,
                                          struct perfdata_sample *out) {
    uint64_t have = want & plan->sample_type;
    size_t left = body.size - plan->fixed_size; /* once that is known to be none too many */
    if (__builtin_expect(body.size < plan->fixed_size || plan->swap, 0))
        return perfdata_sample_decode_slow(plan, body, want, out);
    if (have & PERFDATA_SAMPLE_VARIABLE) {
        /* A callchain right after the fixed fields, and nothing else that is wanted, is quick as well. */
        const uint8_t *chain = body.data + plan->fixed_size;
        if ((have & PERFDATA_SAMPLE_VARIABLE) != PERFDATA_SAMPLE_CALLCHAIN ||
            plan->sample_type & PERFDATA_SAMPLE_READ || left < 8 ||
            bytes_load64(chain, false) > (left - 8) / 8)
            return perfdata_sample_decode_slow(plan, body, want, out);
        out->callchain = (struct perfdata_u64s){chain + 8, bytes_load64(chain, false), false};
        left -= 8 + 8 * (size_t)out->callchain.count;
    }
    bool whole = (have & PERFDATA_SAMPLE_VARIABLE) == (plan->sample_type & PERFDATA_SAMPLE_VARIABLE);
    perfdata_sample_load_fixed(plan, body.data, false, have & PERFDATA_SAMPLE_KNOWN, out);
    out->tail = whole ? (struct bytes){body.data + body.size - left, left} : (struct bytes){NULL, 0};
    return true;
}

/*
 * Writes a body such that encode(decode(body)) == body for all-wanted samples. The plan says which fields are
 * written; those that are not in s->have become zero or empty.
 */
void perfdata_sample_encode(const struct perfdata_plan *plan, const struct perfdata_sample *s,
                            struct writer *w);

/* Entry i (< branch_count) of the branch stack. */
struct perfdata_branch perfdata_branch_at(const struct perfdata_sample *s, uint64_t i);

/* The cpumode (PERFDATA_MISC_*) of the addresses after a callchain's marker (an entry from
 * PERFDATA_CONTEXT_MAX up); PERFDATA_MISC_CPUMODE_UNKNOWN for a marker that nobody knows. */
static inline unsigned perfdata_context_cpumode(uint64_t marker) {
    switch (marker) {
    case PERFDATA_CONTEXT_HV:
        return PERFDATA_MISC_HYPERVISOR;
    case PERFDATA_CONTEXT_KERNEL:
        return PERFDATA_MISC_KERNEL;
    case PERFDATA_CONTEXT_USER:
    case PERFDATA_CONTEXT_USER_DEFERRED:
        return PERFDATA_MISC_USER;
    case PERFDATA_CONTEXT_GUEST_KERNEL:
        return PERFDATA_MISC_GUEST_KERNEL;
    case PERFDATA_CONTEXT_GUEST:
    case PERFDATA_CONTEXT_GUEST_USER:
        return PERFDATA_MISC_GUEST_USER;
    default:
        return PERFDATA_MISC_CPUMODE_UNKNOWN;
    }
}

/* What the sample_id tail of a record (or the like fields of a sample) says. */
struct perfdata_sample_id {
    uint64_t have; /* which of TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER */
    uint32_t pid, tid;
    uint64_t time, id, stream_id, identifier;
    uint32_t cpu, cpu_reserved;
};

/* Reads the tail of a non-sample kernel record's body; have is 0 when there is none (or the body is too
 * short). */
void perfdata_sample_id_decode(const struct perfdata_plan *plan, struct bytes body,
                               struct perfdata_sample_id *out);
void perfdata_sample_id_encode(const struct perfdata_plan *plan, const struct perfdata_sample_id *id,
                               struct writer *w);

/* The time of any kernel record's body in ns: true and *time_ns, or false when it has none. Hot path: inline.
 */
static inline bool perfdata_record_time(const struct perfdata_plan *plan, uint32_t type, struct bytes body,
                                        uint64_t *time_ns) {
    size_t at;
    if (type == PERFDATA_RECORD_SAMPLE) {
        at = plan->time_at;
        if (at == PERFDATA_NO_FIELD || body.size < at + 8)
            return false;
    } else {
        if (!plan->tail_time_back || body.size < plan->tail_size)
            return false;
        at = body.size - plan->tail_time_back;
    }
    *time_ns = bytes_load64(body.data + at, plan->swap);
    return true;
}

#endif
