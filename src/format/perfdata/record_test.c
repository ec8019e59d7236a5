/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/perfdata_test.h"

#include <stdio.h>

#include "format/perfdata/record.h"

/*
 * Bodies as the kernel header and perf.data-file-format.txt lay them out, written down a second time:
 *   name:N    a number of N bytes          name:N=V  one with that value
 *   nr:n      a small u64 count            name:lK   K words times the count    name:w  some words
 *   name:bN   N bytes                      name:cK   K bytes times the count
 *   name:t    text, NUL, padding           name:r    the rest (some bytes)      -:N  N bytes that are no
 * field
 */
struct layout {
    uint32_t type;
    uint16_t misc;
    const char *fields;
};

static const struct layout LAYOUTS[] = {
    {PERFDATA_RECORD_MMAP, 0, "pid:4 tid:4 addr:8 len:8 pgoff:8 filename:t"},
    {PERFDATA_RECORD_LOST, 0, "id:8 lost:8"},
    {PERFDATA_RECORD_COMM, PERFDATA_MISC_COMM_EXEC, "pid:4 tid:4 comm:t"},
    {PERFDATA_RECORD_EXIT, 0, "pid:4 ppid:4 tid:4 ptid:4 time:8"},
    {PERFDATA_RECORD_THROTTLE, 0, "time:8 id:8 stream_id:8"},
    {PERFDATA_RECORD_UNTHROTTLE, 0, "time:8 id:8 stream_id:8"},
    {PERFDATA_RECORD_FORK, 0, "pid:4 ppid:4 tid:4 ptid:4 time:8"},
    {PERFDATA_RECORD_READ, 0, "pid:4 tid:4 nr:n time_enabled:8 values:v"},
    {PERFDATA_RECORD_SAMPLE, 0, "data:r"},
    {PERFDATA_RECORD_MMAP2, 0,
     "pid:4 tid:4 addr:8 len:8 pgoff:8 maj:4 min:4 ino:8 ino_generation:8 prot:4 flags:4 filename:t"},
    {PERFDATA_RECORD_MMAP2, PERFDATA_MISC_MMAP_BUILD_ID | 2,
     "pid:4 tid:4 addr:8 len:8 pgoff:8 build_id_size:1=20 reserved_1:1=0 reserved_2:2=0 build_id:b20 prot:4 "
     "flags:4 "
     "filename:t"},
    {PERFDATA_RECORD_AUX, 0, "aux_offset:8 aux_size:8 flags:8"},
    {PERFDATA_RECORD_ITRACE_START, 0, "pid:4 tid:4"},
    {PERFDATA_RECORD_LOST_SAMPLES, 0, "lost:8"},
    {PERFDATA_RECORD_SWITCH, PERFDATA_MISC_SWITCH_OUT, ""},
    {PERFDATA_RECORD_SWITCH_CPU_WIDE, 0, "next_prev_pid:4 next_prev_tid:4"},
    {PERFDATA_RECORD_NAMESPACES, 0, "pid:4 tid:4 nr:n links:l2"},
    {PERFDATA_RECORD_KSYMBOL, 0, "addr:8 len:4 ksym_type:2 flags:2 name:t"},
    {PERFDATA_RECORD_BPF_EVENT, 0, "type:2 flags:2 id:4 tag:b8"},
    {PERFDATA_RECORD_CGROUP, 0, "id:8 path:t"},
    {PERFDATA_RECORD_TEXT_POKE, 0, "addr:8 old_len:2=3 new_len:2=5 bytes:b12"},
    {PERFDATA_RECORD_AUX_OUTPUT_HW_ID, 0, "hw_id:8"},
    {PERFDATA_RECORD_CALLCHAIN_DEFERRED, 0, "cookie:8 nr:n ips:l1"},
    {23, 0, "data:r"}, /* a type that is not known yet */
    {PERFDATA_RECORD_HEADER_ATTR, 0,
     "attr.type:4 attr.size:4=72 attr.config:8 attr.sample_period:8 attr.sample_type:8 attr.read_format:8 "
     "attr.flags:f -:24 ids:w"},
    {PERFDATA_RECORD_HEADER_EVENT_TYPE, 0, "event_id:8 name:t"},
    {PERFDATA_RECORD_HEADER_TRACING_DATA, 0, "size:4 -:4"},
    {PERFDATA_RECORD_HEADER_BUILD_ID, PERFDATA_MISC_BUILD_ID_SIZE, "pid:4s build_id:b24 filename:t"},
    {PERFDATA_RECORD_FINISHED_ROUND, 0, ""},
    {PERFDATA_RECORD_ID_INDEX, 0, "nr:n entries:l4 guests:l2"},
    {PERFDATA_RECORD_ID_INDEX, 0, "nr:8=2 entries:l4 -:24"},
    {PERFDATA_RECORD_AUXTRACE_INFO, 0, "type:4 reserved:4 priv:w"},
    {PERFDATA_RECORD_AUXTRACE, 0, "size:8 offset:8 reference:8 idx:4 tid:4 cpu:4 reserved:4"},
    {PERFDATA_RECORD_AUXTRACE_ERROR, 0, "type:4 code:4 cpu:4 pid:4 tid:4 fmt:4=0 ip:8 message:t"},
    {PERFDATA_RECORD_AUXTRACE_ERROR, 0, "type:4 code:4 cpu:4 pid:4 tid:4 fmt:4=1 ip:8 time:8 message:t64"},
    {PERFDATA_RECORD_AUXTRACE_ERROR, 0,
     "type:4 code:4 cpu:4 pid:4 tid:4 fmt:4=2 ip:8 time:8 message:t64 machine_pid:4 vcpu:4"},
    {PERFDATA_RECORD_THREAD_MAP, 0, "nr:n entries:c24"},
    {PERFDATA_RECORD_CPU_MAP, 0, "map_type:2 data:r"},
    {PERFDATA_RECORD_STAT_CONFIG, 0, "nr:n pairs:l2"},
    {PERFDATA_RECORD_STAT, 0, "id:8 cpu:4 thread:4 value:8 enabled:8 running:8"},
    {PERFDATA_RECORD_STAT_ROUND, 0, "round_type:8 time:8"},
    {PERFDATA_RECORD_EVENT_UPDATE, 0, "update_type:8 id:8 data:r"},
    {PERFDATA_RECORD_TIME_CONV, 0, "time_shift:8 time_mult:8 time_zero:8"},
    {PERFDATA_RECORD_TIME_CONV, 0,
     "time_shift:8 time_mult:8 time_zero:8 time_cycles:8 time_mask:8 cap_user_time_zero:1 "
     "cap_user_time_short:1 "
     "-:6"},
    {PERFDATA_RECORD_HEADER_FEATURE, 0, "id:8 data:r"},
    {PERFDATA_RECORD_COMPRESSED, 0, "data_size:=11 data:b11"},
    {PERFDATA_RECORD_FINISHED_INIT, 0, ""},
    {PERFDATA_RECORD_COMPRESSED2, 0, "data_size:8=11 data:b11 -:5"},
    {PERFDATA_RECORD_BPF_METADATA, 0, "data:r"},
    {PERFDATA_RECORD_SCHEDSTAT_CPU, 0, "data:r"},
    {PERFDATA_RECORD_SCHEDSTAT_DOMAIN, 0, "data:r"},
    {PERFDATA_RECORD_USER_END, 0, "data:r"},
    {PERFDATA_RECORD_SIMPLEPERF_START + 2, 0, "data:r"},
    {PERFDATA_RECORD_SIMPLEPERF_START + 9, 0, "data:r"},
    {PERFDATA_RECORD_SIMPLEPERF_END, 9, "data:r"},
    {0xffffffff, 0x8001, "data:r"},
};
enum { LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS, LINES = 80 };

