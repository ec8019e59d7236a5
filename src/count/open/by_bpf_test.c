/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/by_bpf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>

#include "bpf/dist/group_counts.h"
#include "count/sum.h"
#include "os/bpf/bpf_fake.h"
#include "os/perf/perf_event_fake.h"
#include "os/proc/proc_fake.h"
#include "tests/support/fail_alloc.h"

enum { CPUS = 4, ID_A = 77, ID_B = 88, SUM_BYTES = sizeof(struct bpf_group_counts_reading) };

static const struct sysfs_fake_file FILES[] = {{"/sys/devices/system/cpu/online", "0-3"},
                                               {"/sys/devices/system/cpu/present", "0-3"},
                                               {"/sys/bus/event_source/devices/software/type", "1"}};
static const struct sysfs_fake TREE = {FILES, sizeof FILES / sizeof *FILES};
static const struct os_proc_fake_file FOLDERS[] = {{.path = "/groups/a", .identity.ino = ID_A},
                                                   {.path = "/groups/b", .identity.ino = ID_B}};
static const struct os_proc_fake FOLDER_TREE = {FOLDERS, 2};

/* The program's maps, as bpf/group_counts.bpf.c has them. */
static const struct os_bpf_map_kind KINDS[GROUP_COUNTS_MAP_COUNT] = {
    [GROUP_COUNTS_MAP_COUNTERS] = {.key_bytes = 4, .value_bytes = 4},
    [GROUP_COUNTS_MAP_GROUPS] = {.key_bytes = 8, .value_bytes = 4},
    [GROUP_COUNTS_MAP_SUMS] = {.key_bytes = 4, .value_bytes = CPUS * SUM_BYTES},
};

struct fixture {
    struct sysfs sys;
    struct os_proc proc;
    struct os_perf_fake perf;
    struct os_bpf_fake bpf;
    struct perf_event_sources *sources;
    struct perf_events events;
    struct count_options o;
    struct perf_target target;
    struct count_plan plan;
    struct count_counters counters;
    struct count_by_bpf by_bpf;
    struct err err;
    const char *folder;
    uint32_t runs; /* of the program */
    int run_status;
    int refused, refused_with, allowed; /* which bpf(2) command, after how many that went well */
    uint32_t absent_config;             /* software event that the machine lacks; 0: none */
};

static int map_fd(uint32_t number) {
    return OS_BPF_FAKE_FD + 2 + (int)number; /* after the loader's data and the loader */
}

/* Each run adds 1000 to the first group's first event, 100 to its second, 2000 and 200 to the second group's.
 */
static int run_on(void *ctx, uint32_t cpu) {
    struct fixture *f = ctx;
    f->runs++;
    for (uint32_t key = 0; key < f->by_bpf.groups.count * f->by_bpf.counters && !f->run_status; key++) {
        struct bpf_group_counts_reading all[CPUS] = {0};
        uint32_t group = key / f->by_bpf.counters, event = key % f->by_bpf.counters;
        os_bpf_lookup(&f->bpf.bpf, map_fd(GROUP_COUNTS_MAP_SUMS), &key, all);
        all[cpu].value += (group + 1) * (event ? 100 : 1000) + cpu;
        all[cpu].enabled_ns += 50;
        all[cpu].running_ns += 50;
        os_bpf_update(&f->bpf.bpf, map_fd(GROUP_COUNTS_MAP_SUMS), &key, all);
    }
    return f->run_status;
}

static int refuse(void *ctx, int command) {
    struct fixture *f = ctx;
    return command == f->refused && f->allowed-- <= 0 ? f->refused_with : 0;
}

static int refuse_event(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    struct fixture *f = ctx;
    struct perfdata_attr a;
    (void)pid, (void)cpu;
    return f->absent_config && perfdata_attr_decode(attr, false, &a) && a.config == f->absent_config ? ENOENT
                                                                                                     : 0;
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->sys = sysfs_fake(&TREE);
    f->proc = os_proc_fake(&FOLDER_TREE);
    os_perf_fake_init(&f->perf);
    f->perf.refuse = refuse_event;
    f->perf.refuse_ctx = f;
    os_bpf_fake_init(&f->bpf, &bpf_group_counts);
    f->bpf.kinds = KINDS;
    f->bpf.cpu_count = CPUS;
    f->bpf.refuse = refuse;
    f->bpf.refuse_ctx = f;
    f->bpf.run_on = run_on;
    f->bpf.run_ctx = f;
    f->refused = -1;
    f->folder = "/groups";
    f->sources = perf_event_sources_new(&f->sys);
    f->o = (struct count_options){.bpf_counters = true, .level = COUNT_CGROUP, .target.all_cpus = true};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    count_by_bpf_fini(&f->by_bpf);
    count_counters_fini(&f->counters);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    count_plan_fini(&f->plan);
    perf_target_fini(&f->target);
    perf_events_fini(&f->events);
    perf_event_sources_free(f->sources);
    os_perf_fake_fini(&f->perf);
    os_bpf_fake_fini(&f->bpf);
    free(f);
    return 0;
}

