/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of report --tasks and --mmaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "format/perfdata/header/header_encode.h"
#include "tests/support/fail_alloc.h"
#include "view/lists/mmaps.h"
#include "view/lists/task_tree.h"

#define TEXT(s) ((struct bytes){(const uint8_t *)(s), sizeof(s)})

static struct perfdata_record comm(uint32_t pid, uint32_t tid, const char *name, bool exec) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_COMM,
                                    .misc = exec ? PERFDATA_MISC_COMM_EXEC : 0,
                                    .comm = {pid, tid, {(const uint8_t *)name, strlen(name) + 1}}};
}

static struct perfdata_record task(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid) {
    return (struct perfdata_record){.type = type, .task = {pid, ppid, tid, ptid, 0}};
}

static struct model *model_of(const struct perfdata_record *records, size_t count) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    assert_non_null(m);
    for (size_t i = 0; i < count; i++)
        assert_true(model_apply(m, &records[i], (struct model_when){100 * (i + 1), i}, NULL));
    assert_true(model_freeze(m, NULL));
    return m;
}

static void check_tasks(const struct perfdata_record *records, size_t count, const char *want) {
    struct model *m = model_of(records, count);
    struct out out;
    assert_true(out_init(&out, NULL, NULL));
    assert_true(tasks_print(m, NULL, NULL, &out, NULL));
    assert_string_equal(out_text(&out), want);
    out_fini(&out);
    model_free(m);
}

#define FORK(...) task(PERFDATA_RECORD_FORK, __VA_ARGS__)
#define EXIT(...) task(PERFDATA_RECORD_EXIT, __VA_ARGS__)
#define COUNT(a)  (sizeof(a) / sizeof *(a))

static void test_tree(void **state) {
    (void)state;
    const struct perfdata_record records[] = {
        comm(1, 1, "init", false),     FORK(100, 1, 100, 1),   comm(100, 100, "sh", false),
        FORK(100, 100, 101, 100), /* a thread of 100, which forks */
        FORK(50, 100, 50, 101),        FORK(200, 0, 200, 0),   comm(200, 200, "kthreadd", false),
        comm(300, 305, "late", false), /* no record mentions the leader */
        FORK(400, 999, 400, 999),      /* no other record mentions the parent */
        EXIT(50, 101, 50, 101),        EXIT(50, 101, 50, 101), EXIT(777, 1, 777, 1),
        EXIT(888, 1, 889, 1),
    };
    check_tasks(records, COUNT(records),
                "#      pid      tid     ppid  comm\n"
                "         0        0       -1 |swapper\n"
                "         1        1       -1 | init\n"
                "       100      100        1 |  sh\n"
                "       100      101      100 |   sh\n"
                "        50       50      101 |    sh\n"
                "       200      200        0 | kthreadd\n"
                "       300      300       -1 | :300\n"
                "       300      305       -1 | late\n"
                "       999      999       -1 | :999\n"
                "       400      400      999 |  :400\n");
}

static void test_reused_ids(void **state) {
    (void)state;
    const struct perfdata_record records[] = {
        comm(1, 1, "init", false),      FORK(100, 1, 100, 1),
        comm(100, 100, "first", true),  FORK(200, 100, 200, 100),
        EXIT(100, 1, 100, 1),           FORK(100, 200, 100, 200), /* 100 is 200's parent and now its child */
        comm(100, 100, "second", true),
    };
    check_tasks(records, COUNT(records),
                "#      pid      tid     ppid  comm\n"
                "         0        0       -1 |swapper\n"
                "         1        1       -1 | init\n"
                "       200      200      100 | first\n"
                "       100      100      200 |  second\n");
}

