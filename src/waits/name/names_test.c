/* SPDX-License-Identifier: Apache-2.0 */
/* What is waited for, from what the kernel told of it and a made /proc, named. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/proc/proc_fake.h"
#include "tests/support/fail_alloc.h"
#include "waits/name/names.h"

#define TEXT OS_PROC_TEXT

/* Process 7 and its thread 8 wait; 9 ("yes") has the other ends of pipe 501 and of unix socket 601. */
static const struct os_proc_fake_file FILES[] = {
    {"/proc/7/comm", TEXT("app\n")},
    {"/proc/7/task/8/fd/3", TEXT("/var/log/a;b")},
    {"/proc/7/task/8/fdinfo/3", TEXT("pos:\t0\nflags:\t02\nmnt_id:\t1\nino:\t401\n")},
    {"/proc/7/task/8/fd/4", TEXT("/tmp/other")},
    {"/proc/7/task/8/fdinfo/4", TEXT("pos:\t0\nflags:\t02\nmnt_id:\t1\nino:\t402\n")},
    {"/proc/7/task/8/fd/5", TEXT("/tmp/gone (deleted)")},
    {"/proc/7/task/8/fdinfo/5", TEXT("pos:\t0\nflags:\t02\nmnt_id:\t1\nino:\t403\n")},
    {"/proc/7/fd/6", TEXT("pipe:[501]")},
    {"/proc/7/fdinfo/6", TEXT("pos:\t0\nflags:\t00\n")},
    {"/proc/7/fd/7", TEXT("socket:[600]")},
    {"/proc/7/fd/8", TEXT("pipe:[502]")},
    {"/proc/7/fdinfo/8", TEXT("pos:\t0\nflags:\t02\n")},
    {"/proc/8/comm", TEXT("worker\n")},
    {"/proc/9/comm", TEXT("yes\n")},
    {"/proc/9/fd/1", TEXT("pipe:[501]")},
    {"/proc/9/fdinfo/1", TEXT("pos:\t0\nflags:\t01\n")},
    {"/proc/9/fd/2", TEXT("socket:[601]")},
};
static const struct os_unix_socket SOCKETS[] = {{600, 601, ""}, {601, 600, ""}, {602, 0, "/run/app"}};

struct expected {
    struct bpf_off_cpu_object object;
    enum waits_named named;
    const char *name;
};

#define OBJECT(...) \
    { .pid = 7, .tid = 8, __VA_ARGS__ }
