/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/check_intervals.h"
#include "tests/support/fail_alloc.h"

enum { A = 101, B = 102, C = 103 };

struct log {
    VEC(struct states_interval) list;
    struct check_intervals check;
};

static bool note(void *ctx, const struct states_interval *i) {
    struct log *l = ctx;
    struct states_interval *to = vec_push(&l->list);
    if (!to)
        return false;
    *to = *i;
    return check_intervals_add(&l->check, i);
}

static void end(struct states *s, struct log *l) {
    assert_true(states_finish(s));
    const char *wrong = check_intervals_end(&l->check, s);
    if (wrong)
        fail_msg("%s", wrong);
}

static void drop(struct states *s, struct log *l) {
    states_fini(s);
    vec_fini(&l->list);
    vec_fini(&l->check.threads);
}

static void at(struct states *s, uint64_t time, enum states_event_kind kind, uint32_t cpu, uint32_t tid,
               uint32_t other) {
    const struct states_event e = {
        .kind = kind, .time_ns = time, .cpu = cpu, .tid = tid, .other = other, .state = STATES_SLEEPING};
    assert_true(states_apply(s, &e));
}

static void swap(struct states *s, uint64_t time, uint32_t cpu, uint32_t prev, enum states_state state,
                 uint32_t next) {
    struct states_event e = {
        .kind = STATES_OUT, .time_ns = time, .cpu = cpu, .tid = prev, .other = STATES_NONE, .state = state};
    assert_true(states_apply(s, &e));
    e.kind = STATES_IN;
    e.tid = next;
    assert_true(states_apply(s, &e));
}

/* The intervals of a thread as text: "U0-5 R5-9". */
static const char *text(const struct states *s, const struct log *l, uint32_t tid) {
    static const char LETTERS[] = "?NR+pSDTX";
    static char room[1024];
    size_t n = 0;
    room[0] = 0;
    for (size_t i = 0; i < l->list.count; i++) {
        const struct states_interval *v = &l->list.items[i];
        if (states_thread(s, v->thread)->tid == tid && n < sizeof room - 64)
            n += (size_t)snprintf(room + n, sizeof room - n, "%s%c%d-%d%s", n ? " " : "", LETTERS[v->state],
                                  (int)v->since_ns, (int)v->until_ns, v->end_unseen ? "!" : "");
    }
    return room;
}

static void test_a_sleep_and_a_wait(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 10, 0, 0, STATES_PREEMPTED, A);
    at(&s, 15, STATES_WAKE, 0, B, 0);
    swap(&s, 20, 0, A, STATES_SLEEPING, B);
    at(&s, 30, STATES_WAKE, 1, A, 0);
    swap(&s, 35, 0, B, STATES_PREEMPTED, A);
    swap(&s, 50, 0, A, STATES_BLOCKED, B);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R10-20 S20-30 +30-35 R35-50");
    assert_string_equal(text(&s, &l, B), "?10-15 +15-20 R20-35 p35-50 R50-50");
    assert_int_equal(s.faults.half_pairs, 0);
    assert_int_equal(s.faults.unwoken, 0);
    drop(&s, &l);
}

/* Woken between the decision to sleep and the switch: it never slept. */
static void test_woken_on_the_way_out(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    swap(&s, 0, 1, 0, STATES_PREEMPTED, B);
    at(&s, 8, STATES_WAKE, 1, A, 0);
    swap(&s, 10, 0, A, STATES_SLEEPING, C);
    swap(&s, 14, 0, C, STATES_SLEEPING, A);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R0-10 +10-14 R14-14");
    for (size_t i = 0; i < l.list.count; i++)
        if (l.list.items[i].state == STATES_RUNNABLE)
            assert_int_equal(states_thread(&s, l.list.items[i].waker)->tid, B);
    assert_int_equal(s.faults.unwoken, 0);
    drop(&s, &l);
    /* The same, but it went on, and slept later: then it is woken again. */
    l = (struct log){0};
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    at(&s, 8, STATES_WAKE, 1, A, 0);
    swap(&s, 10, 0, A, STATES_SLEEPING, 0);
    at(&s, 12, STATES_WAKE, 1, A, 0);
    swap(&s, 14, 0, 0, STATES_PREEMPTED, A);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R0-10 S10-12 +12-14 R14-14");
    drop(&s, &l);
}

