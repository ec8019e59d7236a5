/* SPDX-License-Identifier: Apache-2.0 */
/* From a made /proc to what is waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "os/proc/proc_fake.h"
#include "tests/support/fail_alloc.h"
#include "waits/calls.h"
#include "waits/chains.h"
#include "waits/explain.h"
#include "waits/groups.h"
#include "waits/read/read_proc.h"

#define TEXT OS_PROC_TEXT
#define STAT(name, state, parent)         \
    TEXT("1 (" name ") " state " " parent \
         " 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0")
#define SCHED(ms)            TEXT("x (1, #threads: 1)\n-----\nse.exec_start          :  " ms "\nse.vruntime : 1.0\n")
#define CALL(nr, a0, a1, a2) TEXT(nr " " a0 " " a1 " " a2 " 0x0 0x0 0x0 0x7fff00000000 0x7f0000000000\n")

struct machine {
    struct os_proc_fake fake;
    struct os_proc proc;
    struct waits w;
    struct waits_ends ends;
    struct err err;
};

static void look(struct machine *m) {
    static const int64_t clocks[] = {5000000000, 6000000000};
    const struct waits_read_options o = {.stacks = true, .clock_ns = clocks, .cpus = 2};
    m->proc = os_proc_fake(&m->fake);
    waits_init(&m->w);
    assert_true(waits_read_proc(&m->w, &m->proc, &o, &m->err));
    assert_true(waits_explain(&m->w, &m->proc, &m->ends, &m->err));
}

/* All steps with an allocation that fails somewhere: the failure is reported, or nothing is missing. */
static void look_without_memory(const struct machine *m, size_t threads) {
    const struct waits_read_options o = {.stacks = true};
    struct waits w;
    struct waits_ends ends = {0};
    struct waits_chains chains = {0};
    struct waits_groups groups = {0};
    struct err err = ERR_INIT;
    waits_init(&w);
    bool ok = waits_read_proc(&w, &m->proc, &o, &err) && waits_explain(&w, &m->proc, &ends, &err) &&
              waits_chains_find(&chains, &w) &&
              waits_groups_find(&groups, &w, &(struct waits_choice){0}, true);
    assert_true(!ok || (w.threads.count == threads && groups.order.count == threads));
    waits_groups_fini(&groups);
    waits_chains_fini(&chains);
    waits_ends_fini(&ends);
    waits_fini(&w);
}

static void end(struct machine *m) {
    FAIL_EACH_ALLOC(look_without_memory(m, m->w.threads.count));
    waits_ends_fini(&m->ends);
    waits_fini(&m->w);
}

static const struct waits_thread *thread(const struct machine *m, int32_t tid) {
    uint32_t i = waits_find(&m->w, tid);
    assert_int_not_equal(i, WAITS_NOBODY);
    return &m->w.threads.items[i];
}

#ifdef __x86_64__ /* numbers of system calls below are its */

