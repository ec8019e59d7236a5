/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/header/feature.h"

#include "format/perfdata/perfdata_test.h"

#include <stdio.h>

enum { CPUS = 4 };

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

/* A text as perf writes it: room for 64 bytes, NULs after the text. */
static void put_text(struct writer *w, const char *s) {
    writer_u32(w, 64);
    writer_put(w, s, strlen(s));
    writer_zero(w, 64 - strlen(s));
}

static void put_attr(struct writer *w, uint32_t type, uint64_t config) {
    struct perfdata_attr a = {.type = type, .size = 80, .config = config, .flags = 0x8000000001};
    a.known_size = 80;
    perfdata_attr_encode(&a, w);
}

static void put_build_id(struct writer *w, uint16_t misc, int32_t pid, uint8_t size_byte, const char *name) {
    writer_u32(w, 67);
    writer_u16(w, misc);
    writer_u16(w, (uint16_t)(36 + strlen(name) + 3));
    writer_u32(w, (uint32_t)pid);
    for (int i = 0; i < 20; i++)
        writer_u8(w, (uint8_t)(i + 1));
    writer_u8(w, size_byte);
    writer_zero(w, 3);
    writer_put(w, name, strlen(name));
    writer_zero(w, 3);
}

/* A content for each feature, in three groups: false when it is of another one. Of the machine: */
static bool make_machine(uint32_t id, struct writer *w) {
    switch (id) {
    case PERFDATA_FEATURE_NRCPUS:
        writer_u32(w, CPUS);
        writer_u32(w, 3);
        return true;
    case PERFDATA_FEATURE_CPU_TOPOLOGY:
        writer_u32(w, 1);
        put_text(w, "0-3");
        writer_u32(w, 2);
        put_text(w, "0-1");
        put_text(w, "2-3");
        for (uint32_t i = 0; i < CPUS; i++) {
            writer_u32(w, i);
            writer_u32(w, i / 2);
        }
        writer_u32(w, 1);
        put_text(w, "0-3");
        for (uint32_t i = 0; i < CPUS; i++)
            writer_u32(w, i + 100);
        return true;
    case PERFDATA_FEATURE_NUMA_TOPOLOGY:
        writer_u32(w, 1);
        writer_u32(w, 5);
        writer_u64(w, 1000);
        writer_u64(w, 500);
        put_text(w, "0-3");
        return true;
    case PERFDATA_FEATURE_CACHE:
        writer_u32(w, 1);
        writer_u32(w, 1);
        for (uint32_t i = 1; i < 5; i++)
            writer_u32(w, i);
        put_text(w, "Data");
        put_text(w, "32K");
        put_text(w, "0");
        return true;
    case PERFDATA_FEATURE_MEM_TOPOLOGY:
        writer_u64(w, 1);
        writer_u64(w, 0x8000000);
        writer_u64(w, 1);
        writer_u64(w, 0);
        writer_u64(w, 70);
        writer_u64(w, 70);
        writer_u64(w, 0xf0f);
        writer_u64(w, 3);
        return true;
    case PERFDATA_FEATURE_CPU_DOMAIN_INFO:
        writer_u32(w, 17);
        writer_u32(w, 2);
        for (uint32_t i = 0; i < 2; i++) {
            writer_u32(w, i);
            writer_u32(w, 1);
            writer_u32(w, 0);
            put_text(w, "SMT");
            put_text(w, "3");
            put_text(w, "0-1");
        }
        return true;
    case PERFDATA_FEATURE_E_MACHINE:
        writer_u32(w, 62);
        writer_u32(w, 1);
        return true;
    case PERFDATA_FEATURE_CLN_SIZE:
        writer_u32(w, 64);
        return true;
    default:
        return false;
    }
}

