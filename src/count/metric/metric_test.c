/* SPDX-License-Identifier: Apache-2.0 */
#include "count/metric/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "events/event_test.h"

/* a is 6, b 3, c-d 10, x/y=1/ 7; #on is 1. */
static bool look_up(void *ctx, const char *name, enum metric_ask ask, double *value) {
    static const struct {
        const char *name;
        double value;
    } KNOWN[] = {{"a", 6}, {"b", 3}, {"c-d", 10}, {"x/y=1/", 7}, {"#on", 1}, {"zero", 0}};
    (void)ctx;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (strcmp(KNOWN[i].name, name) == 0) {
            *value = ask == METRIC_VALUE ? KNOWN[i].value : ask == METRIC_THERE ? 1 : 4;
            return true;
        }
    *value = 0;
    return ask == METRIC_THERE;
}

static double value_of(const char *text) {
    struct metric_expr e;
    struct err err = ERR_INIT;
    if (!metric_expr_parse(&e, text, &err))
        fail_msg("%s: %s", text, err.message);
    double v = metric_expr_value(&e, look_up, NULL);
    metric_expr_fini(&e);
    return v;
}

static void values(void **state) {
    static const struct {
        const char *text;
        double value; /* NaN: it has none */
    } CASES[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"8 - 4 - 2", 2},
        {"-a + 1", -5},
        {"2 * -3", -6},
        {"1e3 / 2.5", 400},
        {"a % 4", 2},
        {"c\\-d", 10},
        {"x@y\\=1@ * 2", 14},
        {"a / b if #on else b / zero", 2},
        {"1 if zero else 2 if b else 3", 2},
        {"min(a, b) + max(a, b)", 9},
        {"d_ratio(a, zero)", 0},
        {"a / zero", NAN},
        {"unknown * 0", NAN},
        {"unknown if has_event(unknown) else a", 6},
        {"source_count(a)", 4},
        {"a > b & b > a | 1", 1},
        {"(a < b) ^ (b < a)", 1},
        {"abs(b - a)", 3},
        {"1 if #off else 2", NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double v = value_of(CASES[i].text);
        if (isnan(CASES[i].value) ? !isnan(v) : v != CASES[i].value)
            fail_msg("%s: %g, not %g", CASES[i].text, v, CASES[i].value);
    }
}

static void bad(void **state) {
    static const char *const TEXTS[] = {
        "",       "1 +",         "(1",       "1)", "a b", "min(1)",        "min(1 2)", "1 if 2",
        "foo(1)", "has_event()", "min(1, 2", "$",  "a@b", "source_count(", "\\"};
    char deep[4000];
    (void)state;
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = 0;
    for (size_t i = 0; i <= sizeof TEXTS / sizeof *TEXTS; i++) {
        const char *text = i < sizeof TEXTS / sizeof *TEXTS ? TEXTS[i] : deep;
        struct metric_expr e;
        struct err err = ERR_INIT;
        if (metric_expr_parse(&e, text, &err)) {
            metric_expr_fini(&e);
            assert_string_equal(text, "a@b"); /* a name, odd as it is */
            continue;
        }
        assert_int_equal(err.code, ERR_USAGE);
    }
}

static void needs(void **state) {
    struct metric_expr e;
    (void)state;
    assert_true(metric_expr_parse(&e, "(a if #on else b) + (c\\-d if a > 1 else x)", NULL));
    assert_int_equal(e.names.count, 4);
    assert_true(metric_expr_needs(&e, "a", look_up, NULL));
    assert_false(metric_expr_needs(&e, "b", look_up, NULL));
    assert_true(metric_expr_needs(&e, "x", look_up, NULL));
    metric_expr_fini(&e);
}

struct chosen {
    struct sysfs sys;
    struct metric_table table;
    struct perf_events events;
    struct metric_set set;
    struct perf_event_sources *sources;
    struct metric_choice choice;
    struct err err;
};