struct lines {
    char text[LINES][400];
    unsigned count;
};

static void add_line(struct lines *l, const char *name, uint64_t index, bool list) {
    assert_true(l->count < LINES);
    if (list)
        snprintf(l->text[l->count++], sizeof l->text[0], "%s[%llu]=", name, (unsigned long long)index);
    else
        snprintf(l->text[l->count++], sizeof l->text[0], "%s=", name);
}

static void add_value(struct lines *l, uint64_t v) {
    char *to = l->text[l->count - 1];
    size_t n = strlen(to);
    snprintf(to + n, sizeof l->text[0] - n, "%llx", (unsigned long long)v);
}

static void add_bytes(struct lines *l, const uint8_t *p, size_t size) {
    char *to = l->text[l->count - 1];
    for (size_t i = 0, n = strlen(to); i < size && n + 3 < sizeof l->text[0]; i++)
        n += (size_t)snprintf(to + n, 3, "%02x", p[i]);
}

static void collect(void *ctx, const struct perfdata_value *v) {
    struct lines *l = ctx;
    add_line(l, v->name, v->index, v->count != 0);
    if (v->kind == PERFDATA_VALUE_TEXT || v->kind == PERFDATA_VALUE_BYTES)
        add_bytes(l, v->bytes.data, v->bytes.size);
    else
        add_value(l, v->number);
}