/* Of events and images: */
static bool make_events(uint32_t id, struct writer *w) {
    switch (id) {
    case PERFDATA_FEATURE_BUILD_ID:
        put_build_id(w, 1, -1, 0, "[kernel.kallsyms]");
        put_build_id(w, 0x8002, 7, 8, "/bin/x");
        put_build_id(w, 0x8002, 7, 200, "/bin/y");
        return true;
    case PERFDATA_FEATURE_EVENT_DESC:
        writer_u32(w, 2);
        writer_u32(w, 80);
        put_attr(w, 0, 1);
        writer_u32(w, 2);
        put_text(w, "first");
        writer_u64(w, 11);
        writer_u64(w, 12);
        put_attr(w, 1, 2);
        writer_u32(w, 0);
        put_text(w, "second");
        return true;
    case PERFDATA_FEATURE_PMU_MAPPINGS:
        writer_u32(w, 2);
        writer_u32(w, 4);
        put_text(w, "cpu");
        writer_u32(w, 4294967294u);
        put_text(w, "tool");
        return true;
    case PERFDATA_FEATURE_GROUP_DESC:
        writer_u32(w, 1);
        put_text(w, "group");
        writer_u32(w, 1);
        writer_u32(w, 2);
        return true;
    case PERFDATA_FEATURE_BPF_PROG_INFO:
        writer_u32(w, 1);
        writer_u32(w, 8);
        writer_u32(w, 3);
        writer_u64(w, 1);
        writer_put(w, "programmabc", 11);
        return true;
    case PERFDATA_FEATURE_BPF_BTF:
        writer_u32(w, 1);
        writer_u32(w, 5);
        writer_u32(w, 3);
        writer_put(w, "abc", 3);
        return true;
    case PERFDATA_FEATURE_CPU_PMU_CAPS:
    case PERFDATA_FEATURE_HYBRID_TOPOLOGY:
        writer_u32(w, 1);
        put_text(w, "branches");
        put_text(w, "32");
        return true;
    case PERFDATA_FEATURE_PMU_CAPS:
        writer_u32(w, 1);
        writer_u32(w, 2);
        for (int i = 0; i < 2; i++) {
            put_text(w, "cap");
            put_text(w, "1");
        }
        put_text(w, "cpu_core");
        return true;
    default:
        return false;
    }
}

/* Of the recording: */
static bool make_recording(uint32_t id, struct writer *w) {
    switch (id) {
    case PERFDATA_FEATURE_HOSTNAME:
    case PERFDATA_FEATURE_OSRELEASE:
    case PERFDATA_FEATURE_VERSION:
    case PERFDATA_FEATURE_ARCH:
    case PERFDATA_FEATURE_CPUDESC:
    case PERFDATA_FEATURE_CPUID:
        put_text(w, "a text");
        return true;
    case PERFDATA_FEATURE_TOTAL_MEM:
    case PERFDATA_FEATURE_CLOCKID:
    case PERFDATA_FEATURE_DIR_FORMAT:
        writer_u64(w, 0x1122334455667788);
        return true;
    case PERFDATA_FEATURE_CMDLINE:
        writer_u32(w, 2);
        put_text(w, "perf");
        put_text(w, "record");
        return true;
    case PERFDATA_FEATURE_AUXTRACE:
        writer_u64(w, 2);
        for (int i = 0; i < 4; i++)
            writer_u64(w, (uint64_t)i);
        return true;
    case PERFDATA_FEATURE_SAMPLE_TIME:
        writer_u64(w, 5);
        writer_u64(w, 6);
        return true;
    case PERFDATA_FEATURE_COMPRESSED:
        for (uint32_t i = 1; i < 6; i++)
            writer_u32(w, i);
        return true;
    case PERFDATA_FEATURE_CLOCK_DATA:
        writer_u32(w, 1);
        writer_u32(w, 7);
        writer_u64(w, 100);
        writer_u64(w, 200);
        return true;
    case PERFDATA_FEATURE_SIMPLEPERF_FILE:
        writer_u32(w, 9);
        writer_put(w, "/bin/x\0ab", 9);
        return true;
    case PERFDATA_FEATURE_SIMPLEPERF_META_INFO:
        writer_put(w, "clockid\0perf\0empty\0", 20);
        return true;
    case PERFDATA_FEATURE_SIMPLEPERF_FILE2:
        writer_u32(w, 10);
        writer_put(w, "\x10\x05\x0a\x06/bin/x", 10);
        return true;
    default:
        return false;
    }
}

