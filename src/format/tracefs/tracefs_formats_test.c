/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/writer.h"
#include "format/tracefs/tracefs_formats.h"
#include "tests/support/fail_alloc.h"

enum { ID = 372 };

#define COMMON                                                             \
    "format:\n"                                                            \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FIELDS                                                          \
    "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"                   \
    "\tfield:unsigned int b;\toffset:12;\tsize:4;\tsigned:0;\n"         \
    "\tfield:char comm[8];\toffset:16;\tsize:8;\tsigned:0;\n"           \
    "\tfield:__data_loc char[] file;\toffset:24;\tsize:4;\tsigned:0;\n" \
    "\tfield:unsigned int n;\toffset:28;\tsize:4;\tsigned:0;\n"         \
    "\tfield:void * fn;\toffset:32;\tsize:8;\tsigned:0;\n\n"

/* One event of id ID, whose format is the text; its raw data. */
struct fixture {
    char format[8192];
    struct tracing_data td;
    struct tracefs_formats *formats;
    struct writer raw;
};

static const char *symbol(void *ctx, uint64_t address, uint64_t *start) {
    (void)ctx;
    *start = 0x1000;
    return address >= 0x1000 && address < 0x2000 ? "some_function" : NULL;
}

/* SKIPs where libtraceevent is not built in. */
static void setup_format(struct fixture *f, const char *fields, const char *print, bool big) {
    *f = (struct fixture){0};
    snprintf(f->format, sizeof f->format, "name: x\nID: %d\n" COMMON "%sprint fmt: %s\n", ID, fields, print);
    f->td.long_size = 8;
    f->td.page_size = 4096;
    f->td.big_endian = big;
    struct tracing_event *e = vec_push(&f->td.events);
    assert_non_null(e);
    e->format = (struct bytes){(const uint8_t *)f->format, strlen(f->format)};
    e->system = (struct bytes){(const uint8_t *)"test", 4};
    e->id = ID;
    e->has_id = true;
    assert_true(hash_map_set(&f->td.by_id, ID, 0));
    struct err err = ERR_INIT;
    f->formats = tracefs_formats_new(&f->td, symbol, NULL, &err);
    if (!f->formats) {
        assert_int_equal(err.code, ERR_UNSUPPORTED);
        tracing_data_fini(&f->td);
        print_message("SKIP: %s\n", err.message);
        skip();
    }
    f->raw = writer_make(big != BYTES_HOST_BIG);
    writer_u16(&f->raw, ID);
    writer_u16(&f->raw, 0);
    writer_u32(&f->raw, 1234);
    writer_u32(&f->raw, (uint32_t)-5);
    writer_u32(&f->raw, 3);
    writer_put(&f->raw, "bash\0\0\0", 8);
    writer_u32(&f->raw, 6 << 16 | 40);
    writer_u32(&f->raw, 4);
    writer_u64(&f->raw, 0x1010);
    writer_put(&f->raw, "/bin/\0\0", 8);
}

static void teardown(struct fixture *f) {
    tracefs_formats_free(f->formats);
    tracing_data_fini(&f->td);
    writer_fini(&f->raw);
}

/* Prints twice: what a format leaves behind must not show in the next record. */
static void assert_prints(struct fixture *f, const char *want) {
    for (int i = 0; i < 2; i++) {
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        assert_true(tracefs_formats_print(f->formats, ID, 0, writer_bytes(&f->raw), &o));
        if (want)
            assert_string_equal(out_text(&o), want);
        out_fini(&o);
    }
}

static void check(const char *print, const char *want) {
    for (int big = 0; big < 2; big++) {
        struct fixture f;
        setup_format(&f, FIELDS, print, big);
        assert_prints(&f, want);
        teardown(&f);
    }
}

