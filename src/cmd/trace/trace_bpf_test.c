/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that the kernel made, over a bpf(2) that is none. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "bpf/dist/trace.h"
#include "cmd/trace/trace_bpf.h"
#include "os/bpf/bpf_fake.h"

enum { READ = 0, A = 101, B = 102 };

#define KIND(key, value, room) \
    { .key_bytes = sizeof(key), .value_bytes = sizeof(value), .entries = room }
/* As bpf/trace.bpf.c declares them; without a ring, which the fake does not have. */
static const struct os_bpf_map_kind KINDS[TRACE_MAP_COUNT] = {
    [TRACE_MAP_THREADS] = KIND(int, uint64_t, 8),
    [TRACE_MAP_TARGETS] = KIND(uint32_t, uint32_t, 8),
    [TRACE_MAP_ROWS] = KIND(uint32_t, struct bpf_trace_row, BPF_TRACE_CALLS),
    [TRACE_MAP_SUMS] = KIND(struct bpf_trace_key, struct bpf_trace_sum, 64),
    [TRACE_MAP_ERRORS] = KIND(struct bpf_trace_key, uint64_t, 64),
    [TRACE_MAP_HALVES] = KIND(uint32_t, uint64_t, 8),
    [TRACE_MAP_COUNTERS] = KIND(uint32_t, struct bpf_trace_counters, 1),
    [TRACE_MAP_SCRATCH] = KIND(uint32_t, uint64_t, 1),
    [TRACE_MAP_RODATA] = KIND(uint32_t, struct bpf_trace_rodata, 1),
};

static void put(struct trace_bpf *b, uint32_t tid, uint64_t count, uint64_t errors, uint64_t each_ns) {
    const struct bpf_trace_key key = {.cgroup = tid == A ? 7 : 8, .tid = tid, .number = READ};
    const struct bpf_trace_sum sum = {.count = count,
                                      .errors = errors,
                                      .timed = count,
                                      .total_ns = count * each_ns,
                                      .min_ns = each_ns,
                                      .max_ns = each_ns,
                                      .squares_low = count * each_ns * each_ns};
    assert_int_equal(os_bpf_update(b->object.bpf, b->object.maps[TRACE_MAP_SUMS].fd, &key, &sum), 0);
    struct bpf_trace_key failed = key;
    failed.error = EAGAIN;
    if (errors)
        assert_int_equal(os_bpf_update(b->object.bpf, b->object.maps[TRACE_MAP_ERRORS].fd, &failed, &errors),
                         0);
}

static void open_fake(struct os_bpf_fake *f, struct trace_bpf *b) {
    struct trace_options o;
    struct trace_select s = {.syscalls = true};
    struct err err = ERR_INIT;
    os_bpf_fake_init(f, &bpf_trace);
    f->kinds = KINDS;
    trace_options_init(&o);
    const struct trace_bpf_plan plan = {&o, &s, calls_table("x86_64", false), calls_shapes, false};
    assert_true(trace_bpf_open(b, &f->bpf, &plan, &err));
}

static void sums_by_thread_and_of_all(void **state) {
    struct os_bpf_fake f;
    struct trace_bpf b;
    struct calls_summary threads = {0}, total = {0}, groups = {0};
    struct err err = ERR_INIT;
    uint64_t lost = 1;
    (void)state;
    open_fake(&f, &b);
    put(&b, A, 3, 1, 10);
    put(&b, B, 5, 0, 40);
    assert_true(trace_bpf_sums(&b, TRACE_SUMMARY_THREAD, &threads, &lost, &err));
    assert_int_equal(lost, 0);
    calls_summary_sort(&threads);
    assert_int_equal(threads.groups.count, 2);
    assert_int_equal(threads.groups.items[0].key, A);
    assert_int_equal(threads.groups.items[0].events, 6);
    assert_int_equal(threads.groups.items[0].stats.items[0].errnos.items[0].number, EAGAIN);
    assert_true(trace_bpf_sums(&b, TRACE_SUMMARY_TOTAL, &total, &lost, &err));
    const struct calls_stat *t = &total.groups.items[0].stats.items[0];
    assert_int_equal(total.groups.count, 1);
    assert_int_equal(t->count, 8);
    assert_int_equal(t->errors, 1);
    assert_int_equal(t->min_ns, 10);
    assert_int_equal(t->max_ns, 40);
    assert_int_equal(t->total_ns, 230);
    assert_int_equal((uint64_t)t->squares, 8300);
    assert_true(trace_bpf_sums(&b, TRACE_SUMMARY_CGROUP, &groups, &lost, &err));
    calls_summary_sort(&groups);
    assert_int_equal(groups.groups.items[0].key, 7);
    trace_bpf_close(&b);
    assert_int_equal(os_bpf_fake_open(&f), 0);
    os_bpf_fake_fini(&f);
    calls_summary_fini(&threads);
    calls_summary_fini(&total);
    calls_summary_fini(&groups);
}

static void threads_and_calls_that_are_wanted(void **state) {
    struct os_bpf_fake f;
    struct trace_bpf b;
    struct perf_target target = {.exec = true};
    struct err err = ERR_INIT;
    uint32_t tid = A, how = 0, number = 231; /* exit_group */
    struct bpf_trace_row row;
    (void)state;
    open_fake(&f, &b);
    struct perf_target_thread *thread = vec_push(&target.threads);
    thread->tid = A;
    assert_true(trace_bpf_start(&b, &target, &err));
    assert_int_equal(os_bpf_lookup(&f.bpf, b.object.maps[TRACE_MAP_TARGETS].fd, &tid, &how), 0);
    assert_int_equal(how, BPF_TRACE_FROM_EXEC);
    assert_int_equal(os_bpf_lookup(&f.bpf, b.object.maps[TRACE_MAP_ROWS].fd, &number, &row), 0);
    assert_true(row.never && !row.skip);
    number = 257; /* openat */
    assert_int_equal(os_bpf_lookup(&f.bpf, b.object.maps[TRACE_MAP_ROWS].fd, &number, &row), 0);
    assert_int_equal(row.args[1].how, BPF_TRACE_STRING);
    vec_fini(&target.threads);
    trace_bpf_close(&b);
    os_bpf_fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_thread_and_of_all),
        cmocka_unit_test(threads_and_calls_that_are_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