static uint64_t put_number(uint64_t *seed, struct writer *w, unsigned width, const char *value) {
    uint64_t v = value ? strtoull(value, NULL, 10) : test_random(seed);
    if (width == 1)
        writer_u8(w, (uint8_t)v);
    else if (width == 2)
        writer_u16(w, (uint16_t)v);
    else if (width == 4)
        writer_u32(w, (uint32_t)v);
    else if (width == 8)
        writer_u64(w, v);
    return width && width < 8 ? v & ((1ull << 8 * width) - 1) : v;
}

static void put_bytes(uint64_t *seed, struct writer *w, size_t n) {
    for (size_t i = 0; i < n; i++)
        writer_u8(w, (uint8_t)test_random(seed));
}

/* `room` bytes (0: some) of text with its NUL and whatever the producer left after it. */
static void put_text(uint64_t *seed, struct writer *w, struct lines *l, size_t room) {
    size_t len = room ? test_below(seed, room) : test_below(seed, 40);
    size_t start = w->size;
    for (size_t i = 0; i < len; i++)
        writer_u8(w, (uint8_t)(1 + test_below(seed, 255)));
    add_bytes(l, w->data + start, len);
    writer_u8(w, 0);
    put_bytes(seed, w, room ? room - len - 1 : 7 - len % 8);
}

static void put_words(uint64_t *seed, struct writer *w, struct lines *l, const char *name, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t v = test_random(seed);
        add_line(l, name, i, true);
        add_value(l, v);
        writer_u64(w, v);
    }
}

/* One field of a layout: bytes to w, what describing must say to l. `count` is the last count. */
static void put_field(uint64_t *seed, struct writer *w, struct lines *l, const char *name, const char *how,
                      uint64_t *count) {
    uint64_t arg = strtoull(how + (how[0] < '0' || how[0] > '9'), NULL, 10);
    const char *value = strchr(how, '=') ? strchr(how, '=') + 1 : NULL;
    if (*name == '-') {
        put_bytes(seed, w, arg);
        return;
    }
    if (*how == 'l' || *how == 'w') {
        put_words(seed, w, l, name, *how == 'w' ? test_below(seed, 5) : arg * *count);
        return;
    }
    if (*how == 'v') { /* read_format GROUP | ID, its times and count already written */
        for (uint64_t i = 0; i < *count; i++) {
            add_line(l, "value", i, true);
            add_value(l, put_number(seed, w, 8, NULL));
            add_line(l, "id", i, true);
            add_value(l, put_number(seed, w, 8, NULL));
        }
        return;
    }
    add_line(l, name, 0, false);
    size_t start = w->size;
    switch (*how) {
    case 'n':
        writer_u64(w, *count = test_below(seed, 4));
        add_value(l, *count);
        break;
    case 't':
        put_text(seed, w, l, arg);
        break;
    case 'b':
    case 'c':
    case 'r':
        put_bytes(seed, w, *how == 'b' ? arg : *how == 'c' ? arg * *count : test_below(seed, 50));
        add_bytes(l, w->data + start, w->size - start);
        break;
    case 'f': /* attr.flags, the same in either bit order */
        add_value(l, put_number(seed, w, 8, "0"));
        break;
    default: {
        uint64_t v = put_number(seed, w, (unsigned)arg, value);
        *count = value ? v : *count;
        add_value(l, strchr(how, 's') ? (uint64_t)(int32_t)v : v);
    }
    }
}

