/* SPDX-License-Identifier: Apache-2.0 */
#include "record/plan/fallback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events/event_test.h"

struct fixture {
    struct sysfs sys;
    struct perf_event_sources *sources;
    struct perf_events events;
    struct writer notes;
    struct err err;
};

static void start(struct fixture *f, const char *text) {
    *f = (struct fixture){.sys = sysfs_fake(&EVENT_TEST_TREE),
                          .events = PERF_EVENTS_INIT,
                          .notes = writer_make(false),
                          .err = ERR_INIT};
    f->sources = perf_event_sources_new(&f->sys);
    assert_true(perf_events_parse(f->sources, text, &f->events, NULL, &f->err));
}

static void stop(struct fixture *f) {
    perf_events_fini(&f->events);
    perf_event_sources_free(f->sources);
    writer_fini(&f->notes);
}

static void test_clock(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        bool tasks;
        uint64_t config, precise;
    } CASES[] = {
        {"cycles", "task-clock", true, 1, 0},         {"cycles:u", "task-clock:u", true, 1, 0},
        {"cpu-cycles:k", "cpu-clock:k", false, 0, 0}, {"cycles:P", "task-clock:ppp", true, 1, 3},
        {"cycles:pp", "cpu-clock:pp", false, 0, 2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture f;
        start(&f, CASES[i].text);
        struct perf_event *e = &f.events.items.items[0];
        uint64_t modes = e->attr.flags & PERFDATA_ATTR_EXCLUDE_KERNEL;
        assert_true(record_fallback(&f.events, 0, CASES[i].tasks, &f.notes, &f.err));
        assert_string_equal(e->name, CASES[i].name);
        assert_int_equal(e->attr.type, PERFDATA_TYPE_SOFTWARE);
        assert_int_equal(e->attr.config, CASES[i].config);
        assert_int_equal(e->attr.flags >> PERFDATA_ATTR_PRECISE_IP_SHIFT & 3, CASES[i].precise);
        assert_int_equal(e->attr.flags & PERFDATA_ATTR_EXCLUDE_KERNEL, modes);
        assert_false(e->modifiers & PERF_EVENT_MAX_PRECISE);
        assert_non_null(strstr((char *)f.notes.data, CASES[i].name));
        /* A clock that does not exist either has no fallback. */
        assert_false(record_fallback(&f.events, 0, CASES[i].tasks, &f.notes, &f.err));
        stop(&f);
    }
}

/* Others go, out of their groups. */
static void test_left_out(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t index;
        const char *names[2];
        uint32_t leaders[2], members[2];
    } CASES[] = {
        {"{cycles,instructions,cpu-clock}", 1, {"cycles", "cpu-clock"}, {0, 0}, {2, 0}},
        {"{instructions,cycles,cpu-clock}", 0, {"cycles", "cpu-clock"}, {0, 0}, {2, 0}},
        {"instructions,{cycles,cpu-clock}", 0, {"cycles", "cpu-clock"}, {0, 0}, {2, 0}},
        {"{cycles,instructions},cpu-clock", 1, {"cycles", "cpu-clock"}, {0, 1}, {1, 1}},
        {"cycles,cpu-clock,instructions", 2, {"cycles", "cpu-clock"}, {0, 1}, {1, 1}},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture f;
        start(&f, CASES[i].text);
        assert_true(record_fallback(&f.events, CASES[i].index, true, &f.notes, &f.err));
        assert_int_equal(f.events.items.count, 2);
        assert_string_equal((char *)f.notes.data,
                            "instructions: this machine does not have this event: it is left out");
        for (size_t k = 0; k < 2; k++) {
            const struct perf_event *e = &f.events.items.items[k];
            assert_string_equal(e->name, CASES[i].names[k]);
            assert_int_equal(e->leader, CASES[i].leaders[k]);
            assert_int_equal(e->members, CASES[i].members[k]);
        }
        stop(&f);
    }
}

static void test_alone(void **state) {
    (void)state;
    struct fixture f;
    start(&f, "instructions");
    assert_false(record_fallback(&f.events, 0, true, &f.notes, &f.err));
    assert_false(record_fallback(&f.events, 7, true, &f.notes, &f.err));
    assert_int_equal(f.events.items.count, 1);
    assert_int_equal(f.notes.size, 0);
    stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
