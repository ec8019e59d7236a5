/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/dist/latency.h"
#include "ftrace/latency.h"
#include "os/bpf/bpf_fake.h"

enum { CPUS = 2 };

static const struct os_bpf_map_kind KINDS[LATENCY_MAP_COUNT] = {
    [LATENCY_MAP_BEGINS] = {.key_bytes = 8, .value_bytes = 8, .entries = 8},
    [LATENCY_MAP_TARGETS] = {.key_bytes = 8, .value_bytes = 4, .entries = 2},
    [LATENCY_MAP_CPUS] = {.key_bytes = 4, .value_bytes = 4, .entries = 8},
    [LATENCY_MAP_SUMS] = {.key_bytes = 4, .value_bytes = CPUS * sizeof(struct bpf_latency_sum), .entries = 1},
};

struct fixture {
    struct os_bpf_fake bpf;
    struct ftrace_latency latency;
    struct ftrace_histogram histogram;
    struct ftrace_latency_options options;
    int missing; /* the program whose tracepoint is not there: counted from 0; -1: none */
    int attached;
    struct err err;
};

static int refuse(void *ctx, int command) {
    struct fixture *f = ctx;
    if (command != BPF_RAW_TRACEPOINT_OPEN)
        return 0;
    return f->attached++ == f->missing ? ENOENT : 0;
}

static void begin(struct fixture *f, const char *first, const char *second) {
    *f = (struct fixture){
        .histogram = {.unit_ns = 1000}, .options = {.first = first, .second = second}, .missing = -1};
    os_bpf_fake_init(&f->bpf, &bpf_latency);
    f->bpf.kinds = KINDS;
    f->bpf.cpu_count = CPUS;
    f->bpf.refuse = refuse;
    f->bpf.refuse_ctx = f;
    assert_true(ftrace_latency_load(&f->latency, &f->bpf.bpf, &f->histogram, &f->options, &f->err));
}

static void end(struct fixture *f) {
    ftrace_latency_close(&f->latency);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    os_bpf_fake_fini(&f->bpf);
}

static void test_sums_of_all_cpus(void **state) {
    struct fixture f;
    const uint32_t zero = 0;
    struct bpf_latency_sum sums[CPUS] = {
        {.count = 2, .total_ns = 30, .max_ns = 20, .min_ns = 10, .unmatched = 1},
        {.count = 1, .total_ns = 5, .max_ns = 5, .min_ns = 5, .full = 4, .unmatched = 2},
    };
    (void)state;
    sums[0].buckets[0] = sums[0].buckets[FTRACE_BUCKETS - 1] = sums[1].buckets[0] = 1;
    begin(&f, "sched/a", "sched/b");
    assert_true(ftrace_latency_attach(&f.latency, &f.options, &f.err));
    assert_int_equal(f.attached, 2);
    os_bpf_update(&f.bpf.bpf, f.latency.object.maps[LATENCY_MAP_SUMS].fd, &zero, sums);
    assert_true(ftrace_latency_read(&f.latency, &f.histogram, &f.err));
    assert_int_equal(f.histogram.count, 3);
    assert_int_equal(f.histogram.total_ns, 35);
    assert_int_equal(f.histogram.max_ns, 20);
    assert_int_equal(f.histogram.min_ns, 5);
    assert_int_equal(f.histogram.buckets[0], 2);
    assert_int_equal(f.histogram.buckets[FTRACE_BUCKETS - 1], 1);
    assert_int_equal(f.latency.full, 4);
    assert_int_equal(f.latency.unmatched, 3);
    end(&f);
}

static void test_same_event_has_one_program(void **state) {
    struct fixture f;
    (void)state;
    begin(&f, "sched/a", "sched/a");
    assert_true(ftrace_latency_attach(&f.latency, &f.options, &f.err));
    assert_int_equal(f.attached, 1);
    end(&f);
    begin(&f, "sched/a", "sched/a");
    f.options.inherit = true;
    assert_true(ftrace_latency_attach(&f.latency, &f.options, &f.err));
    assert_int_equal(f.attached, 2);
    end(&f);
}

static void test_no_such_tracepoint(void **state) {
    struct fixture f;
    (void)state;
    begin(&f, "sched/a", "syscalls/b");
    f.missing = 0;
    assert_false(ftrace_latency_attach(&f.latency, &f.options, &f.err));
    assert_int_equal(f.err.code, ERR_ABSENT);
    assert_string_equal(f.err.where, "syscalls:b");
    assert_non_null(strstr(f.err.message, "leave -b out"));
    end(&f);
}

static void test_whom(void **state) {
    struct fixture f;
    (void)state;
    begin(&f, "sched/a", "sched/b");
    assert_true(ftrace_latency_add_task(&f.latency, 7, false, &f.err));
    assert_true(ftrace_latency_add_task(&f.latency, 7, true, &f.err));
    assert_false(ftrace_latency_add_task(&f.latency, 8, true, &f.err)); /* the map is full */
    assert_string_equal(f.err.where, "--tid");
    assert_true(ftrace_latency_add_cpu(&f.latency, 3, &f.err));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_all_cpus),
        cmocka_unit_test(test_same_event_has_one_program),
        cmocka_unit_test(test_no_such_tracepoint),
        cmocka_unit_test(test_whom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