static const struct perfdata_attr ATTR = {
    .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU,
    .read_format = PERFDATA_FORMAT_GROUP | PERFDATA_FORMAT_ID | PERFDATA_FORMAT_TOTAL_TIME_ENABLED,
    .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
};

struct made {
    struct writer w; /* the whole record */
    struct lines lines;
    struct perfdata_raw raw;
    size_t fields_size; /* of the body, without a sample_id */
};

static void make(uint64_t *seed, const struct layout *layout, bool swap, bool with_id, struct made *m) {
    char fields[400], *save = NULL;
    uint64_t count = 0;
    *m = (struct made){.w = writer_make(swap)};
    writer_u32(&m->w, layout->type);
    writer_u16(&m->w, layout->misc);
    writer_u16(&m->w, 0);
    snprintf(fields, sizeof fields, "%s", layout->fields);
    size_t unnamed = 0;
    for (char *f = strtok_r(fields, " ", &save); f; f = strtok_r(NULL, " ", &save)) {
        char *how = strchr(f, ':');
        *how++ = 0;
        /* The count of a read comes unnamed; so do padding bytes, except at the end: the tail. */
        if (!strcmp(f, "nr") && layout->type == PERFDATA_RECORD_READ)
            writer_u64(&m->w, count = test_below(seed, 4));
        else
            put_field(seed, &m->w, &m->lines, f, how, &count);
        unnamed = *f == '-' ? strtoull(how, NULL, 10) : 0;
    }
    if (unnamed) {
        add_line(&m->lines, "tail", 0, false);
        add_bytes(&m->lines, m->w.data + m->w.size - unnamed, unnamed);
    }
    m->fields_size = m->w.size - PERFDATA_HEADER_SIZE;
    if (with_id) {
        static const char *const NAMES[] = {"sample_id.pid", "sample_id.tid", "sample_id.time",
                                            "sample_id.cpu"};
        for (int i = 0; i < 4; i++) {
            add_line(&m->lines, NAMES[i], 0, false);
            add_value(&m->lines, put_number(seed, &m->w, i == 2 ? 8 : 4, NULL));
        }
        writer_u32(&m->w, 0); /* after cpu */
    }
    writer_patch16(&m->w, 6, (uint16_t)m->w.size);
    m->raw = (struct perfdata_raw){.type = layout->type,
                                   .misc = layout->misc,
                                   .size = (uint32_t)m->w.size,
                                   .body = {m->w.data + 8, m->w.size - 8}};
}

static bool has_id(uint32_t type) {
    return type < PERFDATA_RECORD_USER_START && type != PERFDATA_RECORD_SAMPLE;
}

static void assert_round_trip(const struct perfdata_record *rec, const struct perfdata_plan *plan, bool swap,
                              const uint8_t *data, size_t size) {
    struct writer w = writer_make(swap);
    perfdata_record_encode(rec, plan, &w);
    assert_true(writer_ok(&w));
    if (rec->type == PERFDATA_RECORD_MMAP2 && !rec->mmap2.has_build_id && size >= PERFDATA_HEADER_SIZE)
        writer_patch16(&w, 4, bytes_load16(data + 4, swap)); /* what was found to be no build-id */
    assert_bytes(writer_bytes(&w), data, size);
    writer_fini(&w);
}