/* A chain of forks must not cost memory or time with its square, nor recurse. */
static void test_long_chain(void **state) {
    (void)state;
    enum { LENGTH = 20000 };
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_COMMS}, NULL);
    for (uint32_t i = 1; i < LENGTH; i++) {
        struct perfdata_record f = FORK(i, i - 1, i, i - 1);
        assert_true(model_apply(m, &f, (struct model_when){i, i}, NULL));
    }
    assert_true(model_freeze(m, NULL));
    struct out out;
    assert_true(out_init(&out, NULL, NULL));
    assert_true(tasks_print(m, NULL, NULL, &out, NULL));
    assert_true(out.len < 300 * LENGTH);
    size_t lines = 0;
    for (const char *p = out_text(&out); (p = strchr(p, '\n')); p++)
        lines++;
    assert_int_equal(lines, LENGTH + 1);
    out_fini(&out);
    model_free(m);
}

/* A recording with maps; the records are in a stream where the model says. */
struct recording {
    struct perfdata_events events;
    struct writer file;
    struct stream *stream;
    struct model *model;
};

static void recording_init(struct recording *r, const struct perfdata_record *records, size_t count) {
    static const uint64_t no_bits[4];
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME};
    perfdata_events_init(&r->events, false);
    assert_int_equal(perfdata_events_add(&r->events, &attr, &(struct perfdata_u64s){0}), 0);
    const struct perfdata_plan *plan = &r->events.list.items[0].plan;
    struct writer data = writer_make(false);
    for (size_t i = 0; i < count; i++) {
        struct perfdata_record rec = records[i];
        rec.id = (struct perfdata_sample_id){.have = attr.sample_type, .time = 100 * (i + 1)};
        perfdata_record_encode(&rec, plan, &data);
    }
    r->file = writer_make(false);
    perfdata_file_head_encode(&r->events, &r->file);
    perfdata_file_head_finish(&r->file, data.size, no_bits);
    writer_bytes_put(&r->file, writer_bytes(&data));
    writer_fini(&data);
    assert_true(writer_ok(&r->file));
    r->stream = stream_open_memory(writer_bytes(&r->file), NULL, NULL);
    assert_non_null(r->stream);
    r->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    struct stream_record s;
    while (stream_next(r->stream, &s, NULL) == STREAM_RECORD) {
        struct perfdata_record rec;
        assert_true(perfdata_record_decode(&s.raw, plan, false, &rec, NULL));
        assert_true(model_apply(r->model, &rec, (struct model_when){s.time_ns, s.loc}, NULL));
    }
    assert_true(model_freeze(r->model, NULL));
}

static void recording_fini(struct recording *r) {
    model_free(r->model);
    stream_close(r->stream);
    writer_fini(&r->file);
    perfdata_events_fini(&r->events);
}

static struct perfdata_record map2(uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
                                   struct bytes name, uint32_t prot, uint32_t flags) {
    struct perfdata_record m = {.type = PERFDATA_RECORD_MMAP2, .misc = PERFDATA_MISC_USER};
    m.mmap2 = (struct perfdata_mmap2){.pid = pid,
                                      .tid = pid,
                                      .addr = addr,
                                      .len = len,
                                      .pgoff = pgoff,
                                      .ino = 77,
                                      .prot = prot,
                                      .flags = flags,
                                      .filename = name};
    return m;
}

