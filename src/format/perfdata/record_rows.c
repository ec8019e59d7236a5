/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each record type consists of: one array of fields and one row per type. docs/HOWTO_ADD_RECORD.md says
 * how to add one. Layouts: include/uapi/linux/perf_event.h for types below 64, perf.data-file-format.txt for
 * those from 64 on, simpleperf's record.h for those from 32768 on.
 */
#include "format/perfdata/record_internal.h"

#include <stddef.h>

#define AT(m) ((uint16_t)offsetof(struct perfdata_record, m))
/* The member's offset; does not compile when the member has another size. */
#define SIZED(m, n) \
    ((uint16_t)(AT(m) + 0 * sizeof(char[sizeof(((struct perfdata_record *)0)->m) == (n) ? 1 : -1])))
/* Likewise for its type. */
#define TYPED(m, type)                                                                          \
    ((uint16_t)(AT(m) + 0 * sizeof(char[__builtin_types_compatible_p(                           \
                                            __typeof__(((struct perfdata_record *)0)->m), type) \
                                            ? 1                                                 \
                                            : -1])))

/* One macro per field kind; record_internal.h says what each kind is. */
/* clang-format off */
#define UINT(rec, m, n, how) \
    {.name = #m, .kind = RECORD_UINT, .show = PERFDATA_VALUE_##how, .arg = n, .member = SIZED(rec.m, n)}
#define U8(rec, m)  UINT(rec, m, 1, DECIMAL)
#define U16(rec, m) UINT(rec, m, 2, DECIMAL)
#define U32(rec, m) UINT(rec, m, 4, DECIMAL)
#define I32(rec, m) UINT(rec, m, 4, SIGNED)
#define U64(rec, m) UINT(rec, m, 8, DECIMAL)
#define X16(rec, m) UINT(rec, m, 2, HEX)
#define X32(rec, m) UINT(rec, m, 4, HEX)
#define X64(rec, m) UINT(rec, m, 8, HEX)
#define ARRAY(rec, m, n) {.name = #m, .kind = RECORD_ARRAY, .arg = n, .member = SIZED(rec.m, n)}
#define SPAN(rec, m, k, n) \
    {.name = #m, .kind = RECORD_##k, .arg = n, .member = TYPED(rec.m, struct bytes)}
#define TEXT(rec, m)        SPAN(rec, m, TEXT, 0)
#define TEXT_MAX(rec, m, n) SPAN(rec, m, TEXT_MAX, n)
#define REST(rec, m)        SPAN(rec, m, REST, 0)
#define COUNTED(rec, m, nr, n) \
    {.name = #m, .kind = RECORD_COUNTED, .arg = n, .member = TYPED(rec.m, struct bytes), \
     .other = SIZED(rec.nr, 8)}
#define WORDS(rec, m, k, how, nr, n) \
    {.name = #m, .kind = RECORD_##k, .show = PERFDATA_VALUE_##how, .arg = n, \
     .member = TYPED(rec.m, struct perfdata_u64s), .other = nr}
#define LIST(rec, m, nr, n, how) WORDS(rec, m, LIST, how, SIZED(rec.nr, 8), n)
#define LIST_IF(rec, m, nr, n)   WORDS(rec, m, LIST_IF, DECIMAL, SIZED(rec.nr, 8), n)
#define LIST_REST(rec, m, how)   WORDS(rec, m, LIST_REST, how, 0, 0)
#define READ_FORMAT(rec, m) {.name = #m, .kind = RECORD_READ, .member = TYPED(rec.m, struct perfdata_read)}
#define ATTR(rec, m)        {.name = #m, .kind = RECORD_ATTR, .member = TYPED(rec.m, struct perfdata_attr)}
#define LEFT(rec, m)        {.name = #m, .kind = RECORD_LEFT, .member = SIZED(rec.m, 8)}
#define FLAG(rec, m, k, n)  {.kind = RECORD_IF_##k, .arg = n, .member = TYPED(rec.m, bool)}
#define AT_LEAST(rec, m, of, n) \
    {.kind = RECORD_IF_AT_LEAST, .arg = n, .member = TYPED(rec.m, bool), .other = SIZED(rec.of, 4)}
/* The next n fields are there only when (unless) the bool is true. */
#define WHEN(rec, m, n)   {.kind = RECORD_WHEN, .arg = n, .other = TYPED(rec.m, bool)}
#define UNLESS(rec, m, n) {.kind = RECORD_UNLESS, .arg = n, .other = TYPED(rec.m, bool)}
#define END               {.kind = RECORD_END}
#define FIELDS(name)      static const struct record_field name[] =

FIELDS(NOTHING) {END};
FIELDS(OPAQUE) {REST(opaque, data), END};

/* Kernel records. */
FIELDS(MMAP) {
    U32(mmap, pid), U32(mmap, tid), X64(mmap, addr), X64(mmap, len), X64(mmap, pgoff),
    TEXT(mmap, filename), END};
FIELDS(MMAP2) {
    U32(mmap2, pid), U32(mmap2, tid), X64(mmap2, addr), X64(mmap2, len), X64(mmap2, pgoff),
    FLAG(mmap2, has_build_id, MISC, 14),
    UNLESS(mmap2, has_build_id, 4),
        U32(mmap2, maj), U32(mmap2, min), U64(mmap2, ino), U64(mmap2, ino_generation),
    WHEN(mmap2, has_build_id, 4),
        U8(mmap2, build_id_size), U8(mmap2, reserved_1), U16(mmap2, reserved_2), ARRAY(mmap2, build_id, 20),
    X32(mmap2, prot), X32(mmap2, flags), TEXT(mmap2, filename), END};
FIELDS(COMM) {U32(comm, pid), U32(comm, tid), TEXT(comm, comm), END};
FIELDS(TASK) {U32(task, pid), U32(task, ppid), U32(task, tid), U32(task, ptid), U64(task, time), END};
FIELDS(THROTTLE) {U64(throttle, time), U64(throttle, id), U64(throttle, stream_id), END};
FIELDS(LOST) {U64(lost, id), U64(lost, lost), END};
FIELDS(READ) {U32(read, pid), U32(read, tid), READ_FORMAT(read, values), END};
FIELDS(AUX) {X64(aux, aux_offset), X64(aux, aux_size), X64(aux, flags), END};
FIELDS(ITRACE_START) {U32(itrace_start, pid), U32(itrace_start, tid), END};
FIELDS(LOST_SAMPLES) {U64(lost_samples, lost), END};
FIELDS(SWITCH_CPU_WIDE) {
    U32(switch_cpu_wide, next_prev_pid), U32(switch_cpu_wide, next_prev_tid), END};
FIELDS(NAMESPACES) {
    U32(namespaces, pid), U32(namespaces, tid), U64(namespaces, nr),
    LIST(namespaces, links, nr, 2, DECIMAL), END};
FIELDS(KSYMBOL) {
    X64(ksymbol, addr), U32(ksymbol, len), U16(ksymbol, ksym_type), X16(ksymbol, flags),
    TEXT(ksymbol, name), END};
FIELDS(BPF_EVENT) {
    U16(bpf_event, type), X16(bpf_event, flags), U32(bpf_event, id), ARRAY(bpf_event, tag, 8), END};
FIELDS(CGROUP) {U64(cgroup, id), TEXT(cgroup, path), END};
FIELDS(TEXT_POKE) {
    X64(text_poke, addr), U16(text_poke, old_len), U16(text_poke, new_len), REST(text_poke, bytes), END};
FIELDS(AUX_OUTPUT_HW_ID) {X64(aux_output_hw_id, hw_id), END};
FIELDS(CALLCHAIN_DEFERRED) {
    X64(callchain_deferred, cookie), U64(callchain_deferred, nr),
    LIST(callchain_deferred, ips, nr, 1, HEX), END};

/* User records. */
FIELDS(HEADER_ATTR) {ATTR(header_attr, attr), LIST_REST(header_attr, ids, DECIMAL), END};
FIELDS(EVENT_TYPE) {U64(event_type, event_id), TEXT(event_type, name), END};
FIELDS(TRACING_DATA) {U32(tracing_data, size), END};
FIELDS(BUILD_ID) {I32(build_id, pid), ARRAY(build_id, build_id, 24), TEXT(build_id, filename), END};
FIELDS(ID_INDEX) {
    U64(id_index, nr), LIST(id_index, entries, nr, 4, DECIMAL), LIST_IF(id_index, guests, nr, 2), END};
FIELDS(AUXTRACE_INFO) {
    U32(auxtrace_info, type), U32(auxtrace_info, reserved), LIST_REST(auxtrace_info, priv, HEX), END};
FIELDS(AUXTRACE) {
    X64(auxtrace, size), X64(auxtrace, offset), X64(auxtrace, reference),
    U32(auxtrace, idx), U32(auxtrace, tid), U32(auxtrace, cpu), U32(auxtrace, reserved), END};
FIELDS(AUXTRACE_ERROR) {
    U32(auxtrace_error, type), U32(auxtrace_error, code), U32(auxtrace_error, cpu),
    U32(auxtrace_error, pid), U32(auxtrace_error, tid), U32(auxtrace_error, fmt), X64(auxtrace_error, ip),
    AT_LEAST(auxtrace_error, has_time, fmt, 1),
    WHEN(auxtrace_error, has_time, 1),
        U64(auxtrace_error, time),
    TEXT_MAX(auxtrace_error, message, 64),
    AT_LEAST(auxtrace_error, has_guest, fmt, 2),
    WHEN(auxtrace_error, has_guest, 2),
        U32(auxtrace_error, machine_pid), U32(auxtrace_error, vcpu),
    END};
FIELDS(THREAD_MAP) {U64(thread_map, nr), COUNTED(thread_map, entries, nr, 24), END};
FIELDS(CPU_MAP) {U16(cpu_map, map_type), REST(cpu_map, data), END};
FIELDS(STAT_CONFIG) {U64(stat_config, nr), LIST(stat_config, pairs, nr, 2, DECIMAL), END};
FIELDS(STAT) {
    U64(stat, id), U32(stat, cpu), U32(stat, thread),
    U64(stat, value), U64(stat, enabled), U64(stat, running), END};
FIELDS(STAT_ROUND) {U64(stat_round, round_type), U64(stat_round, time), END};
FIELDS(EVENT_UPDATE) {
    U64(event_update, update_type), U64(event_update, id), REST(event_update, data), END};
FIELDS(TIME_CONV) {
    U64(time_conv, time_shift), U64(time_conv, time_mult), U64(time_conv, time_zero),
    FLAG(time_conv, has_cycles, LEFT, 18),
    WHEN(time_conv, has_cycles, 4),
        U64(time_conv, time_cycles), X64(time_conv, time_mask),
        U8(time_conv, cap_user_time_zero), U8(time_conv, cap_user_time_short),
    END};
FIELDS(HEADER_FEATURE) {U64(header_feature, id), REST(header_feature, data), END};
FIELDS(COMPRESSED) {LEFT(compressed, data_size), REST(compressed, data), END};
FIELDS(COMPRESSED2) {U64(compressed, data_size), COUNTED(compressed, data, data_size, 1), END};
FIELDS(KMOD_SEC_MAP) {
    U32(kmod_sec_map, pid), U32(kmod_sec_map, reserved), X64(kmod_sec_map, start), X64(kmod_sec_map, len),
    X64(kmod_sec_map, pgoff), U16(kmod_sec_map, section_len), U16(kmod_sec_map, file_len),
    REST(kmod_sec_map, names), END};
/* clang-format on */

static const char *check_text_poke(const struct perfdata_record *rec) {
    size_t claimed = (size_t)rec->text_poke.old_len + rec->text_poke.new_len;
    return claimed <= rec->text_poke.bytes.size ? NULL : "it claims more text than it holds";
}

const struct record_row RECORD_ROW_OPAQUE = {NULL, 0, OPAQUE, NULL};

#define ROW(type, ...) [PERFDATA_RECORD_##type] = {#type, __VA_ARGS__}

static const struct record_row ROWS[] = {
    ROW(MMAP, 32, MMAP),
    ROW(LOST, 16, LOST),
    ROW(COMM, 8, COMM),
    ROW(EXIT, 24, TASK),
    ROW(THROTTLE, 24, THROTTLE),
    ROW(UNTHROTTLE, 24, THROTTLE),
    ROW(FORK, 24, TASK),
    ROW(READ, 16, READ),
    ROW(SAMPLE, 0, OPAQUE),
    ROW(MMAP2, 64, MMAP2),
    ROW(AUX, 24, AUX),
    ROW(ITRACE_START, 8, ITRACE_START),
    ROW(LOST_SAMPLES, 8, LOST_SAMPLES),
    ROW(SWITCH, 0, NOTHING),
    ROW(SWITCH_CPU_WIDE, 8, SWITCH_CPU_WIDE),
    ROW(NAMESPACES, 16, NAMESPACES),
    ROW(KSYMBOL, 16, KSYMBOL),
    ROW(BPF_EVENT, 16, BPF_EVENT),
    ROW(CGROUP, 8, CGROUP),
    ROW(TEXT_POKE, 12, TEXT_POKE, check_text_poke),
    ROW(AUX_OUTPUT_HW_ID, 8, AUX_OUTPUT_HW_ID),
    ROW(CALLCHAIN_DEFERRED, 16, CALLCHAIN_DEFERRED),
    ROW(HEADER_ATTR, PERFDATA_ATTR_SIZE_MIN, HEADER_ATTR),
    ROW(HEADER_EVENT_TYPE, 8, EVENT_TYPE),
    ROW(HEADER_TRACING_DATA, 4, TRACING_DATA),
    ROW(HEADER_BUILD_ID, 28, BUILD_ID),
    ROW(FINISHED_ROUND, 0, NOTHING),
    ROW(ID_INDEX, 8, ID_INDEX),
    ROW(AUXTRACE_INFO, 8, AUXTRACE_INFO),
    ROW(AUXTRACE, 40, AUXTRACE),
    ROW(AUXTRACE_ERROR, 32, AUXTRACE_ERROR),
    ROW(THREAD_MAP, 8, THREAD_MAP),
    ROW(CPU_MAP, 2, CPU_MAP),
    ROW(STAT_CONFIG, 8, STAT_CONFIG),
    ROW(STAT, 40, STAT),
    ROW(STAT_ROUND, 16, STAT_ROUND),
    ROW(EVENT_UPDATE, 16, EVENT_UPDATE),
    ROW(TIME_CONV, 24, TIME_CONV),
    ROW(HEADER_FEATURE, 8, HEADER_FEATURE),
    ROW(COMPRESSED, 0, COMPRESSED),
    ROW(FINISHED_INIT, 0, NOTHING),
    ROW(COMPRESSED2, 8, COMPRESSED2),
    ROW(BPF_METADATA, 0, OPAQUE),
    ROW(SCHEDSTAT_CPU, 0, OPAQUE),
    ROW(SCHEDSTAT_DOMAIN, 0, OPAQUE),
};

/* In the order of simpleperf's enum; 32768 itself is not used. */
static const struct record_row SIMPLEPERF_ROWS[] = {
    {NULL, 0, OPAQUE, NULL},
    {"SP_KERNEL_SYMBOL", 0, OPAQUE, NULL},
    {"SP_DSO", 0, OPAQUE, NULL},
    {"SP_SYMBOL", 0, OPAQUE, NULL},
    {"SP_SPLIT", 0, OPAQUE, NULL},
    {"SP_SPLIT_END", 0, OPAQUE, NULL},
    {"SP_EVENT_ID", 0, OPAQUE, NULL},
    {"SP_CALLCHAIN", 0, OPAQUE, NULL},
    {"SP_UNWINDING_RESULT", 0, OPAQUE, NULL},
    {"SP_TRACING_DATA", 0, OPAQUE, NULL},
};

static const char *check_kmod(const struct perfdata_record *rec) {
    struct bytes section, file;
    return perfdata_kmod_names(&rec->kmod_sec_map, &section, &file) ? NULL : "it has no names";
}

static const struct record_row KMOD_ROW = {"KMOD_SEC_MAP", 36, KMOD_SEC_MAP, check_kmod};

const struct record_row *record_row(uint32_t type) {
    const struct record_row *row = type == PERFDATA_RECORD_KMOD_SEC_MAP ? &KMOD_ROW : NULL;
    uint32_t own = type - PERFDATA_RECORD_SIMPLEPERF_START;
    if (type < sizeof ROWS / sizeof *ROWS)
        row = &ROWS[type];
    else if (type >= PERFDATA_RECORD_SIMPLEPERF_START &&
             own < sizeof SIMPLEPERF_ROWS / sizeof *SIMPLEPERF_ROWS)
        row = &SIMPLEPERF_ROWS[own];
    return row && row->name ? row : NULL;
}
