/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_test_records.h"

#include <stdio.h>

/* ---- mappings ---- */

static void test_later_map_cuts(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(1, 0x1000, 0x6000, "/a"));
    at(m, 20, rec_map(1, 0x3000, 0x1000, "/b"));
    at(m, 30, rec_map(1, 0x0, 0x1001, "/c"));
    freeze(m);
    assert_dso(1, 9, 0x1000, "-");
    assert_dso(1, 10, 0x3000, "/a");
    assert_dso(1, 19, 0x3fff, "/a");
    assert_dso(1, 20, 0x2fff, "/a");
    assert_dso(1, 20, 0x3000, "/b");
    assert_dso(1, 20, 0x3fff, "/b");
    assert_dso(1, 20, 0x4000, "/a");
    assert_dso(1, 20, 0x6fff, "/a");
    assert_dso(1, 20, 0x7000, "-");
    assert_dso(1, 30, 0x1000, "/c");
    assert_dso(1, 30, 0x1001, "/a");
    assert_dso(2, 30, 0x1000, "-");

    struct model_pieces pieces = {0};
    static const struct model_piece want[] = {
        {0, 0x1000, 2}, {0x1001, 0x2fff, 0}, {0x3000, 0x3fff, 1}, {0x4000, 0x6fff, 0}};
    assert_true(model_pieces_at(m, MODEL_SPACE_USER, 1, MODEL_WHEN_END, &pieces));
    assert_int_equal(pieces.list.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pieces.list.items[i].start, want[i].start);
        assert_int_equal(pieces.list.items[i].last, want[i].last);
        assert_int_equal(pieces.list.items[i].mapping, want[i].mapping);
    }
    vec_fini(&pieces.list);
    model_free(m);
}

static void test_late_map_counts_from_its_time(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 30, rec_map(1, 0x1000, 0x1000, "/new"));
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/old"));
    at(m, 0, rec_map(1, 0x1000, 0x1000, "/oldest"));
    freeze(m);
    assert_dso(1, 0, 0x1000, "/oldest");
    assert_dso(1, 9, 0x1000, "/oldest");
    assert_dso(1, 20, 0x1000, "/old");
    assert_dso(1, 30, 0x1000, "/new");
    model_free(m);
}

static void test_equal_times_go_by_order(void **state) {
    (void)state;
    struct model *m = batch();
    struct perfdata_record a = rec_map(1, 0x1000, 0x1000, "/a"), b = rec_map(1, 0x1000, 0x1000, "/b");
    assert_true(model_apply(m, &b, (struct model_when){7, 200}, NULL));
    assert_true(model_apply(m, &a, (struct model_when){7, 100}, NULL));
    freeze(m);
    struct model_hit hit;
    assert_false(model_find(m, U, 1, (struct model_when){7, 99}, 0x1000, &hit));
    assert_true(model_find(m, U, 1, (struct model_when){7, 100}, 0x1000, &hit));
    assert_string_equal(model_image(m, hit.image)->name, "/a");
    assert_true(model_find(m, U, 1, (struct model_when){7, 199}, 0x1000, &hit));
    assert_string_equal(model_image(m, hit.image)->name, "/a");
    assert_true(model_find(m, U, 1, (struct model_when){7, 200}, 0x1000, &hit));
    assert_string_equal(model_image(m, hit.image)->name, "/b");
    assert_int_equal(model_mapping(m, hit.mapping).order, 200);
    struct model_when prior = model_when_prior((struct model_when){7, 200});
    assert_true(model_find(m, U, 1, prior, 0x1000, &hit));
    assert_string_equal(model_image(m, hit.image)->name, "/a");
    prior = model_when_prior((struct model_when){7, 0});
    assert_true(model_when_before(prior, (struct model_when){7, 0}));
    assert_int_equal(prior.time_ns, 6);
    model_free(m);
}

static void test_edges_of_the_address_space(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 1, rec_map(1, 0x1000, 0, "/empty"));
    at(m, 2, rec_map(1, 0xffffffffffffe000, 0x5000, "/wraps"));
    at(m, 3, rec_map(1, 0xffffffffffffffff, 1, "/byte"));
    at(m, 3, rec_map(2, 0, UINT64_MAX, "/all but one"));
    at(m, 4, rec_map(2, 0x10, 1, "/byte"));
    at(m, 5, rec_map(3, 0x1000, UINT64_MAX, "/wraps"));
    at(m, 6, rec_map(3, 0x1000, UINT64_MAX - 0x1000, "/to the end"));
    at(m, 7, rec_mmap(0, 4, 0x1000, 0x1000, 0, "/without a cpumode"));
    freeze(m);
    assert_dso(4, 9, 0x1000, "/without a cpumode");
    assert_dso(1, 9, 0x1000, "-");
    assert_dso(1, 2, 0xffffffffffffffff, "/wraps");
    assert_dso(1, 9, 0xfffffffffffffffe, "/wraps");
    assert_dso(1, 9, 0xffffffffffffffff, "/byte");
    assert_dso(1, 9, 0, "-"); /* a wrapping length is cut at 2^64 */
    assert_dso(2, 9, 0, "/all but one");
    assert_dso(2, 9, 0x10, "/byte");
    assert_dso(2, 9, 0x11, "/all but one");
    assert_dso(2, 9, 0xfffffffffffffffe, "/all but one");
    assert_dso(2, 9, 0xffffffffffffffff, "-");
    assert_dso(3, 9, 0xfffffffffffffffe, "/to the end");
    assert_dso(3, 9, 0xfff, "-");
    model_free(m);
}