#define INET(r, l, t, ...)                                                                                \
    OBJECT(.kind = BPF_OFF_CPU_SOCKET, .family = AF_INET, .type = t, .ino = 700, .remote = {10, 0, 0, 1}, \
           .remote_port = r, .local_port = l, ##__VA_ARGS__)

static const struct expected FILES_AND_PIPES[] = {
    {OBJECT(.kind = BPF_OFF_CPU_FILE, .ino = 401, .fd = 3, .name = "a;b"), WAITS_NAMED, "/var/log/a?b"},
    /* The number belongs to another file by now: by its inode, or by its name. */
    {OBJECT(.kind = BPF_OFF_CPU_FILE, .ino = 401, .fd = 4, .name = "log"), WAITS_NAMED, "log"},
    {OBJECT(.kind = BPF_OFF_CPU_FILE, .ino = 402, .fd = 4, .name = "log"), WAITS_NAMED, "log"},
    {OBJECT(.kind = BPF_OFF_CPU_FILE, .ino = 403, .fd = 5, .name = "gone"), WAITS_NAMED, "/tmp/gone"},
    {OBJECT(.kind = BPF_OFF_CPU_FILE, .ino = 404, .fd = 99, .name = "closed"), WAITS_NAMED, "closed"},
    {OBJECT(.kind = BPF_OFF_CPU_FILE, .ino = 404, .fd = 99), WAITS_UNNAMED, ""},
    {OBJECT(.kind = BPF_OFF_CPU_PIPE, .ino = 501), WAITS_NAMED, "a pipe, written by yes"},
    {OBJECT(.kind = BPF_OFF_CPU_PIPE, .ino = 501, .writes = 1), WAITS_NAMED, "a pipe of its own"},
    {OBJECT(.kind = BPF_OFF_CPU_PIPE, .ino = 502), WAITS_NAMED, "a pipe of its own"},
    {OBJECT(.kind = BPF_OFF_CPU_PIPE, .ino = 503), WAITS_NAMED, "a pipe"},
    {{.kind = BPF_OFF_CPU_PIPE, .ino = 501, .pid = 77}, WAITS_NAMED, "a pipe"},
    {OBJECT(.kind = BPF_OFF_CPU_CHILD, .name = "s\nh"), WAITS_NAMED, "the end of child s?h"},
    {OBJECT(.kind = BPF_OFF_CPU_THREAD, .name = "worker"), WAITS_NAMED, "the end of thread worker"},
    {OBJECT(.kind = 77), WAITS_UNNAMED, ""},
};

static const struct expected SOCKETS_BY_NAME[] = {
    {OBJECT(.kind = BPF_OFF_CPU_SOCKET, .family = AF_UNIX, .ino = 600), WAITS_NAMED, "unix socket to yes"},
    {OBJECT(.kind = BPF_OFF_CPU_SOCKET, .family = AF_UNIX, .ino = 602), WAITS_NAMED,
     "unix socket, connections to /run/app"},
    {OBJECT(.kind = BPF_OFF_CPU_SOCKET, .family = AF_UNIX, .ino = 603), WAITS_NAMED, "unix socket"},
    {OBJECT(.kind = BPF_OFF_CPU_SOCKET, .family = AF_NETLINK, .ino = 604), WAITS_NAMED, "socket"},
    {INET(80, 40000, SOCK_STREAM), WAITS_NAMED, "TCP socket to 10.0.0.1:80"},
    {INET(40000, 80, SOCK_STREAM), WAITS_NAMED, "TCP socket to 10.0.0.1"}, /* clients' ports are any */
    {INET(0, 80, SOCK_STREAM, .listens = 1), WAITS_NAMED, "TCP socket, connections to port 80"},
    {INET(0, 53, SOCK_DGRAM), WAITS_NAMED, "UDP socket, port 53"},
    {OBJECT(.kind = BPF_OFF_CPU_SOCKET, .family = AF_INET6, .ino = 700, .remote = {[15] = 1},
            .remote_port = 80, .local_port = 40000),
     WAITS_NAMED, "Internet socket to [::1]:80"},
};

static void check_all(const struct expected *all, size_t count) {
    const struct os_proc_fake fake = {
        .files = FILES, .file_count = sizeof FILES / sizeof *FILES, .unix_sockets = SOCKETS, .unix_count = 3};
    const struct os_proc proc = os_proc_fake(&fake);
    struct waits_names n = {.proc = &proc};
    for (size_t i = 0; i < count; i++) {
        char name[WAITS_NAME_ROOM];
        assert_int_equal(waits_names_find(&n, &all[i].object, name), all[i].named);
        assert_string_equal(name, all[i].name);
    }
    waits_names_forget(&n);
    FAIL_EACH_ALLOC({
        struct waits_names again = {.proc = &proc};
        char name[WAITS_NAME_ROOM];
        for (size_t i = 0; i < count; i++)
            waits_names_find(&again, &all[i].object, name);
        waits_names_forget(&again);
    });
}

static void files_and_pipes(void **state) {
    (void)state;
    check_all(FILES_AND_PIPES, sizeof FILES_AND_PIPES / sizeof *FILES_AND_PIPES);
}

static void sockets(void **state) {
    (void)state;
    check_all(SOCKETS_BY_NAME, sizeof SOCKETS_BY_NAME / sizeof *SOCKETS_BY_NAME);
}

/* A lock is named by what its words say, if a living thread owns it. */
static void locks(void **state) {
    (void)state;
    enum { WAIT = 128, CONTENDED = 2 };
    const struct os_proc_fake fake = {.files = FILES, .file_count = sizeof FILES / sizeof *FILES};
    const struct os_proc proc = os_proc_fake(&fake);
    struct waits_names n = {.proc = &proc};
    char name[WAITS_NAME_ROOM];
    struct bpf_off_cpu_object o =
        OBJECT(.kind = BPF_OFF_CPU_FUTEX, .ino = 0x7000, .op = WAIT, .value = CONTENDED);
    uint32_t words[] = {0, 0, 0, CONTENDED, 0, 8, 1, 0, 0};
    memcpy(o.around, words, sizeof words);
    assert_int_equal(waits_names_find(&n, &o, name), WAITS_NAMED);
    assert_string_equal(name, "mutex");
    words[5] = 4711; /* nobody: it was just given away */
    memcpy(o.around, words, sizeof words);
    assert_int_equal(waits_names_find(&n, &o, name), WAITS_NOT_YET);
    memset(o.around, 0, sizeof o.around);
    assert_int_equal(waits_names_find(&n, &o, name), WAITS_UNNAMED);
    o.op = 0; /* shared: the word that the kernel clears when thread 8 ends */
    o.value = words[3] = 8;
    memcpy(o.around, words, sizeof words);
    assert_int_equal(waits_names_find(&n, &o, name), WAITS_NAMED);
    assert_string_equal(name, "the end of thread worker");
    waits_names_forget(&n);
}

/* Of this program, in which it is a variable. */
struct names_test_pool {
    int32_t first[2], word[2];
} names_test_pool = {{1, 2}, {3, 4}};
int32_t names_test_zero[4]; /* in memory that no file is mapped to */

static void variables(void **state) {
    (void)state;
    const struct {
        const void *at;
        const char *symbol;
    } cases[] = {{&names_test_pool, "names_test_pool"},
                 {&names_test_pool.word, "names_test_pool+0x8"},
                 {names_test_zero, "names_test_zero"}};
    struct waits_symbols s = {.pid = 0};
    char name[WAITS_NAME_ROOM], own[256], want[512];
    assert_true(os_proc_system.link(os_proc_system.ctx, "/proc/self/exe", own, sizeof own, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(want, sizeof want, "%s (%s)", cases[i].symbol, strrchr(own, '/') + 1);
        assert_true(
            waits_symbols_find(&s, &os_proc_system, getpid(), (uintptr_t)cases[i].at, name, sizeof name));
        assert_string_equal(name, want);
    }
    assert_false(waits_symbols_find(&s, &os_proc_system, getpid(), (uintptr_t)&s, name, sizeof name));
    assert_false(waits_symbols_find(&s, &os_proc_system, getpid(), 1, name, sizeof name));
    waits_symbols_forget(&s, &os_proc_system);
}

/* A file that took the name of the one that is mapped names nothing; nor does text that is no map. */
static void no_variables(void **state) {
    (void)state;
    static const struct os_proc_fake_file files[] = {
        {"/proc/7/maps",
         TEXT("1000-2000 r--p 00000000 08:01 55 /bin/app\n2000-3000 rw-p 00001000 08:01 55 /bin/app\n"
              "3000-4000 rw-p 00000000 00:00 0 \n6000-7000 rw-p 00000000 00:00 0 [heap]\n")},
        {"/proc/7/root/bin/app", TEXT("no ELF"), .identity = {.ino = 66, .size = 6}},
        {"/proc/8/maps", TEXT("1000-2000 r--p 00000000 08:01 55 /bin/app\n")},
        {"/proc/8/root/bin/app", TEXT("no ELF"), .identity = {.ino = 55, .size = 6}},
        {"/proc/9/maps", TEXT("what is this\n")},
    };
    const struct os_proc_fake fake = {.files = files, .file_count = sizeof files / sizeof *files};
    const struct os_proc proc = os_proc_fake(&fake);
    struct waits_symbols s = {.pid = 0};
    char name[WAITS_NAME_ROOM];
    for (int32_t pid = 7; pid <= 10; pid++)
        for (uint64_t at = 0x800; at < 0x8000; at += 0x800)
            assert_false(waits_symbols_find(&s, &proc, pid, at, name, sizeof name));
    waits_symbols_forget(&s, &proc);
}

static void calls(void **state) {
    (void)state;
    struct bpf_off_cpu_call c = waits_names_call(SYS_write);
    assert_true(c.argument == BPF_OFF_CPU_FD && c.index == 0 && c.writes);
    c = waits_names_call(SYS_read);
    assert_true(c.argument == BPF_OFF_CPU_FD && !c.writes);
    assert_int_equal(waits_names_call(SYS_futex).argument, BPF_OFF_CPU_WORD);
    assert_int_equal(waits_names_call(SYS_wait4).argument, BPF_OFF_CPU_PROCESS);
    assert_int_equal(waits_names_call(SYS_ppoll).argument, BPF_OFF_CPU_POLLFDS);
    assert_int_equal(waits_names_call(SYS_nanosleep).argument, BPF_OFF_CPU_NOTHING);
    assert_int_equal(waits_names_call(SYS_epoll_pwait).argument, BPF_OFF_CPU_NOTHING);
    assert_int_equal(waits_names_call(100000).argument, BPF_OFF_CPU_NOTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_pipes), cmocka_unit_test(sockets),      cmocka_unit_test(locks),
        cmocka_unit_test(variables),       cmocka_unit_test(no_variables), cmocka_unit_test(calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
