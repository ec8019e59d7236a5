/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/tracefs/tracing_data.h"

#define CPU(n) "/sys/devices/system/cpu/cpu" n
#define CACHE(n, i, level, type, size, map)                                                         \
    {CPU(n) "/cache/index" i "/level", level}, {CPU(n) "/cache/index" i "/type", type},             \
        {CPU(n) "/cache/index" i "/size", size}, {CPU(n) "/cache/index" i "/shared_cpu_list", map}, \
        {CPU(n) "/cache/index" i "/coherency_line_size", "64"},                                     \
        {CPU(n) "/cache/index" i "/number_of_sets", "128"}, {                                       \
        CPU(n) "/cache/index" i "/ways_of_associativity", "8"                                       \
    }
#define PLACE(n, core)                                                                    \
    {CPU(n) "/topology/core_id", core}, {CPU(n) "/topology/physical_package_id", "0"},    \
        {CPU(n) "/topology/die_id", "7"}, {CPU(n) "/topology/core_siblings_list", "0-1"}, \
        {CPU(n) "/topology/thread_siblings_list", n}, {                                   \
        CPU(n) "/topology/die_cpus_list", "0-1"                                           \
    }

/* Two CPUs of three are online. */
static const struct sysfs_fake_file FILES[] = {
    {"/sys/devices/system/cpu/online", "0-1"},
    {"/sys/devices/system/cpu/present", "0-2"},
    {"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: Maker\ncpu family\t: 6\nmodel\t\t: 42\n"
                      "model name\t: Maker CPU 1\nstepping\t: 3\n\nprocessor\t: 1\nmodel\t: 43\n"},
    {"/proc/meminfo", "MemTotal:       123456 kB\nMemFree: 1 kB"},
    {"/sys/bus/event_source/devices/software/type", "1"},
    {"/sys/bus/event_source/devices/msr/type", "9"},
    {"/sys/bus/event_source/devices/broken/", NULL},
    PLACE("0", "0"),
    PLACE("1", "4"),
    CACHE("0", "0", "1", "Data", "32K", "0"),
    CACHE("0", "1", "3", "Unified", "8192K", "0-1"),
    CACHE("1", "0", "1", "Data", "32K", "1"),
    CACHE("1", "1", "3", "Unified", "8192K", "0-1"),
    {"/sys/devices/system/node/online", "0"},
    {"/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:      400 kB"},
    {"/sys/devices/system/node/node0/cpulist", "0-1"},
    {"/sys/devices/system/node/node0/memory0/", NULL},
    {"/sys/devices/system/node/node0/memory70/", NULL},
    {"/sys/devices/system/node/node0/memory_failure/", NULL},
    {"/sys/devices/system/memory/block_size_bytes", "8000000"},
    {"/sys/kernel/tracing/events/header_page", "\tfield: u64 timestamp;"},
    {"/sys/kernel/tracing/events/header_event", "# compressed entry header"},
    {"/sys/kernel/tracing/events/b/one/id", "31"},
    {"/sys/kernel/tracing/events/b/one/format", "name: one\nID: 31"},
    {"/sys/kernel/tracing/events/a/two/id", "32"},
    {"/sys/kernel/tracing/events/a/two/format", "name: two\nID: 32"},
    {"/sys/kernel/tracing/events/b/three/id", "33"},
    {"/sys/kernel/tracing/events/b/three/format", "name: three\nID: 33"},
};
static const struct sysfs_fake TREE = {FILES, sizeof FILES / sizeof *FILES};

struct fixture {
    struct sysfs sys;
    struct perfdata_events events;
    struct record_facts facts;
    struct arena arena;
};

static void add_event(struct fixture *f, uint64_t config, const char *name) {
    uint64_t id = 100 + config;
    struct perfdata_u64s ids = {(uint8_t *)&id, 1, false};
    struct perfdata_attr a = {
        .type = PERFDATA_TYPE_TRACEPOINT, .config = config, .size = 128, .known_size = 128};
    uint32_t i = perfdata_events_add(&f->events, &a, &ids);
    assert_true(perfdata_events_name(&f->events, i, name, strlen(name)));
}