static void test_offset_in_image(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 1, rec_mmap(U, 1, 0x400000, 0x3000, 0x5000, "/a"));
    at(m, 2, rec_map(1, 0x401000, 0x1000, "/b"));
    freeze(m);
    assert_int_equal(offset(m, U, 1, 2, 0x400010), 0x5010);
    assert_int_equal(offset(m, U, 1, 2, 0x402010), 0x7010); /* the cut does not move it */
    assert_int_equal(offset(m, U, 1, 2, 0x401010), 0x10);
    model_free(m);
}

/* More changes than the log of a space holds: answers come from its trees, at every instant. */
static void test_many_maps(void **state) {
    (void)state;
    enum { N = 500 };
    struct model *m = batch();
    char name[16];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "/%d", i);
        at(m, 10 + (uint64_t)i, rec_map(1, (uint64_t)(i * 7 % N) << 12, 0x1800, name));
    }
    freeze(m);
    for (int t = 0; t < N; t += 13)
        for (int page = 0; page < N; page++) {
            /* The first half of a page is of its own map or, if that is not there yet or older, of its
             * predecessor's tail; the second half only of its own. */
            const char *own = "-", *tail = "-";
            char own_name[16], tail_name[16];
            int own_at = -1, tail_at = -1;
            for (int i = 0; i <= t; i++) {
                if (i * 7 % N == page)
                    own_at = i;
                if (i * 7 % N == page - 1)
                    tail_at = i;
            }
            snprintf(own_name, sizeof own_name, "/%d", own_at);
            snprintf(tail_name, sizeof tail_name, "/%d", tail_at);
            own = own_at < 0 ? own : own_name;
            tail = tail_at > own_at ? tail_name : own;
            assert_dso(1, 10 + (uint64_t)t, ((uint64_t)page << 12) + 0x7ff, tail);
            assert_dso(1, 10 + (uint64_t)t, ((uint64_t)page << 12) + 0x800, own);
        }
    model_free(m);
}

/* ---- forks, execs, exits ---- */

static void test_fork_shares_until_either_changes(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 20, rec_fork(2, 2, 1, 1));
    at(m, 30, rec_map(2, 0x1000, 0x800, "/child"));
    at(m, 40, rec_map(1, 0x9000, 0x1000, "/parent"));
    freeze(m);
    assert_dso(2, 19, 0x1000, "-");
    assert_dso(2, 20, 0x1000, "/a");
    assert_dso(2, 30, 0x1000, "/child");
    assert_dso(2, 30, 0x1800, "/a");
    assert_dso(1, 30, 0x1000, "/a");
    assert_dso(1, 40, 0x9000, "/parent");
    assert_dso(2, 40, 0x9000, "-");
    model_free(m);
}

/* The child inherits what the parent had at that time, wherever the records lie in the file. */
static void test_fork_before_parents_maps_in_file(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 20, rec_fork(2, 2, 1, 1));
    at(m, 30, rec_map(1, 0x1000, 0x1000, "/late"));
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/early"));
    freeze(m);
    assert_dso(2, 40, 0x1000, "/early");
    assert_dso(1, 40, 0x1000, "/late");
    model_free(m);
}

/* What perf record makes up for running processes says only who is whose child. */
static void test_synthesised_fork_inherits_no_maps(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_comm(1, 1, "one"));
    at(m, 0, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 0, rec_fork_synthesised(2, 2, 1, 1));
    struct perfdata_record flagged = rec_fork(3, 3, 1, 1);
    flagged.misc = PERFDATA_MISC_FORK_EXEC;
    at(m, 5, flagged);
    freeze(m);
    assert_dso(2, 9, 0x1000, "-");
    assert_dso(3, 9, 0x1000, "-");
    assert_comm(2, 2, 9, "one");
    assert_int_equal(model_process(m, model_process_at(m, 3, upto(9)))->ppid, 1);
    model_free(m);
}

/* perf record goes through /proc by number: a child may come before its parent, and twice. */
static void test_synthesised_forks_in_any_order(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_fork_synthesised(30, 30, 900, 900));
    at(m, 0, rec_comm(30, 30, "child"));
    at(m, 0, rec_map(30, 0x1000, 0x1000, "/child"));
    at(m, 0, rec_fork_synthesised(900, 900, 1, 1));
    at(m, 0, rec_comm(900, 900, "parent"));
    at(m, 0, rec_fork_synthesised(900, 901, 900, 900));
    at(m, 0, rec_fork_synthesised(30, 30, 900, 900));
    freeze(m);
    assert_int_equal(model_process_count(m), 3);
    assert_int_equal(model_thread_count(m), 4);
    const struct model_process *p = model_process(m, model_process_at(m, 900, upto(0)));
    assert_int_equal(p->ppid, 1);
    assert_true(p->forked);
    assert_int_equal(model_process(m, model_process_at(m, 30, upto(0)))->ppid, 900);
    assert_dso(30, 0, 0x1000, "/child");
    assert_comm(30, 30, 0, "child");
    assert_comm(900, 901, 0, "parent");
    model_free(m);
}

