/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "view/lists/header_text.h"

#define TEXT(s) ((struct bytes){(const uint8_t *)(s), strlen(s)})

enum { MAX_FEATURES = 40 };

/* A header whose features' contents this test encodes. */
struct book {
    struct perfdata_header h;
    struct perfdata_feature features[MAX_FEATURES];
    struct writer contents[MAX_FEATURES];
};

static void add_content(struct book *b, uint32_t id, const struct writer *w) {
    size_t i = b->h.features.count++;
    assert_true(i < MAX_FEATURES);
    b->contents[i] = *w;
    b->features[i] = (struct perfdata_feature){.id = id, .content = writer_bytes(w)};
    b->h.features.items = b->features;
    b->h.feature_bits[id / 64] |= 1ull << id % 64;
}

static void add(struct book *b, struct perfdata_feature_value v) {
    struct writer w = writer_make(b->h.swap);
    perfdata_feature_encode(&v, &w);
    add_content(b, v.id, &w);
}

static void assert_page(struct book *b, bool full, const char *want) {
    struct perfdata_namer names;
    struct out o;
    assert_true(perfdata_namer_init(&names, &b->h));
    assert_true(out_init(&o, NULL, NULL));
    const struct header_text_options opts = {full, 1700000000};
    header_text_write(&b->h, &names, &opts, &o);
    const char *got = out_text(&o);
    const char *from = strstr(got, "# feat offset");
    assert_non_null(from);
    assert_string_equal(strchr(from, '\n') + 1, want);
    assert_memory_equal(
        got, "# ========\n# captured on    : Tue Nov 14 22:13:20 2023\n# header version : 1\n", 76);
    out_fini(&o);
    perfdata_namer_fini(&names);
    for (size_t i = 0; i < b->h.features.count; i++)
        writer_fini(&b->contents[i]);
}

#define NO_FEATURE                                                                                           \
    "# missing features: TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID "        \
    "TOTAL_MEM CMDLINE EVENT_DESC CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC AUXTRACE " \
    "STAT CACHE SAMPLE_TIME MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS "  \
    "CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS CPU_DOMAIN_INFO E_MACHINE CLN_SIZE \n# ========\n#\n"

static void test_without_features(void **state) {
    (void)state;
    struct book b = {0};
    assert_page(&b, true, NO_FEATURE);
    struct book pipe = {.h.container = PERFDATA_CONTAINER_PIPE};
    assert_page(&pipe, true, "# ========\n#\n");
}

static void add_short_ones(struct book *b) {
    static const uint32_t texts[] = {3, 4, 5, 6, 8, 9};
    for (size_t i = 0; i < 6; i++)
        add(b, (struct perfdata_feature_value){.id = texts[i], .text = TEXT("a text\0\0")});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_NRCPUS, .nr_cpus = {8, 6}});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_TOTAL_MEM, .u64 = 123});
    struct bytes words[] = {TEXT("perf"), TEXT("it's")};
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CMDLINE, .cmdline = {words, 2}});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_BRANCH_STACK});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_STAT});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_SAMPLE_TIME,
                                           .sample_time = {1234567999, 3000000000}});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CLOCKID, .u64 = 1});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_DIR_FORMAT, .u64 = 1});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_COMPRESSED,
                                           .compression = {1, 1, 3, 4, 4096}});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CLOCK_DATA,
                                           .clock_data = {1, 1, 1700000000123456789, 987654321}});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_E_MACHINE, .e_machine = {62, 5}});
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CLN_SIZE, .u32 = 64});
}

static const char SHORT_ONES[] = "# ========\n#\n"
                                 "# hostname : a text\n"
                                 "# os release : a text\n"
                                 "# perf version : a text\n"
                                 "# arch : a text\n"
                                 "# cpudesc : a text\n"
                                 "# cpuid : a text\n"
                                 "# nrcpus online : 6\n"
                                 "# nrcpus avail : 8\n"
                                 "# total memory : 123 kB\n"
                                 "# cmdline : perf it\\'s \n"
                                 "# contains samples with branch stack\n"
                                 "# contains stat data\n"
                                 "# time of first sample : 1.234567\n"
                                 "# time of last sample : 3.000000\n"
                                 "# sample duration :   1765.432 ms\n"
                                 "# clockid frequency: 1000 MHz\n"
                                 "# directory data version : 1\n"
                                 "# compressed : Zstd, level = 3, ratio = 4\n"
                                 "# clockid: monotonic (1)\n"
                                 "# reference time: 2023-11-14 22:13:20.123456 = 1700000000.123456 (TOD) = "
                                 "0.987654321 (monotonic)\n"
                                 "# e_machine : 62\n"
                                 "#   e_flags : 5\n"
                                 "# cacheline size: 64\n";

