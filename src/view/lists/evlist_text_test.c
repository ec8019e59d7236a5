/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/lists/evlist_text.h"

static const char FORMAT[] = "name: sched_switch\nID: 372\nformat:\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n";

struct fixture {
    struct perfdata_events events;
    struct perfdata_namer names;
};

static void add(struct perfdata_events *events, const char *name, struct perfdata_attr attr) {
    attr.size = attr.known_size = 64;
    uint32_t i = perfdata_events_add(events, &attr, NULL);
    assert_int_not_equal(i, PERFDATA_NO_EVENT);
    if (name)
        assert_true(perfdata_events_name(events, i, name, strlen(name)));
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    perfdata_events_init(&f.events, false);
    add(&f.events, NULL, (struct perfdata_attr){.type = 2, .config = 372, .sample_period = 1});
    add(&f.events, "mine",
        (struct perfdata_attr){.type = 1, .sample_period = 99, .flags = PERFDATA_ATTR_FREQ});
    add(&f.events, NULL, (struct perfdata_attr){.flags = PERFDATA_ATTR_EXCLUDE_GUEST});
    struct tracing_event *event = vec_push(&f.names.tracing.events);
    *event = (struct tracing_event){.format = {(const uint8_t *)FORMAT, sizeof FORMAT - 1},
                                    .system = {(const uint8_t *)"sched", 5},
                                    .name = {(const uint8_t *)"sched_switch", 12}};
    assert_true(hash_map_set(&f.names.tracing.by_id, 372, 0));
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    perfdata_events_fini(&f->events);
    perfdata_namer_fini(&f->names);
    return 0;
}

static void assert_list(struct fixture *f, struct evlist_text_options opts, const char *want) {
    struct out o;
    opts.program = "perf";
    assert_true(out_init(&o, NULL, NULL));
    evlist_text_write(&f->events, &f->names, &opts, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
}

#define FIELDS_TIP "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n"
#define GROUP_TIP  "# Tip: use 'perf evlist -g' to show group information\n"

static void test_names(void **state) {
    assert_list(*state, (struct evlist_text_options){0}, "sched:sched_switch\nmine\ncycles:H\n" FIELDS_TIP);
    assert_list(*state, (struct evlist_text_options){.attr_names = true},
                "sched:sched_switch\ncpu-clock\ncycles:H\n" FIELDS_TIP);
}

static void test_details(void **state) {
    assert_list(
        *state, (struct evlist_text_options){.freq = true},
        "sched:sched_switch: sample_period=1\nmine: sample_freq=99\ncycles:H: sample_period=0\n" FIELDS_TIP);
    assert_list(*state, (struct evlist_text_options){.trace_fields = true},
                "sched:sched_switch: trace_fields: prev_comm,prev_pid\n"
                "mine: (not a tracepoint)\ncycles:H: (not a tracepoint)\n");
    assert_list(
        *state, (struct evlist_text_options){.trace_fields = true, .freq = true, .verbose = true},
        "sched:sched_switch: type: 2 (PERF_TYPE_TRACEPOINT), size: 64, config: 0x174 (sched:sched_switch), "
        "{ sample_period, sample_freq }: 1, trace_fields: prev_comm,prev_pid\n"
        "mine: type: 1 (PERF_TYPE_SOFTWARE), size: 64, config: 0 (PERF_COUNT_SW_CPU_CLOCK), "
        "{ sample_period, sample_freq }: 99, freq: 1, (not a tracepoint)\n"
        "cycles:H: type: 0 (PERF_TYPE_HARDWARE), size: 64, config: 0 (PERF_COUNT_HW_CPU_CYCLES), "
        "exclude_guest: 1, (not a tracepoint)\n");
}

static void test_groups(void **state) {
    struct fixture *f = *state;
    f->events.list.items[1].group_members = 2;
    f->events.list.items[2].leader = 1;
    assert_list(f, (struct evlist_text_options){0},
                "sched:sched_switch\nmine\ncycles:H\n" FIELDS_TIP GROUP_TIP);
    assert_list(f, (struct evlist_text_options){.group = true},
                "sched:sched_switch\n{mine,cycles:H}\n" FIELDS_TIP);
    f->events.list.items[1].group_name = "named";
    f->events.list.items[1].group_members = 9; /* more than there are */
    assert_list(f, (struct evlist_text_options){.group = true, .trace_fields = true},
                "sched:sched_switch: trace_fields: prev_comm,prev_pid\nnamed{mine,cycles:H}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_details, setup, teardown),
        cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