static int setup(void **state) {
    struct chosen *c = calloc(1, sizeof *c);
    c->sys = sysfs_fake(&EVENT_TEST_TREE);
    c->sources = perf_event_sources_new(&c->sys);
    c->set.sys = &c->sys;
    c->choice = (struct metric_choice){.table = &c->table, .sources = c->sources, .events = &c->events};
    assert_true(metric_table_init(&c->table));
    *state = c;
    return 0;
}

static int teardown(void **state) {
    struct chosen *c = *state;
    metric_set_fini(&c->set);
    metric_table_fini(&c->table);
    perf_events_fini(&c->events);
    perf_event_sources_free(c->sources);
    free(c);
    return 0;
}

static void choosing(void **state) {
    struct chosen *c = *state;
    assert_true(metric_choose(&c->choice, "insn_per_cycle,CS_per_second", &c->set, &c->err));
    assert_int_equal(c->events.items.count, 4);
    assert_string_equal(c->events.items.items[0].name, "instructions");
    assert_int_equal(c->events.items.items[0].members, 2);
    assert_true(c->events.items.items[0].modifiers & PERF_EVENT_WEAK);
    assert_int_equal(c->events.items.items[1].leader, 0);
    assert_string_equal(c->events.items.items[3].name, "task-clock");
    assert_int_equal(c->set.uses.items[1].shown_at, 2);
    assert_true(metric_choose(&c->choice, "cycles_frequency", &c->set, &c->err)); /* all is there */
    assert_int_equal(c->events.items.count, 4);
    assert_false(metric_choose(&c->choice, "nosuch", &c->set, &c->err));
    assert_int_equal(c->err.code, ERR_USAGE);
    assert_true(metric_choose_there(&c->choice, "branch_miss_rate", &c->set));
    assert_int_equal(c->set.uses.count, 3); /* nobody asked for branches */
}

static void computing(void **state) {
    struct chosen *c = *state;
    assert_true(metric_choose(&c->choice, "branch_miss_rate,CPUs_utilized", &c->set, &c->err));
    struct count_event events[3] = {{.scale = 1}, {.scale = 1}, {.scale = 1e-6, .clock = true}};
    struct count_cell cells[3] = {
        {COUNT_COUNTED, 1, 5, 1, 1, 0}, {COUNT_COUNTED, 1, 50, 1, 1, 0}, {COUNT_COUNTED, 1, 3e9, 1, 1, 0}};
    struct count_key key = {""};
    struct counts counts = {.events = events, .event_count = 3, .cells = cells, .elapsed_ns = 2e9};
    counts.keys.items = &key;
    counts.keys.count = 1;
    assert_true(fabs(metric_use_value(&c->set, &c->set.uses.items[0], &counts, 0) - 10) < 1e-9);
    assert_string_equal(c->set.uses.items[0].unit, "%");
    assert_true(fabs(metric_use_value(&c->set, &c->set.uses.items[1], &counts, 0) - 1.5) < 1e-9);
    cells[1].state = COUNT_NOT_SUPPORTED;
    assert_true(isnan(metric_use_value(&c->set, &c->set.uses.items[0], &counts, 0)));
}

static const struct metric *find(const struct metric_table *t, const char *name) {
    return metric_table_find(t, name, strlen(name));
}