static void test_short_ones(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct book b = {.h.swap = swap, .h.container = PERFDATA_CONTAINER_PIPE};
        add_short_ones(&b);
        assert_page(&b, false, SHORT_ONES);
    }
}

static void test_events_and_groups(void **state) {
    (void)state;
    struct book b = {.h.container = PERFDATA_CONTAINER_PIPE};
    uint64_t ids[] = {5, 6};
    struct perfdata_attr attr = {.size = 64, .known_size = 64, .type = 1, .config = 9, .sample_period = 1};
    struct perfdata_event_desc descs[] = {
        {.attr = attr, .name = TEXT("dummy:u"), .ids = {(const uint8_t *)ids, 2, false}},
        {.attr = attr, .name = TEXT("second")},
        {.attr = attr, .name = TEXT("third")},
    };
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_EVENT_DESC, .event_desc = {64, descs, 3}});
    struct perfdata_group groups[] = {
        {TEXT("{anon_group}"), 0, 2}, {TEXT("name"), 2, 1}, {TEXT("bad"), 2, 9}};
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_GROUP_DESC, .groups = {groups, 3}});
#define ATTR                                                                                          \
    "type = 1 (PERF_TYPE_SOFTWARE), size = 64, config = 0x9 (PERF_COUNT_SW_DUMMY), { sample_period, " \
    "sample_freq } = 1\n"
    assert_page(&b, false,
                "# ========\n#\n"
                "# event : name = dummy:u, , id = { 5, 6 }, " ATTR "# event : name = second, , " ATTR
                "# event : name = third, , " ATTR "# group: {dummy:u,second}\n"
                "# group: name{third}\n");
}

static void add_long_ones(struct book *b) {
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_NRCPUS, .nr_cpus = {2, 2}});
    struct bytes lists[] = {TEXT("0"), TEXT("1")};
    struct perfdata_cpu_place cpus[] = {{0, 0, 7}, {1, 0, 8}};
    add(b,
        (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CPU_TOPOLOGY,
                                        .cpu_topology = {{lists, 1}, {lists, 2}, cpus, 2, true, {lists, 2}}});
    struct perfdata_numa_node nodes[] = {{0, 1000, 500, TEXT("0-1")}, {3, 20, 5, TEXT("")}};
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_NUMA_TOPOLOGY, .numa = {nodes, 2}});
    struct perfdata_cache_level levels[] = {{1, 64, 64, 8, TEXT("Data"), TEXT("32K"), TEXT("0")}};
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CACHE, .caches = {1, levels, 1}});
    uint64_t bits[] = {0xf0f, 3};
    struct perfdata_memory_node memory[] = {{0, 70, 70, {(const uint8_t *)bits, 2, false}}};
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_MEM_TOPOLOGY,
                                           .mem_topology = {1, 0x8000000, memory, 1}});
    struct perfdata_pair pmus[] = {{TEXT("cpu_core"), TEXT("0-1")}};
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_HYBRID_TOPOLOGY, .pairs = {pmus, 1}});
    struct perfdata_domain domains[] = {{0, TEXT("SMT"), TEXT("3"), TEXT("0-1")}};
    struct perfdata_cpu_domains per_cpu[] = {{1, 1, domains}};
    add(b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CPU_DOMAIN_INFO,
                                           .cpu_domains = {17, 2, per_cpu, 1}});
}