/* False when it has none of its own. */
static bool make_content(uint32_t id, struct writer *w) {
    return make_machine(id, w) || make_events(id, w) || make_recording(id, w);
}

static const struct perfdata_feature_env ENV[2] = {{false, CPUS}, {true, CPUS}};

static uint32_t known_ids(uint32_t i) {
    return i < PERFDATA_FEATURE_KNOWN_END
               ? i
               : i - PERFDATA_FEATURE_KNOWN_END + PERFDATA_FEATURE_SIMPLEPERF_START;
}
enum { ID_COUNT = PERFDATA_FEATURE_KNOWN_END + 5 };

/* encode(decode(x)) == x, in both orders, also with bytes after the known part. */
static void test_round_trips(void **state) {
    (void)state;
    for (uint32_t i = 0; i < ID_COUNT; i++) {
        uint32_t id = known_ids(i);
        for (int swap = 0; swap < 2; swap++) {
            struct writer w = writer_make(swap), again = writer_make(swap);
            bool has_layout = make_content(id, &w);
            struct arena arena = ARENA_INIT;
            struct perfdata_feature_value v;
            assert_true(perfdata_feature_decode(id, writer_bytes(&w), &ENV[swap], &arena, &v));
            if (v.cut || v.tail.size)
                print_message("feature %u\n", id);
            assert_false(v.cut);
            assert_int_equal(v.tail.size, 0);
            assert_true(has_layout || w.size == 0);
            perfdata_feature_encode(&v, &again);
            assert_int_equal(again.size, w.size);
            if (w.size)
                assert_memory_equal(again.data, w.data, w.size);
            arena_fini(&arena);
            writer_fini(&w);
            writer_fini(&again);
        }
    }
}

/* Every shorter content is read without a step outside, and says that it is cut unless it may end there. */
static void test_cut_anywhere(void **state) {
    (void)state;
    for (uint32_t i = 0; i < ID_COUNT; i++) {
        uint32_t id = known_ids(i);
        struct writer w = writer_make(false);
        make_content(id, &w);
        for (size_t n = 0; n < w.size; n++) {
            uint8_t *copy = test_copy(w.data, n);
            struct arena arena = ARENA_INIT;
            struct perfdata_feature_value v;
            assert_true(perfdata_feature_decode(id, (struct bytes){copy, n}, &ENV[0], &arena, &v));
            if (id == PERFDATA_FEATURE_TOTAL_MEM || id == PERFDATA_FEATURE_EVENT_DESC ||
                id == PERFDATA_FEATURE_HOSTNAME || id == PERFDATA_FEATURE_PMU_CAPS)
                assert_true(v.cut);
            struct writer again = writer_make(false);
            perfdata_feature_encode(&v, &again); /* whatever it is, it can be written */
            writer_fini(&again);
            arena_fini(&arena);
            free(copy);
        }
        writer_fini(&w);
    }
}

/* Random bytes: no crash, and no allocation beyond a small multiple of the content. */
static void test_hostile(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        uint32_t id = known_ids((uint32_t)test_below(&seed, ID_COUNT));
        struct writer w = writer_make(false);
        make_content(id, &w);
        for (int k = 0; w.size && k < 3; k++) {
            uint64_t v = test_random(&seed);
            w.data[test_below(&seed, w.size)] = (uint8_t)(v >> 8 & 1 ? 0xff : v);
        }
        struct arena arena = ARENA_INIT;
        struct perfdata_feature_value v;
        assert_true(perfdata_feature_decode(id, writer_bytes(&w), &ENV[0], &arena, &v));
        assert_true(arena.total_bytes < 200000);
        arena_fini(&arena);
        writer_fini(&w);
    }
}

static struct perfdata_feature_value decode(uint32_t id, struct writer *w, struct arena *arena) {
    struct perfdata_feature_value v;
    assert_true(perfdata_feature_decode(id, writer_bytes(w), &ENV[w->swap], arena, &v));
    return v;
}

