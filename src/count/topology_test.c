/* SPDX-License-Identifier: Apache-2.0 */
#include "count/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define CPU(n, file, text) \
    { "/sys/devices/system/cpu/cpu" #n "/" file, text }

/* As three machines show themselves: Intel with two sockets and two threads to a core, AMD with two dies that
 * have a cache each, Arm with two clusters and no caches told. */
static const struct sysfs_fake_file INTEL[] = {
    CPU(0, "topology/physical_package_id", "0"),
    CPU(0, "topology/core_id", "0"),
    CPU(0, "topology/die_id", "0"),
    CPU(0, "node0/", NULL),
    CPU(1, "topology/physical_package_id", "1"),
    CPU(1, "topology/core_id", "4"),
    CPU(1, "topology/die_id", "0"),
    CPU(1, "node1/", NULL),
    CPU(2, "topology/physical_package_id", "0"),
    CPU(2, "topology/core_id", "0"),
    CPU(2, "topology/die_id", "0"),
    CPU(2, "node0/", NULL),
};
static const struct sysfs_fake_file AMD[] = {
    CPU(0, "topology/physical_package_id", "0"), CPU(0, "topology/die_id", "0"),
    CPU(0, "cache/index0/level", "1"),           CPU(0, "cache/index0/shared_cpu_list", "0"),
    CPU(0, "cache/index1/level", "2"),           CPU(0, "cache/index1/shared_cpu_list", "0,16"),
    CPU(0, "cache/index2/level", "3"),           CPU(0, "cache/index2/shared_cpu_list", "0-7,16-23"),
    CPU(9, "topology/physical_package_id", "0"), CPU(9, "topology/die_id", "1"),
    CPU(9, "cache/index0/level", "1"),           CPU(9, "cache/index0/shared_cpu_list", "9"),
    CPU(9, "cache/index1/level", "3"),           CPU(9, "cache/index1/shared_cpu_list", "8-15,24-31"),
};
static const struct sysfs_fake_file ARM[] = {
    CPU(0, "topology/physical_package_id", "0"),
    CPU(0, "topology/cluster_id", "5"),
    CPU(0, "topology/core_id", "1"),
    CPU(3, "topology/physical_package_id", "-1"),
    CPU(3, "topology/cluster_id", "garbage"),
};

static const struct sysfs_fake TREES[] = {
    {INTEL, sizeof INTEL / sizeof *INTEL}, {AMD, sizeof AMD / sizeof *AMD}, {ARM, sizeof ARM / sizeof *ARM}};

static void texts(void **state) {
    static const struct {
        unsigned machine;
        int32_t cpu;
        enum count_level level;
        unsigned cache_level;
        const char *text;
    } CASES[] = {
        {0, 0, COUNT_CPU, 0, "CPU0"},
        {0, 1, COUNT_CORE, 0, "S1-D0-C4"},
        {0, 2, COUNT_CORE, 0, "S0-D0-C0"},
        {0, 1, COUNT_SOCKET, 0, "S1"},
        {0, 1, COUNT_DIE, 0, "S1-D0"},
        {0, 1, COUNT_NODE, 0, "N1"},
        {1, 0, COUNT_CACHE, 0, "S0-D0-L3-ID0"},
        {1, 0, COUNT_CACHE, 2, "S0-D0-L2-ID0"},
        {1, 9, COUNT_CACHE, 0, "S0-D1-L3-ID8"},
        {1, 9, COUNT_CACHE, 2, "S0-D1-L0-ID0"},
        {1, 9, COUNT_NODE, 0, "N0"},
        {2, 0, COUNT_CLUSTER, 0, "S0-D0-CLS5"},
        {2, 3, COUNT_CLUSTER, 0, "S-1-D0-CLS0"},
        {2, 77, COUNT_CORE, 0, "S0-D0-C0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct sysfs sys = sysfs_fake(&TREES[CASES[i].machine]);
        struct count_place p;
        char text[COUNT_PLACE_TEXT];
        count_place_read(&sys, CASES[i].cpu, CASES[i].level, CASES[i].cache_level, &p);
        count_place_text(&p, CASES[i].cpu, CASES[i].level, text);
        assert_string_equal(text, CASES[i].text);
    }
}

static void order(void **state) {
    const struct count_place a = {.socket = 0, .die = 1, .core = 9}, b = {.socket = 1, .die = 0, .core = 0},
                             c = {.socket = 1, .die = 0, .core = 3, .node = 7};
    (void)state;
    assert_true(count_place_compare(&a, &b, COUNT_CORE) < 0);
    assert_true(count_place_compare(&b, &c, COUNT_CORE) < 0);
    assert_int_equal(count_place_compare(&b, &c, COUNT_DIE), 0);
    assert_true(count_place_compare(&c, &b, COUNT_NODE) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
