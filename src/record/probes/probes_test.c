/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "bpf/dist/probe.h"
#include "os/bpf/bpf_fake.h"
#include "os/bpf/bpf_maps.h"
#include "os/perf/perf_event_fake.h"
#include "record/probes/probes.h"
#include "record/write/facts.h"
#include "tests/support/fail_alloc.h"

enum { CPUS = 2, PMU = 8, TID = 77, OFFSET = 0x1000 };

struct fixture {
    struct os_bpf_fake bpf;
    struct os_perf_fake perf;
    struct perf_target target;
    struct record_options options;
    struct perf_events events;
    struct record_plan plan;
    struct record_opened opened;
    struct record_probes *x;
    struct err err;
    char said[256];
};

static const struct os_bpf_map_kind KINDS[PROBE_MAP_COUNT] = {
    [PROBE_MAP_PROBES] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_probe), .entries = 4},
    [PROBE_MAP_OUTPUTS] = {.key_bytes = 4, .value_bytes = 4, .entries = 8},
    [PROBE_MAP_TARGETS] = {.key_bytes = 4, .value_bytes = 4, .entries = 8},
    [PROBE_MAP_COUNTERS] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_probe_counters), .entries = 1},
};

static int map_fd(uint32_t number) {
    return OS_BPF_FAKE_FD + 2 + (int)number; /* after the loader's data and the loader */
}

static void add_event(struct fixture *f, bool with_arguments) {
    static const char *const NAMES[] = {"ax", "di", "sp", "ip"};
    static const struct probe_registers REGISTERS = {NAMES, 4, 0, 2, 3};
    struct probe_event e;
    struct perf_event *slot = vec_push(&f->events.items);
    assert_non_null(slot);
    *slot = (struct perf_event){.kind = PERF_EVENT_UPROBE,
                                .attr = {.type = PMU, .config2 = OFFSET, .size = 128, .known_size = 128},
                                .name = "probe_t:f",
                                .pmu = "uprobe",
                                .leader = (uint32_t)f->events.items.count - 1,
                                .members = 1,
                                .probe_path = "/t"};
    if (!with_arguments)
        return;
    assert_true(probe_event_parse("p:probe_t/f /t:0x1000 n=%di:s32", &f->events.arena, &e, NULL));
    slot->program = probe_program_new(&e, &REGISTERS, 65535, &f->events.arena, NULL);
    vec_fini(&e.args);
    assert_non_null(slot->program);
}

static void begin(struct fixture *f, bool system_wide) {
    *f = (struct fixture){.options = {.inherit = true}};
    os_bpf_fake_init(&f->bpf, &bpf_probe);
    f->bpf.kinds = KINDS;
    f->bpf.cpu_count = CPUS;
    os_perf_fake_init(&f->perf);
    struct perf_target_thread *t = vec_push(&f->target.threads);
    for (int32_t cpu = 0; cpu < CPUS; cpu++) {
        int32_t *slot = vec_push(&f->target.cpus), *online = vec_push(&f->target.online);
        assert_true(slot && online && t);
        *slot = *online = cpu;
    }
    t->tid = system_wide ? -1 : TID;
    f->target.system_wide = system_wide;
    f->target.exec = !system_wide;
    add_event(f, false);
    add_event(f, true);
    assert_true(record_plan_init(&f->plan, &f->events, &f->options, &f->target, &f->err));
    assert_true(record_open(&f->opened, &f->perf.perf, &f->plan, &f->target, &f->options, &f->err));
}

static bool start(struct fixture *f) {
    const struct record_probes_sources from = {&f->bpf.bpf, &f->perf.perf,      &f->target, &f->opened,
                                               &f->plan,    f->options.inherit, false};
    assert_true(record_probes_wanted(&f->plan));
    return (f->x = record_probes_start(&from, &f->err)) != NULL;
}

