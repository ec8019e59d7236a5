/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calls/summary.h"
#include "calls/values.h"

enum { A = 101, B = 102, READ = 0, OPENAT = 257, EXECVE = 59, EXIT_GROUP = 231, SIGRETURN = 15 };

struct log {
    struct out out;
    struct calls calls;
    struct calls_values values;
};

static const char ENDS[] = "REXT"; /* returned, enter unseen, exit unseen, thread ended */

static bool note(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    struct log *l = ctx;
    char room[CALLS_NAME_MAX];
    out_printf(&l->out, "%c %u %s(", ENDS[end], call->tid, calls_values_name(c, call, room));
    calls_values_args(&l->values, call, &l->out);
    out_str(&l->out, ") = ");
    calls_values_result(&l->values, call, &l->out);
    if (end == CALLS_RETURNED)
        out_printf(&l->out, " %u", (unsigned)(call->exit_ns - call->enter_ns));
    out_char(&l->out, '\n');
    return true;
}

static void begin(struct log *l, const char *machine) {
    *l = (struct log){.values = {.calls = &l->calls}};
    assert_true(out_init(&l->out, NULL, NULL));
    calls_init(&l->calls, machine, note, l);
}

static void end(struct log *l, const char *expected) {
    assert_true(calls_finish(&l->calls));
    assert_string_equal(out_text(&l->out), expected);
    out_fini(&l->out);
    calls_fini(&l->calls);
}

static void enter(struct log *l, uint64_t time, uint32_t tid, int64_t number, uint64_t a0, uint64_t a1,
                  uint64_t a2) {
    const struct calls_event e = {
        .time_ns = time, .tid = tid, .pid = A, .number = number, .args = {a0, a1, a2}};
    assert_true(calls_enter(&l->calls, &e));
}

static void leave(struct log *l, uint64_t time, uint32_t tid, int64_t number, int64_t result) {
    const struct calls_event e = {.time_ns = time, .tid = tid, .pid = A, .number = number, .result = result};
    assert_true(calls_exit(&l->calls, &e));
}

static void joins_by_thread(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    enter(&l, 10, A, READ, 3, 0x1000, 100);
    enter(&l, 12, B, READ, 0, 0, 0);
    leave(&l, 15, A, READ, 100);
    leave(&l, 40, B, READ, -4);
    end(&l, "R 101 read(fd: 3, buf: 0x1000, count: 100) = 100 5\n"
            "R 102 read(fd: 0) = -1 EINTR (Interrupted system call) 28\n");
}

static bool ignore(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    (void)ctx, (void)c, (void)call, (void)end;
    return true;
}

/* Those that live stay, with their open calls and names; those that ended are dropped after a while. */
static void many_threads_come_and_go(void **state) {
    enum { MANY = 60000 };
    struct calls c;
    char name[16];
    const uint8_t byte = 'm';
    (void)state;
    calls_init(&c, "x86_64", ignore, NULL);
    struct calls_event e = {.time_ns = 5, .tid = A, .pid = A, .number = READ, .memory = {{&byte, 1, false}}};
    assert_true(calls_name(&c, A, A, (struct bytes){(const uint8_t *)"stays", 5}, false));
    assert_true(calls_enter(&c, &e) && calls_map(&c, A, 0x400000));
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t tid = 1000 + i;
        e.tid = e.pid = tid;
        snprintf(name, sizeof name, "short%u", i);
        assert_true(calls_name(&c, tid, tid, (struct bytes){(const uint8_t *)name, strlen(name)}, false));
        assert_true(calls_enter(&c, &e) && calls_map(&c, tid, 0x400000) && calls_gone(&c, tid));
        assert_string_equal(calls_thread_name(&c, tid), name);
    }
    assert_true(c.threads.count < 4000 && c.processes.count < 4000 && c.names.entries.count < 4000);
    assert_string_equal(calls_thread_name(&c, 1000 + MANY - 100), "short59900");
    assert_null(calls_thread_name(&c, 1000));
    assert_string_equal(calls_thread_name(&c, A), "stays");
    const struct calls_thread *t = calls_thread(&c, A);
    assert_true(t->open && t->call.memory[0].data[0] == 'm' && t->pid == A);
    assert_true(c.processes.items[hash_map_get(&c.by_pid, A)].has_code);
    /* A number that is used again is another thread, which lives. */
    e.tid = e.pid = 1000 + MANY - 1;
    assert_true(calls_enter(&c, &e));
    assert_false(calls_thread(&c, e.tid)->gone);
    calls_fini(&c);
}