static void test_fork_exec_and_death(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    at(&s, 5, STATES_FORK, 0, B, A);
    at(&s, 7, STATES_WAKE, 0, B, 0);
    swap(&s, 10, 0, A, STATES_SLEEPING, B);
    at(&s, 12, STATES_EXEC, 0, B, B);
    at(&s, 15, STATES_EXIT, 0, B, STATES_NONE);
    swap(&s, 20, 0, B, STATES_SLEEPING, 0);
    at(&s, 30, STATES_FORK, 1, B, A); /* the tid again */
    at(&s, 40, STATES_TICK, 1, 0, 0);
    end(&s, &l);
    assert_string_equal(text(&s, &l, B), "N5-7 +7-10 R10-12 R12-20 X20-30 N30-40");
    assert_int_equal(s.faults.reused, 0);
    drop(&s, &l);
    /* A thread that is not its process's first begins another program: it becomes that one. */
    l = (struct log){0};
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    swap(&s, 5, 0, A, STATES_SLEEPING, B);
    at(&s, 9, STATES_EXEC, 0, A, B);
    swap(&s, 11, 0, A, STATES_SLEEPING, 0);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R0-5 S5-9 R9-11");
    assert_string_equal(text(&s, &l, B), "?0-5 R5-9 X9-11");
    assert_int_equal(s.faults.half_pairs, 0);
    drop(&s, &l);
}

static void test_a_loss_makes_unknown(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    swap(&s, 0, 1, 0, STATES_PREEMPTED, B);
    at(&s, 10, STATES_TICK, 0, 0, 0);
    at(&s, 20, STATES_LOST, 0, 0, 0);
    swap(&s, 30, 0, C, STATES_SLEEPING, A); /* C ran at least since the loss */
    swap(&s, 40, 1, B, STATES_SLEEPING, 0);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R0-10 ?10-30 R30-40");
    assert_string_equal(text(&s, &l, B), "R0-40");
    assert_string_equal(text(&s, &l, C), "?0-20 R20-30 S30-40");
    assert_int_equal(s.faults.half_pairs, 0);
    drop(&s, &l);
    /* On an unknown CPU. */
    l = (struct log){0};
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    swap(&s, 3, 1, 0, STATES_PREEMPTED, B);
    at(&s, 20, STATES_LOST, STATES_NONE, 0, 0);
    swap(&s, 30, 0, A, STATES_SLEEPING, C);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R0-3 ?3-30 R30-30");
    assert_string_equal(text(&s, &l, B), "?0-3 R3-3 ?3-30");
    drop(&s, &l);
}

static void test_half_pairs(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    swap(&s, 10, 0, B, STATES_SLEEPING, C); /* where A left is missing */
    swap(&s, 20, 1, C, STATES_SLEEPING, 0); /* where C left the other CPU is missing */
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "?0-20");
    assert_string_equal(text(&s, &l, B), "?0-10 S10-20");
    assert_string_equal(text(&s, &l, C), "?0-10 ?10-20");
    assert_int_equal(s.faults.half_pairs, 2);
    drop(&s, &l);
    /* A wake-up is missing, time goes back, a tid is reused. */
    l = (struct log){0};
    states_init(&s, note, &l);
    swap(&s, 10, 0, 0, STATES_PREEMPTED, A);
    swap(&s, 20, 0, A, STATES_SLEEPING, 0);
    swap(&s, 15, 0, 0, STATES_PREEMPTED, A);
    at(&s, 30, STATES_FORK, 1, A, B);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R10-20 ?20-30");
    assert_int_equal(s.faults.backwards, 2);
    assert_int_equal(s.faults.unwoken, 1);
    assert_int_equal(s.faults.reused, 1);
    drop(&s, &l);
}

/* ---- anything at all ---- */

static uint32_t random_next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static bool play(struct states *s, uint64_t seed, unsigned count) {
    uint64_t time = 1000;
    bool ok = true;
    for (unsigned n = 0; n < count && ok; n++) {
        uint32_t r = random_next(&seed);
        time += random_next(&seed) % 4;
        struct states_event e = {.kind = (enum states_event_kind)(r % (STATES_LOST + 1)),
                                 .time_ns = r % 50 ? time : time - 7,
                                 .cpu = r / 16 % 8 == 7 ? STATES_NONE : r / 16 % 3,
                                 .tid = random_next(&seed) % 6,
                                 .other = random_next(&seed) % 6,
                                 .state = (enum states_state)(random_next(&seed) % STATES_COUNT),
                                 .interrupt = r & 1024};
        if (e.kind == STATES_LOST && r & 0x7000)
            e.kind = STATES_WAKE;
        ok = states_apply(s, &e);
    }
    return ok && states_finish(s);
}

/* Recorded of A alone, CPU by CPU: who ran after it is not seen to leave, and not said to run until the end.
 */