static int setup(void **state) {
    static char *const argv[] = {"sonde", "record", "true", NULL};
    struct fixture *f = calloc(1, sizeof *f);
    const struct os_host host = {
        .name = "a-host", .release = "6.1", .machine = "x86_64", .program = "/bin/sonde"};
    const struct record_options o = {.compression = 3};
    f->sys = sysfs_fake(&TREE);
    perfdata_events_init(&f->events, false);
    add_event(f, 33, "b:three:u");
    add_event(f, 32, "a:two");
    add_event(f, 31, "a name of the user's own");
    f->events.list.items[0].group_members = 2;
    f->events.list.items[1].leader = 0;
    const struct record_facts_input in = {.sys = &f->sys,
                                          .host = &host,
                                          .options = &o,
                                          .events = &f->events,
                                          .argv = argv,
                                          .ring_bytes = 4096,
                                          .tracepoints = true};
    assert_true(record_facts_early(&f->facts, &in));
    assert_true(record_facts_topology(&f->facts));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    record_facts_fini(&f->facts);
    perfdata_events_fini(&f->events);
    arena_fini(&f->arena);
    free(f);
    return 0;
}

static struct bytes content(struct fixture *f, uint32_t id) {
    for (size_t i = 0; i < f->facts.list.count; i++)
        if (f->facts.list.items[i].id == id)
            return f->facts.list.items[i].content;
    fail_msg("feature %u is missing", id);
    return (struct bytes){0};
}

/* The feature as a reader of the file sees it: whole, with nothing after it. */
static struct perfdata_feature_value get(struct fixture *f, uint32_t id) {
    const struct perfdata_feature_env env = {false, 3};
    struct perfdata_feature_value v;
    assert_true(perfdata_feature_decode(id, content(f, id), &env, &f->arena, &v));
    assert_false(v.cut);
    assert_int_equal(v.tail.size, 0);
    return v;
}

static void assert_text(struct bytes b, const char *text) {
    assert_int_equal(b.size % 64, 0);
    assert_string_equal((const char *)b.data, text);
}

static void host(void **state) {
    struct fixture *f = *state;
    assert_text(get(f, PERFDATA_FEATURE_HOSTNAME).text, "a-host");
    assert_text(get(f, PERFDATA_FEATURE_OSRELEASE).text, "6.1");
    assert_text(get(f, PERFDATA_FEATURE_ARCH).text, "x86_64");
    assert_text(get(f, PERFDATA_FEATURE_CPUDESC).text, "Maker CPU 1");
    assert_text(get(f, PERFDATA_FEATURE_CPUID).text, "Maker,6,42,3");
    assert_int_equal(get(f, PERFDATA_FEATURE_TOTAL_MEM).u64, 123456);
    assert_int_equal(get(f, PERFDATA_FEATURE_NRCPUS).nr_cpus.available, 3);
    assert_int_equal(get(f, PERFDATA_FEATURE_NRCPUS).nr_cpus.online, 2);
    struct perfdata_feature_value v = get(f, PERFDATA_FEATURE_CMDLINE);
    assert_int_equal(v.cmdline.count, 3);
    assert_text(v.cmdline.items[0], "/bin/sonde");
    assert_text(v.cmdline.items[2], "true");
}

static void events(void **state) {
    struct fixture *f = *state;
    struct perfdata_feature_value v = get(f, PERFDATA_FEATURE_EVENT_DESC);
    assert_int_equal(v.event_desc.count, 3);
    assert_int_equal(v.event_desc.attr_size, 128);
    assert_text(v.event_desc.items[1].name, "a:two");
    assert_int_equal(perfdata_u64_at(&v.event_desc.items[1].ids, 0), 132);
    v = get(f, PERFDATA_FEATURE_GROUP_DESC);
    assert_int_equal(v.groups.count, 1);
    assert_text(v.groups.items[0].name, "{anon_group}");
    assert_int_equal(v.groups.items[0].members, 2);
    v = get(f, PERFDATA_FEATURE_PMU_MAPPINGS);
    assert_int_equal(v.pmu_mappings.count, 2);
    assert_text(v.pmu_mappings.items[0].name, "msr");
    assert_int_equal(v.pmu_mappings.items[0].type, 9);
    assert_int_equal(get(f, PERFDATA_FEATURE_COMPRESSED).compression.level, 3);
    assert_int_equal(content(f, PERFDATA_FEATURE_SAMPLE_TIME).size, 16);
}

