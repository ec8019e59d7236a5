/* SPDX-License-Identifier: Apache-2.0 */
#include "count/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>

#include "base/log.h"
#include "count/open/passes.h"
#include "count/rate.h"
#include "os/perf/perf_event_fake.h"

/* Two sockets with a core each of two threads, a core PMU and a PMU in each socket. */
#define CPU "/sys/devices/system/cpu/"
#define DEV "/sys/bus/event_source/devices/"
static const struct sysfs_fake_file FILES[] = {
    {CPU "online", "0-3"},
    {CPU "present", "0-3"},
    {CPU "cpu0/topology/physical_package_id", "0"},
    {CPU "cpu1/topology/physical_package_id", "1"},
    {CPU "cpu2/topology/physical_package_id", "0"},
    {CPU "cpu3/topology/physical_package_id", "1"},
    {DEV "cpu/type", "4"},
    {DEV "cpu/format/event", "config:0-7"},
    {DEV "software/type", "1"},
    {DEV "uncore_imc_0/type", "20"},
    {DEV "uncore_imc_0/cpumask", "0-1"},
    {DEV "uncore_imc_0/format/event", "config:0-7"},
    {DEV "uncore_imc_1/type", "21"},
    {DEV "uncore_imc_1/cpumask", "0-1"},
    {DEV "uncore_imc_1/format/event", "config:0-7"},
    {"/proc/40/task/40/comm", "main"},
    {"/proc/40/task/41/comm", "work"},
    {"/proc/40/task/42/comm", "work"},
    {"/proc/40/comm", "main"},
    {"/proc/41/comm", "work"},
    {"/proc/42/comm", "work"},
    {"/proc/40/stat", "40 (a) b) S 1 1 1 0 -1 0 0 0 0 0 100 50 7 3 0 0"},
    {"/proc/40/task/40/stat", "40 (a) b) S 1 1 1 0 -1 0 0 0 0 0 100 50 7 3 0 0"},
    {"/proc/stat", "cpu  10 5 7 0 0 0\ncpu0 1 2 3"},
};
static const struct sysfs_fake TREE = {FILES, sizeof FILES / sizeof *FILES};

struct fixture {
    struct sysfs sys;
    struct os_perf_fake fake;
    struct perf_event_sources *sources;
    struct perf_events events;
    struct count_options o;
    struct perf_target target;
    struct count_plan plan;
    struct count_counters counters;
    struct count_keys keys;
    struct count_tool_times tool;
    struct counts counts;
    struct err err;
    uint32_t refused_type, refused_config, refused_with; /* the errno */
};

static int refuse(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    struct fixture *f = ctx;
    struct perfdata_attr a;
    (void)pid, (void)cpu;
    assert_true(perfdata_attr_decode(attr, false, &a));
    return f->refused_with && a.type == f->refused_type && a.config == f->refused_config
               ? (int)f->refused_with
               : 0;
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->sys = sysfs_fake(&TREE);
    os_perf_fake_init(&f->fake);
    f->fake.refuse = refuse;
    f->fake.refuse_ctx = f;
    f->sources = perf_event_sources_new(&f->sys);
    f->tool = (struct count_tool_times){.elapsed_ns = 5e9, .user_ns = 2e9, .sys = &f->sys};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    counts_fini(&f->counts);
    count_counters_fini(&f->counters);
    count_keys_fini(&f->keys);
    count_plan_fini(&f->plan);
    perf_target_fini(&f->target);
    perf_events_fini(&f->events);
    perf_event_sources_free(f->sources);
    os_perf_fake_fini(&f->fake);
    free(f);
    return 0;
}