static void half_pairs_are_not_joined(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    leave(&l, 5, A, READ, 1);
    enter(&l, 10, A, READ, 3, 0, 0);
    enter(&l, 20, A, OPENAT, (uint64_t)-100, 0x20, 0);
    leave(&l, 30, A, READ, 1); /* of a call whose enter was not seen */
    enter(&l, 40, A, EXIT_GROUP, 1, 0, 0);
    assert_true(calls_gone(&l.calls, A));
    end(&l, "E 101 read() = 1\n"
            "X 101 read(fd: 3) = ?\n"
            "X 101 openat(dfd: CWD, filename: 0x20, flags: RDONLY) = ?\n"
            "E 101 read() = 1\n"
            "T 101 exit_group(error_code: 1) = ?\n");
}

static void loss_cuts_calls(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    enter(&l, 10, A, READ, 3, 0, 0);
    calls_lost(&l.calls);
    leave(&l, 20, A, READ, 7);
    enter(&l, 30, A, READ, 4, 0, 0);
    leave(&l, 35, A, READ, 8);
    assert_int_equal(l.calls.faults.cut_by_loss, 1);
    end(&l, "X 101 read(fd: 3) = ?\nE 101 read() = 7\nR 101 read(fd: 4) = 8 5\n");
}

static void exec_of_another_thread(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    enter(&l, 1, A, READ, 3, 0, 0); /* the first thread is killed in it */
    enter(&l, 10, B, EXECVE, 0x10, 0, 0);
    leave(&l, 60, A, EXECVE, 0);
    leave(&l, 70, B, READ, 0);
    end(&l, "X 101 read(fd: 3) = ?\nR 101 execve(filename: 0x10) = 0 50\nE 102 read() = 0\n");
}

static void sigreturn_has_no_number(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    enter(&l, 10, A, SIGRETURN, 0, 0, 0);
    leave(&l, 11, A, -1, 5);
    end(&l, "R 101 rt_sigreturn() = 5 1\n");
}

static void time_does_not_go_back(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    enter(&l, 10, A, READ, 3, 0, 0);
    leave(&l, 5, A, READ, 1);
    assert_int_equal(l.calls.faults.backwards, 1);
    end(&l, "R 101 read(fd: 3) = 1 0\n");
}

static void programs_of_32_bits(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    assert_true(calls_map(&l.calls, A, 0x8048000));
    enter(&l, 10, A, 5, 0x10, 0, 0);
    leave(&l, 15, A, 5, 3);
    assert_true(calls_map(&l.calls, A, 0x7f0000000000));
    enter(&l, 20, A, 5, 4, 0x20, 0);
    leave(&l, 25, A, 5, 0);
    end(&l, "R 101 open(filename: 0x10, flags: RDONLY) = 3 5\nR 101 fstat(fd: 4, statbuf: 0x20) = 0 5\n");
}

static void unknown_machines_have_numbers(void **state) {
    struct log l;
    (void)state;
    begin(&l, "vax");
    enter(&l, 10, A, 5, 0x10, 0, 2);
    leave(&l, 15, A, 5, -9999);
    end(&l, "R 101 syscall_5(arg0: 0x10, arg1: 0x0, arg2: 0x2) = -9999 5\n");
}

/* One call of x86-64 as text. */
static void check(int64_t number, const uint64_t args[CALLS_ARGS], const char *expected) {
    struct log l;
    begin(&l, "x86_64");
    struct calls_call call = {.tid = A, .has_enter = true, .number = number};
    memcpy(call.args, args, sizeof call.args);
    calls_values_args(&l.values, &call, &l.out);
    end(&l, expected);
}