/* As they are published. */
static void files(void **state) {
    struct chosen *c = *state;
    static const char INTEL[] =
        "{\"Header\": {\"Copyright\": \"...\"}, \"Metrics\": [{\"MetricName\": \"CPI\", \"Level\": 1,"
        "\"BriefDescription\": \"Cycles per \\u0022instruction\\u0022\", \"UnitOfMeasure\": \"per instr\","
        "\"Events\": [{\"Name\": \"cpu-cycles\", \"Alias\": \"a\"},"
        "{\"Name\": \"cpu/event=0x1,umask=0x2/\", \"Alias\": \"b\"}], \"Constants\": [],"
        "\"Formula\": \"100 * ( a / b )\", \"MetricGroup\": \"Summary;CPI\"},"
        "{\"MetricName\": \"nothing\"}]}";
    static const char ARM[] =
        "{\"events\": {\"x\": {\"code\": \"0x1\"}}, \"metrics\": {\"ipc\": {\"title\": \"IPC\","
        "\"formula\": \"INST_RETIRED / CPU_CYCLES\", \"units\": \"per cycle\", \"events\": [\"A\"]},"
        "\"share\": {\"formula\": \"A * 100\", \"units\": \"percent of slots\"}}}";
    static const char LIST[] =
        " [{\"MetricName\": \"rate\", \"MetricExpr\": \"cs / task\\\\-clock\", \"ScaleUnit\":"
        "\"1000per s\"}]";
    static const char *const BAD[] = {
        "", "[", "{\"Metrics\": 3}", "[3]", "[{\"MetricName\": \"x\"", "{\"metrics\": {\"a\": 1}}"};
    static const char *const TEXTS[] = {INTEL, ARM, LIST};
    for (size_t i = 0; i < 3; i++)
        assert_true(metric_table_read(&c->table, (struct bytes){(const uint8_t *)TEXTS[i], strlen(TEXTS[i])},
                                      "x", &c->err));
    assert_string_equal(find(&c->table, "CPI")->expr,
                        "100 * ( cpu\\-cycles / cpu@event\\=0x1\\,umask\\=0x2@ )");
    assert_string_equal(find(&c->table, "CPI")->text, "Cycles per \"instruction\"");
    assert_true(metric_matches(find(&c->table, "CPI"), "summary", 7));
    assert_string_equal(find(&c->table, "ipc")->unit, "1per cycle");
    assert_string_equal(find(&c->table, "share")->unit, "1%");
    assert_string_equal(find(&c->table, "rate")->expr, "cs / task\\-clock");
    assert_null(find(&c->table, "nothing"));
    assert_true(metric_choose(&c->choice, "CPI,rate", &c->set, &c->err));
    assert_string_equal(c->events.items.items[1].name, "cpu/event=0x1,umask=0x2/");
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        uint8_t *copy = malloc(strlen(BAD[i]) + 1); /* of just that size, for sanitizers */
        memcpy(copy, BAD[i], strlen(BAD[i]));
        assert_false(metric_table_read(&c->table, (struct bytes){copy, strlen(BAD[i])}, "x", &c->err));
        free(copy);
    }
}

#define DEV "/sys/bus/event_source/devices/"

/* The topdown events of a newer Intel core, of an older one, and of neither (AMD, Arm). */
static void topdown(void **state) {
    static const struct sysfs_fake_file NEW[] = {
        {DEV "cpu/type", "4"},
        {DEV "cpu/format/event", "config:0-7"},
        {DEV "cpu/format/umask", "config:8-15"},
        {DEV "cpu/events/slots", "event=0x00,umask=0x4"},
        {DEV "cpu/events/topdown-retiring", "event=0x00,umask=0x80"},
        {DEV "cpu/events/topdown-bad-spec", "event=0x00,umask=0x81"},
        {DEV "cpu/events/topdown-fe-bound", "event=0x00,umask=0x82"},
        {DEV "cpu/events/topdown-be-bound", "event=0x00,umask=0x83"},
    };
    static const struct sysfs_fake_file OLD[] = {
        {DEV "cpu/type", "4"},
        {DEV "cpu/format/event", "config:0-7"},
        {DEV "cpu/events/topdown-total-slots", "event=0x3c"},
        {DEV "cpu/events/topdown-slots-retired", "event=0xc2"},
        {DEV "cpu/events/topdown-recovery-bubbles", "event=0xd"},
        {DEV "cpu/events/topdown-fetch-bubbles", "event=0x9c"},
        {DEV "cpu/events/topdown-slots-issued", "event=0xe"},
    };
    static const struct sysfs_fake TREES[] = {{NEW, sizeof NEW / sizeof *NEW},
                                              {OLD, sizeof OLD / sizeof *OLD}};
    static const char *const GROUPS[] = {"TopdownSlots", "TopdownTotal"};
    static const char *const FIRST[] = {"topdown-fe-bound", "topdown-fetch-bubbles"};
    for (size_t i = 0; i < 2; i++)
        for (size_t tree = 0; tree < 2; tree++) {
            struct chosen *c;
            setup((void **)&c);
            perf_event_sources_free(c->sources);
            c->sys = sysfs_fake(&TREES[tree]);
            c->choice.sources = c->sources = perf_event_sources_new(&c->sys);
            bool ok = metric_choose(&c->choice, GROUPS[i], &c->set, &c->err);
            assert_int_equal(ok, i == tree);
            assert_int_equal(c->err.code, ok ? ERR_NONE : ERR_ABSENT);
            if (ok) {
                assert_int_equal(c->set.uses.count, 4);
                assert_int_equal(c->events.items.count, 5);
                assert_string_equal(c->events.items.items[0].name, FIRST[i]);
            }
            teardown((void **)&c);
        }
    (void)state;
}