static void open_events(struct fixture *f, const char *events, int32_t child) {
    assert_true(perf_events_parse(f->sources, events, &f->events, NULL, &f->err));
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, child, &f->err));
    assert_true(count_plan_init(&f->plan, &f->events, &f->o, &f->target, &f->err));
    assert_true(count_keys_init(&f->keys, &f->o, &f->target, &f->plan, &f->sys, &f->err));
    assert_true(count_counters_open(&f->counters, &f->fake.perf, &f->plan, &f->target, "/cgroup", &f->err));
    for (size_t i = 0; i < f->fake.events.count; i++) {
        f->fake.events.items[i].counts = true;
        f->fake.events.items[i].count[0] = 100 * (i + 1);
        f->fake.events.items[i].count[1] = f->fake.events.items[i].count[2] = 1000;
    }
}

static void sum(struct fixture *f, bool deltas) {
    counts_fini(&f->counts);
    count_counters_read(&f->counters, &f->plan);
    assert_true(count_sum(&(struct count_source){.counters = &f->counters,
                                                 .plan = &f->plan,
                                                 .keys = &f->keys,
                                                 .tool = &f->tool,
                                                 .deltas = deltas,
                                                 .no_scale = f->o.no_scale},
                          &f->counts));
    f->counts.elapsed_ns = f->tool.elapsed_ns;
}

static const struct count_cell *cell(const struct fixture *f, size_t key, size_t event) {
    return counts_cell(&f->counts, key, event);
}

static void of_all_cpus(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    open_events(f, "cs,task-clock", 0);
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 1);
    assert_int_equal(cell(f, 0, 0)->counters, 4);
    assert_true(cell(f, 0, 0)->value == 100 + 200 + 300 + 400);
    assert_true(cell(f, 0, 0)->running_ns == 4000);
    assert_true(f->counts.events[1].clock);
    assert_string_equal(f->counts.events[1].unit, "msec");
    assert_int_equal(f->fake.events.items[0].pid, -1);
    assert_true(cell(f, 0, 1)->value == 500 + 600 + 700 + 800);
    assert_int_equal(f->fake.events.items[5].group_fd,
                     OS_PERF_FAKE_FD + 1); /* read with that of the same CPU */
}

static void by_socket(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->o.level = COUNT_SOCKET;
    open_events(f, "cs", 0);
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 2);
    assert_string_equal(f->counts.keys.items[1].text, "S1");
    assert_true(cell(f, 0, 0)->value == 100 + 300);
    assert_true(cell(f, 1, 0)->value == 200 + 400);
    assert_int_equal(cell(f, 1, 0)->counters, 2);
}

/* -A, with an event of which the threads of a core are added up: cores follow the CPUs. */
static void by_core_beside_cpus(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->o.level = COUNT_CPU;
    open_events(f, "cycles,instructions/percore/", 0);
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 4 + 2);
    assert_string_equal(f->counts.keys.items[3].text, "CPU3");
    assert_string_equal(f->counts.keys.items[5].text, "S1-D0-C0");
    assert_true(f->counts.keys.items[5].core && !f->counts.keys.items[3].core);
    assert_int_equal(cell(f, 4, 0)->state, COUNT_NONE);
    assert_int_equal(cell(f, 3, 1)->state, COUNT_NONE);
    assert_true(cell(f, 3, 0)->value == 400);
    assert_true(cell(f, 4, 1)->value == 500 + 700);
    assert_true(cell(f, 5, 1)->value == 600 + 800);
    f->o.percore_threads = true; /* each CPU of a core shows what all of it counted */
    count_keys_fini(&f->keys);
    assert_true(count_keys_init(&f->keys, &f->o, &f->target, &f->plan, &f->sys, &f->err));
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 4);
    assert_true(cell(f, 1, 0)->value == 200);
    assert_true(cell(f, 1, 1)->value == 600 + 800 && cell(f, 3, 1)->value == 600 + 800);
    assert_true(cell(f, 2, 1)->value == 500 + 700);
}