static void test_threads_share(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 20, rec_fork(1, 2, 1, 1));
    struct perfdata_record by_thread = rec_map(1, 0x1000, 0x1000, "/b");
    by_thread.mmap.tid = 2;
    at(m, 30, by_thread);
    at(m, 40, rec_fork(5, 5, 1, 2));
    freeze(m);
    assert_dso(1, 20, 0x1000, "/a");
    assert_dso(1, 30, 0x1000, "/b");
    assert_dso(5, 40, 0x1000, "/b");
    assert_int_equal(model_process_count(m), 2);
    model_free(m);
}

static void test_exec_clears(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 20, rec_fork(2, 2, 1, 1));
    at(m, 30, rec_exec(2, "new"));
    at(m, 40, rec_map(2, 0x5000, 0x1000, "/new"));
    at(m, 50, rec_comm(1, 1, "prctl")); /* a new name alone changes no mapping */
    freeze(m);
    assert_dso(2, 29, 0x1000, "/a");
    assert_dso(2, 30, 0x1000, "-");
    assert_dso(2, 40, 0x5000, "/new");
    assert_dso(2, 40, 0x1000, "-");
    assert_dso(1, 50, 0x1000, "/a");
    bool exec = false;
    assert_string_equal(model_comm(m, 2, 2, upto(40), &exec), "new");
    assert_true(exec);
    assert_string_equal(model_comm(m, 1, 1, upto(50), &exec), "prctl");
    assert_false(exec);
    model_free(m);
}

/* While execve runs, the callers of its system call are those of the program that it replaces. */
static void test_exec_going_on(void **state) {
    (void)state;
    for (int with_vdso = 0; with_vdso < 2; with_vdso++) {
        struct model *m = batch();
        at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
        at(m, 20, rec_fork(2, 2, 1, 1));
        at(m, 21, rec_map(2, 0x2000, 0x1000, "/b"));
        at(m, 30, rec_exec(2, "new"));
        at(m, 41, rec_map(2, 0x5000, 0x1000, "/new"));
        at(m, 42, rec_map(2, 0x6000, 0x1000, "/ld.so"));
        at(m, 43, rec_map(2, 0x7000, 0x1000, with_vdso ? "[vdso]" : "/more"));
        at(m, 44, rec_map(2, 0x8000, 0x1000, "/libc"));
        at(m, 45, rec_map(2, 0x9000, 0x1000, "/libm"));
        at(m, 60, rec_exec(2, "again"));
        at(m, 61, rec_exec(2, "and again")); /* nothing was mapped in between */
        at(m, 70, rec_exit(2, 2, 1));
        freeze(m);
        assert_before_exec(2, 29, 0x1000, "-"); /* model_find's business */
        assert_before_exec(2, 30, 0x1000, "/a");
        assert_before_exec(2, 30, 0x2000, "/b");
        assert_before_exec(2, 30, 0x3000, "-");
        assert_before_exec(2, 43, 0x1000, "/a");
        assert_before_exec(2, 43, 0x5000, "-");
        assert_before_exec(2, 44, 0x1000, with_vdso ? "-" : "/a");
        assert_before_exec(2, 45, 0x1000, "-");
        assert_before_exec(2, 61, 0x5000, "/new");
        assert_before_exec(2, 61, 0x1000, "-");
        assert_before_exec(2, 70, 0x5000, "/new"); /* an exit has nothing to clear */
        assert_before_exec(1, 30, 0x1000, "-");
        assert_before_exec(3, 30, 0x1000, "-");
        model_free(m);
    }
}

/* An exit or a new process with the pid is no exec. */
static void test_exit_is_no_exec(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 20, rec_exit(1, 1, 9));
    at(m, 30, rec_map(1, 0x2000, 0x1000, "/b"));
    freeze(m);
    assert_before_exec(1, 20, 0x1000, "-");
    assert_before_exec(1, 30, 0x1000, "-");
    model_free(m);
}

static void test_last_exit_ends_the_process(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_comm(1, 1, "main"));
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 20, rec_fork(1, 2, 1, 1));
    at(m, 30, rec_exit(1, 1, 9)); /* the leader goes first */
    at(m, 40, rec_exit(1, 2, 1));
    freeze(m);
    assert_dso(1, 30, 0x1000, "/a");
    assert_dso(1, 39, 0x1000, "/a");
    assert_dso(1, 40, 0x1000, "-");
    const struct model_process *p = model_process(m, model_process_at(m, 1, MODEL_WHEN_END));
    assert_true(p->exited);
    assert_int_equal(p->ended.time_ns, 40);
    assert_int_equal(p->ppid, 9); /* only the exit said so */
    assert_dso(1, 40, 0x1000, "-");
    struct model_hit hit;
    assert_true(model_find(m, U, 1, model_when_prior(p->ended), 0x1000, &hit));
    model_free(m);
}

