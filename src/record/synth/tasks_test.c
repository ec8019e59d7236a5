/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/tasks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/synth/synth.h"
#include "record/synth/synth_test.h"

/* Up to field 20, num_threads. */
#define STAT(pid, comm, ppid, flags, threads)                                                             \
    OS_PROC_TEXT(pid " (" comm ") S " ppid " 1 1 0 -1 " flags " 1 2 3 4 5 6 7 8 20 0 " threads " 0 99 0 " \
                     "0\n")
#define MAPS_TEXT                                                    \
    "1000-2000 r--p 00000000 fe:00 77 /bin/a b\n"                    \
    "2000-5000 r-xp 00001000 fe:00 77 /bin/a b\n"                    \
    "100000000-100001000 rwxs 00000000 00:00 0 \n"                   \
    "100005000-100006000 r-xp 00000000 00:00 0 [anon:jit cache]\n"   \
    "100009000-10000a000 r-xp 00000000 00:01 9 /memfd:x (deleted)\n" \
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"

static const struct os_proc_fake_file FILES[] = {
    {"/proc/self/maps", OS_PROC_TEXT("ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n")},
    {"/proc/1/stat", STAT("1", "init", "0", "4194560", "1")},
    {"/proc/2/stat", STAT("2", "kworker/0:0H-events_highpri", "0", "2129984", "1")},
    {"/proc/7/stat", STAT("7", "odd) S (name", "1", "4194560", "3")},
    {"/proc/7/status", OS_PROC_TEXT("Name:\todd\nTgid:\t7\nPid:\t7\n")},
    {"/proc/8/status", OS_PROC_TEXT("Name:\tworker\nTgid:\t7\nPid:\t8\n")},
    {"/proc/8/stat", STAT("8", "worker", "1", "4194368", "3")},
    {"/proc/7/maps", OS_PROC_TEXT(MAPS_TEXT)},
    {"/proc/7/task/7/comm", OS_PROC_TEXT("odd) S (name\n")},
    {"/proc/7/task/8/comm", OS_PROC_TEXT("worker\n")},
    {"/proc/7/task/9/comm", OS_PROC_TEXT(""), .gone = true},
    {"/proc/7/task/7/ns/uts", .identity = {.dev = 4, .ino = 4026531838}},
    {"/proc/9999/stat", OS_PROC_TEXT(""), .gone = true},
};
static const struct os_proc_fake_mapping MAPPINGS[] = {
    {7, {.start = 0x1000, .end = 0x2000, .ino = 77, .maj = 0xfe, .prot = 1, .flags = 2, .name = "/bin/a b"}},
    {7,
     {.start = 0x2000,
      .end = 0x5000,
      .offset = 0x1000,
      .ino = 77,
      .maj = 0xfe,
      .prot = 5,
      .flags = 2,
      .name = "/bin/a b"},
     {3, "bid"}},
    {7, {.start = 0x100000000, .end = 0x100001000, .prot = 7, .flags = 1}},
    {7, {.start = 0x100005000, .end = 0x100006000, .prot = 5, .flags = 2, .name = "[anon:jit cache]"}},
    {7,
     {.start = 0x100009000,
      .end = 0x10000a000,
      .ino = 9,
      .min = 1,
      .prot = 5,
      .flags = 2,
      .name = "/memfd:x (deleted)"}},
};

struct fixture {
    struct synth_test t;
    struct os_proc_fake fake;
    struct os_proc proc;
    struct record_options o;
    struct record_tasks tasks;
    unsigned queries;
    struct bytes all;
};

static void begin(struct fixture *f, bool no_query) {
    memset(f, 0, sizeof *f);
    synth_test_init(&f->t);
    f->fake = (struct os_proc_fake){FILES,    sizeof FILES / sizeof *FILES,
                                    MAPPINGS, sizeof MAPPINGS / sizeof *MAPPINGS,
                                    no_query, &f->queries};
    f->proc = os_proc_fake(&f->fake);
    f->o.build_id_mmap = true;
    record_tasks_init(&f->tasks, &f->proc, &f->t.sink, &f->o);
}

static void end(struct fixture *f) {
    assert_false(synth_test_next(&f->t, writer_bytes(&f->tasks.out)));
    record_tasks_fini(&f->tasks);
    synth_test_fini(&f->t);
}

static struct perfdata_record *next(struct fixture *f, uint32_t type) {
    assert_true(synth_test_next(&f->t, writer_bytes(&f->tasks.out)));
    assert_int_equal(f->t.rec.type, type);
    assert_int_equal(f->t.rec.id.have, f->t.attr.sample_type);
    assert_true(f->t.rec.id.time == 0 && f->t.rec.id.pid == 0);
    return &f->t.rec;
}

static void check_comm(struct fixture *f, uint32_t pid, uint32_t tid, const char *name) {
    const struct perfdata_record *r = next(f, PERFDATA_RECORD_COMM);
    assert_true(r->comm.pid == pid && r->comm.tid == tid);
    assert_string_equal((const char *)r->comm.comm.data, name);
}

static void check_map(struct fixture *f, uint64_t start, uint64_t len, uint32_t prot, const char *name) {
    const struct perfdata_record *r = next(f, PERFDATA_RECORD_MMAP2);
    assert_true(r->mmap2.pid == 7 && r->mmap2.tid == 7);
    assert_int_equal(r->misc & PERFDATA_MISC_CPUMODE_MASK, PERFDATA_MISC_USER);
    assert_true(r->mmap2.addr == start && r->mmap2.len == len);
    assert_int_equal(r->mmap2.prot, prot);
    assert_string_equal((const char *)r->mmap2.filename.data, name);
}