static void by_thread(void **state) {
    struct fixture *f = *state;
    f->o.target.pids = "40";
    f->o.target.per_thread = true;
    f->o.level = COUNT_THREAD;
    open_events(f, "cs", 0);
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 3);
    assert_string_equal(f->counts.keys.items[2].text, "work-42");
    assert_true(cell(f, 2, 0)->value == 300);
    f->o.level = COUNT_COMM;
    count_keys_fini(&f->keys);
    assert_true(count_keys_init(&f->keys, &f->o, &f->target, &f->plan, &f->sys, &f->err));
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 2);
    assert_string_equal(f->counts.keys.items[1].text, "work");
    assert_true(cell(f, 1, 0)->value == 200 + 300);
}

static void all_threads(void **state) {
    struct fixture *f = *state;
    f->o.target.all_threads = f->o.target.per_thread = true;
    f->o.level = COUNT_THREAD;
    open_events(f, "cs", 0);
    f->fake.events.items[1].count[2] = 0;
    sum(f, false);
    assert_int_equal(cell(f, 0, 0)->state, COUNT_COUNTED);
    assert_int_equal(cell(f, 1, 0)->state, COUNT_NONE); /* it did not run */
}

/* What shared its counter is taken to have gone on at the same rate. */
static void scaling(void **state) {
    struct fixture *f = *state;
    count_names names = {0};
    f->o.target.all_cpus = true;
    f->o.target.cpus = "0-1";
    open_events(f, "cycles,instructions", 0);
    f->fake.events.items[0].count[2] = 250;
    f->fake.events.items[1].count[2] = 0;
    sum(f, false);
    assert_int_equal(cell(f, 0, 0)->state, COUNT_COUNTED);
    assert_true(cell(f, 0, 0)->value == 400);
    assert_true(cell(f, 0, 0)->enabled_ns == 2000);
    assert_true(count_multiplexed(&f->counts, &names));
    assert_int_equal(names.count, 1);
    assert_string_equal(names.items[0], "cycles");
    vec_fini(&names);
    f->o.no_scale = true;
    sum(f, false);
    assert_true(cell(f, 0, 0)->value == 100);
    f->fake.events.items[0].count[2] = 0;
    sum(f, false);
    assert_int_equal(cell(f, 0, 0)->state, COUNT_NOT_COUNTED);
}

static void intervals(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->o.target.cpus = "0";
    open_events(f, "cs", 0);
    sum(f, true);
    assert_true(cell(f, 0, 0)->value == 100);
    f->fake.events.items[0].count[0] = 130;
    f->fake.events.items[0].count[1] = f->fake.events.items[0].count[2] = 1100;
    sum(f, true);
    assert_true(cell(f, 0, 0)->value == 30);
    assert_true(cell(f, 0, 0)->enabled_ns == 100);
    sum(f, true);
    assert_int_equal(cell(f, 0, 0)->state, COUNT_NOT_COUNTED);
}

/* The rest of a group goes on without an event that this machine lacks. */
static void unsupported(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->refused_with = ENOENT;
    f->refused_config = 0;
    f->refused_type = 4;
    open_events(f, "{cpu/event=0/,cs,faults}", 0);
    sum(f, false);
    assert_int_equal(cell(f, 0, 0)->state, COUNT_NOT_SUPPORTED);
    assert_int_equal(cell(f, 0, 0)->counters, 0);
    assert_int_equal(cell(f, 0, 1)->state, COUNT_COUNTED);
    assert_int_equal(f->plan.events.items[1].members, 2);
    assert_int_equal(f->plan.events.items[2].leader, 1);
    assert_true(f->plan.events.items[1].attr.flags & PERFDATA_ATTR_DISABLED);
    assert_int_equal(f->fake.events.items[4].group_fd, OS_PERF_FAKE_FD);
    count_counters_enable(&f->counters, &f->plan, true);
    assert_true(f->fake.events.items[0].enabled);
    assert_false(f->fake.events.items[4].enabled); /* it follows */
}