static void test_mmaps(void **state) {
    (void)state;
    struct perfdata_record with_id =
        map2(5, 0x8000, 0x1000, 0, TEXT("/id\0\0\0\0"), PROT_READ | PROT_EXEC, MAP_PRIVATE);
    with_id.misc |= PERFDATA_MISC_MMAP_BUILD_ID;
    with_id.mmap2.has_build_id = true;
    with_id.mmap2.build_id_size = 2;
    memcpy(with_id.mmap2.build_id, "\xab\x01", 2);
    const struct perfdata_record records[] = {
        comm(5, 5, "prog", true),
        map2(5, 0x1000, 0x3000, 0x100, TEXT("/lib/a\0"), PROT_READ | PROT_EXEC, MAP_PRIVATE),
        map2(5, 0x2000, 0x1000, 0, TEXT("/lib/b\0"), PROT_READ | PROT_WRITE, MAP_SHARED),
        with_id,
        map2(5, 0x7000, 0x1000, 0x7000, TEXT("[vdso]\0"), PROT_READ | PROT_EXEC, MAP_PRIVATE),
        {.type = PERFDATA_RECORD_MMAP,
         .misc = PERFDATA_MISC_USER,
         .mmap = {5, 5, 0x9000, 0x1000, 0x10, TEXT("/mmap\0\0")}},
        FORK(6, 5, 6, 5),
        comm(6, 6, "other", true), /* an exec unmaps everything */
        map2(6, 0x1000, 0x1000, 0, TEXT("/lib/c\0"), PROT_EXEC, MAP_PRIVATE),
        EXIT(6, 5, 6, 5), /* what it had mapped until then is shown */
    };
    struct recording r;
    struct out out;
    uint64_t left_out = 1;
    recording_init(&r, records, COUNT(records));
    assert_true(out_init(&out, NULL, NULL));
    assert_true(mmaps_print(r.model, r.stream, &out, &left_out, NULL));
    assert_string_equal(out_text(&out),
                        "#      pid      tid     ppid  comm\n"
                        "         0        0       -1 |swapper\n"
                        "         5        5       -1 | prog\n"
                        "                                 1000-2000 r-xp 00000100 77 /lib/a\n"
                        "                                 2000-3000 rw-s 00000000 77 /lib/b\n"
                        "                                 3000-4000 r-xp 00002100 77 /lib/a\n"
                        "                                 7000-8000 r-xp 00000000  [vdso]\n"
                        "                                 8000-9000 r-xp 00000000 ab01 /id\n"
                        "                                 9000-a000 --xp 00000010  /mmap\n"
                        "         6        6        5 |  other\n"
                        "                                  1000-2000 --xp 00000000 77 /lib/c\n");
    assert_int_equal(left_out, 0);
    out_fini(&out);
    recording_fini(&r);
}

static bool count_lines(void *ctx, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        *(uint64_t *)ctx += p[i] == '\n';
    return true;
}

/* Each of many forks has all of many mappings. */
static void test_inherited_without_end(void **state) {
    (void)state;
    enum { EACH = 2000, RECORDS = 1 + 2 * EACH, MOST = (1 << 20) + 64 * RECORDS + EACH + 3 * RECORDS };
    struct perfdata_record *records = calloc(RECORDS, sizeof *records);
    struct recording r;
    struct out out;
    uint64_t lines = 0, left_out = 0;
    records[0] = comm(5, 5, "prog", true);
    for (uint32_t i = 0; i < EACH; i++) {
        records[1 + i] = map2(5, 0x2000 * (i + 1), 0x1000, 0, TEXT("/lib/a\0"), PROT_EXEC, MAP_PRIVATE);
        records[1 + EACH + i] = FORK(6 + i, 5, 6 + i, 5);
        records[1 + EACH + i].task.time = 1; /* at 0 it would describe what was already running */
    }
    recording_init(&r, records, RECORDS);
    assert_true(out_init(&out, count_lines, &lines));
    assert_true(mmaps_print(r.model, r.stream, &out, &left_out, NULL));
    assert_true(out_flush(&out));
    out_fini(&out);
    assert_in_range(lines, 1 << 20, MOST);
    assert_in_range(left_out, 1, EACH);
    recording_fini(&r);
    free(records);
}

static void test_without_memory(void **state) {
    (void)state;
    const struct perfdata_record records[] = {
        comm(5, 5, "prog", true),
        map2(5, 0x1000, 0x3000, 0x100, TEXT("/lib/a\0"), PROT_READ | PROT_EXEC, MAP_PRIVATE),
        FORK(6, 5, 6, 5),
    };
    struct recording r;
    struct out out;
    uint64_t left_out;
    bool ok = false;
    recording_init(&r, records, COUNT(records));
    assert_true(out_init(&out, NULL, NULL));
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        ok = mmaps_print(r.model, r.stream, &out, &left_out, &err);
        assert_true(ok || err.code == ERR_MEMORY);
    });
    assert_true(ok);
    out_fini(&out);
    recording_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_reused_ids),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_mmaps),
        cmocka_unit_test(test_inherited_without_end),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