static void two_threads_and_a_lock(void **state) {
    (void)state;
    static const uint32_t mutex[] = {0, 0, 0, 2, 0, 11, 1, 0, 0};
    static const struct os_proc_fake_file files[] = {
        {.path = "/proc/10/status", .content = TEXT("Name:\tapp\nUid:\t7\t7\t7\t7\nNSpid:\t10\n")},
        {.path = "/proc/10/task/10/stat", .content = STAT("app", "S", "1")},
        {.path = "/proc/10/task/10/syscall", .content = CALL("202", "0x1000", "0x80", "0x2")},
        {.path = "/proc/10/task/10/wchan", .content = TEXT("futex_do_wait")},
        {.path = "/proc/10/task/10/sched", .content = SCHED("5999.500000")},
        {.path = "/proc/10/task/10/stack",
         .content = TEXT("[<0>] futex_do_wait+0x1/0x2\n[<0>] do_syscall_64+0x3/0x4\n")},
        {.path = "/proc/10/task/11/stat", .content = STAT("a (b) c", "S", "1")},
        {.path = "/proc/10/task/11/syscall", .content = CALL("35", "0x2000", "0x0", "0x0")},
        {.path = "/proc/10/task/11/wchan", .content = TEXT("hrtimer_nanosleep")},
    };
    static const int64_t time[] = {3, 500000000};
    static const struct os_proc_fake_memory memory[] = {
        {10, 0x1000 - 12, {(const uint8_t *)mutex, sizeof mutex}, false},
        {10, 0x2000, {(const uint8_t *)time, sizeof time}, false},
    };
    struct machine m = {.fake = {files, sizeof files / sizeof *files, .memory = memory, .memory_count = 2}};
    look(&m);
    const struct waits_thread *t = thread(&m, 10), *owner = thread(&m, 11);
    assert_string_equal(t->wait.what, "mutex 0x1000, held by a (b) c/11");
    assert_int_equal(t->wait.kind, WAITS_LOCK);
    assert_int_equal(t->wait.on, 1);
    assert_true(t->wait.certain);
    assert_int_equal(t->since_ns, 500000);
    assert_int_equal(t->uid, 7);
    assert_string_equal(t->site, "futex_do_wait");
    assert_int_equal(t->depth, 2);
    assert_string_equal(t->stack[1], "do_syscall_64");
    assert_string_equal(owner->process, "app");
    assert_int_equal(owner->wait.kind, WAITS_SLEEP);
    assert_int_equal(owner->wait.limit_ns, 3500000000);
    assert_string_equal(owner->wait.which, "3.500 s");
    assert_int_equal(owner->since_ns, -1);
    end(&m);
}

/* 10 reads what 20 writes; 20 waits for an answer from 10 on a unix socket. */
static void pipes_and_sockets(void **state) {
    (void)state;
    static const struct os_proc_fake_file files[] = {
        {.path = "/proc/10/task/10/stat", .content = STAT("reader", "S", "1")},
        {.path = "/proc/10/task/10/syscall", .content = CALL("0", "0x3", "0x1", "0x1")},
        {.path = "/proc/10/task/10/fd/3", .content = TEXT("pipe:[55]")},
        {.path = "/proc/10/fd/3", .content = TEXT("pipe:[55]")},
        {.path = "/proc/10/fd/4", .content = TEXT("socket:[66]")},
        {.path = "/proc/10/fdinfo/3", .content = TEXT("pos:\t0\nflags:\t00\n")},
        {.path = "/proc/20/task/20/stat", .content = STAT("writer", "S", "1")},
        {.path = "/proc/20/task/20/syscall", .content = CALL("45", "0x5", "0x1", "0x1")},
        {.path = "/proc/20/task/20/fd/5", .content = TEXT("socket:[67]")},
        {.path = "/proc/20/fd/1", .content = TEXT("pipe:[55]")},
        {.path = "/proc/20/fdinfo/1", .content = TEXT("pos:\t0\nflags:\t01\n")},
        {.path = "/proc/20/fd/5", .content = TEXT("socket:[67]")},
        {.path = "/proc/30/task/30/stat", .content = STAT("client", "S", "1")},
        {.path = "/proc/30/task/30/syscall", .content = CALL("0", "0x6", "0x1", "0x1")},
        {.path = "/proc/30/task/30/fd/6", .content = TEXT("socket:[70]")},
        {.path = "/proc/30/fd/6", .content = TEXT("socket:[70]")},
        {.path = "/proc/30/ns/net", .content = TEXT("net:[1]")},
        {.path = "/proc/30/net/tcp",
         .content = TEXT("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
                         "timeout inode\n"
                         "   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0  "
                         "      0 71 1\n"
                         "   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0  "
                         "      0 70 1\n"
                         "garbage\n")},
        {.path = "/proc/40/task/40/stat", .content = STAT("server", "S", "1")},
        {.path = "/proc/40/task/40/syscall", .content = CALL("34", "0x0", "0x0", "0x0")},
        {.path = "/proc/40/fd/9", .content = TEXT("socket:[71]")},
    };
    static const struct os_unix_socket sockets[] = {{66, 67, "/run/s"}, {67, 66, ""}};
    struct machine m = {
        .fake = {files, sizeof files / sizeof *files, .unix_sockets = sockets, .unix_count = 2}};
    struct waits_chains c = {0};
    look(&m);
    assert_string_equal(thread(&m, 10)->wait.what, "read of a pipe, written by writer/20");
    assert_string_equal(thread(&m, 20)->wait.what, "read of unix socket to reader");
    assert_string_equal(thread(&m, 20)->wait.which, "fd 5, reader/10, /run/s");
    assert_string_equal(thread(&m, 30)->wait.what, "read of TCP socket to server");
    assert_string_equal(thread(&m, 30)->wait.which, "fd 6, server/40, 127.0.0.1:8080");
    assert_int_equal(thread(&m, 30)->wait.peer, 40);
    assert_int_equal(thread(&m, 40)->wait.kind, WAITS_SIGNAL);
    assert_true(waits_chains_find(&c, &m.w));
    assert_int_equal(c.rings.count, 1);
    assert_false(c.rings.items[0].certain); /* other processes could write to the pipe, too */
    assert_int_equal(c.roots.count, 1);
    waits_chains_fini(&c);
    end(&m);
}