/* A weak group comes apart when one of it cannot be counted beside the others. */
static void weak_group(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->o.target.cpus = "0";
    f->refused_with = EINVAL;
    f->refused_config = 2; /* faults */
    f->refused_type = 1;
    open_events(f, "{cs,migrations,faults}:W", 0);
    assert_int_equal(f->plan.events.items[1].leader, 1);
    assert_int_equal(f->plan.events.items[0].members, 1);
    sum(f, false);
    assert_int_equal(cell(f, 0, 1)->state, COUNT_COUNTED);
    assert_int_equal(cell(f, 0, 2)->state, COUNT_NOT_SUPPORTED);
}

static void denied(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->refused_with = EACCES;
    f->refused_type = 1;
    f->refused_config = 3;
    assert_true(perf_events_parse(f->sources, "faults,cs", &f->events, NULL, &f->err));
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_true(count_plan_init(&f->plan, &f->events, &f->o, &f->target, &f->err));
    assert_false(count_counters_open(&f->counters, &f->fake.perf, &f->plan, &f->target, NULL, &f->err));
    assert_int_equal(f->err.code, ERR_PERMISSION);
    assert_string_equal(f->err.where, "cs");
    for (size_t i = 0; i < f->fake.events.count; i++)
        assert_true(f->fake.events.items[i].closed);
}

/* PMUs of one kind make one row; an event counts only where its PMU is. */
static void merging(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    open_events(f, "uncore_imc/event=4/", 0);
    sum(f, false);
    assert_int_equal(f->counts.event_count, 2);
    assert_int_equal(f->counts.events[1].row_of, 0);
    assert_int_equal(cell(f, 0, 0)->counters, 4);
    assert_true(cell(f, 0, 0)->value == 100 + 200 + 300 + 400);
    assert_int_equal(cell(f, 0, 1)->state, COUNT_NONE);
}

static void by_cgroup(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    f->o.target.cpus = "0";
    f->o.level = COUNT_CGROUP;
    assert_true(perf_events_parse(f->sources, "cs,cs", &f->events, NULL, &f->err));
    assert_true(perf_events_cgroups(&f->events, "a,b", &f->err));
    open_events(f, "faults", 0);
    sum(f, false);
    assert_int_equal(f->counts.keys.count, 3);
    assert_string_equal(f->counts.keys.items[1].text, "b");
    assert_true(cell(f, 0, 0)->value == 100);
    assert_true(cell(f, 1, 0)->value == 200);
    assert_int_equal(cell(f, 1, 1)->state, COUNT_NONE);
    assert_int_equal(f->fake.events.items[1].pid, OS_PERF_FAKE_CGROUP + 9);
}

static void tools(void **state) {
    struct fixture *f = *state;
    double user, system, tick = 1e9 / 100;
    f->o.target.pids = "40";
    open_events(f, "duration_time,num_cpus,system_tsc_freq", 0);
    sum(f, false);
    assert_true(cell(f, 0, 0)->value == 5e9);
    assert_string_equal(f->counts.events[0].unit, "ns");
    assert_true(cell(f, 0, 1)->value == 4);
    assert_int_equal(cell(f, 0, 2)->state, COUNT_NOT_SUPPORTED);
    assert_true(count_tool_cpu_time(&f->sys, &f->target, &user, &system));
    assert_true(user == 100 * tick && system == 50 * tick);
    f->target.exec = true;
    assert_true(count_tool_cpu_time(&f->sys, &f->target, &user, &system));
    assert_true(user == 107 * tick && system == 53 * tick);
    f->target.system_wide = true;
    assert_true(count_tool_cpu_time(&f->sys, &f->target, &user, &system));
    assert_true(user == 15 * tick && system == 7 * tick);
}