static void every_type_is_what_its_layout_says(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (unsigned i = 0; i < LAYOUT_COUNT * 40; i++) {
        const struct layout *layout = &LAYOUTS[i % LAYOUT_COUNT];
        bool swap = i / LAYOUT_COUNT & 1, with_id = has_id(layout->type) && i / LAYOUT_COUNT & 2;
        struct perfdata_attr attr = ATTR;
        attr.flags = with_id ? PERFDATA_ATTR_SAMPLE_ID_ALL : 0;
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &attr, swap);
        struct made m;
        make(&seed, layout, swap, with_id, &m);

        struct perfdata_record rec;
        const char *reason = NULL;
        if (!perfdata_record_decode(&m.raw, &plan, swap, &rec, &reason))
            fail_msg("type %u (%s): %s", layout->type, layout->fields, reason);
        assert_int_equal(rec.type, layout->type);
        assert_int_equal(rec.misc, layout->misc);
        assert_int_equal(rec.id.have != 0, with_id);
        struct lines got = {0};
        perfdata_record_describe(&rec, collect, &got);
        for (unsigned k = 0; k < got.count && k < m.lines.count; k++)
            assert_string_equal(got.text[k], m.lines.text[k]);
        assert_int_equal(got.count, m.lines.count);
        assert_round_trip(&rec, &plan, swap, m.w.data, m.w.size);
        writer_fini(&m.w);
    }
}

/* A record cut anywhere is refused or decodes to what still encodes to the same bytes; its fixed fields
 * decide. */
static void truncations_never_overrun(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (unsigned i = 0; i < LAYOUT_COUNT * 4; i++) {
        const struct layout *layout = &LAYOUTS[i % LAYOUT_COUNT];
        bool swap = i / LAYOUT_COUNT & 1, with_id = has_id(layout->type);
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &ATTR, swap);
        struct made m;
        make(&seed, layout, swap, with_id, &m);
        for (size_t n = 0; n < m.raw.body.size; n++) {
            uint8_t *copy = test_copy(m.w.data, n + 8);
            uint16_t size = (uint16_t)(n + 8);
            size = swap ? __builtin_bswap16(size) : size;
            memcpy(copy + 6, &size, 2);
            uint8_t *body = test_copy(copy + 8, n);
            struct perfdata_raw raw = {layout->type, layout->misc, (uint32_t)n + 8, {body, n}, {NULL, 0}};
            struct perfdata_record rec;
            const char *reason = NULL;
            bool ok = perfdata_record_decode(&raw, &plan, swap, &rec, &reason);
            if (n < perfdata_record_min_body(layout->type))
                assert_false(ok);
            assert_true(ok || reason);
            if (ok) {
                struct lines got = {0};
                perfdata_record_describe(&rec, collect, &got);
                assert_round_trip(&rec, &plan, swap, copy, n + 8);
            }
            free(body);
            free(copy);
        }
        writer_fini(&m.w);
    }
}

static void ignore(void *ctx, const struct perfdata_value *v) {
    uint64_t *sum = ctx;
    *sum += v->number + v->bytes.size;
}

static void mutations_never_overrun(void **state) {
    (void)state;
    uint64_t seed = 9, sum = 0;
    for (unsigned i = 0; i < LAYOUT_COUNT * 60; i++) {
        const struct layout *layout = &LAYOUTS[i % LAYOUT_COUNT];
        bool swap = i / LAYOUT_COUNT & 1;
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &ATTR, swap);
        struct made m;
        make(&seed, layout, swap, has_id(layout->type), &m);
        for (unsigned k = 0; k < 8 && m.raw.body.size; k++) {
            size_t at = test_below(&seed, m.raw.body.size) & (k & 1 ? ~7ull : ~0ull);
            uint64_t v = k & 2 ? ~0ull >> test_below(&seed, 64) : test_random(&seed);
            size_t n = m.raw.body.size - at < 8 ? m.raw.body.size - at : 8;
            memcpy(m.w.data + 8 + at, &v, k & 1 ? n : 1);
            uint8_t *body = test_copy(m.raw.body.data, m.raw.body.size);
            struct perfdata_raw raw = m.raw;
            raw.body.data = body;
            struct perfdata_record rec;
            if (perfdata_record_decode(&raw, &plan, swap, &rec, NULL)) {
                perfdata_record_describe(&rec, ignore, &sum);
                assert_round_trip(&rec, &plan, swap, m.w.data, m.w.size);
            }
            free(body);
        }
        writer_fini(&m.w);
    }
    assert_true(sum);
}