static void check_code(struct fixture *f, bool has_id) {
    check_map(f, 0x2000, 0x3000, 5, "/bin/a b");
    assert_int_equal(f->t.rec.mmap2.has_build_id, has_id);
    assert_int_equal(f->t.rec.mmap2.pgoff, 0x1000);
    assert_true(has_id ? f->t.rec.mmap2.build_id_size == 3 : f->t.rec.mmap2.ino == 77);
    check_map(f, 0x100000000, 0x1000, 7, "//anon");
    assert_int_equal(f->t.rec.mmap2.flags, 1);
    check_map(f, 0x100005000, 0x1000, 5, "//anon");
    check_map(f, 0x100009000, 0x1000, 5, "/memfd:x (deleted)");
    check_map(f, 0xffffffffff600000, 0x1000, 4, "[vsyscall]");
}

/* With the query and with the text: the same mappings. The name of a file that has none is not asked twice.
 */
static void test_process(void **state) {
    (void)state;
    struct fixture f;
    for (int no_query = 0; no_query < 2; no_query++) {
        begin(&f, no_query);
        assert_true(record_tasks_process(&f.tasks, 7));
        check_comm(&f, 7, 7, "odd) S (name");
        check_code(&f, !no_query);
        check_comm(&f, 7, 8, "worker"); /* thread 9 ended meanwhile */
        assert_int_equal(f.queries, no_query ? 0 : 2);
        assert_true(record_tasks_process(&f.tasks, 7));
        assert_int_equal(f.queries, no_query ? 0 : 2);
        f.t.at = f.tasks.out.size;
        end(&f);
    }
}

static void test_data(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, false);
    f.tasks.data = true;
    assert_true(record_tasks_process(&f.tasks, 7));
    check_comm(&f, 7, 7, "odd) S (name");
    check_map(&f, 0x1000, 0x1000, 1, "/bin/a b");
    assert_true(f.t.rec.misc & PERFDATA_MISC_MMAP_DATA);
    check_code(&f, true);
    check_comm(&f, 7, 8, "worker");
    end(&f);
}

static void test_tree(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, false);
    f.tasks.forks = true;
    f.tasks.namespaces = true;
    f.tasks.mappings = false;
    static const int32_t PIDS[] = {1, 2, 7, 9999};
    for (size_t i = 0; i < 4; i++)
        assert_true(record_tasks_process(&f.tasks, PIDS[i]));
    static const struct {
        uint32_t pid, tid, parent;
        const char *comm;
    } WANT[] = {
        {1, 1, 0, "init"}, {2, 2, 0, "kworker/0:0H-ev"}, {7, 7, 1, "odd) S (name"}, {7, 8, 7, "worker"}};
    for (size_t i = 0; i < 4; i++) {
        const struct perfdata_record *r = next(&f, PERFDATA_RECORD_FORK);
        assert_int_equal(r->misc, PERFDATA_MISC_FORK_EXEC);
        assert_true(r->task.pid == WANT[i].pid && r->task.tid == WANT[i].tid);
        assert_true(r->task.ppid == WANT[i].parent && r->task.ptid == WANT[i].parent);
        r = next(&f, PERFDATA_RECORD_NAMESPACES);
        assert_true(r->namespaces.nr == 7 && r->namespaces.tid == WANT[i].tid);
        if (i == 2) { /* uts is the second */
            assert_int_equal(perfdata_u64_at(&r->namespaces.links, 2), 4);
            assert_int_equal(perfdata_u64_at(&r->namespaces.links, 3), 4026531838);
        }
        check_comm(&f, WANT[i].pid, WANT[i].tid, WANT[i].comm);
    }
    end(&f);
}

static void test_thread(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, false);
    assert_true(record_tasks_thread(&f.tasks, 8));
    check_comm(&f, 7, 8, "worker");
    check_code(&f, true);
    assert_true(record_tasks_thread(&f.tasks, 4242));
    end(&f);
}

/* Several threads give what one gives, in the same order. */
static void test_threads(void **state) {
    (void)state;
    enum { MANY = 400 };
    static char paths[MANY][24], stats[MANY][120];
    static struct os_proc_fake_file files[MANY];
    struct writer first = writer_make(false);
    for (int i = 0; i < MANY; i++) {
        snprintf(paths[i], sizeof paths[i], "/proc/%d/stat", i + 10);
        int n = snprintf(stats[i], sizeof stats[i],
                         "%d (p%d) S %d 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0\n", i + 10, i, i);
        files[i] = (struct os_proc_fake_file){.path = paths[i], .content = {(uint8_t *)stats[i], (size_t)n}};
    }
    for (uint32_t threads = 0; threads < 6; threads++) {
        struct fixture f;
        begin(&f, false);
        f.fake.files = files;
        f.fake.file_count = MANY;
        f.o.synth_threads = threads;
        struct perf_target target = {.system_wide = true};
        struct record_synth_request r = {.options = &f.o, .target = &target};
        assert_true(record_synth(&f.proc, &r, &f.t.sink, NULL));
        if (threads == 0)
            writer_bytes_put(&first, writer_bytes(&f.t.got));
        assert_int_equal(f.t.got.size, first.size);
        assert_memory_equal(f.t.got.data, first.data, first.size);
        end(&f);
    }
    assert_true(first.size > MANY * 80);
    writer_fini(&first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process), cmocka_unit_test(test_data),    cmocka_unit_test(test_tree),
        cmocka_unit_test(test_thread),  cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
