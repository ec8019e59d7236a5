/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/proto.h"
#include "stacks/import/import.h"
#include "tests/support/fail_alloc.h"

static const char folded[] = "a;main;f_[k] 3\na;main 4\n";
static const char script[] = "prog 7/8 [001] 1.5: 9 cycles:u:\n\t10 f+0x2 (/bin/x)\n\t20 main (/bin/x)\n\n";
static const char json[] =
    "{\"format\":\"sonde stacks\",\"version\":1,\"texts\":[\"\",\"e\",\"main\"],\"later\":[{}],"
    "\"recordings\":[[1,0,0,0,0,0,5,6]],\"events\":[[1,1,0,2,99]],\"images\":[[2,2,0]],"
    "\"frames\":[[2,0,64,0,7,0,1,2],[1,null,0,0,0,0,0,0]],\"nodes\":[[null,0],[0,1]],"
    "\"rows\":[[0,2,1,3,30]],\"threads\":[[4,5,2]],\"samples\":[[11,30,0,0,null]]}";

static struct bytes bytes_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

/* main <- inner, which is inlined there; 3 samples, 300 ns, of "c". */
static void make_pprof(struct out *out) {
    static const char *const strings[] = {"",     "samples", "count", "cpu", "nanoseconds",
                                          "main", "inner",   "comm",  "c"};
    struct out a, b;
    assert_true(out_init(out, NULL, NULL) && out_init(&a, NULL, NULL) && out_init(&b, NULL, NULL));
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        proto_bytes(out, 6, strings[i], strlen(strings[i]));
    for (unsigned i = 0; i < 2; i++) {
        proto_number(&a, 1, 1 + 2 * i); /* type, unit */
        proto_number(&a, 2, 2 + 2 * i);
        proto_message(out, 1, &a);
        proto_number(&a, 1, i + 1); /* functions */
        proto_number(&a, 2, 5 + i);
        proto_message(out, 5, &a);
    }
    proto_number(&a, 1, 1);
    for (unsigned i = 2; i; i--) { /* lines, innermost first */
        proto_number(&b, 1, i);
        proto_message(&a, 4, &b);
    }
    proto_message(out, 4, &a);
    proto_number(&a, 1, 1);
    proto_number(&a, 2, 3);
    proto_number(&a, 2, 300);
    proto_number(&b, 1, 7);
    proto_number(&b, 2, 8);
    proto_message(&a, 3, &b);
    proto_message(out, 2, &a);
    out_fini(&a);
    out_fini(&b);
}

static bool import(struct stacks *s, struct bytes file, struct stacks_import_tally *tally, struct err *err) {
    return stacks_init(s, err) && stacks_import(s, stacks_import_kind_of(file), file, "x", tally, err);
}

static const char *frame_name(const struct stacks *s, uint32_t node) {
    return stacks_frame_name(s, &s->frames.items[s->nodes.items[node].frame]);
}

static void test_kinds(void **state) {
    struct out pprof;
    (void)state;
    make_pprof(&pprof);
    assert_int_equal(stacks_import_kind_of(bytes_of(folded)), STACKS_IMPORT_FOLDED);
    assert_int_equal(stacks_import_kind_of(bytes_of(script)), STACKS_IMPORT_SCRIPT);
    assert_int_equal(stacks_import_kind_of(bytes_of(json)), STACKS_IMPORT_JSON);
    assert_int_equal(stacks_import_kind_of((struct bytes){(uint8_t *)pprof.buf, pprof.len}),
                     STACKS_IMPORT_PPROF);
    assert_int_equal(stacks_import_kind_of(bytes_of("PERFILE2 and more: 12\n")), STACKS_IMPORT_NONE);
    assert_int_equal(stacks_import_kind_of((struct bytes){0}), STACKS_IMPORT_NONE);
    out_fini(&pprof);
}

static void test_pprof(void **state) {
    struct stacks s = {0};
    struct err err = ERR_INIT;
    struct stacks_import_tally tally;
    struct out pprof;
    (void)state;
    make_pprof(&pprof);
    assert_true(import(&s, (struct bytes){(uint8_t *)pprof.buf, pprof.len}, &tally, &err));
    assert_int_equal(tally.bad, 0);
    assert_int_equal(s.rows.count, 1);
    assert_int_equal(s.rows.items[0].samples, 3);
    assert_int_equal(s.rows.items[0].period, 300);
    assert_string_equal(stacks_str(&s, s.events.items[0].unit), "ns");
    assert_string_equal(stacks_str(&s, s.rows.items[0].comm), "c");
    assert_string_equal(frame_name(&s, 0), "main");
    assert_string_equal(frame_name(&s, s.rows.items[0].node), "inner");
    assert_int_equal(s.frames.items[s.nodes.items[1].frame].level, STACKS_INLINED);
    stacks_fini(&s);
    out_fini(&pprof);
}

static void test_json(void **state) {
    struct stacks s = {0};
    struct err err = ERR_INIT;
    struct stacks_import_tally tally;
    (void)state;
    assert_true(import(&s, bytes_of(json), &tally, &err));
    assert_int_equal(s.recordings.items[0].duration_ns, 6);
    assert_int_equal(s.events.items[0].lost, 2);
    assert_int_equal(s.frames.items[0].address, 64);
    assert_int_equal(s.frames.items[0].grade, STACKS_STALE);
    assert_int_equal(s.nodes.items[1].caller, 0);
    assert_int_equal(s.rows.items[0].period, 30);
    assert_int_equal(s.moments.items[0].time_ns, 11);
    assert_int_equal(s.moments.items[0].cpu, STACKS_NONE);
    stacks_fini(&s);
}

/* A number that nothing has, wherever it stands, ends the reading. */
static void test_json_refers_to_what_is_there(void **state) {
    static const char *const parts[] = {
        "\"frames\":[[9,0,", "\"images\":[[2,9,",    "\"nodes\":[[null,9]",
        "\"rows\":[[9,",     "\"rows\":[[0,2,9,",    "\"events\":[[1,1,9,",
        "\"nodes\":[[0,0]",  "\"samples\":[[1,1,9,", "\"threads\":[[1,5000000000,"};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t key = (size_t)(strchr(parts[i], ':') - parts[i]) + 1;
        char text[1024], name[32];
        memcpy(name, parts[i], key);
        name[key] = '\0';
        const char *at = strstr(json, name);
        snprintf(text, sizeof text, "%.*s%s0,0,0,0,0,0]]}", (int)(at - json), json, parts[i]);
        struct stacks s = {0};
        struct err err = ERR_INIT;
        struct stacks_import_tally tally;
        assert_false(import(&s, bytes_of(text), &tally, &err));
        assert_int_equal(err.code, ERR_BROKEN);
        stacks_fini(&s);
    }
}

static void import_once(struct bytes file) {
    struct stacks s = {0};
    struct err err = ERR_INIT;
    struct stacks_import_tally tally;
    if (!import(&s, file, &tally, &err))
        assert_int_equal(err.code, ERR_MEMORY);
    stacks_fini(&s);
}

static void test_memory_may_run_out(void **state) {
    struct out pprof;
    (void)state;
    make_pprof(&pprof);
    const struct bytes files[] = {
        bytes_of(folded), bytes_of(script), bytes_of(json), {(uint8_t *)pprof.buf, pprof.len}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        FAIL_EACH_ALLOC(import_once(files[i]));
    out_fini(&pprof);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_pprof),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_refers_to_what_is_there),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