static bool begin_bpf(struct fixture *f) {
    const struct count_by_bpf_from from = {&f->bpf.bpf, &f->proc, f->folder};
    return count_by_bpf_open(&f->by_bpf, &from, &f->counters, &f->plan, &f->target, &f->err);
}

static bool begin(struct fixture *f, const char *events, const char *groups) {
    assert_true(perf_events_parse(f->sources, events, &f->events, NULL, &f->err));
    assert_true(perf_events_cgroups(&f->events, groups, &f->err));
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_true(count_plan_init(&f->plan, &f->events, &f->o, &f->target, &f->err));
    assert_true(count_counters_open(&f->counters, &f->perf.perf, &f->plan, &f->target, "/groups", &f->err));
    return begin_bpf(f);
}

static void read_all(struct fixture *f) {
    count_counters_read(&f->counters, &f->plan);
    assert_true(count_by_bpf_read(&f->by_bpf, &f->counters, &f->plan, &f->target, &f->err));
}

static void sum(struct fixture *f, bool deltas, struct counts *out) {
    struct count_keys keys;
    struct count_tool_times tool = {.elapsed_ns = 1e9, .sys = &f->sys};
    assert_true(count_keys_init(&keys, &f->o, &f->target, &f->plan, &f->sys, &f->err));
    assert_true(count_sum(
        &(struct count_source){
            .counters = &f->counters, .plan = &f->plan, .keys = &keys, .tool = &tool, .deltas = deltas},
        out));
    count_keys_fini(&keys);
}

static void shared(void **state) {
    struct fixture *f = *state;
    struct counts c;
    uint32_t group, fd;
    assert_true(begin(f, "cs,task-clock,cs,task-clock", "a,a,b,b"));
    assert_int_equal(f->perf.events.count, 2 * CPUS); /* whatever the number of groups */
    assert_int_equal(f->runs, CPUS);
    assert_int_equal(os_bpf_lookup(&f->bpf.bpf, map_fd(GROUP_COUNTS_MAP_GROUPS), &(uint64_t){ID_B}, &group),
                     0);
    assert_int_equal(group, 1);
    /* The second event's counter on CPU 2. */
    assert_int_equal(
        os_bpf_lookup(&f->bpf.bpf, map_fd(GROUP_COUNTS_MAP_COUNTERS), &(uint32_t){CPUS + 2}, &fd), 0);
    assert_int_equal(fd, OS_PERF_FAKE_FD + CPUS + 2);
    assert_int_equal(f->perf.events.items[CPUS + 2].cpu, 2);
    assert_int_equal(f->perf.events.items[CPUS + 2].pid, -1);
    read_all(f);
    read_all(f);
    assert_int_equal(f->runs, 3 * CPUS);
    sum(f, false, &c);
    assert_int_equal(c.keys.count, 2);
    assert_int_equal(counts_cell(&c, 0, 0)->value, 3 * (CPUS * 1000 + 0 + 1 + 2 + 3));
    assert_int_equal(counts_cell(&c, 0, 1)->value, 3 * (CPUS * 100 + 6));
    assert_int_equal(counts_cell(&c, 1, 0)->value, 3 * (CPUS * 2000 + 6));
    assert_int_equal(counts_cell(&c, 1, 1)->value, 3 * (CPUS * 200 + 6));
    assert_int_equal(counts_cell(&c, 1, 1)->running_ns, 3 * CPUS * 50);
    counts_fini(&c);
    sum(f, true, &c); /* of the interval */
    assert_int_equal(counts_cell(&c, 1, 0)->value, CPUS * 2000 + 6);
    counts_fini(&c);
}

/* A group of events is shared as a whole, or not at all. */
static void not_the_same(void **state) {
    struct fixture *f = *state;
    assert_true(begin(f, "{cs,task-clock},{cs,page-faults}", "a,a,b,b"));
    assert_int_equal(f->perf.events.count, 4 * CPUS);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(f->plan.events.items[i].counted_by, i);
}