/* The least body of each type is exactly what its always present fields need. */
static void least_bodies_are_least(void **state) {
    (void)state;
    uint8_t zeros[128] = {0};
    for (uint32_t type = 0; type < PERFDATA_RECORD_USER_END; type++) {
        struct perfdata_record rec;
        uint32_t least = perfdata_record_min_body(type);
        struct perfdata_raw raw = {.type = type, .body = {zeros, least}};
        assert_true(perfdata_record_decode(&raw, NULL, false, &rec, NULL));
        assert_int_equal(rec.tail.size, 0);
        if (!least)
            continue;
        raw.body.size = least - 1;
        const char *reason = NULL;
        assert_false(perfdata_record_decode(&raw, NULL, false, &rec, &reason));
        assert_non_null(reason);
    }
}

static void all_types_of_the_abi_are_known(void **state) {
    (void)state;
    for (uint32_t type = 0; type < 200; type++) {
        bool known = (type >= 1 && type <= 22) || (type >= 64 && type < PERFDATA_RECORD_USER_END);
        assert_int_equal(perfdata_record_known(type), known);
        assert_int_equal(perfdata_record_name(type) != NULL, known);
    }
    assert_string_equal(perfdata_record_name(10), "MMAP2");
    assert_string_equal(perfdata_record_name(68), "FINISHED_ROUND");
    assert_string_equal(perfdata_record_name(32769), "SP_KERNEL_SYMBOL");
    assert_string_equal(perfdata_record_name(32770), "SP_DSO");
    assert_string_equal(perfdata_record_name(32777), "SP_TRACING_DATA");
    assert_false(perfdata_record_known(32768));
    assert_false(perfdata_record_known(32778));
    assert_false(perfdata_record_known(0xffffffff));
}

/* perf's own MMAP records of some versions lack the sample_id that sample_id_all promises. */
static void text_without_sample_id_is_kept_whole(void **state) {
    (void)state;
    struct perfdata_plan plan;
    perfdata_plan_init(&plan, &ATTR, false);
    static const char NAME[] = "/usr/lib/x86_64-linux-gnu/libverylongname.so.1.2.3";
    struct writer w = writer_make(false);
    writer_zero(&w, 32);
    writer_put(&w, NAME, sizeof NAME);
    writer_align(&w, 8);
    struct perfdata_raw raw = {
        .type = PERFDATA_RECORD_MMAP, .size = (uint32_t)w.size + 8, .body = writer_bytes(&w)};
    struct perfdata_record rec;
    assert_true(perfdata_record_decode(&raw, &plan, false, &rec, NULL));
    assert_int_equal(rec.id.have, 0);
    assert_int_equal(bytes_text_len(rec.mmap.filename), sizeof NAME - 1);
    writer_fini(&w);
}