static void paths_and_listeners(void **state) {
    (void)state;
    static const struct os_proc_fake_file files[] = {
        {.path = "/proc/10/task/10/stat", .content = STAT("opener", "D", "1")},
        {.path = "/proc/10/task/10/syscall", .content = CALL("257", "0xffffff9c", "0x1000", "0x0")},
        {.path = "/proc/20/task/20/stat", .content = STAT("server", "S", "1")},
        {.path = "/proc/20/task/20/syscall", .content = CALL("43", "0x5", "0x0", "0x0")},
        {.path = "/proc/20/task/20/fd/5", .content = TEXT("socket:[80]")},
        {.path = "/proc/30/task/30/stat", .content = STAT("reader", "S", "1")},
        {.path = "/proc/30/task/30/syscall", .content = CALL("0", "0x6", "0x1", "0x1")},
        {.path = "/proc/30/task/30/fd/6", .content = TEXT("socket:[81]")},
    };
    static const char PATH[] = "/x/y";
    static const struct os_proc_fake_memory memory[] = {
        {10, 0x1000, {(const uint8_t *)PATH, sizeof PATH}, false}};
    static const struct os_unix_socket sockets[] = {{80, 0, "/run/s"}, {81, 0, ""}};
    struct machine m = {.fake = {files, sizeof files / sizeof *files, .memory = memory, .memory_count = 1,
                                 .unix_sockets = sockets, .unix_count = 2}};
    look(&m);
    assert_string_equal(thread(&m, 10)->wait.what, "openat of /x/y");
    assert_string_equal(thread(&m, 20)->wait.what, "connections to unix socket /run/s");
    assert_string_equal(thread(&m, 30)->wait.what, "read of unix socket");
    assert_int_equal(m.w.hidden_memory, 0);
    end(&m);
}

static void what_may_not_be_known(void **state) {
    (void)state;
    static const struct os_proc_fake_file files[] = {
        {.path = "/proc/10/task/10/stat", .content = STAT("secret", "S", "1")},
        {.path = "/proc/10/task/10/syscall", .denied = true},
        {.path = "/proc/10/task/10/stack", .denied = true},
        {.path = "/proc/20/task/20/stat", .content = STAT("locks", "D", "1")},
        {.path = "/proc/20/task/20/syscall", .content = CALL("202", "0x1000", "0x80", "0x2")},
        {.path = "/proc/20/task/20/wchan", .content = TEXT("io_schedule")},
        {.path = "/proc/30/task/30/stat", .gone = true},
        {.path = "/proc/40/task/40/stat", .content = TEXT("4 (")},
        {.path = "/proc/50/task/50/stat", .content = STAT("old", "S", "1")},
        {.path = "/proc/50/task/50/syscall",
         .content = TEXT("202 0x1 0x0 0x0 0x0 0x0 0x0 0xffff0000 0x8048000\n")},
    };
    static const struct os_proc_fake_memory memory[] = {{20, 0, {(const uint8_t *)"", 0}, false},
                                                        {20, 0x1000 - 12, {NULL, 4096}, true}};
    struct machine m = {.fake = {files, sizeof files / sizeof *files, .memory = memory, .memory_count = 2}};
    look(&m);
    assert_int_equal(m.w.threads.count, 3);
    assert_int_equal(m.w.hidden_calls, 1);
    assert_int_equal(m.w.hidden_stacks, 1);
    assert_int_equal(thread(&m, 10)->wait.kind, WAITS_HIDDEN);
    assert_true(m.w.hidden_memory >= 1);
    assert_int_equal(thread(&m, 20)->wait.kind, WAITS_DISK);
    assert_string_equal(thread(&m, 20)->wait.what, "a futex, owner unknown, in io_schedule");
    assert_int_equal(thread(&m, 50)->call, WAITS_CALL_FOREIGN);
    end(&m);
}