static void values_are_readable(void **state) {
    (void)state;
    check(OPENAT, (uint64_t[6]){(uint64_t)-100, 0x1, 02000000, 0x7ff},
          "dfd: CWD, filename: 0x1, flags: RDONLY|CLOEXEC");
    check(OPENAT, (uint64_t[6]){5, 0x1, 0102, 0640}, "dfd: 5, filename: 0x1, flags: RDWR|CREAT, mode: 0640");
    check(9, (uint64_t[6]){0, 8192, 3, 0x22, (uint64_t)-1, 0},
          "len: 8192, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS");
    check(10, (uint64_t[6]){0x1000, 4096, 0}, "start: 0x1000, len: 4096, prot: NONE");
    check(202, (uint64_t[6]){0x10, 0x80, 5, 0x20, 0x30, 0x40},
          "uaddr: 0x10, op: WAIT|PRIVATE_FLAG, val: 5, utime: 0x20");
    check(202, (uint64_t[6]){0x10, 0x81, 1, 0x20, 0x30, 0x40}, "uaddr: 0x10, op: WAKE|PRIVATE_FLAG, val: 1");
    check(202, (uint64_t[6]){0x10, 3, 1, 7, 0x30, 0x40},
          "uaddr: 0x10, op: REQUEUE, val: 1, utime: 7, uaddr2: 0x30");
    check(41, (uint64_t[6]){2, 02000001, 6}, "family: INET, type: STREAM|CLOEXEC, protocol: TCP");
    check(62, (uint64_t[6]){77, 9}, "pid: 77, sig: KILL");
    check(72, (uint64_t[6]){3, 4, 06000}, "fd: 3, cmd: SETFL, arg: RDONLY|APPEND|NONBLOCK");
    check(72, (uint64_t[6]){3, 1, 0xbad}, "fd: 3, cmd: GETFD");
    check(233, (uint64_t[6]){7, 1, 5, 0x10}, "epfd: 7, op: ADD, fd: 5, event: 0x10");
    check(56, (uint64_t[6]){0x1200011, 0, 0, 0x10},
          "clone_flags: SIGCHLD|CHILD_CLEARTID|CHILD_SETTID, child_tidptr: 0x10");
    check(16, (uint64_t[6]){1, 0x5413, 0x10}, "fd: 1, cmd: TIOCGWINSZ, arg: 0x10");
    check(16, (uint64_t[6]){1, 0x12345678, 0}, "fd: 1, cmd: (NONE, 0x56, 0x78, 0x1234)");
    check(8, (uint64_t[6]){1, 0, 0}, "fd: 1, whence: SET");
    check(28, (uint64_t[6]){0x1000, 1, 4711}, "start: 0x1000, len_in: 1, behavior: 0x1267");
    check(157, (uint64_t[6]){3, 0xbad, 0xbad}, "option: GET_DUMPABLE");
}

static void results_of_fcntl_are_flags(void **state) {
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    enter(&l, 10, A, 72, 3, 3, 0);
    leave(&l, 11, A, 72, 02);
    enter(&l, 12, A, 72, 3, 1, 0);
    leave(&l, 13, A, 72, 1);
    enter(&l, 14, A, 72, 3, 1032, 0);
    leave(&l, 15, A, 72, 2);
    leave(&l, 16, A, READ, 1); /* no flags: it is not fcntl's */
    end(&l, "R 101 fcntl(fd: 3, cmd: GETFL) = RDWR 1\n"
            "R 101 fcntl(fd: 3, cmd: GETFD) = CLOEXEC 1\n"
            "R 101 fcntl(fd: 3, cmd: GETPIPE_SZ) = 2 1\n"
            "E 101 read() = 1\n");
}

static void arm_has_its_own_flags(void **state) {
    struct log l;
    (void)state;
    begin(&l, "aarch64");
    enter(&l, 10, A, 56, (uint64_t)-100, 0x10, 040000);
    leave(&l, 15, A, 56, -2);
    end(&l, "R 101 openat(dfd: CWD, filename: 0x10, flags: RDONLY|DIRECTORY) = -1 ENOENT (No such file or "
            "directory) 5\n");
}

