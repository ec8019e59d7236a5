/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"

#include <sys/mman.h>

/* ---- small records ---- */

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s) + 1};
}

static struct model_when at(uint64_t time_ns) {
    static _Thread_local uint64_t order;
    return (struct model_when){time_ns, ++order};
}

/* Everything up to a time. */
static struct model_when upto(uint64_t time_ns) {
    return (struct model_when){time_ns, UINT64_MAX};
}

static struct model *batch(void) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    assert_non_null(m);
    return m;
}

static void apply(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    assert_true(model_apply(m, rec, when, NULL));
}

static void comm(struct model *m, uint64_t t, uint32_t pid, uint32_t tid, const char *name, bool exec) {
    struct perfdata_record r = {.type = PERFDATA_RECORD_COMM, .misc = exec ? PERFDATA_MISC_COMM_EXEC : 0};
    r.comm = (struct perfdata_comm){pid, tid, text(name)};
    apply(m, &r, at(t));
}

static void task(struct model *m, uint32_t type, uint64_t t, uint32_t pid, uint32_t tid, uint32_t ppid,
                 uint32_t ptid) {
    struct perfdata_record r = {.type = type, .task = {pid, ppid, tid, ptid, t}};
    apply(m, &r, at(t));
}

static void fork_process(struct model *m, uint64_t t, uint32_t pid, uint32_t ppid) {
    task(m, PERFDATA_RECORD_FORK, t, pid, pid, ppid, ppid);
}

static void fork_thread(struct model *m, uint64_t t, uint32_t pid, uint32_t tid) {
    task(m, PERFDATA_RECORD_FORK, t, pid, tid, pid, pid);
}

static void exit_thread(struct model *m, uint64_t t, uint32_t pid, uint32_t tid) {
    task(m, PERFDATA_RECORD_EXIT, t, pid, tid, pid, pid);
}

static void map_in(struct model *m, uint16_t cpumode, uint64_t t, uint32_t pid, uint64_t start, uint64_t len,
                   uint64_t pgoff, const char *name) {
    struct perfdata_record r = {.type = PERFDATA_RECORD_MMAP, .misc = cpumode};
    r.mmap = (struct perfdata_mmap){pid, pid, start, len, pgoff, text(name)};
    apply(m, &r, at(t));
}

static void map(struct model *m, uint64_t t, uint32_t pid, uint64_t start, uint64_t len, const char *name) {
    map_in(m, PERFDATA_MISC_USER, t, pid, start, len, 0, name);
}

static void freeze(struct model *m) {
    assert_true(model_freeze(m, NULL));
}

static const char *dso_in(struct model *m, unsigned cpumode, uint32_t pid, uint64_t t, uint64_t address) {
    struct model_hit hit;
    if (!model_find(m, cpumode, pid, upto(t), address, &hit)) {
        assert_int_equal(hit.mapping, MODEL_NONE);
        return "-";
    }
    return model_image_dso(m, model_image(m, hit.image));
}

static const char *dso(struct model *m, uint32_t pid, uint64_t t, uint64_t address) {
    return dso_in(m, PERFDATA_MISC_USER, pid, t, address);
}

static const char *name_of(struct model *m, uint32_t pid, uint32_t tid, uint64_t t) {
    const char *s = model_comm(m, pid, tid, upto(t), NULL);
    return s ? s : "-";
}

/* ---- address spaces ---- */

static void test_later_map_cuts(void **state) {
    (void)state;
    struct model *m = batch();
    map(m, 10, 1, 0x1000, 0x6000, "/a");
    map(m, 20, 1, 0x3000, 0x1000, "/b");
    map(m, 30, 1, 0x0, 0x1001, "/c");
    freeze(m);
    assert_string_equal(dso(m, 1, 9, 0x1000), "-");
    assert_string_equal(dso(m, 1, 10, 0x3000), "/a");
    assert_string_equal(dso(m, 1, 19, 0x3fff), "/a");
    assert_string_equal(dso(m, 1, 20, 0x2fff), "/a");
    assert_string_equal(dso(m, 1, 20, 0x3000), "/b");
    assert_string_equal(dso(m, 1, 20, 0x3fff), "/b");
    assert_string_equal(dso(m, 1, 20, 0x4000), "/a");
    assert_string_equal(dso(m, 1, 20, 0x6fff), "/a");
    assert_string_equal(dso(m, 1, 20, 0x7000), "-");
    assert_string_equal(dso(m, 1, 30, 0x1000), "/c");
    assert_string_equal(dso(m, 1, 30, 0x1001), "/a");
    assert_string_equal(dso(m, 2, 30, 0x1000), "-");
    model_free(m);
}

static void test_late_map_counts_from_its_time(void **state) {
    (void)state;
    struct model *m = batch();
    map(m, 30, 1, 0x1000, 0x1000, "/new");
    map(m, 10, 1, 0x1000, 0x1000, "/old");
    freeze(m);
    assert_string_equal(dso(m, 1, 20, 0x1000), "/old");
    assert_string_equal(dso(m, 1, 30, 0x1000), "/new");
    model_free(m);
}

static void test_comms(void **state) {
    (void)state;
    struct model *m = batch();
    comm(m, 0, 1, 1, "init", false);
    fork_process(m, 10, 5, 1);
    comm(m, 20, 5, 5, "sh", true);
    fork_thread(m, 30, 5, 6);
    comm(m, 40, 5, 6, "worker", false);
    exit_thread(m, 50, 5, 6);
    exit_thread(m, 51, 5, 5);
    fork_process(m, 60, 5, 99);
    freeze(m);
    assert_string_equal(name_of(m, 0, 0, 0), "swapper");
    assert_string_equal(name_of(m, 5, 5, 9), "-");
    assert_string_equal(name_of(m, 5, 5, 10), "init");
    bool exec = false;
    assert_string_equal(model_comm(m, 5, 5, upto(20), &exec), "sh");
    assert_true(exec);
    assert_string_equal(name_of(m, 5, 6, 30), "sh");
    assert_string_equal(name_of(m, 5, 6, 45), "worker");
    assert_string_equal(name_of(m, 5, 5, 50), "sh");
    assert_string_equal(name_of(m, 5, 6, 50), "-"); /* as perf: an exited thread has no name any more */
    assert_string_equal(name_of(m, 5, 5, 59), "-");
    assert_string_equal(name_of(m, 5, 5, 60), "-");
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_map_cuts),
        cmocka_unit_test(test_late_map_counts_from_its_time),
        cmocka_unit_test(test_comms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