/* Level 2, of cores that have its events: each pair of metrics makes up one of level 1. */
static void topdown_2(void **state) {
    static const struct sysfs_fake_file files[] = {
        {DEV "cpu/type", "4"},
        {DEV "cpu/format/event", "config:0-7"},
        {DEV "cpu/format/umask", "config:8-15"},
        {DEV "cpu/events/slots", "event=0x00,umask=0x4"},
        {DEV "cpu/events/topdown-retiring", "event=0x00,umask=0x80"},
        {DEV "cpu/events/topdown-bad-spec", "event=0x00,umask=0x81"},
        {DEV "cpu/events/topdown-fe-bound", "event=0x00,umask=0x82"},
        {DEV "cpu/events/topdown-be-bound", "event=0x00,umask=0x83"},
        {DEV "cpu/events/topdown-heavy-ops", "event=0x00,umask=0x84"},
        {DEV "cpu/events/topdown-br-mispredict", "event=0x00,umask=0x85"},
        {DEV "cpu/events/topdown-fetch-lat", "event=0x00,umask=0x86"},
        {DEV "cpu/events/topdown-mem-bound", "event=0x00,umask=0x87"},
    };
    static const struct sysfs_fake tree = {files, sizeof files / sizeof *files};
    struct chosen *c = *state;
    perf_event_sources_free(c->sources);
    c->sys = sysfs_fake(&tree);
    c->choice.sources = c->sources = perf_event_sources_new(&c->sys);
    assert_true(metric_choose(&c->choice, "TopdownSlots2", &c->set, &c->err));
    assert_int_equal(c->set.uses.count, 8);
    assert_int_equal(c->events.items.count, 9);
}

/* A metric that is made of another one, and one that would need itself. */
static void nested(void **state) {
    struct chosen *c = *state;
    static const char LIST[] = "[{\"MetricName\": \"inner\", \"MetricExpr\": \"cs + faults\"},"
                               "{\"MetricName\": \"outer\", \"MetricExpr\": \"2 * inner\"},"
                               "{\"MetricName\": \"loop\", \"MetricExpr\": \"1 + pool\"},"
                               "{\"MetricName\": \"pool\", \"MetricExpr\": \"1 + loop\"}]";
    assert_true(
        metric_table_read(&c->table, (struct bytes){(const uint8_t *)LIST, strlen(LIST)}, "x", &c->err));
    assert_true(metric_choose(&c->choice, "outer", &c->set, &c->err));
    assert_int_equal(c->events.items.count, 2);
    assert_false(metric_choose(&c->choice, "loop", &c->set, &c->err));
    assert_int_equal(c->err.code, ERR_BROKEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(bad),
        cmocka_unit_test(needs),
        cmocka_unit_test_setup_teardown(choosing, setup, teardown),
        cmocka_unit_test_setup_teardown(computing, setup, teardown),
        cmocka_unit_test_setup_teardown(files, setup, teardown),
        cmocka_unit_test_setup_teardown(nested, setup, teardown),
        cmocka_unit_test(topdown),
        cmocka_unit_test_setup_teardown(topdown_2, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
