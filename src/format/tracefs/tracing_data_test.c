/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/tracefs/tracing_data.h"

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static const char SWITCH[] = "name: sched_switch\nID: 372\nformat:\n\tfield:int x;\toffset:8;\tsize:4;\n";
static const char WAKING[] = "name: sched_waking\nID: 373\nformat:\nname: not this\nID: 1\n";
static const char PRINT[] = "name: print\nID: 5\nformat:\n";

/* Two systems, the second without events, and one event of ftrace's own. */
static void make_blob(struct writer *w, const char *version, bool big) {
    struct tracing_event events[] = {
        {.format = text(PRINT)}, {.format = text(SWITCH)}, {.format = text(WAKING)}};
    struct tracing_system systems[] = {{text("sched"), 1, 2}, {text("empty"), 3, 0}};
    struct tracing_data td = {.version = text(version),
                              .big_endian = big,
                              .long_size = 8,
                              .page_size = 4096,
                              .header_page = text("page"),
                              .header_event = text("event"),
                              .ftrace_count = 1,
                              .kallsyms = text("kall"),
                              .printk = text("0x1 : \"x\"\n")};
    if (strcmp(version, "0.6") == 0)
        td.cmdlines = text("1 init\n");
    td.events.items = events;
    td.events.count = 3;
    td.systems.items = systems;
    td.systems.count = 2;
    tracing_data_encode(&td, w);
}

static void check_whole(const char *version, bool big) {
    struct writer w = writer_make(false), again = writer_make(false);
    make_blob(&w, version, big);
    size_t whole = w.size;
    writer_u32(&w, 0); /* padding */
    struct tracing_data td;
    assert_true(tracing_data_parse(writer_bytes(&w), &td, NULL));
    assert_false(td.cut);
    assert_int_equal(td.size, whole);
    assert_int_equal(td.big_endian, big);
    assert_int_equal(td.long_size, 8);
    assert_int_equal(td.page_size, 4096);
    assert_int_equal(td.events.count, 3);
    assert_int_equal(td.systems.count, 2);
    assert_true(bytes_equal(td.kallsyms, text("kall")));
    assert_int_equal(td.cmdlines.size, strcmp(version, "0.6") == 0 ? 7 : 0);
    const struct tracing_event *e = tracing_data_find(&td, 373);
    assert_non_null(e);
    assert_true(bytes_equal(e->name, text("sched_waking")));
    assert_true(bytes_equal(e->system, text("sched")));
    assert_true(bytes_equal(tracing_data_find(&td, 5)->system, text("ftrace")));
    assert_null(tracing_data_find(&td, 1));
    tracing_data_encode(&td, &again);
    assert_int_equal(again.size, whole);
    assert_memory_equal(again.data, w.data, whole);
    tracing_data_fini(&td);
    writer_fini(&w);
    writer_fini(&again);
}

static void test_both_versions_and_orders(void **state) {
    (void)state;
    check_whole("0.5", false);
    check_whole("0.6", false);
    check_whole("0.6", true);
}

/* Every shorter blob is cut, keeps the whole events, and nothing after its end is touched. */
static void test_cut_anywhere(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    make_blob(&w, "0.6", true);
    size_t seen = 0;
    for (size_t n = 0; n < w.size; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, w.data, n);
        struct tracing_data td;
        if (tracing_data_parse((struct bytes){copy, n}, &td, NULL)) {
            assert_true(td.cut);
            assert_true(td.events.count >= seen);
            seen = td.events.count;
        } else {
            assert_true(n < 10);
        }
        tracing_data_fini(&td);
        free(copy);
    }
    assert_int_equal(seen, 3);
    writer_fini(&w);
}

static void test_claims_are_not_believed(void **state) {
    (void)state;
    struct writer w = writer_make(BYTES_HOST_BIG);
    writer_put(&w, "\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page", 32);
    writer_u64(&w, UINT64_MAX - 3);
    struct tracing_data td;
    assert_true(tracing_data_parse(writer_bytes(&w), &td, NULL));
    assert_true(td.cut);
    assert_int_equal(td.header_page.size, 0);
    tracing_data_fini(&td);
    struct err err = ERR_INIT;
    assert_false(tracing_data_parse(text("PERFILE2........"), &td, &err));
    assert_int_equal(err.code, ERR_BROKEN);
    tracing_data_fini(&td);
    writer_fini(&w);
}

static void test_fields(void **state) {
    (void)state;
    static const char FORMAT[] = "name: x\nID: 1\nformat:\n"
                                 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                                 "\n"
                                 "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                 "\tfield:__data_loc char[] filename;\toffset:24;\tsize:4;\tsigned:0;\n"
                                 "\tfield:const char * path;\toffset:32;\tsize:8;\tsigned:1;\n"
                                 "\tfield:int broken;\toffset:99999999999;\tsize:8;\tsigned:1;\n"
                                 "\tfield:int nowhere;\n"
                                 "\nprint fmt: \"field:int no;\", REC->path";
    static const char *const names[] = {"common_type", "prev_comm", "filename", "path"};
    static const uint32_t offsets[] = {0, 8, 24, 32};
    struct bytes rest = text(FORMAT);
    struct tracing_field f;
    for (size_t i = 0; i < 4; i++) {
        assert_true(tracing_field_next(&rest, &f));
        assert_true(bytes_equal(f.name, text(names[i])));
        assert_int_equal(f.offset, offsets[i]);
        assert_int_equal(f.common, i == 0);
        assert_int_equal(f.is_signed, i == 3);
    }
    assert_int_equal(f.size, 8);
    assert_true(bytes_equal(f.declaration, text("const char * path")));
    assert_false(tracing_field_next(&rest, &f));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_versions_and_orders),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_claims_are_not_believed),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