static void test_values(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct arena arena = ARENA_INIT;
        struct writer w = writer_make(swap);
        make_content(PERFDATA_FEATURE_BUILD_ID, &w);
        struct perfdata_feature_value v = decode(PERFDATA_FEATURE_BUILD_ID, &w, &arena);
        assert_int_equal(v.build_ids.count, 3);
        assert_int_equal(v.build_ids.items[0].pid, -1);
        assert_int_equal(v.build_ids.items[0].id_size, 20);
        assert_int_equal(v.build_ids.items[1].id_size, 8);
        assert_int_equal(v.build_ids.items[2].id_size, 20); /* a size byte beyond 20 is not believed */
        assert_int_equal(bytes_text_len(v.build_ids.items[2].name), 6);
        writer_clear(&w);
        make_content(PERFDATA_FEATURE_EVENT_DESC, &w);
        v = decode(PERFDATA_FEATURE_EVENT_DESC, &w, &arena);
        assert_int_equal(v.event_desc.count, 2);
        assert_int_equal(v.event_desc.items[0].attr.config, 1);
        assert_int_equal(v.event_desc.items[0].attr.flags, 0x8000000001);
        assert_int_equal(perfdata_u64_at(&v.event_desc.items[0].ids, 1), 12);
        assert_int_equal(v.event_desc.items[1].attr.type, 1);
        writer_clear(&w);
        make_content(PERFDATA_FEATURE_CPU_TOPOLOGY, &w);
        v = decode(PERFDATA_FEATURE_CPU_TOPOLOGY, &w, &arena);
        assert_int_equal(v.cpu_topology.threads.count, 2);
        assert_int_equal(v.cpu_topology.cpu_count, CPUS);
        assert_int_equal(v.cpu_topology.cpus[3].socket, 1);
        assert_true(v.cpu_topology.has_dies);
        assert_int_equal(v.cpu_topology.cpus[3].die, 103);
        writer_clear(&w);
        make_content(PERFDATA_FEATURE_MEM_TOPOLOGY, &w);
        v = decode(PERFDATA_FEATURE_MEM_TOPOLOGY, &w, &arena);
        assert_int_equal(v.mem_topology.items[0].bitmap.count, 2);
        assert_int_equal(perfdata_u64_at(&v.mem_topology.items[0].bitmap, 0), 0xf0f);
        writer_clear(&w);
        make_content(PERFDATA_FEATURE_CPU_DOMAIN_INFO, &w);
        v = decode(PERFDATA_FEATURE_CPU_DOMAIN_INFO, &w, &arena);
        assert_int_equal(v.cpu_domains.count, 2);
        assert_int_equal(v.cpu_domains.items[1].cpu, 1);
        arena_fini(&arena);
        writer_fini(&w);
    }
}

/* The older revisions of CPU_TOPOLOGY end where the newer ones go on. */
static void test_topology_revisions(void **state) {
    (void)state;
    static const struct {
        size_t size;
        uint32_t cpus;
        bool dies;
    } rows[] = {{4 + 68 + 4 + 136, 0, false}, {4 + 68 + 4 + 136 + 32, CPUS, false}};
    for (size_t i = 0; i < 2; i++) {
        struct arena arena = ARENA_INIT;
        struct writer w = writer_make(false);
        make_content(PERFDATA_FEATURE_CPU_TOPOLOGY, &w);
        w.size = rows[i].size;
        struct perfdata_feature_value v = decode(PERFDATA_FEATURE_CPU_TOPOLOGY, &w, &arena);
        assert_false(v.cut);
        assert_int_equal(v.cpu_topology.threads.count, 2);
        assert_int_equal(v.cpu_topology.cpu_count, rows[i].cpus);
        assert_int_equal(v.cpu_topology.has_dies, rows[i].dies);
        arena_fini(&arena);
        writer_fini(&w);
    }
}

