/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/schedstat/schedstat.h"
#include "tests/support/fail_alloc.h"

/* A machine of two CPUs, Linux 6.1. */
static const char V15[] =
    "version 15\ntimestamp 4294895722\n"
    "cpu0 0 0 12 5 4 2 9072124388 1849510282 1703\n"
    "domain0 3 3 3 0 0 0 0 0 3 1 1 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2 0 0\n"
    "cpu1 0 0 16 7 11 7 7068509364 2804149678 2036\n"
    "domain0 3 4 4 0 0 0 0 0 4 0 0 0 0 0 0 0 0 2 2 0 0 0 0 0 2 0 0 0 0 0 0 0 0 0 4 0 0\n";

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void test_text(void **state) {
    (void)state;
    struct schedstat s = {0};
    struct err err = ERR_INIT;
    assert_true(schedstat_parse(text(V15), &s, &err));
    assert_int_equal(s.lines.count, 4);
    const struct schedstat_line *cpu = &s.lines.items[2], *domain = &s.lines.items[3];
    assert_true(cpu->cpu == 1 && !cpu->is_domain && cpu->version == 15 && cpu->timestamp == 4294895722);
    assert_true(cpu->values[2] == 16 && cpu->values[6] == 7068509364 && cpu->values[8] == 2036);
    assert_true(domain->cpu == 1 && domain->is_domain && domain->domain == 0);
    assert_true(domain->values[0] == 4 && domain->values[33] == 4 && domain->values[35] == 0);
    assert_true(domain->mask.size == 1 && *domain->mask.data == '3' && !domain->name.size);
    schedstat_fini(&s);
}

/* Version 17 has names and 45 numbers; what is not known is passed over. */
static void test_newest(void **state) {
    (void)state;
    char room[512] =
        "version 17\ntimestamp 5\nnews 1 2\ncpu7 1 2 3 4 5 6 7 8 9\ndomain1 MC 00000000,000000ff";
    for (int i = 1; i <= 45; i++)
        snprintf(room + strlen(room), sizeof room - strlen(room), " %d", i);
    struct schedstat s = {0};
    struct err err = ERR_INIT;
    assert_true(schedstat_parse(text(room), &s, &err));
    assert_int_equal(s.lines.count, 2);
    const struct schedstat_line *d = &s.lines.items[1];
    assert_true(d->cpu == 7 && d->domain == 1 && d->name.size == 2 && d->mask.size == 17);
    assert_true(d->values[0] == 1 && d->values[44] == 45);
    schedstat_fini(&s);
}

static void test_broken(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "version 15\ntimestamp 1\n",
                                      "version x\n",
                                      "cpu0 1 2 3 4 5 6 7 8 9\n",
                                      "version 99\ncpu0 1 2 3 4 5 6 7 8 9\n",
                                      "version 15\ncpu0 1 2 3\n",
                                      "version 15\ncpu0 1 2 3 4 5 6 7 8 99999999999999999999\n",
                                      "version 15\ndomain0 3 1 2 3\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct schedstat s = {0};
        struct err err = ERR_INIT;
        assert_false(schedstat_parse(text(bad[i]), &s, &err));
        assert_true(err.code);
        schedstat_fini(&s);
    }
}

static void test_records(void **state) {
    (void)state;
    struct schedstat s = {0};
    struct err err = ERR_INIT;
    struct writer w = writer_make(false);
    assert_true(schedstat_parse(text(V15), &s, &err));
    schedstat_encode(&s, &w);
    assert_true(writer_ok(&w));
    assert_int_equal(w.size, 2 * 72 + 2 * 208); /* as perf 7.2 writes them */
    size_t at = 0;
    for (size_t i = 0; i < s.lines.count; i++) {
        size_t size = s.lines.items[i].is_domain ? 208 : 72;
        struct perfdata_raw raw = {.type = s.lines.items[i].is_domain ? PERFDATA_RECORD_SCHEDSTAT_DOMAIN
                                                                      : PERFDATA_RECORD_SCHEDSTAT_CPU,
                                   .body = {w.data + at + 8, size - 8}};
        struct schedstat_line got;
        assert_true(schedstat_decode(&raw, false, &got));
        assert_int_equal(got.timestamp, s.lines.items[i].timestamp);
        assert_int_equal(got.cpu, s.lines.items[i].cpu);
        assert_memory_equal(got.values, s.lines.items[i].values, sizeof got.values);
        raw.body.size = 40;
        assert_false(schedstat_decode(&raw, false, &got));
        raw.body.size = size - 8;
        raw.type = PERFDATA_RECORD_SAMPLE;
        assert_false(schedstat_decode(&raw, false, &got));
        at += size;
    }
    writer_fini(&w);
    schedstat_fini(&s);
}

/* What was counted between snapshots; 32 bits go round. */
static void test_span(void **state) {
    (void)state;
    struct schedstat all = {0}, span = {0};
    struct err err = ERR_INIT;
    assert_true(
        schedstat_parse(text("version 15\ntimestamp 10\ncpu0 4294967295 0 1 0 0 0 100 9 3\n"), &all, &err));
    assert_true(schedstat_parse(text("version 15\ntimestamp 13\ncpu0 7 0 1 0 0 0 150 9 3\n"), &all, &err));
    assert_true(schedstat_parse(text("version 15\ntimestamp 15\ncpu0 4 0 9 0 0 0 170 9 2\n"), &all, &err));
    assert_true(schedstat_span(&all, &span));
    assert_int_equal(span.lines.count, 1);
    const struct schedstat_line *l = &span.lines.items[0];
    assert_true(l->timestamp == 5 && l->values[0] == 5 && l->values[2] == 8 && l->values[6] == 70 &&
                l->values[8] == 0);
    schedstat_fini(&all);
    schedstat_fini(&span);
}

static void test_lists(void **state) {
    (void)state;
    static const char *const masks[][2] = {
        {"3", "0-1"}, {"00000001,00000000", "32"}, {"f5", "0,2,4-7"}, {"0", ""}, {"", ""}};
    char room[SCHEDSTAT_LIST_ROOM], many[512];
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        schedstat_mask_list(text(masks[i][0]), room);
        assert_string_equal(room, masks[i][1]);
    }
    memset(many, '5', sizeof many);
    schedstat_mask_list((struct bytes){(const uint8_t *)many, sizeof many}, room);
    assert_string_equal(room + strlen(room) - 3, "...");
}

static void run_short(void) {
    struct schedstat s = {0};
    struct err err = ERR_INIT;
    struct writer w = writer_make(false);
    if (schedstat_parse(text(V15), &s, &err))
        schedstat_encode(&s, &w);
    else
        assert_int_equal(err.code, ERR_MEMORY);
    writer_fini(&w);
    schedstat_fini(&s);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(run_short());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text),   cmocka_unit_test(test_newest),
                                       cmocka_unit_test(test_broken), cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_span),   cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