/* Lengths that contradict the record make it bad, whatever follows. */
static void contradictions_are_refused(void **state) {
    (void)state;
    struct perfdata_record rec;
    const char *reason = NULL;
    struct writer w = writer_make(false);
    writer_u64(&w, 0);
    writer_u16(&w, 5);
    writer_u16(&w, 4);
    writer_zero(&w, 8);
    struct perfdata_raw raw = {.type = PERFDATA_RECORD_TEXT_POKE, .body = writer_bytes(&w)};
    assert_false(perfdata_record_decode(&raw, NULL, false, &rec, &reason));
    assert_non_null(reason);
    writer_u8(&w, 0);
    raw.body = writer_bytes(&w);
    assert_true(perfdata_record_decode(&raw, NULL, false, &rec, NULL));

    writer_clear(&w);
    writer_zero(&w, 8);
    writer_u64(&w, 1ull << 61); /* times 8 is 0 in 64 bits */
    raw = (struct perfdata_raw){.type = PERFDATA_RECORD_CALLCHAIN_DEFERRED, .body = writer_bytes(&w)};
    assert_false(perfdata_record_decode(&raw, NULL, false, &rec, NULL));
    raw.type = PERFDATA_RECORD_NAMESPACES;
    assert_false(perfdata_record_decode(&raw, NULL, false, &rec, NULL));
    writer_fini(&w);
}

static void payloads_are_sized(void **state) {
    (void)state;
    uint64_t size = 1;
    uint8_t body[40] = {0x0d, 1};
    struct perfdata_raw raw = {.type = PERFDATA_RECORD_AUXTRACE, .body = {body, sizeof body}};
    assert_true(perfdata_record_payload_size(&raw, BYTES_HOST_BIG, &size));
    assert_int_equal(size, 0x10d);
    raw.type = PERFDATA_RECORD_HEADER_TRACING_DATA;
    raw.body.size = 4;
    assert_true(perfdata_record_payload_size(&raw, BYTES_HOST_BIG, &size));
    assert_int_equal(size, 0x110);
    body[0] = 36; /* simpleperf: inside the record */
    body[1] = 0;
    raw.body.size = 40;
    assert_true(perfdata_record_payload_size(&raw, BYTES_HOST_BIG, &size));
    assert_int_equal(size, 0);
    raw.body.size = 39;
    assert_true(perfdata_record_payload_size(&raw, BYTES_HOST_BIG, &size));
    assert_int_equal(size, 40);
    raw.body.size = 3;
    assert_false(perfdata_record_payload_size(&raw, BYTES_HOST_BIG, &size));
    raw.type = PERFDATA_RECORD_COMM;
    assert_true(perfdata_record_payload_size(&raw, BYTES_HOST_BIG, &size));
    assert_int_equal(size, 0);
}

static void sizes_have_limits(void **state) {
    (void)state;
    static uint8_t big[70000];
    struct perfdata_record rec = {.type = PERFDATA_RECORD_COMPRESSED, .compressed.data = {big, 65527}};
    struct writer w = writer_make(false);
    perfdata_record_encode(&rec, NULL, &w);
    assert_true(writer_ok(&w));
    assert_int_equal(w.size, 65535);
    writer_clear(&w);
    rec.compressed.data.size++;
    perfdata_record_encode(&rec, NULL, &w);
    assert_false(writer_ok(&w));
    writer_fini(&w);

    /* Simpleperf's own types take the upper half of the size into misc. */
    w = writer_make(false);
    rec = (struct perfdata_record){.type = PERFDATA_RECORD_SIMPLEPERF_START + 1,
                                   .opaque.data = {big, sizeof big}};
    perfdata_record_encode(&rec, NULL, &w);
    assert_true(writer_ok(&w));
    assert_int_equal(
        perfdata_record_size(rec.type, bytes_load16(w.data + 4, false), bytes_load16(w.data + 6, false)),
        sizeof big + 8);
    assert_int_equal(perfdata_record_size(PERFDATA_RECORD_MMAP, 1, 40), 40);
    assert_int_equal(perfdata_record_size(PERFDATA_RECORD_SIMPLEPERF_END, 1, 40), 40);
    writer_fini(&w);
}

