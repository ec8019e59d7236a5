/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stacks/wall_clock.h"
#include "tests/support/fail_alloc.h"

static uint32_t frame_of(struct stacks *s, const char *name) {
    struct stacks_frame f = {.name = stacks_text(s, name, strlen(name)), .image = STACKS_NONE};
    return stacks_frame(s, &f);
}

/* main -> work -> inner, with rows of two comms at inner, of one at work. */
static void make(struct stacks *s) {
    struct err err = ERR_INIT;
    assert_true(stacks_init(s, &err));
    assert_non_null(vec_push(&s->events));
    uint32_t outer = stacks_node(s, STACKS_NONE, frame_of(s, "main")),
             work = stacks_node(s, outer, frame_of(s, "work")),
             inner = stacks_node(s, work, frame_of(s, "inner"));
    stacks_add(s, stacks_row(s, 0, stacks_text(s, "a", 1), inner), 2, 20);
    stacks_add(s, stacks_row(s, 0, stacks_text(s, "b", 1), inner), 1, 5);
    stacks_add(s, stacks_row(s, 0, stacks_text(s, "a", 1), work), 1, 7);
    stacks_add(s, stacks_row(s, 0, stacks_text(s, "a", 1), inner), 1, 10);
}

static void test_equal_content_has_one_number(void **state) {
    struct stacks s = {0};
    (void)state;
    make(&s);
    assert_int_equal(s.rows.count, 3);
    assert_int_equal(s.nodes.count, 3);
    assert_int_equal(frame_of(&s, "work"), 1);
    assert_int_equal(stacks_node(&s, 0, 1), 1);
    assert_int_equal(stacks_node(&s, STACKS_NONE, 1),
                     3); /* the same frame without a caller is another node */
    assert_int_equal(stacks_text(&s, "", 0), 0);
    assert_int_equal(stacks_thread(&s, 7, 8), 0);
    assert_int_equal(stacks_thread(&s, 7, 9), 1);
    assert_int_equal(stacks_thread(&s, 7, 8), 0);
    stacks_fini(&s);
}

static void test_totals_include_callees(void **state) {
    struct stacks s = {0};
    (void)state;
    make(&s);
    struct stacks_sum *sums = stacks_totals(&s, 0);
    assert_non_null(sums);
    assert_int_equal(sums[2].samples, 4);
    assert_int_equal(sums[2].period, 35);
    assert_int_equal(sums[1].period, 42);
    assert_int_equal(sums[0].period, 42);
    assert_int_equal(s.events.items[0].period, 42);
    assert_int_equal(s.events.items[0].samples, 5);
    assert_int_equal(stacks_depth(&s, 2), 3);
    free(sums);
    stacks_fini(&s);
}

static void test_moments_are_sorted_by_event_and_time(void **state) {
    static const struct {
        uint32_t event;
        uint64_t ns;
    } recorded[] = {{1, 5}, {0, 9}, {0, 3}, {1, 2}, {0, 9}};
    static const uint64_t want[] = {3, 9, 9, 2, 5};
    struct stacks s = {0};
    struct err err = ERR_INIT;
    (void)state;
    make(&s);
    assert_non_null(vec_push(&s.events));
    for (size_t i = 0; i < 5; i++) {
        struct stacks_moment *m = vec_push(&s.moments);
        assert_non_null(m);
        *m = (struct stacks_moment){
            .time_ns = recorded[i].ns, .row = stacks_row(&s, recorded[i].event, 0, 0), .cpu = (uint32_t)i};
    }
    assert_true(stacks_finish(&s, &err));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(s.moments.items[i].time_ns, want[i]);
    assert_int_equal(s.moments.items[1].cpu, 1); /* equal times keep the order of the file */
    assert_int_equal(s.moments.items[2].cpu, 4);
    stacks_fini(&s);
}

/* Two events with a clock's unit, one without; a row each at the same node. */
static bool make_times(struct stacks *s, struct err *err) {
    static const struct {
        const char *name, *unit;
    } EVENTS[] = {{"cycles", "cycles"}, {"cpu-clock", "ns"}, {STACKS_OFF_CPU, "ns"}};
    if (!stacks_init(s, err))
        return false;
    uint32_t node = stacks_node(s, STACKS_NONE, frame_of(s, "main"));
    for (uint32_t i = 0; i < 3; i++) {
        struct stacks_event *e = vec_push(&s->events);
        struct stacks_moment *m = vec_push(&s->moments);
        if (!e || !m || node == STACKS_NONE)
            return false;
        e->name = stacks_text(s, EVENTS[i].name, strlen(EVENTS[i].name));
        e->unit = stacks_text(s, EVENTS[i].unit, strlen(EVENTS[i].unit));
        uint32_t row = stacks_row(s, i, 0, node);
        if (row == STACKS_NONE || e->name == STRPOOL_NONE || e->unit == STRPOOL_NONE)
            return false;
        stacks_add(s, row, 1, 10u << i);
        *m = (struct stacks_moment){.time_ns = 5, .period = 10u << i, .row = row};
    }
    return true;
}

static void test_both_times_in_one_event(void **state) {
    struct stacks s = {0};
    struct err err = ERR_INIT;
    (void)state;
    assert_true(make_times(&s, &err) && stacks_wall_clock(&s, 1, &err));
    assert_int_equal(s.events.count, 4);
    static const char *const NAMES[] = {"cycles", STACKS_WALL_CLOCK, "cpu-clock", STACKS_OFF_CPU};
    static const uint64_t PERIODS[] = {10, 60, 20, 40};
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(stacks_str(&s, s.events.items[i].name), NAMES[i]);
        assert_int_equal(s.events.items[i].period, PERIODS[i]);
        uint64_t rows = 0, moments = 0;
        for (size_t k = 0; k < s.rows.count; k++)
            rows += s.rows.items[k].event == i ? s.rows.items[k].period : 0;
        for (size_t k = 0; k < s.moments.count; k++)
            moments += s.rows.items[s.moments.items[k].row].event == i ? s.moments.items[k].period : 0;
        assert_true(rows == PERIODS[i] && moments == PERIODS[i]);
        assert_int_equal(s.rows.items[stacks_row(&s, i, 0, 0)].event, i); /* none is added */
    }
    assert_int_equal(s.rows.count, 4);
    assert_true(stacks_finish(&s, &err));
    stacks_fini(&s);
}

static void test_one_time_alone_stays(void **state) {
    struct stacks s = {0};
    struct err err = ERR_INIT;
    (void)state;
    assert_true(make_times(&s, &err) && stacks_wall_clock(&s, 2, &err));
    assert_int_equal(s.events.count, 3);
    s.events.items[0].unit = s.events.items[1].unit; /* which of the two is the time on the CPU? */
    assert_true(stacks_wall_clock(&s, 0, &err));
    assert_int_equal(s.events.count, 3);
    stacks_fini(&s);
    FAIL_EACH_ALLOC({
        struct stacks t = {0};
        if (make_times(&t, &err))
            stacks_wall_clock(&t, 0, &err);
        stacks_fini(&t);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_content_has_one_number),
        cmocka_unit_test(test_totals_include_callees),
        cmocka_unit_test(test_moments_are_sorted_by_event_and_time),
        cmocka_unit_test(test_both_times_in_one_event),
        cmocka_unit_test(test_one_time_alone_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