/* A process that was there before, seen through one of its threads: that thread's exit is not the end. */
static void test_unknown_leader_lives(void **state) {
    (void)state;
    struct model *m = batch();
    struct perfdata_record by_thread = rec_map(1, 0x1000, 0x1000, "/a");
    by_thread.mmap.tid = 5;
    at(m, 10, by_thread);
    at(m, 20, rec_exit(1, 5, 1));
    at(m, 30, rec_exit(1, 1, 9));
    freeze(m);
    assert_dso(1, 10, 0x1000, "/a");
    assert_comm(1, 1, 29, "-");
    assert_comm(1, 5, 29, "-");
    assert_int_equal(model_thread_count(m), 2);
    assert_dso(1, 29, 0x1000, "/a");
    assert_dso(1, 30, 0x1000, "-");
    model_free(m);
}

static void test_pid_is_used_again(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_comm(1, 1, "one"));
    at(m, 5, rec_map(1, 0x7000, 0x1000, "/one"));
    at(m, 10, rec_fork(2, 2, 9, 9));
    at(m, 11, rec_comm(2, 2, "first"));
    at(m, 12, rec_map(2, 0x1000, 0x1000, "/first"));
    at(m, 20, rec_exit(2, 2, 9));
    at(m, 30, rec_fork(2, 2, 1, 1)); /* after an exit */
    at(m, 40, rec_map(2, 0x3000, 0x1000, "/second"));
    at(m, 50, rec_fork(2, 2, 9, 9)); /* the exit was lost, and the parent is unknown */
    at(m, 60, rec_map(2, 0x5000, 0x1000, "/third"));
    at(m, 70, rec_exit(2, 2, 9));
    at(m, 80, rec_map(2, 0x9000, 0x1000, "/fourth")); /* the fork was lost */
    freeze(m);
    assert_dso(2, 19, 0x1000, "/first");
    assert_dso(2, 29, 0x1000, "-");
    assert_comm(2, 2, 19, "first");
    assert_comm(2, 2, 29, "-");
    assert_comm(2, 2, 30, "one");
    assert_dso(2, 30, 0x1000, "-");
    assert_dso(2, 40, 0x3000, "/second");
    assert_dso(2, 40, 0x7000, "/one");
    assert_dso(2, 50, 0x3000, "-");
    assert_dso(2, 50, 0x7000, "-");
    assert_comm(2, 2, 50, "-");
    assert_dso(2, 60, 0x5000, "/third");
    assert_dso(2, 80, 0x9000, "/fourth");
    assert_dso(2, 80, 0x5000, "-");

    uint32_t first = model_process_at(m, 2, upto(15)), second = model_process_at(m, 2, upto(45)),
             third = model_process_at(m, 2, upto(65)), fourth = model_process_at(m, 2, upto(85));
    assert_int_equal(model_process_at(m, 2, upto(9)), MODEL_NONE);
    assert_int_equal(model_process_at(m, 2, upto(25)), first); /* the latest, though it ended */
    assert_true(first < second && second < third && third < fourth);
    assert_true(model_process(m, first)->exited && model_process(m, first)->forked);
    assert_false(model_process(m, second)->exited);
    assert_int_equal(model_process(m, second)->ended.time_ns, 50);
    assert_int_equal(model_process(m, second)->ppid, 1);
    assert_false(model_process(m, fourth)->forked);
    assert_int_equal(model_process(m, fourth)->ppid, MODEL_NONE);
    assert_int_equal(model_process(m, fourth)->ended.time_ns, UINT64_MAX);
    model_free(m);
}

/* A thread that is not the leader and execs takes the leader's id; its own never exits. */
static void test_exec_of_many_threads(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_comm(1, 1, "main"));
    at(m, 10, rec_fork(1, 2, 1, 1));
    at(m, 11, rec_fork(1, 3, 1, 1));
    at(m, 20, rec_exit(1, 1, 9));
    at(m, 30, rec_exec(1, "new"));
    at(m, 40, rec_map(1, 0x1000, 0x1000, "/new"));
    at(m, 50, rec_exit(1, 3, 1)); /* late: the process goes on */
    at(m, 60, rec_exit(1, 1, 9));
    freeze(m);
    assert_dso(1, 50, 0x1000, "/new");
    assert_dso(1, 59, 0x1000, "/new");
    assert_dso(1, 60, 0x1000, "-");
    assert_int_equal(model_process_count(m), 1); /* an exit does not prove that the parent lives */
    assert_int_equal(model_thread_count(m), 4);  /* the leader's id was used twice */
    assert_int_equal(model_thread(m, model_thread_at(m, 1, 3, upto(60)))->ended.time_ns, 50);
    assert_int_equal(model_thread(m, model_thread_at(m, 1, 3, upto(60)))->born.time_ns, 11);
    model_free(m);
}

static void test_exec_of_a_leader_with_threads(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_fork(2, 2, 1, 5));
    at(m, 20, rec_fork(2, 3, 2, 2));
    at(m, 30, rec_exec(2, "new"));
    at(m, 31, rec_map(2, 0x1000, 0x1000, "/new"));
    at(m, 40, rec_exit(2, 2, 1)); /* thread 3 died without a record */
    freeze(m);
    const struct model_thread *t = model_thread(m, model_thread_at(m, 2, 2, upto(35)));
    assert_int_equal(t->ppid, 1);
    assert_int_equal(t->ptid, 5);
    assert_dso(2, 39, 0x1000, "/new");
    assert_dso(2, 40, 0x1000, "-");
    model_free(m);
}