static void rates(void **state) {
    struct fixture *f = *state;
    struct count_rate r;
    f->o.target.all_cpus = true;
    f->o.target.cpus = "0";
    open_events(f, "task-clock,cs,cycles,instructions,branches,branch-misses", 0);
    f->fake.events.items[0].count[0] = 2000000000; /* of CPU time, in 5 s */
    f->fake.events.items[1].count[0] = 3000;
    f->fake.events.items[2].count[0] = 4000000000;
    f->fake.events.items[3].count[0] = 6000000000;
    sum(f, false);
    assert_int_equal(count_rates(&f->counts, 0, 0, &r), 1);
    assert_true(r.value == 0.4);
    assert_string_equal(r.unit, "CPUs utilized");
    assert_int_equal(count_rates(&f->counts, 0, 1, &r), 1);
    assert_true(r.value == 1.5);
    assert_string_equal(r.unit, "K/sec");
    assert_int_equal(count_rates(&f->counts, 0, 2, &r), 1);
    assert_true(r.value == 2);
    assert_string_equal(r.unit, "GHz");
    assert_int_equal(count_rates(&f->counts, 0, 3, &r), 1);
    assert_true(r.value == 1.5);
    assert_string_equal(r.unit, " insn per cycle");
    assert_int_equal(count_rates(&f->counts, 0, 5, &r), 1);
    assert_true(r.value == 120 && r.form == COUNT_RATE_PERCENT); /* 600 of 500 */
}

static void averages(void **state) {
    struct fixture *f = *state;
    struct count_average a = {0};
    f->o.target.all_cpus = true;
    f->o.level = COUNT_CPU;
    open_events(f, "cs", 0);
    for (int run = 0; run < 2; run++) {
        sum(f, false);
        f->counts.elapsed_ns = 1e9 + run;
        assert_true(count_average_add(&a, &f->counts));
        f->fake.events.items[0].count[0] = 300;
    }
    count_average_finish(&a);
    assert_int_equal(a.mean.keys.count, 4);
    assert_true(a.mean.cells[0].value == 200);
    assert_true(a.mean.cells[0].spread > 49.99 && a.mean.cells[0].spread < 50.01); /* 100 of 200 */
    assert_true(a.mean.cells[1].spread == 0);
    assert_int_equal(a.elapsed_ns.count, 2);
    count_average_fini(&a);
}

/* Two counters: a group of two fits, a third event does not; software takes none. */
static void passes(void **state) {
    struct fixture *f = *state;
    struct count_passes p;
    f->fake.max_group = 2;
    assert_true(perf_events_parse(f->sources, "cs,cycles,{instructions,branches},cache-misses,r1,r2",
                                  &f->events, NULL, &f->err));
    assert_true(count_passes_plan(&p, &f->fake.perf, &f->events));
    static const uint32_t WANT[] = {COUNT_EVERY_PASS, 0, 1, 1, 2, 2, 3};
    assert_int_equal(p.count, 4);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(p.of.items[i], WANT[i]);
    for (size_t i = 0; i < f->fake.events.count; i++)
        assert_true(f->fake.events.items[i].closed);
    /* Another program has taken one of the two. */
    struct count_cell cells[7] = {{0}};
    struct count_key key = {""};
    struct counts run = {.event_count = 7, .cells = cells};
    run.keys.items = &key;
    run.keys.count = 1;
    cells[4] = (struct count_cell){COUNT_COUNTED, 1, 5, 100, 60, 0};
    assert_true(count_passes_split(&p, 2, &f->events, &run));
    assert_int_equal(p.count, 5);
    assert_int_equal(p.of.items[4], 2);
    assert_int_equal(p.of.items[5], 4);
    assert_false(count_passes_split(&p, 2, &f->events, &run)); /* alone now */
    cells[2] = (struct count_cell){COUNT_NOT_COUNTED, 1, 0, 100, 0, 0};
    assert_false(count_passes_split(&p, 1, &f->events, &run)); /* a group stays together */
    count_passes_fini(&p);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(of_all_cpus), TEST(by_socket), TEST(by_thread),   TEST(all_threads),
        TEST(scaling),     TEST(intervals), TEST(unsupported), TEST(weak_group),
        TEST(denied),      TEST(merging),   TEST(by_cgroup),   TEST(tools),
        TEST(rates),       TEST(averages),  TEST(passes),      TEST(by_core_beside_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