static void test_long_ones(void **state) {
    (void)state;
    struct book b = {.h.container = PERFDATA_CONTAINER_PIPE};
    add_long_ones(&b);
    assert_page(&b, false,
                "# ========\n#\n"
                "# nrcpus online : 2\n"
                "# nrcpus avail : 2\n"
                "# CPU_TOPOLOGY info available, use -I to display\n"
                "# NUMA_TOPOLOGY info available, use -I to display\n"
                "# CACHE info available, use -I to display\n"
                "# MEM_TOPOLOGY info available, use -I to display\n"
                "# HYBRID_TOPOLOGY info available, use -I to display\n"
                "# CPU_DOMAIN_INFO info available, use -I to display\n");
    struct book full = {.h.container = PERFDATA_CONTAINER_PIPE};
    add_long_ones(&full);
    assert_page(&full, true,
                "# ========\n#\n"
                "# nrcpus online : 2\n"
                "# nrcpus avail : 2\n"
                "# sibling sockets : 0\n"
                "# sibling dies    : 0\n"
                "# sibling dies    : 1\n"
                "# sibling threads : 0\n"
                "# sibling threads : 1\n"
                "# CPU 0: Core ID 0, Die ID 7, Socket ID 0\n"
                "# CPU 1: Core ID 1, Die ID 8, Socket ID 0\n"
                "# node0 meminfo  : total = 1000 kB, free = 500 kB\n"
                "# node0 cpu list : 0-1\n"
                "# node3 meminfo  : total = 20 kB, free = 5 kB\n"
                "# node3 cpu list : -1\n"
                "# CPU cache info:\n"
                "#  L1 Data                 32K [0]\n"
                "# memory nodes (nr 1, block size 0x8000000):\n"
                "#    0 [1280M]: 0-3,8-11,64-65\n"
                "# hybrid cpu system:\n"
                "# cpu_core cpu list : 0-1\n"
                "# schedstat version\t: 17\n"
                "# Maximum sched domains\t: 2\n"
                "# cpu\t\t: 1\n"
                "# nr_domains\t: 1\n"
                "# Domain\t\t: 0\n"
                "# Domain name      : SMT\n"
                "# Domain cpu map   : 3\n"
                "# Domain cpu list  : 0-1\n");
}

static void test_pmus(void **state) {
    (void)state;
    struct book b = {.h.container = PERFDATA_CONTAINER_PIPE};
    struct perfdata_pmu_mapping pmus[] = {{4, TEXT("cpu")}, {1, TEXT("software")}};
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_PMU_MAPPINGS, .pmu_mappings = {pmus, 2}});
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_AUXTRACE});
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_BPF_PROG_INFO});
    struct perfdata_btf btfs[] = {{5, TEXT("abc")}};
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_BPF_BTF, .btfs = {btfs, 1}});
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_CPU_PMU_CAPS});
    struct perfdata_pair caps[] = {{TEXT("a"), TEXT("1")}, {TEXT("b"), TEXT("2")}};
    struct perfdata_pmu_cap cap[] = {{{caps, 2}, TEXT("cpu_atom")}};
    add(&b, (struct perfdata_feature_value){.id = PERFDATA_FEATURE_PMU_CAPS, .pmu_caps = {cap, 1}});
    assert_page(&b, false,
                "# ========\n#\n"
                "# pmu mappings: cpu = 4, software = 1\n"
                "# contains AUX area data (e.g. instruction trace)\n"
                "# bpf_prog_info empty\n"
                "# btf info of id 5\n"
                "# cpu pmu capabilities: not available\n"
                "# cpu_atom pmu capabilities: a=1, b=2\n");
}

/* Damaged features are reported; a pipe's empty last feature is ignored; unknown bits have no text. */
static void test_damage(void **state) {
    (void)state;
    struct book b = {.h.container = PERFDATA_CONTAINER_PIPE};
    struct writer w = writer_make(false);
    writer_u32(&w, 1000);
    writer_u32(&w, 64);
    add_content(&b, PERFDATA_FEATURE_EVENT_DESC, &w);
    w = writer_make(false);
    writer_u32(&w, 1000);
    add_content(&b, PERFDATA_FEATURE_HOSTNAME, &w);
    w = writer_make(false);
    add_content(&b, PERFDATA_FEATURE_CPU_DOMAIN_INFO, &w);
    w = writer_make(false);
    writer_u32(&w, 1000);
    add_content(&b, 60, &w);
    assert_page(&b, false,
                "# ========\n#\n"
                "# event desc: not available or unable to read\n"
                "# HOSTNAME: not available or unable to read\n");
}

int main(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_features),
        cmocka_unit_test(test_short_ones),
        cmocka_unit_test(test_events_and_groups),
        cmocka_unit_test(test_long_ones),
        cmocka_unit_test(test_pmus),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
