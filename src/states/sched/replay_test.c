/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "states/sched/replay.h"
#include "tests/support/fail_alloc.h"

enum { A = 11, B = 12, C = 13 };

static bool tell(struct states *s, enum states_event_kind kind, uint64_t time_ns, uint32_t tid,
                 enum states_state state, bool interrupt) {
    const struct states_event e = {.kind = kind,
                                   .time_ns = time_ns,
                                   .cpu = 0,
                                   .tid = tid,
                                   .other = kind == STATES_WAKE ? 0 : STATES_NONE,
                                   .state = state,
                                   .interrupt = interrupt};
    return states_apply(s, &e);
}

/* A wakes B twice, which counts once, and an interrupt wakes A: that B wakes it once more comes too late. */
static bool play(struct states *s) {
    return tell(s, STATES_IN, 0, A, 0, false) && tell(s, STATES_WAKE, 10, B, 0, false) &&
           tell(s, STATES_WAKE, 12, B, 0, false) && tell(s, STATES_OUT, 15, A, STATES_SLEEPING, false) &&
           tell(s, STATES_IN, 15, B, 0, false) && tell(s, STATES_WAKE, 40, A, 0, true) &&
           tell(s, STATES_WAKE, 45, A, 0, false) && tell(s, STATES_OUT, 50, B, STATES_PREEMPTED, false) &&
           tell(s, STATES_IN, 50, A, 0, false) && tell(s, STATES_OUT, 53, A, STATES_DEAD, false) &&
           tell(s, STATES_IN, 53, B, 0, false) && tell(s, STATES_OUT, 60, B, STATES_SLEEPING, false) &&
           states_finish(s);
}

static void check_steps(const struct replay *r, const struct states *s, uint32_t tid,
                        const struct replay_step *want, size_t count) {
    uint32_t index = states_find(s, tid, 0);
    assert_true(index < r->threads.count);
    const struct replay_thread *t = &r->threads.items[index];
    assert_int_equal(t->steps.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct replay_step *step = &t->steps.items[i];
        assert_int_equal(step->kind, want[i].kind);
        if (step->kind != REPLAY_WAIT)
            assert_int_equal(step->ns, want[i].ns);
        if (step->kind == REPLAY_WAKE)
            assert_int_equal(step->other, states_find(s, want[i].other, 0));
    }
}

static void test_steps(void **state) {
    (void)state;
    static const struct replay_step a[] = {{10, 0, REPLAY_RUN},
                                           {0, B, REPLAY_WAKE},
                                           {5, 0, REPLAY_RUN},
                                           {25, 0, REPLAY_SLEEP},
                                           {3, 0, REPLAY_RUN}};
    static const struct replay_step b[] = {{0, 0, REPLAY_WAIT}, {35, 0, REPLAY_RUN}, {7, 0, REPLAY_RUN}};
    struct replay r = {.runs = 0};
    struct states s;
    states_init(&s, replay_interval, &r);
    s.tap = replay_event;
    assert_true(play(&s));
    check_steps(&r, &s, A, a, 5);
    check_steps(&r, &s, B, b, 3);
    assert_true(r.runs == 5 && r.sleeps == 1 && r.waits == 1 && r.wakes == 1);
    replay_fini(&r);
    states_fini(&s);
}

static void run_short(void) {
    struct replay r = {.runs = 0};
    struct states s;
    states_init(&s, replay_interval, &r);
    s.tap = replay_event;
    assert_true(!play(&s) || r.runs == 5);
    replay_fini(&r);
    states_fini(&s);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(run_short());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