/* What the kernel marks as a build-id by mistake: device 254:0, inode 247728; of a disk (8:1). */
static void devices_are_no_build_ids(void **state) {
    (void)state;
    struct perfdata_mmap2 m = {
        .has_build_id = true, .build_id_size = 0xfe, .build_id = {0, 0, 0, 0, 0xb0, 0xc7, 3}};
    perfdata_mmap2_settle(&m, true, false);
    assert_false(m.has_build_id);
    assert_int_equal(m.maj, 254);
    assert_int_equal(m.min, 0);
    assert_int_equal(m.ino, 0x3c7b0);
    m = (struct perfdata_mmap2){
        .has_build_id = true, .build_id_size = 8, .build_id = {1, 0, 0, 0, 9, [12] = 7}};
    perfdata_mmap2_settle(&m, false, false);
    assert_int_equal(m.maj, 8);
    assert_int_equal(m.min, 1);
    assert_int_equal(m.ino, 9);
    assert_int_equal(m.ino_generation, 7);
    /* big-endian: the major number's low byte stands last */
    m = (struct perfdata_mmap2){.has_build_id = true, .reserved_2 = 0x0102, .build_id = {0, 0, 0, 3}};
    perfdata_mmap2_settle(&m, true, true);
    assert_int_equal(m.maj, 0x0102);
    assert_int_equal(m.min, 3);
    const struct perfdata_mmap2 ids[] = {
        {.has_build_id = true, .build_id_size = 20, .build_id = {0}},
        {.has_build_id = true, .build_id_size = 8, .build_id = {1, 2, 3, 4, 5, 6, 7, 8}},
        {.has_build_id = false, .maj = 254, .ino = 1},
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        m = ids[i];
        perfdata_mmap2_settle(&m, false, false);
        assert_memory_equal(&m, &ids[i], sizeof m);
    }
    m = (struct perfdata_mmap2){.has_build_id = true, .build_id_size = 8, .build_id = {1}};
    perfdata_mmap2_settle(&m, true, false);
    assert_true(m.has_build_id); /* the event asked for it */
}

/* A record's own event tells the decoder: what is no build-id is none for anybody, and is written as none. */
static void decoding_settles(void **state) {
    (void)state;
    struct perfdata_record rec = {.type = PERFDATA_RECORD_MMAP2,
                                  .misc = PERFDATA_MISC_USER | PERFDATA_MISC_MMAP_BUILD_ID};
    rec.mmap2 = (struct perfdata_mmap2){
        .pid = 1, .has_build_id = true, .build_id_size = 8, .build_id = {1, 0, 0, 0, 9}};
    rec.mmap2.filename = (struct bytes){(const uint8_t *)"/bin/a", 7};
    for (int asked = 0; asked < 3; asked++) {
        struct perfdata_attr attr = {.flags = asked == 1 ? PERFDATA_ATTR_BUILD_ID : 0};
        struct perfdata_plan plan;
        struct writer w = writer_make(false);
        struct perfdata_record out;
        perfdata_plan_init(&plan, &attr, false);
        perfdata_record_encode(&rec, NULL, &w);
        struct perfdata_raw raw = {.type = rec.type,
                                   .misc = rec.misc,
                                   .size = (uint32_t)w.size,
                                   .body = {w.data + PERFDATA_HEADER_SIZE, w.size - PERFDATA_HEADER_SIZE}};
        assert_true(perfdata_record_decode(&raw, asked == 2 ? NULL : &plan, false, &out, NULL));
        assert_int_equal(out.mmap2.has_build_id, asked != 0);
        assert_int_equal(out.mmap2.ino, asked ? 0 : 9);
        assert_int_equal(!(out.misc & PERFDATA_MISC_MMAP_BUILD_ID), !asked);
        writer_fini(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_what_its_layout_says),
        cmocka_unit_test(truncations_never_overrun),
        cmocka_unit_test(mutations_never_overrun),
        cmocka_unit_test(least_bodies_are_least),
        cmocka_unit_test(all_types_of_the_abi_are_known),
        cmocka_unit_test(text_without_sample_id_is_kept_whole),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(payloads_are_sized),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(devices_are_no_build_ids),
        cmocka_unit_test(decoding_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