static void test_odd_families(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 10, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 20, rec_fork(1, 1, 1, 1)); /* forks itself */
    at(m, 30, rec_fork(2, 2, 1, 1));
    at(m, 40, rec_fork(1, 1, 2, 2)); /* its child forks it */
    at(m, 50, rec_fork(4, 4, 3, 3)); /* nobody knows the parent */
    at(m, 60, rec_fork(6, 7, 6, 6)); /* nor this one, of which a thread is new */
    freeze(m);
    assert_dso(1, 29, 0x1000, "/a");
    assert_dso(2, 30, 0x1000, "/a");
    assert_dso(1, 40, 0x1000, "/a");
    assert_dso(4, 50, 0x1000, "-");
    assert_int_not_equal(model_process_at(m, 4, upto(50)), MODEL_NONE);
    assert_int_not_equal(model_process_at(m, 3, upto(50)),
                         MODEL_NONE); /* the parent is proved by its child */
    assert_int_not_equal(model_thread_at(m, 6, 7, upto(60)), MODEL_NONE);
    assert_int_not_equal(model_thread_at(m, 6, 6, upto(60)), MODEL_NONE);
    assert_int_equal(model_process_at(m, 6, upto(60)),
                     model_thread(m, model_thread_at(m, 6, 7, upto(60)))->process);
    model_free(m);
}

static void test_processes_and_threads_are_listed(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 20, rec_fork(5, 6, 5, 5));
    at(m, 10, rec_fork(5, 5, 1, 3));
    at(m, 30, rec_exit(5, 6, 5));
    freeze(m);
    assert_int_equal(model_process_count(m), 2);
    assert_int_equal(model_process(m, 0)->pid, 1); /* in the order of birth, not of the file */
    assert_int_equal(model_process(m, 1)->pid, 5);
    assert_int_equal(model_process(m, 1)->born.time_ns, 10);
    assert_int_equal(model_thread_count(m), 4); /* the parent and its leader too */
    const struct model_thread *t = model_thread(m, model_thread_at(m, 5, 6, MODEL_WHEN_END));
    assert_int_equal(t->tid, 6);
    assert_int_equal(t->ppid, 5);
    assert_int_equal(t->ptid, 5);
    assert_int_equal(t->born.time_ns, 20);
    assert_int_equal(t->ended.time_ns, 30);
    assert_true(t->forked && t->exited);
    t = model_thread(m, model_thread_at(m, 5, 5, MODEL_WHEN_END));
    assert_int_equal(t->ptid, 3);
    assert_false(t->exited);
    assert_int_equal(model_thread_at(m, 5, 6, upto(19)), MODEL_NONE);
    assert_int_equal(model_thread_at(m, 6, 6, upto(50)), MODEL_NONE);
    model_free(m);
}

/* ---- comms ---- */

static void test_comms(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_comm(1, 1, "init"));
    at(m, 10, rec_fork(5, 5, 1, 1));
    at(m, 20, rec_exec(5, "sh"));
    at(m, 30, rec_fork(5, 6, 5, 5));
    at(m, 40, rec_comm(5, 6, "worker"));
    at(m, 45, rec_fork(8, 8, 5, 6));
    at(m, 50, rec_exit(5, 6, 5));
    at(m, 51, rec_exit(5, 5, 1));
    at(m, 60, rec_fork(5, 5, 99, 99));
    at(m, 70, rec_fork(12, 12, 0, 0));
    freeze(m);
    assert_comm(0, 0, 0, "swapper");
    assert_comm(7, 0, 0, "swapper");
    assert_comm(0, 3, 0, "-");
    assert_comm(UINT32_MAX, UINT32_MAX, 99, "-");
    assert_comm(5, 5, 9, "-");
    assert_comm(5, 5, 10, "init");
    assert_comm(5, 5, 20, "sh");
    assert_comm(5, 6, 29, "-");
    assert_comm(5, 6, 30, "sh");
    assert_comm(5, 6, 45, "worker");
    assert_comm(8, 8, 45, "worker");
    assert_comm(5, 5, 50, "sh");
    assert_comm(5, 6, 50, "-"); /* as perf: an exited thread has no name any more */
    assert_comm(5, 5, 59, "-");
    assert_comm(5, 5, 60, "-"); /* nothing is left of the earlier process */
    assert_comm(12, 12, 70, "swapper");
    model_free(m);
}

static void test_thread_map_names_the_nameless(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct model *m = batch();
        uint8_t entries[3 * 24] = {0};
        const uint64_t pids[] = {40, UINT64_MAX, 41};
        for (size_t i = 0; i < 3; i++) {
            uint64_t pid = swap ? __builtin_bswap64(pids[i]) : pids[i];
            memcpy(entries + 24 * i, &pid, 8);
            memcpy(entries + 24 * i + 8, "0123456789abcdef", 16); /* no NUL */
        }
        at(m, 0, rec_comm(41, 41, "own"));
        at(m, 0,
           (struct perfdata_record){.type = PERFDATA_RECORD_THREAD_MAP,
                                    .thread_map = {.nr = 3, .entries = {entries, sizeof entries}}});
        freeze(m);
        assert_comm(40, 40, 0, "0123456789abcdef");
        assert_comm(41, 41, 0, "own");
        assert_int_equal(model_thread_count(m), 2);
        model_free(m);
    }
}

