/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/events/event_name.h"

#include "format/perfdata/perfdata_test.h"
#include "tests/support/fail_alloc.h"

static void assert_name(const struct perfdata_namer *n, const struct perfdata_attr *attr, const char *want) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    perfdata_event_name_write(n, attr, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
}

static void test_names_of_the_abi(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        uint64_t config;
        const char *name;
    } rows[] = {
        {0, 0, "cycles"},
        {0, 4, "branches"},
        {0, 9, "ref-cycles"},
        {0, 10, "unknown-hardware"},
        {0, 0x400000001, "cpu/instructions/"},
        {0, 0x4000000ff, "cpu/unknown-hardware/"},
        {1, 0, "cpu-clock"},
        {1, 9, "dummy"},
        {1, 10, "unknown-software"},
        {1, 0x400000001, "unknown-software"},
        {2, 0xac9, "unknown tracepoint id=0xac9"},
        {3, 0, "L1-dcache-loads"},
        {3, 0x10001, "L1-icache-load-misses"},
        {3, 0x101, "invalid-cache"},
        {3, 0x10102, "LLC-store-misses"},
        {3, 0x10203, "dTLB-prefetch-misses"},
        {3, 0x204, "invalid-cache"},
        {3, 0x10005, "branch-load-misses"},
        {3, 0x206, "node-prefetches"},
        {3, 7, "unknown-ext-hardware-cache-type"},
        {3, 0x300, "unknown-ext-hardware-cache-op"},
        {3, 0x20000, "unknown-ext-hardware-cache-result"},
        {4, 0x533079, "raw 0x533079"},
        {4, 0, "raw 0x0"},
        {77, 5, "unknown event PMU=77 config=0x5"},
        {9, 0, "unknown event PMU=9 config=0"},
    };
    struct perfdata_namer n = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_name(&n, &(struct perfdata_attr){.type = rows[i].type, .config = rows[i].config},
                    rows[i].name);
}

static void test_breakpoints(void **state) {
    (void)state;
    struct perfdata_namer n = {0};
    assert_name(&n, &(struct perfdata_attr){.type = 5, .config1 = 0x1000, .bp_type = 3}, "mem:0x1000:rw");
    assert_name(&n, &(struct perfdata_attr){.type = 5, .config1 = 0x12, .bp_type = 4}, "mem:0x12:x");
    assert_name(&n, &(struct perfdata_attr){.type = 5, .config1 = 0x12, .bp_type = 8}, "mem:0x12:");
    assert_name(&n,
                &(struct perfdata_attr){
                    .type = 5, .config1 = 0x12, .bp_type = 1, .flags = PERFDATA_ATTR_EXCLUDE_USER},
                "mem:0x12:r:kh");
}

static void test_modifiers(void **state) {
    (void)state;
#define U PERFDATA_ATTR_EXCLUDE_USER
#define K PERFDATA_ATTR_EXCLUDE_KERNEL
#define V PERFDATA_ATTR_EXCLUDE_HV
#define H PERFDATA_ATTR_EXCLUDE_HOST
#define G PERFDATA_ATTR_EXCLUDE_GUEST
    static const struct {
        uint64_t flags;
        const char *name;
    } rows[] = {
        {PERFDATA_ATTR_EXCLUDE_IDLE | PERFDATA_ATTR_PINNED, "cycles"},
        {U, "cycles:kh"},
        {K, "cycles:uh"},
        {V, "cycles:ku"},
        {K | V, "cycles:u"},
        {U | V | G, "cycles:kH"},
        {U | K | V, "cycles"},
        {H, "cycles:G"},
        {G, "cycles:H"},
        {H | G, "cycles"},
        {3ull << 15, "cycles:ppp"},
        {K | V | H | 2ull << 15, "cycles:uppG"},
    };
    struct perfdata_namer n = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_name(&n, &(struct perfdata_attr){.flags = rows[i].flags}, rows[i].name);
    /* What has no name of its own takes none. */
    assert_name(&n, &(struct perfdata_attr){.type = 2, .config = 1, .flags = U}, "unknown tracepoint id=0x1");
    assert_name(&n, &(struct perfdata_attr){.type = 8, .flags = U}, "unknown event PMU=8 config=0");
}