#endif

static void texts(void **state) {
    (void)state;
    struct waits_thread t = {0};
    waits_read_syscall((struct bytes)TEXT("running\n"), &t);
    assert_int_equal(t.call, WAITS_CALL_NONE);
    waits_read_syscall((struct bytes)TEXT("-1 0x7ffd00000000 0x7f0000000000\n"), &t);
    assert_int_equal(t.call, WAITS_CALL_NONE);
    assert_int_equal(t.sp, 0x7ffd00000000);
    waits_read_syscall((struct bytes){0}, &t);
    assert_int_equal(t.call, WAITS_CALL_NONE);
    assert_int_equal(waits_read_exec_start((struct bytes)SCHED("12193573.131022")), 12193573131022);
    assert_int_equal(waits_read_exec_start((struct bytes)SCHED("123456789012345678901.131022")), -1);
    assert_int_equal(waits_read_exec_start((struct bytes)TEXT("se.exec_start")), -1);
    assert_int_equal(waits_read_exec_start((struct bytes){0}), -1);
}

/* All names in our table exist on some machine; other calls are explained by their arguments. */
static void calls(void **state) {
    (void)state;
    struct waits_call c;
    unsigned known = 0, locks = 0;
    for (int64_t number = -3; number < 1000; number++) {
        if (!waits_call_find(number, &c))
            continue;
        known++;
        locks += strcmp(c.name, "futex") == 0 && c.kind == WAITS_CALL_FUTEX;
        assert_true(strcmp(c.name, "read") != 0 || (c.kind == WAITS_CALL_READ && !strcmp(c.verb, "read of")));
        assert_true(strcmp(c.name, "fsync") != 0 || (c.kind == WAITS_CALL_FILE && c.arg == 0));
        assert_true(strcmp(c.name, "openat") != 0 || (c.kind == WAITS_CALL_PATH && c.arg == 1));
        assert_true(strcmp(c.name, "clock_nanosleep") != 0 || (c.kind == WAITS_CALL_SLEEP && c.arg == 2));
    }
    assert_true(!known || locks == 1);
}

static void choice(void **state) {
    (void)state;
    const struct waits_thread t = {.pid = 1, .tid = 2, .uid = 3, .comm = "a", .process = "b"};
    const int32_t two = 2, nine = 9;
    assert_true(waits_chosen(&(struct waits_choice){0}, &t));
    assert_true(waits_chosen(&(struct waits_choice){.tids = &two, .tid_count = 1}, &t));
    assert_false(waits_chosen(&(struct waits_choice){.pids = &nine, .pid_count = 1}, &t));
    assert_true(waits_chosen(&(struct waits_choice){.comm = "b"}, &t));
    assert_false(waits_chosen(&(struct waits_choice){.comm = "c"}, &t));
    assert_false(waits_chosen(&(struct waits_choice){.by_user = true, .uid = 0}, &t));
    assert_false(waits_chosen(&(struct waits_choice){.leave_out = 1}, &t));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef __x86_64__
        cmocka_unit_test(two_threads_and_a_lock),
        cmocka_unit_test(pipes_and_sockets),
        cmocka_unit_test(paths_and_listeners),
        cmocka_unit_test(what_may_not_be_known),
#endif
        cmocka_unit_test(texts),
        cmocka_unit_test(calls),
        cmocka_unit_test(choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