static void groups_of_events(void **state) {
    struct fixture *f = *state;
    assert_true(begin(f, "{cs,task-clock},{cs,task-clock}", "a,a,b,b"));
    assert_int_equal(f->perf.events.count, 2 * CPUS);
    assert_int_equal(f->plan.events.items[3].counted_by, 1);
    assert_int_equal(f->perf.events.items[CPUS].group_fd, OS_PERF_FAKE_FD);
}

static void absent(void **state) {
    struct fixture *f = *state;
    struct counts c;
    f->absent_config = 3; /* context switches */
    assert_true(begin(f, "cs,task-clock,cs,task-clock", "a,a,b,b"));
    read_all(f);
    sum(f, false, &c);
    assert_int_equal(counts_cell(&c, 0, 0)->state, COUNT_NOT_SUPPORTED);
    assert_int_equal(counts_cell(&c, 1, 0)->state, COUNT_NOT_SUPPORTED);
    assert_int_equal(counts_cell(&c, 1, 1)->state, COUNT_COUNTED);
    counts_fini(&c);
}

static void without_groups(void **state) {
    struct fixture *f = *state;
    f->o.level = COUNT_ALL;
    assert_true(begin(f, "cs", ""));
    assert_false(f->by_bpf.open);
    read_all(f);
    assert_int_equal(f->runs, 0);
}

static void refused(void **state) {
    struct fixture *f = *state;
    f->refused = BPF_PROG_LOAD;
    f->refused_with = EPERM;
    assert_false(begin(f, "cs,cs", "a,b"));
    assert_int_equal(f->err.code, ERR_PERMISSION);
    count_by_bpf_fini(&f->by_bpf);
    f->refused = BPF_MAP_UPDATE_ELEM; /* of the first counter: after the loader's data and two groups */
    f->refused_with = EOPNOTSUPP;
    f->allowed = 3;
    assert_false(begin_bpf(f));
    assert_int_equal(f->err.code, ERR_UNSUPPORTED);
    assert_string_equal(f->err.where, "cs");
    count_by_bpf_fini(&f->by_bpf);
    f->refused = BPF_RAW_TRACEPOINT_OPEN;
    f->refused_with = ENOENT;
    f->allowed = 1;
    assert_false(begin_bpf(f));
    assert_non_null(strstr(f->err.message, "on_move"));
}

static void no_such_group(void **state) {
    struct fixture *f = *state;
    assert_false(begin(f, "cs", "c"));
    assert_non_null(strstr(f->err.where, "/groups/c"));
    count_by_bpf_fini(&f->by_bpf);
    f->folder = NULL;
    assert_false(begin_bpf(f));
    assert_int_equal(f->err.code, ERR_ABSENT);
}

static void cpu_goes(void **state) {
    struct fixture *f = *state;
    assert_true(begin(f, "cs", "a"));
    f->run_status = -ENXIO; /* the CPU is offline: what it had counted stays */
    read_all(f);
    assert_int_equal(f->counters.list.items[1].now.value, 1001);
    f->run_status = -EINVAL;
    assert_false(count_by_bpf_read(&f->by_bpf, &f->counters, &f->plan, &f->target, &f->err));
    assert_int_equal(f->err.code, ERR_IO);
}

static void too_many(void **state) {
    struct fixture *f = *state;
    char events[1024] = "", groups[256] = "";
    for (uint32_t i = 0, n = 0, m = 0; i <= BPF_GROUP_COUNTS_EVENTS; i++) {
        n += (uint32_t)snprintf(events + n, sizeof events - n, "%sr%x", i ? "," : "", (unsigned)i + 1);
        m += (uint32_t)snprintf(groups + m, sizeof groups - m, "%sa", i ? "," : "");
    }
    assert_false(begin(f, events, groups));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void no_memory(void **state) {
    struct fixture *f = *state;
    assert_true(begin(f, "cs,cs", "a,b"));
    f->bpf.run_on = NULL;
    FAIL_EACH_ALLOC({
        count_by_bpf_fini(&f->by_bpf);
        begin_bpf(f);
    });
    assert_true(f->by_bpf.open);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(shared),  TEST(not_the_same),  TEST(groups_of_events), TEST(absent),   TEST(without_groups),
        TEST(refused), TEST(no_such_group), TEST(cpu_goes),         TEST(too_many), TEST(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
