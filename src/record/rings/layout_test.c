/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* Four CPUs: cores {0,2} and {1,3}, one package, nodes {0,1} and {2,3}. */
#define CORE(cpu, list) \
    { "/sys/devices/system/cpu/cpu" cpu "/topology/core_cpus_list", list }
static const struct sysfs_fake_file FILES[] = {
    CORE("0", "0,2"),
    CORE("1", "1,3"),
    CORE("2", "0,2"),
    CORE("3", "1,3"),
    {"/sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0-3"},
    {"/sys/devices/system/cpu/cpu0/node0/", NULL},
    {"/sys/devices/system/cpu/cpu1/node0/", NULL},
    {"/sys/devices/system/cpu/cpu2/node1/", NULL},
    {"/sys/devices/system/cpu/cpu3/node1/", NULL},
    {"/sys/devices/system/node/node0/cpulist", "0-1"},
    {"/sys/devices/system/node/node1/cpulist", "2-3"},
};
static const int32_t ALL[] = {0, 1, 2, 3};

/* "0,2/0,2 1,3/1,3" */
static const char *text(const struct record_layout *l) {
    static char room[256];
    size_t n = 0;
    room[0] = 0;
    for (size_t i = 0; i < l->groups.count; i++)
        for (int k = 0; k < 2; k++) {
            const struct os_cpu_mask *m = k ? &l->groups.items[i].affinity : &l->groups.items[i].cpus;
            const char *before = k ? "/" : i ? " " : "";
            for (uint32_t cpu = 0; cpu < OS_AFFINITY_CPUS; cpu++)
                if (os_cpu_mask_has(m, cpu)) {
                    n += (size_t)snprintf(room + n, sizeof room - n, "%s%u", before, cpu);
                    before = ",";
                }
        }
    return room;
}

static void layouts(void **state) {
    (void)state;
    const struct sysfs_fake tree = {FILES, sizeof FILES / sizeof *FILES};
    const struct sysfs sys = sysfs_fake(&tree);
    static const struct {
        const char *spec, *want;
        size_t cpus;
    } GOOD[] = {
        {"cpu", "0/0 1/1 2/2 3/3", 4},
        {"core", "0,2/0,2 1,3/1,3", 4},
        {"package", "0,1,2,3/0,1,2,3", 4},
        {"numa", "0,1/0,1 2,3/2,3", 4},
        {"core", "0/0 1/1", 2}, /* what is not recorded counts for nothing */
        {"0-1/2:2,3,77/3", "0,1/2 2,3/3", 4},
    };
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        struct record_layout l;
        assert_true(record_layout_init(&l, GOOD[i].spec, &sys, ALL, GOOD[i].cpus, NULL));
        assert_string_equal(text(&l), GOOD[i].want);
        record_layout_fini(&l);
    }
    static const char *const BAD[] = {
        "", "cpus", "0", "0/", "/0", "0/1:", "0/1:0/2", "0/1:2/1", "7/1", "0/7", "x/y"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct record_layout l;
        struct err e = ERR_INIT;
        assert_false(record_layout_init(&l, BAD[i], &sys, ALL, 4, &e));
        assert_int_equal(e.code, ERR_USAGE);
        record_layout_fini(&l);
    }
    static const int32_t NONE[] = {-1};
    struct record_layout l;
    assert_false(record_layout_init(&l, "cpu", &sys, NONE, 1, NULL));
    record_layout_fini(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
