/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/dist/sample_filter.h"
#include "os/bpf/bpf_fake.h"
#include "record/filter/filter.h"
#include "record/filter/filter_parse.h"
#include "tests/support/fail_alloc.h"

enum { CPUS = 2 };

static const struct perfdata_attr ALL = {.sample_type = PERFDATA_SAMPLE_KNOWN & ~PERFDATA_SAMPLE_WEIGHT};

static void check(const char *text, size_t at, struct bpf_filter_term want) {
    struct bpf_filter f;
    struct err err = ERR_INIT;
    if (!record_filter_parse(text, &ALL, &f, &err))
        fail_msg("%s: %s", text, err.message);
    assert_true(at < f.count);
    assert_memory_equal(&f.terms[at], &want, sizeof want);
}

static void terms(void **state) {
    static const char MANUAL[] = "mem_op == load || mem_op == store, mem_lvl > l1";
    struct bpf_filter f;
    (void)state;
    check("period > 1000, cpu == 1", 0,
          (struct bpf_filter_term){1000, BPF_FILTER_PERIOD, BPF_FILTER_MORE, 0, 0, false});
    check("period > 1000, cpu == 1", 1,
          (struct bpf_filter_term){1, BPF_FILTER_CPU, BPF_FILTER_EQUAL, 0, 0, false});
    check("period > 1000 && cpu == 1", 1,
          (struct bpf_filter_term){1, BPF_FILTER_CPU, BPF_FILTER_EQUAL, 0, 0, false});
    check(MANUAL, 0, (struct bpf_filter_term){2, BPF_FILTER_DATA_SRC, BPF_FILTER_ALL, 0, 5, true});
    check(MANUAL, 1, (struct bpf_filter_term){4, BPF_FILTER_DATA_SRC, BPF_FILTER_ALL, 0, 5, false});
    check(MANUAL, 2, (struct bpf_filter_term){1, BPF_FILTER_DATA_SRC, BPF_FILTER_MORE, 33, 4, false});
    check(" ip>=0xffffffff81000000||uid!=0 ", 0,
          (struct bpf_filter_term){0xffffffff81000000, BPF_FILTER_IP, BPF_FILTER_AT_LEAST, 0, 0, true});
    check("mem_snoop != fwd", 0,
          (struct bpf_filter_term){1, BPF_FILTER_DATA_SRC, BPF_FILTER_MISS, 38, 2, false});
    check("ins_lat<=9", 0, (struct bpf_filter_term){9, BPF_FILTER_WEIGHT, BPF_FILTER_AT_MOST, 32, 16, false});
    check("weight & 8", 0, (struct bpf_filter_term){8, BPF_FILTER_WEIGHT, BPF_FILTER_ANY, 0, 32, false});
    check("id<18446744073709551615", 0,
          (struct bpf_filter_term){UINT64_MAX, BPF_FILTER_ID, BPF_FILTER_LESS, 0, 0, false});
    const struct perfdata_attr plain = {.sample_type = PERFDATA_SAMPLE_WEIGHT};
    assert_true(record_filter_parse("weight == 8", &plain, &f, NULL));
    assert_int_equal(f.terms[0].bits, 0);
}

static void wrong_ones(void **state) {
    static const struct {
        const char *text, *says;
    } WRONG[] = {
        {"", "no term"},
        {"foo == 1", "no term"},
        {"pid", "no operator"},
        {"pid = 1", "no operator"},
        {"pid ==", "no number"},
        {"pid == x", "no number"},
        {"pid == 1x", "no number"},
        {"pid == -1", "no number"},
        {"pid == 0x", "no number"},
        {"pid == 18446744073709551616", "no number"},
        {"mem_op == l1", "no value of this term"},
        {"pid == 1,", "no term"},
        {"pid == 1 ||", "no term"},
        {"pid == 1 | pid == 2", "neither"},
        {"pid == 1 ; pid == 2", "neither"},
        {"PID == 1", "no term"},
    };
    struct bpf_filter f;
    char many[BPF_FILTER_TERMS * 8 + 16] = "cpu==1";
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct err err = ERR_INIT;
        assert_false(record_filter_parse(WRONG[i].text, &ALL, &f, &err));
        assert_int_equal(err.code, ERR_USAGE);
        if (!strstr(err.message, WRONG[i].says))
            fail_msg("%s: %s", WRONG[i].text, err.message);
    }
    for (size_t i = 1; i < BPF_FILTER_TERMS; i++)
        strcat(many, ",cpu==1");
    assert_true(record_filter_parse(many, &ALL, &f, NULL));
    assert_int_equal(f.count, BPF_FILTER_TERMS);
    strcat(many, ",cpu==1");
    assert_false(record_filter_parse(many, &ALL, &f, NULL));
}

