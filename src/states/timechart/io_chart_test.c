/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/timechart/io_chart.h"
#include "tests/support/fail_alloc.h"

enum { READ, WRITE, RECEIVE, SEND, SYNC, POLL };

static int64_t number_of(const char *name) {
    for (size_t i = 0; i < io_calls_count(); i++)
        if (!strcmp(io_call(i)->name, name))
            return (int64_t)i;
    return -1;
}

struct step {
    const char *call; /* NULL: events were lost */
    uint32_t tid;
    uint64_t time_ns;
    int64_t result;
    bool exit;
};

/* Plays the steps in one pass. False: out of memory. */
static bool play(struct io_chart *c, const struct step *steps, size_t n, uint64_t end_ns) {
    struct calls calls;
    bool ok = true;
    calls_init(&calls, NULL, io_chart_call, c);
    for (size_t i = 0; i < n && ok; i++) {
        const struct step *s = &steps[i];
        if (!s->call) {
            calls_lost(&calls);
            continue;
        }
        const struct calls_event e = {.time_ns = s->time_ns,
                                      .tid = s->tid,
                                      .pid = 100,
                                      .number = number_of(s->call),
                                      .result = s->result};
        ok = s->exit ? calls_exit(&calls, &e) : calls_enter(&calls, &e);
    }
    c->end_ns = end_ns;
    c->ending = true;
    ok = ok && calls_finish(&calls);
    calls_fini(&calls);
    return ok;
}

/* Both passes, with 10 columns of 10 ns each and one row. */
static bool draw(struct io_chart *c, const struct step *steps, size_t n, uint32_t tid) {
    c->begin_ns = 100;
    if (!play(c, steps, n, 200))
        return false;
    io_chart_draw(c, 10);
    return io_chart_choose(c, tid) && play(c, steps, n, 200);
}

static const struct step BOTH[] = {
    {"read", 7, 105, 0, false},  {"read", 7, 125, 4096, true}, {"write", 7, 130, 0, false},
    {"write", 8, 131, 0, false}, {"write", 7, 140, 100, true}, {"write", 8, 133, 9, true},
    {"poll", 7, 150, 0, false},  {"poll", 7, 160, 1, true},    {"fsync", 7, 170, 0, false},
    {"fsync", 7, 180, -5, true}, {"splice", 7, 190, 0, false}, {"splice", 7, 195, 50, true},
};
enum { BOTH_COUNT = sizeof BOTH / sizeof *BOTH };

static void test_columns(void **state) {
    struct io_chart c;
    (void)state;
    io_chart_init(&c);
    assert_true(draw(&c, BOTH, BOTH_COUNT, 7));
    const struct io_thread *t = &c.threads.items[0];
    assert_int_equal(t->tid, 7);
    assert_int_equal(t->pid, 100);
    assert_int_equal(t->in_bytes, 4096 + 50);
    assert_int_equal(t->out_bytes, 100 + 50);
    assert_int_equal(t->calls, 5);
    assert_int_equal(t->failed, 1);
    assert_int_equal(t->ns[READ], 20 + 5);
    assert_int_equal(io_thread_moved_ns(t), 25 + 15 + 10);
    assert_int_equal(c.threads.items[1].out_bytes, 9);
    const struct io_cell *cells = c.rows.items[0].cells;
    assert_int_equal(cells[0].ns[READ], 5);
    assert_int_equal(cells[1].ns[READ], 10);
    assert_int_equal(cells[2].ns[READ], 5);
    assert_int_equal(cells[3].ns[WRITE], 10);
    assert_int_equal(cells[5].ns[POLL], 10);
    assert_int_equal(cells[7].ns[SYNC], 10);
    assert_int_equal(cells[7].failed, 1);
    assert_int_equal(cells[8].failed + cells[6].failed, 0);
    assert_int_equal(cells[9].ns[READ], 5);
    assert_int_equal(cells[9].ns[WRITE], 5);
    io_chart_fini(&c);
}

static void test_not_whole(void **state) {
    static const struct step STEPS[] = {
        {"poll", 1, 110, 1, true},  /* it had been going on */
        {"read", 2, 120, 0, false}, /* its end was lost */
        {"read", 3, 125, 0, false}, {NULL, 0, 0, 0, false},
        {"read", 2, 130, 8, true},  {"poll", 4, 140, 1, true}, /* nobody knows since when */
        {"poll", 1, 150, 0, false},                            /* goes on to the end */
    };
    struct io_chart c;
    (void)state;
    io_chart_init(&c);
    assert_true(draw(&c, STEPS, sizeof STEPS / sizeof *STEPS, 1));
    assert_int_equal(c.threads.count, 1);
    assert_int_equal(c.threads.items[0].ns[POLL], 10 + 50);
    assert_int_equal(c.unknown, 4);
    const struct io_cell *cells = c.rows.items[0].cells;
    assert_int_equal(cells[0].ns[POLL], 10);
    assert_int_equal(cells[1].ns[POLL], 0);
    assert_int_equal(cells[9].ns[POLL], 10);
    io_chart_fini(&c);
}

static void test_options(void **state) {
    static const struct step STEPS[] = {
        {"read", 1, 110, 0, false}, {"read", 1, 111, -11, true}, {"read", 1, 120, 0, false},
        {"read", 1, 121, 5, true},  {"read", 1, 123, 0, false},  {"read", 1, 124, 5, true},
    };
    struct io_chart c;
    (void)state;
    io_chart_init(&c);
    c.skip_again = true;
    c.merge_ns = 3;
    assert_true(draw(&c, STEPS, 6, 1));
    assert_int_equal(c.threads.items[0].calls, 2);
    assert_int_equal(c.threads.items[0].ns[READ], 2);
    assert_int_equal(c.rows.items[0].cells[1].ns[READ], 0);
    assert_int_equal(c.rows.items[0].cells[2].ns[READ], 4); /* with what lay between */
    io_chart_fini(&c);
    io_chart_init(&c);
    c.least_ns = 15;
    assert_true(draw(&c, STEPS, 6, 1));
    const struct io_cell *cells = c.rows.items[0].cells;
    assert_int_equal(cells[1].ns[READ], 10);
    assert_int_equal(cells[1].failed, 1);
    assert_int_equal(cells[2].ns[READ] + cells[3].ns[READ], 10 + 8); /* up to 138, nothing twice */
    assert_int_equal(c.threads.items[0].ns[READ], 3);
    io_chart_fini(&c);
}

static void a_little_of_all(void) {
    struct io_chart c;
    io_chart_init(&c);
    draw(&c, BOTH, BOTH_COUNT, 7);
    io_chart_fini(&c);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(a_little_of_all());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_not_whole),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