/* ---- kernel, modules, code made at run time, guests ---- */

static void test_kernel_and_modules(void **state) {
    (void)state;
    struct model *m = batch();
    struct model_kernel_reference ref;
    assert_false(model_kernel_reference(m, MODEL_SPACE_KERNEL, &ref));
    at(m, 0,
       rec_mmap(K, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000198, "[kernel.kallsyms]_stext"));
    at(m, 0,
       rec_mmap(K, UINT32_MAX, 0xffffffffa0000000, 0x1000, 0, "/lib/modules/6.1/kernel/net/nf-nat.ko.xz"));
    at(m, 0, rec_mmap(K, UINT32_MAX, 0xffffffffa0001000, 0x1000, 0, "[foo-bar]"));
    at(m, 0, rec_mmap(K, UINT32_MAX, 0xffffffffa0002000, 0x1000, 0, "/lib/modules/6.1/x.y-z.ko.zst"));
    at(m, 50, rec_mmap(K, UINT32_MAX, 0xffffffffa0003000, 0xffffffff, 0, "/lib/modules/6.1/late.ko"));
    freeze(m);
    for (uint32_t pid = 0; pid < 3; pid++) { /* whoever is running */
        assert_string_equal(dso(m, K, pid, 1, 0xffffffff81000010), "[kernel.kallsyms]");
        assert_string_equal(dso(m, K, pid, 1, 0xffffffffa0000010), "[nf_nat]");
        assert_string_equal(dso(m, K, pid, 1, 0xffffffffa0001010), "[foo-bar]");
        assert_string_equal(dso(m, K, pid, 1, 0xffffffffa0002010), "x.y_z.ko.zst");
        assert_string_equal(dso(m, K, pid, 49, 0xffffffffa0003010), "-");
        assert_string_equal(dso(m, K, pid, 50, 0xffffffffa0003010), "[late]");
    }
    /* Code that ran at boot lies close after the text that the map ends with. */
    assert_string_equal(dso(m, K, 0, 1, 0xffffffff84000010), "[kernel.kallsyms]");
    assert_int_equal(offset(m, K, 0, 1, 0xffffffff84000010), 0xffffffff84000010);
    assert_string_equal(dso(m, K, 0, 1, 0xffffffff86000010), "-");
    assert_string_equal(dso(m, K, 0, 1, 0xffffffff80fffff0), "-");
    /* Only kernel mode is answered from the kernel's maps. */
    for (unsigned mode = 0; mode < 8; mode++)
        if (mode != K)
            assert_string_equal(dso(m, mode, 0, 50, 0xffffffff81000010), "-");
    assert_int_equal(offset(m, K, 0, 1, 0xffffffff81000010), 0xffffffff81000010);
    assert_int_equal(offset(m, K, 0, 1, 0xffffffffa0000010), 0x10);
    assert_true(model_kernel_reference(m, MODEL_SPACE_KERNEL, &ref));
    assert_string_equal(ref.symbol, "_stext");
    assert_int_equal(ref.address, 0xffffffff81000198);
    assert_int_equal(model_image(m, ref.image)->kind, MODEL_IMAGE_KERNEL);
    assert_string_equal(model_image(m, ref.image)->recorded, "[kernel.kallsyms]_stext");
    assert_false(model_kernel_reference(m, MODEL_SPACE_GUEST_KERNEL, &ref));
    assert_int_equal(model_process_count(m), 0); /* pid -1 is no process */
    model_free(m);
}

static void test_first_perfs_kernel_map(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_mmap(K, UINT32_MAX, 0xc0100000, 0x100000, 0xc0100000, "[kernel.kallsyms._text]"));
    freeze(m);
    struct model_kernel_reference ref;
    assert_string_equal(dso(m, K, 0, 1, 0xc0100010), "[kernel.kallsyms]");
    assert_true(model_kernel_reference(m, MODEL_SPACE_KERNEL, &ref));
    assert_string_equal(ref.symbol, "_text");
    model_free(m);
}