static void topology(void **state) {
    struct fixture *f = *state;
    struct perfdata_feature_value v = get(f, PERFDATA_FEATURE_CPU_TOPOLOGY);
    assert_int_equal(v.cpu_topology.cores.count, 1);
    assert_int_equal(v.cpu_topology.threads.count, 2);
    assert_int_equal(v.cpu_topology.cpu_count, 3); /* as many as NRCPUS says are available */
    assert_true(v.cpu_topology.has_dies);
    assert_int_equal(v.cpu_topology.cpus[1].core, 4);
    assert_int_equal(v.cpu_topology.cpus[1].die, 7);
    assert_int_equal(v.cpu_topology.cpus[2].core, UINT32_MAX); /* offline */
    v = get(f, PERFDATA_FEATURE_CACHE);
    assert_int_equal(v.caches.count, 3); /* the shared one once, the last */
    assert_int_equal(v.caches.items[2].level, 3);
    assert_text(v.caches.items[2].size, "8192K");
    assert_text(v.caches.items[1].map, "1");
    v = get(f, PERFDATA_FEATURE_NUMA_TOPOLOGY);
    assert_int_equal(v.numa.items[0].total_kb, 1000);
    assert_int_equal(v.numa.items[0].free_kb, 400);
    v = get(f, PERFDATA_FEATURE_MEM_TOPOLOGY);
    assert_int_equal(v.mem_topology.block_bytes, 0x8000000);
    assert_int_equal(v.mem_topology.items[0].size, 71);
    assert_int_equal(perfdata_u64_at(&v.mem_topology.items[0].bitmap, 0), 1);
    assert_int_equal(perfdata_u64_at(&v.mem_topology.items[0].bitmap, 1), 1 << 6);
}

/* Each tracepoint's format, by system, whatever the event is called. */
static void tracepoints(void **state) {
    struct fixture *f = *state;
    struct tracing_data td;
    struct err err;
    assert_true(tracing_data_parse(content(f, PERFDATA_FEATURE_TRACING_DATA), &td, &err));
    assert_false(td.cut);
    assert_int_equal(td.systems.count, 2);
    for (uint64_t id = 31; id <= 33; id++) {
        const struct tracing_event *e = tracing_data_find(&td, id);
        assert_non_null(e);
        assert_int_equal(e->system.data[0], id == 32 ? 'a' : 'b');
        assert_int_equal(e->format.data[e->format.size - 1], '\n');
    }
    tracing_data_fini(&td);
}

/* A machine that tells nothing: what is known of the recording itself is there all the same. */
static void nothing_known(void **state) {
    struct fixture *f = *state;
    const struct sysfs_fake empty = {FILES, 0};
    const struct sysfs none = sysfs_fake(&empty);
    struct record_facts facts;
    static char *const argv[] = {"sonde", NULL};
    const struct os_host nobody = {.program = "sonde"};
    const struct record_options o = {0};
    const struct record_facts_input in = {.sys = &none,
                                          .host = &nobody,
                                          .options = &o,
                                          .events = &f->events,
                                          .argv = argv,
                                          .tracepoints = true};
    assert_true(record_facts_early(&facts, &in));
    assert_true(record_facts_topology(&facts));
    bool described = false;
    for (size_t i = 0; i < facts.list.count; i++)
        described |= facts.list.items[i].id == PERFDATA_FEATURE_EVENT_DESC;
    assert_true(described);
    record_facts_fini(&facts);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(host), TEST(events), TEST(topology), TEST(tracepoints),
                                       TEST(nothing_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