static void memory_is_shown_escaped(void **state) {
    static const uint8_t PATH[] = "/tmp/a\"\n\033[31m";
    static const uint8_t ADDRESS[] = {2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    struct calls_event e = {.tid = A, .pid = A, .number = OPENAT, .args = {(uint64_t)-100, 0x10}};
    e.memory[1] = (struct calls_memory){PATH, sizeof PATH - 1, true};
    assert_true(calls_enter(&l.calls, &e));
    leave(&l, 5, A, OPENAT, 3);
    e = (struct calls_event){.tid = A, .pid = A, .number = 42, .args = {3, 0x10, 16}};
    e.memory[1] = (struct calls_memory){ADDRESS, sizeof ADDRESS, false};
    assert_true(calls_enter(&l.calls, &e));
    leave(&l, 5, A, 42, -514);
    end(&l, "R 101 openat(dfd: CWD, filename: \"/tmp/a\\\"\\n\\033[31m\"..., flags: RDONLY) = 3 5\n"
            "R 101 connect(fd: 3, uservaddr: { .family: INET, port: 80, addr: 127.0.0.1 }, addrlen: 16) = "
            "? ERESTARTNOHAND (begun again, if no handler runs) 5\n");
}

/* Each argument has its own; what is too short for its kind is not read beyond its end. */
static void memory_of_several(void **state) {
    static const uint8_t SHORT[] = {2, 0, 0, 80, 127};
    struct log l;
    (void)state;
    begin(&l, "x86_64");
    struct calls_event e = {.tid = A, .pid = A, .number = 82, .args = {0x10, 0x20}};
    e.memory[0] = (struct calls_memory){(const uint8_t *)"from", 4, false};
    e.memory[1] = (struct calls_memory){(const uint8_t *)"to", 2, false};
    assert_true(calls_enter(&l.calls, &e));
    leave(&l, 5, A, 82, 0);
    e = (struct calls_event){.tid = A, .pid = A, .number = 42, .args = {3, 0x10, 16}};
    uint8_t *exact = malloc(sizeof SHORT);
    assert_non_null(exact);
    memcpy(exact, SHORT, sizeof SHORT);
    e.memory[1] = (struct calls_memory){exact, sizeof SHORT, false};
    assert_true(calls_enter(&l.calls, &e));
    leave(&l, 5, A, 42, 0);
    e = (struct calls_event){.tid = A, .pid = A, .number = 35, .args = {0x10, 0}};
    e.memory[0] = (struct calls_memory){exact, sizeof SHORT, false};
    assert_true(calls_enter(&l.calls, &e));
    leave(&l, 5, A, 35, 0);
    free(exact);
    end(&l, "R 101 rename(oldname: \"from\", newname: \"to\") = 0 5\n"
            "R 101 connect(fd: 3, uservaddr: { .family: INET }, addrlen: 16) = 0 5\n"
            "R 101 nanosleep(rqtp: 0x10) = 0 5\n");
}

/* Two calls whose keys are the same are two rows. */
static void sums_are_told_apart(void **state) {
    struct calls_summary s = {0};
    (void)state;
    struct calls_group *g = calls_summary_group(&s, A);
    assert_non_null(g);
    int64_t other = (int64_t)(hash_u64(2 * A) ^ hash_u64(2 * A + 1) ^ READ);
    struct calls_stat *native = calls_summary_stat(&s, g, READ, false);
    assert_non_null(native);
    native->count = 1;
    struct calls_stat *compat = calls_summary_stat(&s, g, other, true);
    assert_non_null(compat);
    assert_int_equal(compat->count, 0);
    assert_int_equal(calls_summary_stat(&s, g, READ, false)->count, 1);
    assert_int_equal(g->stats.count, 2);
    assert_true(calls_stat_errno(&g->stats.items[0], 2, 3) && calls_stat_errno(&g->stats.items[0], 11, 1) &&
                calls_stat_errno(&g->stats.items[0], 2, 4));
    assert_int_equal(g->stats.items[0].errnos.count, 2);
    assert_int_equal(g->stats.items[0].errnos.items[0].count, 7);
    calls_summary_fini(&s);
}

static void sums_add_up(void **state) {
    struct calls_summary s = {0};
    struct calls_call call = {.tid = A, .number = READ, .has_enter = true, .has_exit = true, .enter_ns = 100};
    (void)state;
    for (unsigned i = 1; i <= 3; i++) {
        call.exit_ns = 100 + 10 * i;
        call.result = i == 3 ? -11 : 5;
        assert_true(calls_summary_add(&s, A, &call, CALLS_RETURNED));
    }
    assert_true(calls_summary_add(&s, A, &call, CALLS_ENTER_UNSEEN));
    calls_summary_sort(&s);
    const struct calls_stat *t = &s.groups.items[0].stats.items[0];
    assert_int_equal(t->count, 4);
    assert_int_equal(t->errors, 2);
    assert_int_equal(t->timed, 3);
    assert_int_equal(t->total_ns, 60);
    assert_int_equal(t->min_ns, 10);
    assert_int_equal(t->max_ns, 30);
    /* of 10, 20, 30: a deviation of 10, by the root of 3, of 20 */
    assert_true(calls_stat_deviation(t) > 28.86 && calls_stat_deviation(t) < 28.88);
    assert_int_equal(t->errnos.count, 1);
    assert_int_equal(t->errnos.items[0].number, 11);
    assert_int_equal(t->errnos.items[0].count, 2);
    calls_summary_fini(&s);
}

/* Whatever comes, every enter and every exit is handed out once. */
struct balance {
    uint64_t enters, exits;
};

static bool count_ends(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    struct balance *b = ctx;
    (void)c;
    b->enters += call->has_enter;
    b->exits += call->has_exit;
    assert_true(call->has_enter == (end != CALLS_ENTER_UNSEEN));
    assert_true(call->has_exit == (end == CALLS_RETURNED || end == CALLS_ENTER_UNSEEN));
    assert_true(end != CALLS_RETURNED || call->exit_ns >= call->enter_ns);
    return true;
}

static void random_sequences_balance(void **state) {
    static const int64_t NUMBERS[] = {READ, OPENAT, EXECVE, EXIT_GROUP, SIGRETURN, 219, -1, 99999};
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct balance b = {0};
        struct calls c;
        uint64_t enters = 0, exits = 0;
        unsigned x = seed;
        calls_init(&c, "x86_64", count_ends, &b);
        for (unsigned i = 0; i < 500; i++) {
            x = x * 1103515245 + 12345;
            unsigned what = x >> 16 & 15;
            struct calls_event e = {.time_ns = i + (x >> 20 & 3),
                                    .tid = A + (x >> 8 & 3),
                                    .pid = A,
                                    .number = NUMBERS[x >> 24 & 7],
                                    .result = (int)(x >> 12 & 3) - 1};
            if (what < 7) {
                enters++;
                assert_true(calls_enter(&c, &e));
            } else if (what < 13) {
                exits++;
                assert_true(calls_exit(&c, &e));
            } else if (what == 13) {
                calls_lost(&c);
            } else if (what == 14) {
                assert_true(calls_gone(&c, e.tid));
            } else {
                assert_true(calls_fork(&c, e.tid, A, A));
            }
        }
        assert_true(calls_finish(&c));
        assert_int_equal(b.enters, enters);
        assert_int_equal(b.exits, exits);
        calls_fini(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_by_thread),
        cmocka_unit_test(half_pairs_are_not_joined),
        cmocka_unit_test(many_threads_come_and_go),
        cmocka_unit_test(loss_cuts_calls),
        cmocka_unit_test(exec_of_another_thread),
        cmocka_unit_test(sigreturn_has_no_number),
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(programs_of_32_bits),
        cmocka_unit_test(unknown_machines_have_numbers),
        cmocka_unit_test(values_are_readable),
        cmocka_unit_test(arm_has_its_own_flags),
        cmocka_unit_test(memory_is_shown_escaped),
        cmocka_unit_test(results_of_fcntl_are_flags),
        cmocka_unit_test(memory_of_several),
        cmocka_unit_test(sums_are_told_apart),
        cmocka_unit_test(sums_add_up),
        cmocka_unit_test(random_sequences_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