static void test_ksymbols_come_and_go(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_mmap(K, UINT32_MAX, 0xffffffff81000000, 0x7000000, 0, "[kernel.kallsyms]_text"));
    at(m, 10, rec_ksymbol(0xffffffffc0000000, 100, 1, 0, "bpf_prog_6deef7357e7b4530_x"));
    at(m, 10, rec_ksymbol(0xffffffffc0001000, 4096, 2, 0, "kprobe_optinsn_page"));
    at(m, 11, rec_ksymbol(0xffffffff82000000, 100, 1, 0, "bpf_prog_inside"));
    at(m, 20, rec_ksymbol(0xffffffffc0000000, 100, 1, 1, "bpf_prog_6deef7357e7b4530_x"));
    at(m, 20, rec_ksymbol(0xffffffff82000000, 100, 1, 1, "bpf_prog_inside"));
    at(m, 30, rec_ksymbol(0xffffffffc0000000, 50, 1, 0, "bpf_prog_again"));
    freeze(m);
    assert_string_equal(dso(m, K, 0, 9, 0xffffffffc0000000), "-");
    assert_string_equal(dso(m, K, 0, 10, 0xffffffffc0000063), "bpf_prog_6deef7357e7b4530_x");
    assert_string_equal(dso(m, K, 0, 10, 0xffffffffc0000064), "-");
    assert_int_equal(offset(m, K, 0, 10, 0xffffffffc0000063), 0x63);
    assert_string_equal(dso(m, K, 0, 10, 0xffffffffc0001000), "kprobe_optinsn_page");
    assert_string_equal(dso(m, K, 0, 20, 0xffffffffc0000000), "-");
    assert_string_equal(dso(m, K, 0, 30, 0xffffffffc0000000), "bpf_prog_again");
    assert_string_equal(dso(m, K, 0, 30, 0xffffffffc0000032), "-");
    assert_string_equal(dso(m, K, 0, 11, 0xffffffff82000000), "bpf_prog_inside");
    assert_string_equal(dso(m, K, 0, 20, 0xffffffff82000000),
                        "-"); /* freed memory is not the kernel's text */
    assert_string_equal(dso(m, K, 0, 20, 0xffffffff82000064), "[kernel.kallsyms]");
    struct model_hit hit;
    assert_true(model_find(m, K, 0, upto(10), 0xffffffffc0001000, &hit));
    assert_int_equal(model_image(m, hit.image)->kind, MODEL_IMAGE_KSYMBOL);
    assert_true(model_find(m, K, 0, upto(10), 0xffffffffc0000000, &hit));
    assert_int_equal(model_image(m, hit.image)->kind, MODEL_IMAGE_BPF);
    struct model_pieces pieces = {0};
    assert_true(model_pieces_at(m, MODEL_SPACE_KERNEL, 0, upto(20), &pieces));
    assert_int_equal(pieces.list.count, 3); /* the kernel before and after the hole, and the kprobes' page */
    vec_fini(&pieces.list);
    model_free(m);
}

static void test_guests_are_apart(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, rec_mmap(K, UINT32_MAX, 0xffffffff81000000, 0x1000, 0, "[kernel.kallsyms]_text"));
    at(m, 0, rec_mmap(GK, 0, 0xffffffff81000000, 0x2000, 7, "[guest.kernel.kallsyms]_text"));
    at(m, 0, rec_mmap(GK, 500, 0xffffffff81000000, 0x2000, 8, "[guest.kernel.kallsyms.500]_text"));
    at(m, 0, rec_mmap(GU, 500, 0x1000, 0x1000, 0, "/guest"));
    at(m, 0, rec_map(500, 0x1000, 0x1000, "/qemu"));
    freeze(m);
    assert_string_equal(dso(m, GK, 500, 1, 0xffffffff81000010), "[guest.kernel.kallsyms]");
    assert_string_equal(dso(m, GK, 600, 1, 0xffffffff81000010), "[guest.kernel.kallsyms]");
    assert_string_equal(dso(m, K, 500, 1, 0xffffffff81000010), "[kernel.kallsyms]");
    assert_string_equal(dso(m, K, 500, 1, 0xffffffff81001010), "-");
    assert_string_equal(dso(m, GU, 500, 1, 0x1010), "/guest");
    assert_string_equal(dso(m, U, 500, 1, 0x1010), "/qemu");
    assert_string_equal(dso(m, GU, 600, 1, 0x1010), "-");
    struct model_hit hit;
    assert_true(model_find(m, GK, 500, upto(1), 0xffffffff81000010, &hit));
    assert_string_equal(model_image(m, hit.image)->recorded, "[guest.kernel.kallsyms.500]_text");
    assert_true(model_find(m, GK, 600, upto(1), 0xffffffff81000010, &hit)); /* the default guest's */
    assert_string_equal(model_image(m, hit.image)->recorded, "[guest.kernel.kallsyms]_text");
    struct model_kernel_reference ref;
    assert_true(model_kernel_reference(m, MODEL_SPACE_GUEST_KERNEL, &ref));
    assert_int_equal(ref.address, 8);
    assert_int_equal(model_process_count(m), 1);
    model_free(m);
}

/* ---- the rest ---- */

