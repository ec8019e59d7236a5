/* SPDX-License-Identifier: Apache-2.0 */
/* struct perf_event_attr of any published size, in either byte order (include/uapi/linux/perf_event.h). */
#ifndef SONDE_FORMAT_PERFDATA_EVENTS_ATTR_H
#define SONDE_FORMAT_PERFDATA_EVENTS_ATTR_H

#include "base/bytes.h"
#include "base/writer.h"
#include "format/perfdata/abi.h"

/* Bits of perfdata_attr.flags: the i-th bitfield in declaration order is bit i, whatever the producer's byte
 * order. */
#define PERFDATA_ATTR_DISABLED                 (1ull << 0)
#define PERFDATA_ATTR_INHERIT                  (1ull << 1)
#define PERFDATA_ATTR_PINNED                   (1ull << 2)
#define PERFDATA_ATTR_EXCLUSIVE                (1ull << 3)
#define PERFDATA_ATTR_EXCLUDE_USER             (1ull << 4)
#define PERFDATA_ATTR_EXCLUDE_KERNEL           (1ull << 5)
#define PERFDATA_ATTR_EXCLUDE_HV               (1ull << 6)
#define PERFDATA_ATTR_EXCLUDE_IDLE             (1ull << 7)
#define PERFDATA_ATTR_MMAP                     (1ull << 8)
#define PERFDATA_ATTR_COMM                     (1ull << 9)
#define PERFDATA_ATTR_FREQ                     (1ull << 10)
#define PERFDATA_ATTR_INHERIT_STAT             (1ull << 11)
#define PERFDATA_ATTR_ENABLE_ON_EXEC           (1ull << 12)
#define PERFDATA_ATTR_TASK                     (1ull << 13)
#define PERFDATA_ATTR_WATERMARK                (1ull << 14)
#define PERFDATA_ATTR_PRECISE_IP_SHIFT         15 /* two bits */
#define PERFDATA_ATTR_MMAP_DATA                (1ull << 17)
#define PERFDATA_ATTR_SAMPLE_ID_ALL            (1ull << 18)
#define PERFDATA_ATTR_EXCLUDE_HOST             (1ull << 19)
#define PERFDATA_ATTR_EXCLUDE_GUEST            (1ull << 20)
#define PERFDATA_ATTR_EXCLUDE_CALLCHAIN_KERNEL (1ull << 21)
#define PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER   (1ull << 22)
#define PERFDATA_ATTR_MMAP2                    (1ull << 23)
#define PERFDATA_ATTR_COMM_EXEC                (1ull << 24)
#define PERFDATA_ATTR_USE_CLOCKID              (1ull << 25)
#define PERFDATA_ATTR_CONTEXT_SWITCH           (1ull << 26)
#define PERFDATA_ATTR_WRITE_BACKWARD           (1ull << 27)
#define PERFDATA_ATTR_NAMESPACES               (1ull << 28)
#define PERFDATA_ATTR_KSYMBOL                  (1ull << 29)
#define PERFDATA_ATTR_BPF_EVENT                (1ull << 30)
#define PERFDATA_ATTR_AUX_OUTPUT               (1ull << 31)
#define PERFDATA_ATTR_CGROUP                   (1ull << 32)
#define PERFDATA_ATTR_TEXT_POKE                (1ull << 33)
#define PERFDATA_ATTR_BUILD_ID                 (1ull << 34)
#define PERFDATA_ATTR_INHERIT_THREAD           (1ull << 35)
#define PERFDATA_ATTR_REMOVE_ON_EXEC           (1ull << 36)
#define PERFDATA_ATTR_SIGTRAP                  (1ull << 37)
#define PERFDATA_ATTR_DEFER_CALLCHAIN          (1ull << 38)
#define PERFDATA_ATTR_DEFER_OUTPUT             (1ull << 39)

enum {
    PERFDATA_ATTR_SIZE_MIN = 64,    /* PERF_ATTR_SIZE_VER0 */
    PERFDATA_ATTR_SIZE_NEWEST = 144 /* PERF_ATTR_SIZE_VER9: config4 */
};

/* Fields in host order. Fields that the producer's size does not reach are 0. */
struct perfdata_attr {
    uint32_t type; /* enum perfdata_type, or a PMU's number from sysfs */
    uint32_t size; /* as the producer wrote it; 0 means 64 */
    uint64_t config;
    uint64_t sample_period; /* or frequency in Hz, with PERFDATA_ATTR_FREQ */
    uint64_t sample_type;   /* PERFDATA_SAMPLE_* */
    uint64_t read_format;   /* PERFDATA_FORMAT_* */
    uint64_t flags;         /* PERFDATA_ATTR_* */
    uint32_t wakeup;        /* events, or bytes with PERFDATA_ATTR_WATERMARK */
    uint32_t bp_type;
    uint64_t config1; /* or bp_addr */
    uint64_t config2; /* or bp_len */
    uint64_t branch_sample_type;
    uint64_t sample_regs_user;
    uint32_t sample_stack_user; /* bytes */
    int32_t clockid;
    uint64_t sample_regs_intr;
    uint32_t aux_watermark;
    uint16_t sample_max_stack;
    uint16_t reserved_2;
    uint32_t aux_sample_size;
    uint32_t aux_action; /* bit 0 start_paused, 1 pause, 2 resume, host-order numbering like flags */
    uint64_t sig_data;
    uint64_t config3;
    uint64_t config4;
    uint32_t known_size; /* how many of the given bytes the fields above cover */
    struct bytes tail;   /* the rest of the given bytes, borrowed */
};

/*
 * Decodes an attr from `b`, which is all the room the container gives it (section entry less the ids, record
 * body...). A field exists if and only if it lies inside both `b` and the size the producer wrote (0, and
 * whatever is below it, means 64). False when fewer than 64 bytes are there; out is zeroed then. `out->tail`
 * borrows from b.
 */
bool perfdata_attr_decode(struct bytes b, bool swap, struct perfdata_attr *out);

/*
 * Writes known_size bytes of fields and the tail: what perfdata_attr_decode read, byte for byte (w->swap
 * decides the order). Who makes an attr sets size and known_size to PERFDATA_ATTR_SIZE_NEWEST, or to an older
 * one.
 */
void perfdata_attr_encode(const struct perfdata_attr *attr, struct writer *w);

static inline unsigned perfdata_attr_precise_ip(const struct perfdata_attr *a) {
    return (unsigned)(a->flags >> PERFDATA_ATTR_PRECISE_IP_SHIFT) & 3;
}

#endif