static void what_must_be_sampled(void **state) {
    const struct perfdata_attr bare = {.sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID};
    struct bpf_filter f;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(
        record_filter_parse("ip > 1, pid == 1, tid == 1, uid == 0, gid == 0, period > 1", &bare, &f, &err));
    assert_false(record_filter_parse("pid == 1, mem_op == load", &bare, &f, &err));
    assert_non_null(strstr(err.message, "add -d"));
}

/* ---- attaching ---- */

static const struct os_bpf_map_kind KINDS[SAMPLE_FILTER_MAP_COUNT] = {
    [SAMPLE_FILTER_MAP_COUNTERS] = {
        .key_bytes = 4, .value_bytes = CPUS * sizeof(struct bpf_filter_counters), .entries = 1}};

struct fixture {
    struct os_bpf_fake bpf;
    struct record_plan plan;
    struct record_opened opened;
};

static void begin(struct fixture *f, const char *filter) {
    *f = (struct fixture){.opened = {0}};
    os_bpf_fake_init(&f->bpf, &bpf_sample_filter);
    f->bpf.kinds = KINDS;
    for (uint32_t event = 0; event < 2; event++) {
        struct record_event_plan *e = vec_push(&f->plan.events);
        assert_non_null(e);
        *e = (struct record_event_plan){
            .attr = ALL, .name = "cpu-clock", .sample_filter = event ? filter : NULL};
        for (int cpu = 0; cpu < CPUS; cpu++) {
            struct record_fd *fd = vec_push(&f->opened.fds);
            assert_non_null(fd);
            *fd = (struct record_fd){.fd = 900 + cpu, .event = event, .cpu = cpu};
        }
    }
}

static void end(struct fixture *f) {
    vec_fini(&f->plan.events);
    vec_fini(&f->opened.fds);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    os_bpf_fake_fini(&f->bpf);
}

static size_t links(const struct fixture *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->bpf.fds.count; i++)
        n += !f->bpf.fds.items[i].closed && f->bpf.fds.items[i].command == BPF_LINK_CREATE;
    return n;
}

static void one_event_of_two(void **state) {
    const struct bpf_filter_counters counted[CPUS] = {{.passed = 5, .dropped = 3},
                                                      {.dropped = 4, .unknown = 1}};
    const uint32_t zero = 0;
    struct fixture f;
    struct err err = ERR_INIT;
    (void)state;
    begin(&f, "pid == 1");
    assert_true(record_filters_wanted(&f.plan));
    struct record_filters *x = record_filters_start(&f.bpf.bpf, &f.plan, &f.opened, false, &err);
    assert_non_null(x);
    assert_int_equal(links(&f), CPUS);
    for (size_t i = 0; i < f.bpf.fds.count; i++)
        if (f.bpf.fds.items[i].value_bytes == sizeof counted)
            assert_int_equal(os_bpf_update(&f.bpf.bpf, OS_BPF_FAKE_FD + (int)i, &zero, counted), 0);
    assert_int_equal(record_filters_tell(x), 7);
    record_filters_free(x);
    end(&f);
    begin(&f, NULL);
    assert_false(record_filters_wanted(&f.plan));
    end(&f);
}

static int refuse_links(void *ctx, int command) {
    (void)ctx;
    return command == BPF_LINK_CREATE ? EPERM : 0;
}

static void refusals(void **state) {
    struct fixture f;
    struct err err = ERR_INIT;
    (void)state;
    begin(&f, "pid = 1");
    assert_null(record_filters_start(&f.bpf.bpf, &f.plan, &f.opened, false, &err));
    assert_int_equal(err.code, ERR_USAGE);
    end(&f);
    begin(&f, "pid == 1");
    f.bpf.refuse = refuse_links;
    assert_null(record_filters_start(&f.bpf.bpf, &f.plan, &f.opened, false, &err));
    assert_int_equal(err.code, ERR_PERMISSION);
    end(&f);
}

static void start_short_of_memory(void) {
    struct fixture f;
    struct err err = ERR_INIT;
    f = (struct fixture){.opened = {0}};
    struct record_event_plan e = {.attr = ALL, .name = "cpu-clock", .sample_filter = "pid == 1"};
    struct record_fd fd = {.fd = 900};
    f.plan.events.items = &e;
    f.plan.events.count = 1;
    f.opened.fds.items = &fd;
    f.opened.fds.count = 1;
    os_bpf_fake_init(&f.bpf, &bpf_sample_filter);
    f.bpf.kinds = KINDS;
    struct record_filters *x = record_filters_start(&f.bpf.bpf, &f.plan, &f.opened, false, &err);
    assert_true(x || err.code);
    record_filters_free(x);
    os_bpf_fake_fini(&f.bpf);
}

static void memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(start_short_of_memory());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms),
        cmocka_unit_test(wrong_ones),
        cmocka_unit_test(what_must_be_sampled),
        cmocka_unit_test(one_event_of_two),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