static void test_extras(void **state) {
    (void)state;
    struct model *m = batch();
    uint8_t links[32];
    uint64_t words[] = {4, 0xf0000001, 3, 0xf0000002};
    memcpy(links, words, sizeof links);
    struct perfdata_record ns = {.type = PERFDATA_RECORD_NAMESPACES,
                                 .namespaces = {.pid = 1, .tid = 1, .nr = 2, .links = {links, 4, false}}};
    at(m, 20, ns);
    at(m, 30, rec_fork(2, 2, 1, 1));
    at(m, 40, rec_fork(3, 3, 9, 9));
    at(m, 20, (struct perfdata_record){.type = PERFDATA_RECORD_CGROUP, .cgroup = {77, rec_text("/new")}});
    at(m, 10, (struct perfdata_record){.type = PERFDATA_RECORD_CGROUP, .cgroup = {77, rec_text("/old")}});
    const uint8_t code[8] = "abcde";
    struct perfdata_record poke = {.type = PERFDATA_RECORD_TEXT_POKE, .text_poke = {0x100, 2, 3, {code, 8}}};
    at(m, 20, poke);
    poke.text_poke.addr = 0x50;
    at(m, 10, poke);
    poke.text_poke.old_len = 60; /* longer than the record */
    at(m, 5, poke);
    struct perfdata_record bpf = {.type = PERFDATA_RECORD_BPF_EVENT,
                                  .bpf_event = {1, 0, 42, {1, 2, 3, 4, 5, 6, 7, 8}}};
    at(m, 9, bpf);
    bpf.bpf_event.type = 2; /* unloaded */
    at(m, 19, bpf);
    freeze(m);

    struct model_namespaces out;
    assert_false(model_namespaces_at(m, 1, 1, upto(19), &out));
    assert_true(model_namespaces_at(m, 1, 1, upto(20), &out));
    assert_int_equal(out.count, 2);
    assert_int_equal(out.links[3], 0xf0000002);
    assert_true(model_namespaces_at(m, 2, 2, upto(30), &out)); /* inherited */
    assert_false(model_namespaces_at(m, 3, 3, upto(40), &out));
    assert_string_equal(model_cgroup(m, 77), "/new");
    assert_null(model_cgroup(m, 78));
    assert_int_equal(model_text_poke_count(m), 2);
    assert_int_equal(model_text_poke(m, 0)->address, 0x50);
    assert_int_equal(model_text_poke(m, 1)->when.time_ns, 20);
    assert_memory_equal(model_text_poke(m, 1)->bytes, "abcde", 5);
    assert_int_equal(model_bpf_program_count(m), 1);
    assert_int_equal(model_bpf_program(m, 0)->id, 42);
    assert_int_equal(model_bpf_program(m, 0)->tag[7], 8);
    model_free(m);
}

static void test_needs(void **state) {
    (void)state;
    struct model *m = new_model(MODEL_NEED_COMMS, false);
    assert_true(model_wants(m, PERFDATA_RECORD_COMM));
    assert_false(model_wants(m, PERFDATA_RECORD_MMAP2));
    assert_false(model_wants(m, PERFDATA_RECORD_SAMPLE));
    assert_false(model_wants(m, PERFDATA_RECORD_CGROUP));
    at(m, 1, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 1, rec_comm(1, 1, "a"));
    at(m, 2, rec_fork(2, 2, 1, 1));
    freeze(m);
    assert_int_equal(model_mapping_count(m), 0);
    assert_comm(2, 2, 2, "a");
    assert_dso(1, 2, 0x1000, "-");
    model_free(m);

    m = new_model(MODEL_NEED_MAPS, false);
    assert_false(model_wants(m, PERFDATA_RECORD_NAMESPACES));
    at(m, 1, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 1, rec_comm(1, 1, "a"));
    at(m, 2, rec_fork(2, 2, 1, 1));
    at(m, 3, rec_exec(2, "b"));
    freeze(m);
    assert_dso(2, 2, 0x1000, "/a");
    assert_dso(2, 3, 0x1000, "-");
    assert_comm(1, 1, 3, "-");
    assert_comm(0, 0, 3, "swapper");
    model_free(m);
}

static void test_frozen_takes_no_more(void **state) {
    (void)state;
    struct model *m = batch();
    freeze(m);
    freeze(m);
    struct err err = ERR_INIT;
    struct perfdata_record r = rec_comm(1, 1, "a"), sample = {.type = PERFDATA_RECORD_SAMPLE};
    assert_false(model_apply(m, &r, upto(1), &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_true(model_apply(m, &sample, upto(1), &err)); /* not the model's business */
    assert_dso(1, 1, 0, "-");
    assert_int_equal(model_process_at(m, 1, upto(1)), MODEL_NONE);
    model_free(m);
    model_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_map_cuts),
        cmocka_unit_test(test_late_map_counts_from_its_time),
        cmocka_unit_test(test_equal_times_go_by_order),
        cmocka_unit_test(test_edges_of_the_address_space),
        cmocka_unit_test(test_offset_in_image),
        cmocka_unit_test(test_many_maps),
        cmocka_unit_test(test_fork_shares_until_either_changes),
        cmocka_unit_test(test_fork_before_parents_maps_in_file),
        cmocka_unit_test(test_synthesised_fork_inherits_no_maps),
        cmocka_unit_test(test_synthesised_forks_in_any_order),
        cmocka_unit_test(test_threads_share),
        cmocka_unit_test(test_exec_clears),
        cmocka_unit_test(test_exec_going_on),
        cmocka_unit_test(test_exit_is_no_exec),
        cmocka_unit_test(test_last_exit_ends_the_process),
        cmocka_unit_test(test_unknown_leader_lives),
        cmocka_unit_test(test_pid_is_used_again),
        cmocka_unit_test(test_exec_of_many_threads),
        cmocka_unit_test(test_exec_of_a_leader_with_threads),
        cmocka_unit_test(test_odd_families),
        cmocka_unit_test(test_processes_and_threads_are_listed),
        cmocka_unit_test(test_comms),
        cmocka_unit_test(test_thread_map_names_the_nameless),
        cmocka_unit_test(test_kernel_and_modules),
        cmocka_unit_test(test_first_perfs_kernel_map),
        cmocka_unit_test(test_ksymbols_come_and_go),
        cmocka_unit_test(test_guests_are_apart),
        cmocka_unit_test(test_extras),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_frozen_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