static void end(struct fixture *f) {
    record_probes_free(f->x);
    record_opened_fini(&f->opened);
    record_plan_fini(&f->plan);
    perf_events_fini(&f->events);
    vec_fini(&f->target.threads);
    vec_fini(&f->target.cpus);
    vec_fini(&f->target.online);
    for (size_t i = 0; i < f->perf.events.count; i++)
        assert_true(f->perf.events.items[i].closed || !f->perf.events.items[i].attr);
    os_perf_fake_fini(&f->perf);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    os_bpf_fake_fini(&f->bpf);
}

/* An attr as it was opened. */
static struct perfdata_attr opened(const struct fixture *f, size_t i) {
    struct perfdata_attr a;
    const struct os_perf_fake_event *e = &f->perf.events.items[i];
    assert_true(perfdata_attr_decode((struct bytes){e->attr, e->attr_bytes}, false, &a));
    return a;
}

/* In the file a tracepoint; in the kernel an event for all tasks, for programs to write to. */
static void test_events(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, false);
    const struct perfdata_attr *told = &f.plan.events.items[1].attr;
    assert_int_equal(told->type, PERFDATA_TYPE_TRACEPOINT);
    assert_int_equal(told->config, 65535);
    assert_int_equal(told->sample_period, 1);
    assert_true(told->sample_type & PERFDATA_SAMPLE_RAW);
    assert_false(told->sample_type & PERFDATA_SAMPLE_PERIOD);
    assert_true(f.plan.events.items[f.plan.events.count - 1].side_band);
    size_t found = 0;
    for (size_t i = 0; i < f.perf.events.count; i++) {
        struct perfdata_attr a = opened(&f, i);
        if (a.type != PERFDATA_TYPE_SOFTWARE || a.config != 10)
            continue;
        found++;
        assert_int_equal(f.perf.events.items[i].pid, -1);
        assert_false(a.flags &
                     (PERFDATA_ATTR_INHERIT | PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC));
        assert_int_equal(a.sample_type, told->sample_type);
    }
    assert_int_equal(found, CPUS);
    end(&f);
}

static void test_start(void **state) {
    (void)state;
    struct fixture f;
    for (int all = 0; all < 2; all++) {
        begin(&f, all);
        size_t before = f.perf.events.count;
        assert_true(start(&f));
        assert_int_equal(f.perf.events.count, before + 2); /* one for each program */
        struct perfdata_attr a = opened(&f, before);
        assert_int_equal(a.type, PMU);
        assert_int_equal(a.config2, OFFSET);
        assert_true(a.config1 != 0);
        uint32_t key = 0, value = 0;
        struct bpf_probe probe;
        assert_int_equal(os_bpf_lookup(&f.bpf.bpf, map_fd(PROBE_MAP_PROBES), &key, &probe), 0);
        assert_int_equal(probe.count, 2);
        assert_int_equal(probe.type, 65535);
        for (key = 0; key < CPUS; key++) {
            assert_int_equal(os_bpf_lookup(&f.bpf.bpf, map_fd(PROBE_MAP_OUTPUTS), &key, &value), 0);
            const struct os_perf_fake_event *e = &f.perf.events.items[value - OS_PERF_FAKE_FD];
            assert_int_equal(e->cpu, key);
            assert_int_equal(opened(&f, value - OS_PERF_FAKE_FD).config, 10);
        }
        key = TID;
        int why = os_bpf_lookup(&f.bpf.bpf, map_fd(PROBE_MAP_TARGETS), &key, &value);
        assert_int_equal(why, all ? -ENOENT : 0);
        if (!all)
            assert_int_equal(value, BPF_PROBE_AT_EXEC);
        end(&f);
    }
}

static int refuse_links(void *ctx, int command) {
    (void)ctx;
    return command == BPF_LINK_CREATE ? EINVAL : 0;
}

static int refuse_probes(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    (void)ctx;
    (void)pid;
    (void)cpu;
    uint32_t type;
    memcpy(&type, attr.data, sizeof type);
    return type == PMU ? EACCES : 0;
}