static void test_prints(void **state) {
    (void)state;
    check("\"a=%d b=%u comm=%s file=%s\", REC->a, REC->b, REC->comm, __get_str(file)",
          "a=-5 b=3 comm=bash file=/bin/");
    check("\"%s|%s\", __print_flags(REC->b, \"|\", { 1, \"ONE\" }, { 2, \"TWO\" }), "
          "__print_symbolic(REC->n, { 4, \"four\" })",
          "ONE|TWO|four");
    check("\"%d %s\", (REC->b / 2) + REC->n % 3, REC->b > 2 ? \"more\" : \"less\"", "2 more");
    check("\"%pS %ps\", REC->fn, REC->fn", "some_function+0x10 some_function");
    check("\"%s\", __print_hex(REC->comm, REC->n)", "62 61 73 68");
    check("\"a\tb\\t%d\", REC->b", "a\tb\t3");
}

/* The bytes of the fixture's comm, "bash", and of its `a`, -5, as short fields. */
static void test_short_fields(void **state) {
    (void)state;
    static const char fields[] = "\tfield:s8 tiny;\toffset:8;\tsize:1;\tsigned:1;\n"
                                 "\tfield:s16 small;\toffset:8;\tsize:2;\tsigned:1;\n"
                                 "\tfield:u16 plain;\toffset:8;\tsize:2;\tsigned:0;\n"
                                 "\tfield:s8 list[2];\toffset:8;\tsize:2;\tsigned:1;\n"
                                 "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\n";
    static const struct {
        const char *print, *want;
    } cases[] = {
        {"\"%d %5d|%i\", REC->small, REC->small, REC->small", "-5    -5|-5"},
        {"\"%d%% %d\", REC->plain, REC->a", "65531% -5"},
        {"\"%x %u\", REC->small, REC->small", "fffb 65531"}, /* not a signed conversion: unchanged */
        {"\"%d %d\", REC->plain + 1, REC->small", "65532 -5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        setup_format(&f, fields, cases[i].print, false);
        assert_prints(&f, cases[i].want);
        teardown(&f);
    }
    struct fixture f;
    setup_format(&f, fields, "\"%d %s\", REC->tiny, REC->a == 0 ? \"a, b\" : \"c\"", false);
    assert_prints(&f, "-5 c");
    teardown(&f);
}

/* Probes' arrays say neither how many elements they have nor how large these are. */
static void test_probe_arrays(void **state) {
    (void)state;
    struct fixture f;
    setup_format(&f,
                 "\tfield:unsigned long __probe_ip;\toffset:32;\tsize:8;\tsigned:0;\n"
                 "\tfield:s16 d[];\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:s32 e[];\toffset:8;\tsize:8;\tsigned:1;\n\n",
                 "\"(%lx) d={%d,%d} e={%d,%d}\", REC->__probe_ip, REC->d[0], REC->d[1], REC->e[0], REC->e[1]",
                 false);
    assert_prints(&f, "(1010) d={-5,-1} e={-5,3}");
    teardown(&f);
}

/* What the library could stumble over is printed field by field. */
static void test_risky_formats(void **state) {
    (void)state;
    static const char *const formats[] = {
        "\"%d\", REC->b / (REC->a + 5)",
        "\"%d\", REC->b % REC->n",
        "\"%d\", REC->comm[REC->b]",
        "\"%d\", REC->comm[100000000]",
        "\"%s\", __print_hex(REC->comm, REC->n * 100000000)",
        "\"%s\", __print_array(REC->comm, REC->n, REC->b)",
        "\"%999999999d\", REC->b",
        "\"%*d\", REC->b, REC->n",
        "\"%.999999999d\", REC->b",
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct fixture f;
        setup_format(&f, FIELDS, formats[i], false);
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        assert_true(tracefs_formats_print(f.formats, ID, 0, writer_bytes(&f.raw), &o));
        assert_true(strncmp(out_text(&o), "[FAILED TO PARSE] a=-5 b=", 25) == 0);
        out_fini(&o);
        teardown(&f);
    }
}

/* A length that comes from the record may be wrong in one record and right in the next. */
static void test_length_of_a_record(void **state) {
    (void)state;
    struct fixture f;
    setup_format(&f, FIELDS, "\"%s\", __print_hex(REC->comm, REC->n)", false);
    writer_patch32(&f.raw, 28, 0x7fffffff);
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    assert_true(tracefs_formats_print(f.formats, ID, 0, writer_bytes(&f.raw), &o));
    assert_non_null(strstr(out_text(&o), "FAILED"));
    out_fini(&o);
    writer_patch32(&f.raw, 28, 2);
    assert_prints(&f, "62 61");
    writer_patch32(&f.raw, 24, 0xffffffff); /* a string at 65535, 65535 bytes long */
    assert_prints(&f, "62 61");
    teardown(&f);
}

static void assert_silent(struct fixture *f, uint64_t id, struct bytes raw) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    assert_false(tracefs_formats_print(f->formats, id, 0, raw, &o));
    assert_string_equal(out_text(&o), "");
    out_fini(&o);
}