static void test_simpleperf(void **state) {
    (void)state;
    struct arena arena = ARENA_INIT;
    struct writer w = writer_make(false);
    make_content(PERFDATA_FEATURE_SIMPLEPERF_META_INFO, &w);
    struct perfdata_feature_value v = decode(PERFDATA_FEATURE_SIMPLEPERF_META_INFO, &w, &arena);
    assert_int_equal(v.pairs.count, 2);
    assert_true(bytes_equal(v.pairs.items[0].value, span("perf")));
    assert_true(bytes_equal(v.pairs.items[1].name, span("empty")));
    assert_int_equal(v.pairs.items[1].value.size, 0);
    for (uint32_t id = PERFDATA_FEATURE_SIMPLEPERF_FILE; id < PERFDATA_FEATURE_SIMPLEPERF_KNOWN_END; id++) {
        if (id != PERFDATA_FEATURE_SIMPLEPERF_FILE && id != PERFDATA_FEATURE_SIMPLEPERF_FILE2)
            continue;
        writer_clear(&w);
        make_content(id, &w);
        v = decode(id, &w, &arena);
        assert_int_equal(v.files.count, 1);
        assert_true(bytes_equal(v.files.items[0].path, span("/bin/x")));
    }
    writer_clear(&w);
    writer_u64(&w, 100);
    writer_u64(&w, 200); /* no count: two words are one entry */
    v = decode(PERFDATA_FEATURE_AUXTRACE, &w, &arena);
    assert_true(v.auxtrace.bare);
    assert_int_equal(v.auxtrace.count, 1);
    assert_int_equal(v.auxtrace.items[0].size, 200);
    arena_fini(&arena);
    writer_fini(&w);
}

static void add_event(struct perfdata_events *events, uint32_t type, uint64_t config, uint64_t id) {
    struct perfdata_attr a = {.type = type, .config = config, .size = 80, .known_size = 80};
    uint8_t raw[8];
    memcpy(raw, &id, 8);
    struct perfdata_u64s ids = {raw, 1, false};
    assert_int_not_equal(perfdata_events_add(events, &a, &ids), PERFDATA_NO_EVENT);
}

static void test_apply_names(void **state) {
    (void)state;
    struct writer desc = writer_make(false), groups = writer_make(false);
    make_content(PERFDATA_FEATURE_EVENT_DESC, &desc);
    make_content(PERFDATA_FEATURE_GROUP_DESC, &groups);
    struct perfdata_feature features[] = {
        {.id = PERFDATA_FEATURE_EVENT_DESC, .content = writer_bytes(&desc)},
        {.id = PERFDATA_FEATURE_GROUP_DESC, .content = writer_bytes(&groups)},
    };
    struct perfdata_header h = {0};
    h.features.items = features;
    h.features.count = 2;
    struct perfdata_events events;
    perfdata_events_init(&events, false);
    add_event(&events, 0, 7, 10);
    add_event(&events, 1, 2, 99); /* the second description has no ids: by its place, type and config */
    add_event(&events, 0, 1, 11); /* the first description's id */
    assert_true(perfdata_feature_apply_names(&h, &events));
    assert_null(events.list.items[0].name);
    assert_string_equal(events.list.items[1].name, "second");
    assert_string_equal(events.list.items[2].name, "first");
    assert_int_equal(events.list.items[0].leader, 0);
    assert_int_equal(events.list.items[1].group_members, 2);
    assert_int_equal(events.list.items[2].leader, 1);
    assert_string_equal(events.list.items[1].group_name, "group");
    perfdata_events_fini(&events);

    /* A group beyond the events is no group; a pipe gets nothing. */
    perfdata_events_init(&events, false);
    add_event(&events, 0, 1, 5);
    add_event(&events, 0, 1, 6);
    assert_true(perfdata_feature_apply_names(&h, &events));
    assert_string_equal(events.list.items[0].name, "first");
    assert_int_equal(events.list.items[1].group_members, 1);
    perfdata_events_fini(&events);
    h.container = PERFDATA_CONTAINER_PIPE;
    perfdata_events_init(&events, false);
    add_event(&events, 0, 1, 11);
    assert_true(perfdata_feature_apply_names(&h, &events));
    assert_null(events.list.items[0].name);
    perfdata_events_fini(&events);
    writer_fini(&desc);
    writer_fini(&groups);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_topology_revisions),
        cmocka_unit_test(test_simpleperf),
        cmocka_unit_test(test_apply_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