static void test_refused(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, false);
    f.bpf.refuse = refuse_links;
    assert_false(start(&f));
    assert_non_null(strstr(f.err.message, "cannot be attached"));
    end(&f);
    begin(&f, false);
    f.perf.refuse = refuse_probes;
    assert_false(start(&f));
    assert_int_equal(f.err.code, ERR_PERMISSION);
    end(&f);
    begin(&f, false);
    f.target.per_thread = true;
    record_plan_fini(&f.plan);
    assert_false(record_plan_init(&f.plan, &f.events, &f.options, &f.target, &f.err));
    assert_int_equal(f.err.code, ERR_USAGE);
    end(&f);
}

static int refuse_programs(void *ctx, int command) {
    (void)ctx;
    return command == BPF_PROG_LOAD ? EACCES : 0;
}

static void test_possible(void **state) {
    (void)state;
    struct os_bpf_fake bpf;
    os_bpf_fake_init(&bpf, &bpf_probe);
    bpf.kinds = KINDS;
    assert_int_equal(record_probes_possible(&bpf.bpf), probe_registers_here() != NULL);
    bpf.refuse = refuse_programs;
    assert_false(record_probes_possible(&bpf.bpf));
    assert_int_equal(os_bpf_fake_open(&bpf), 0);
    os_bpf_fake_fini(&bpf);
}

static void hear(void *ctx, enum log_level level, const char *text) {
    struct fixture *f = ctx;
    (void)level;
    strncat(f->said, text, sizeof f->said - strlen(f->said) - 1);
}

static void test_losses(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, false);
    assert_true(start(&f));
    uint32_t zero = 0;
    struct bpf_probe_counters c = {.missed = 3, .lost_threads = 1};
    assert_int_equal(os_bpf_update(&f.bpf.bpf, map_fd(PROBE_MAP_COUNTERS), &zero, &c), 0);
    log_set_sink(hear, &f);
    record_probes_tell(f.x);
    log_set_sink(NULL, NULL);
    assert_non_null(strstr(f.said, "3 hits of probes could not be recorded"));
    assert_non_null(strstr(f.said, "1 thread could not be followed"));
    end(&f);
}

/* The file has the format, with tracefs or without. */
static void test_format(void **state) {
    (void)state;
    static const struct sysfs_fake_file FILES[] = {{"/sys/kernel/tracing/events/header_page", "page"},
                                                   {"/sys/kernel/tracing/events/header_event", "event"}};
    struct fixture f;
    begin(&f, false);
    for (size_t n = 0; n <= 2; n += 2) {
        const struct sysfs_fake tree = {FILES, n, NULL};
        struct sysfs sys = sysfs_fake(&tree);
        struct perfdata_events events;
        struct record_facts facts = {.sys = &sys};
        perfdata_events_init(&events, false);
        assert_true(record_open_events(&f.opened, &f.plan, &events));
        record_facts_tracing(&facts, &events, &f.plan);
        assert_false(facts.failed);
        assert_int_equal(facts.list.count, 1);
        struct bytes content = facts.list.items[0].content;
        const char *format = f.events.items.items[1].program->format, *page = n ? "page" : "local_t commit";
        assert_non_null(memmem(content.data, content.size, format, strlen(format)));
        assert_non_null(memmem(content.data, content.size, page, strlen(page)));
        assert_non_null(memmem(content.data, content.size, "probe_t", sizeof "probe_t"));
        record_facts_fini(&facts);
        perfdata_events_fini(&events);
    }
    end(&f);
}

static void test_memory(void **state) {
    (void)state;
    bool more = true;
    for (long n = 0; more; n++) {
        struct fixture f;
        begin(&f, false);
        fail_alloc_after(n);
        bool ok = start(&f);
        more = fail_alloc_hit();
        assert_true(ok || more);
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events), cmocka_unit_test(test_start),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_losses), cmocka_unit_test(test_possible), cmocka_unit_test(test_format),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