/* Names come from the recording's PMU_MAPPINGS and tracing data. */
static void test_names_of_the_recording(void **state) {
    (void)state;
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_PMU_MAPPINGS};
    struct perfdata_pmu_mapping pmus[] = {{4, {(const uint8_t *)"cpu_core\0\0", 10}},
                                          {10, {(const uint8_t *)"cpu_atom", 8}}};
    v.pmu_mappings.items = pmus;
    v.pmu_mappings.count = 2;
    struct writer pmu_bytes = writer_make(false), tracing_bytes = writer_make(false);
    perfdata_feature_encode(&v, &pmu_bytes);
    static const char FORMAT[] = "name: sched_switch\nID: 372\nformat:\n";
    struct tracing_event event = {.format = {(const uint8_t *)FORMAT, sizeof FORMAT - 1}};
    struct tracing_system system = {{(const uint8_t *)"sched", 5}, 0, 1};
    struct tracing_data td = {.version = {(const uint8_t *)"0.6", 3}, .big_endian = BYTES_HOST_BIG};
    td.events.items = &event;
    td.events.count = 1;
    td.systems.items = &system;
    td.systems.count = 1;
    tracing_data_encode(&td, &tracing_bytes);

    struct perfdata_feature features[] = {
        {.id = PERFDATA_FEATURE_TRACING_DATA, .content = writer_bytes(&tracing_bytes)},
        {.id = PERFDATA_FEATURE_PMU_MAPPINGS, .content = writer_bytes(&pmu_bytes)},
    };
    struct perfdata_header h = {0};
    h.features.items = features;
    h.features.count = 2;
    struct perfdata_namer n;
    assert_true(perfdata_namer_init(&n, &h));
    assert_name(&n, &(struct perfdata_attr){.config = 0x400000001}, "cpu_core/instructions/");
    assert_name(&n, &(struct perfdata_attr){.config = 0xa00000001}, "cpu_atom/instructions/");
    assert_name(&n, &(struct perfdata_attr){.type = 2, .config = 372}, "sched:sched_switch");
    assert_int_equal(perfdata_namer_pmu(&n, 10).size, 8);
    assert_int_equal(perfdata_namer_pmu(&n, 1).size, strlen("software"));
    assert_int_equal(perfdata_namer_pmu(&n, 6).size, 0);

    struct perfdata_events events;
    perfdata_events_init(&events, false);
    struct perfdata_attr attr = {.type = 2, .config = 372, .size = 64, .known_size = 64};
    assert_int_equal(perfdata_events_add(&events, &attr, NULL), 0);
    assert_int_equal(perfdata_events_add(&events, &attr, NULL), 1);
    assert_true(perfdata_events_name(&events, 1, "mine", 4));
    assert_true(perfdata_event_name_rest(&n, &events));
    assert_string_equal(events.list.items[0].name, "sched:sched_switch");
    assert_string_equal(events.list.items[1].name, "mine");
    perfdata_events_fini(&events);
    perfdata_namer_fini(&n);
    writer_fini(&pmu_bytes);
    writer_fini(&tracing_bytes);
}

/* simpleperf lists its events in META_INFO; only tracepoints are named from there. */
static void test_names_of_simpleperf(void **state) {
    (void)state;
    static const char INFO[] = "clockid\0perf\0event_type_info\0"
                               "cpu-cycles,0,0\nsched:sched_switch,2,47\nbroken\n,2,x\nkprobes:a,2,1195";
    struct perfdata_feature feature = {.id = PERFDATA_FEATURE_SIMPLEPERF_META_INFO,
                                       .content = {(const uint8_t *)INFO, sizeof INFO}};
    struct perfdata_header h = {0};
    h.features.items = &feature;
    h.features.count = 1;
    struct perfdata_namer n;
    assert_true(perfdata_namer_init(&n, &h));
    assert_name(&n, &(struct perfdata_attr){.type = 2, .config = 47}, "sched:sched_switch");
    assert_name(&n, &(struct perfdata_attr){.type = 2, .config = 1195}, "kprobes:a");
    assert_name(&n, &(struct perfdata_attr){.type = 2, .config = 0}, "unknown tracepoint id=0");
    assert_name(&n, &(struct perfdata_attr){.type = 0, .config = 0}, "cycles");
    perfdata_namer_fini(&n);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    static const char INFO[] = "event_type_info\0sched:sched_switch,2,47\n";
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_PMU_MAPPINGS};
    struct perfdata_pmu_mapping pmu = {4, {(const uint8_t *)"cpu_core", 8}};
    v.pmu_mappings.items = &pmu;
    v.pmu_mappings.count = 1;
    struct writer pmus = writer_make(false);
    perfdata_feature_encode(&v, &pmus);
    struct perfdata_feature features[] = {
        {.id = PERFDATA_FEATURE_PMU_MAPPINGS, .content = writer_bytes(&pmus)},
        {.id = PERFDATA_FEATURE_SIMPLEPERF_META_INFO, .content = {(const uint8_t *)INFO, sizeof INFO}}};
    struct perfdata_header h = {0};
    h.features.items = features;
    h.features.count = 2;
    struct perfdata_attr attr = {.type = 2, .config = 47, .size = 64, .known_size = 64};
    unsigned whole = 0;
    FAIL_EACH_ALLOC({
        struct perfdata_namer n;
        struct perfdata_events events;
        perfdata_events_init(&events, false);
        bool ok = perfdata_namer_init(&n, &h) && perfdata_events_add(&events, &attr, NULL) == 0 &&
                  perfdata_feature_apply_names(&h, &events) && perfdata_event_name_rest(&n, &events);
        whole += ok && strcmp(events.list.items[0].name, "sched:sched_switch") == 0;
        perfdata_events_fini(&events);
        perfdata_namer_fini(&n);
    });
    assert_int_equal(whole, 1);
    writer_fini(&pmus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_the_abi),    cmocka_unit_test(test_breakpoints),
        cmocka_unit_test(test_modifiers),           cmocka_unit_test(test_names_of_the_recording),
        cmocka_unit_test(test_names_of_simpleperf), cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