static void test_not_printable(void **state) {
    (void)state;
    struct fixture f;
    setup_format(&f, FIELDS, "\"%d\", REC->a", false);
    assert_silent(&f, ID + 1, writer_bytes(&f.raw));
    assert_silent(&f, UINT64_MAX, writer_bytes(&f.raw));
    for (size_t n = 0; n < 40; n++)
        assert_silent(&f, ID, (struct bytes){f.raw.data, n});
    writer_patch16(&f.raw, 0, ID + 1); /* another event's data */
    assert_silent(&f, ID, writer_bytes(&f.raw));
    teardown(&f);

    setup_format(&f, "\tfield:int a[4000000000];\toffset:8;\tsize:16;\tsigned:1;\n\n", "\"%d\", REC->a[0]",
                 false);
    assert_silent(&f, ID, writer_bytes(&f.raw));
    teardown(&f);
}

static void assert_failed(struct fixture *f) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    assert_true(tracefs_formats_print(f->formats, ID, 0, writer_bytes(&f->raw), &o));
    assert_memory_equal(out_text(&o), "[FAILED TO PARSE]", 17);
    out_fini(&o);
}

/* Fields that no record can have are none, and what speaks of them cannot be parsed. */
static void test_impossible_fields(void **state) {
    (void)state;
    static const char *const fields[] = {
        "\tfield:int a;\toffset:2000000000;\tsize:4;\tsigned:1;\n\n",
        "\tfield:int a;\toffset:-8;\tsize:4;\tsigned:1;\n\n",
        "\tfield:int a;\toffset:8;\tsize:65537;\tsigned:1;\n\n",
        "\tfield:int (*a)(int);\toffset:8;\tsize:8;\tsigned:1;\n\n",
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct fixture f;
        setup_format(&f, fields[i], "\"%d\", REC->a", false);
        assert_failed(&f);
        teardown(&f);
    }
}

/* A parser that recurses is not sent down. */
static void test_deep_nesting(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        char print[8000] = "\"%d\", ";
        size_t n = strlen(print);
        memset(print + n, kind ? '(' : '!', 7000);
        memcpy(print + n + 7000, "REC->a", 7);
        struct fixture f;
        setup_format(&f, FIELDS, print, false);
        assert_failed(&f);
        teardown(&f);
    }
}

/* Of this side's memory; the library's own is not in reach. */
static void test_memory_runs_out(void **state) {
    (void)state;
    struct fixture f;
    setup_format(&f, FIELDS, "\"%s\", __print_hex(REC->comm, REC->n)", false);
    tracefs_formats_free(f.formats);
    f.formats = NULL;
    unsigned whole = 0;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    FAIL_EACH_ALLOC({
        struct tracefs_formats *formats = tracefs_formats_new(&f.td, symbol, NULL, NULL);
        o.len = 0;
        if (formats && tracefs_formats_print(formats, ID, 0, writer_bytes(&f.raw), &o))
            whole += o.len == 11;
        tracefs_formats_free(formats);
    });
    assert_true(whole >= 1);
    out_fini(&o);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prints),
        cmocka_unit_test(test_probe_arrays),
        cmocka_unit_test(test_short_fields),
        cmocka_unit_test(test_risky_formats),
        cmocka_unit_test(test_length_of_a_record),
        cmocka_unit_test(test_not_printable),
        cmocka_unit_test(test_impossible_fields),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