static void test_switches_of_one_thread(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 10, 0, A, STATES_SLEEPING, B);
    swap(&s, 20, 0, A, STATES_SLEEPING, C);
    swap(&s, 30, 0, A, STATES_SLEEPING, B);
    at(&s, 90, STATES_TICK, 0, 0, 0);
    end(&s, &l);
    assert_string_equal(text(&s, &l, B), "?10-30 ?30-90");
    assert_string_equal(text(&s, &l, C), "?10-20 ?20-90");
    drop(&s, &l);
}

static void test_random_events_partition(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct log l = {0};
        struct states s;
        states_init(&s, note, &l);
        assert_true(play(&s, seed, 10 + seed % 200));
        const char *wrong = check_intervals_end(&l.check, &s);
        if (wrong)
            fail_msg("seed %d: %s", (int)seed, wrong);
        drop(&s, &l);
    }
}

static void test_out_of_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC({
        struct log l = {0};
        struct states s;
        states_init(&s, note, &l);
        play(&s, 7, 300);
        drop(&s, &l);
    });
}

static void ran(struct states *s, uint64_t time, uint32_t cpu, uint32_t tid, uint64_t ns, bool local) {
    const struct states_event e = {.kind = STATES_RAN,
                                   .time_ns = time,
                                   .cpu = cpu,
                                   .tid = tid,
                                   .other = STATES_NONE,
                                   .ran_ns = ns,
                                   .local = local};
    assert_true(states_apply(s, &e));
}

/* A thread that ends is preempted on the way. */
static void test_preempted_while_exiting(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 0, 0, 0, STATES_PREEMPTED, A);
    at(&s, 5, STATES_EXIT, 0, A, STATES_NONE);
    struct states_event out = {.kind = STATES_OUT,
                               .time_ns = 10,
                               .tid = A,
                               .other = STATES_NONE,
                               .state = STATES_PREEMPTED,
                               .letter = 'R'};
    assert_true(states_apply(&s, &out));
    at(&s, 10, STATES_IN, 0, B, STATES_NONE);
    swap(&s, 20, 0, B, STATES_SLEEPING, A);
    out.time_ns = 30;
    out.state = STATES_DEAD;
    out.letter = 'Z';
    assert_true(states_apply(&s, &out));
    at(&s, 30, STATES_IN, 0, 0, STATES_NONE);
    at(&s, 40, STATES_TICK, 0, 0, STATES_NONE);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R0-10 p10-20 R20-30 X30-40");
    assert_int_equal(s.faults.reused, 0);
    drop(&s, &l);
}

/* The switch from the idle thread is not recorded. */
static void test_told_by_run_times(void **state) {
    (void)state;
    struct log l = {0};
    struct states s;
    states_init(&s, note, &l);
    swap(&s, 10, 0, A, STATES_SLEEPING, 0);
    at(&s, 30, STATES_WAKE, 0, A, 0);
    ran(&s, 37, 0, A, 5, false); /* as another CPU sees it: where it runs is not known */
    ran(&s, 38, 0, A, 6, true);  /* since 32 */
    ran(&s, 40, 0, A, 2, true);  /* it goes on */
    swap(&s, 41, 0, A, STATES_SLEEPING, 0);
    at(&s, 50, STATES_WAKE, 0, A, 0);
    ran(&s, 55, 0, A, 9, true); /* before it was woken: this contradicts */
    swap(&s, 56, 0, A, STATES_SLEEPING, 0);
    swap(&s, 58, 0, 0, STATES_PREEMPTED, B);
    ran(&s, 70, 0, C, 3,
        true); /* B left, or C is older than that: B is unknown, C was not seen to be woken */
    swap(&s, 80, 0, C, STATES_SLEEPING, 0);
    end(&s, &l);
    assert_string_equal(text(&s, &l, A), "R10-10 S10-30 +30-32 R32-41 S41-50 ?50-56 S56-80");
    assert_string_equal(text(&s, &l, B), "?10-58 ?58-80");
    assert_string_equal(text(&s, &l, C), "?10-67 R67-80");
    assert_int_equal(s.faults.told, 2);
    assert_int_equal(s.faults.half_pairs, 1);
    for (size_t i = 0; i < l.list.count; i++) {
        const struct states_interval *v = &l.list.items[i];
        bool told = v->state == STATES_RUNNING && (v->since_ns == 32 || v->since_ns == 67);
        assert_int_equal(v->begin_told, told);
    }
    drop(&s, &l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sleep_and_a_wait),
        cmocka_unit_test(test_woken_on_the_way_out),
        cmocka_unit_test(test_fork_exec_and_death),
        cmocka_unit_test(test_a_loss_makes_unknown),
        cmocka_unit_test(test_half_pairs),
        cmocka_unit_test(test_switches_of_one_thread),
        cmocka_unit_test(test_random_events_partition),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_told_by_run_times),
        cmocka_unit_test(test_preempted_while_exiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
