/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/program.h"

/* A machine with four registers. */
static const char *const NAMES[] = {"ax", "di", "sp", "ip"};
static const struct probe_registers REGISTERS = {NAMES, 4, 0, 2, 3};

enum { OFFSET = 0x1000, FIRST = 16 /* after __probe_ip */ };

static const struct probe_program *make(const char *definition, struct arena *a, struct err *err) {
    struct probe_event e;
    assert_true(probe_event_parse(definition, a, &e, NULL));
    const struct probe_program *p = probe_program_new(&e, &REGISTERS, 65535, a, err);
    vec_fini(&e.args);
    return p;
}

static void check(const char *args, const struct bpf_probe_op *ops, size_t count) {
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct probe_program *p = make(arena_printf(&a, "p:g/e /t:0x1000 %s", args), &a, &err);
    if (!p)
        fail_msg("%s: %s", args, err.message);
    assert_int_equal(p->code.count, count);
    for (size_t i = 0; i < count; i++)
        if (p->code.ops[i].code != ops[i].code || p->code.ops[i].at != ops[i].at ||
            p->code.ops[i].value != ops[i].value)
            fail_msg("%s: step %zu is %u %u %lld", args, i, p->code.ops[i].code, p->code.ops[i].at,
                     (long long)p->code.ops[i].value);
    arena_fini(&a);
}

#define CHECK(args, ...)                                  \
    do {                                                  \
        const struct bpf_probe_op ops_[] = {__VA_ARGS__}; \
        check(args, ops_, sizeof ops_ / sizeof *ops_);    \
    } while (0)

static void test_steps(void **state) {
    (void)state;
    CHECK("a=%di", {BPF_PROBE_REGISTER, 1, 0}, {BPF_PROBE_STORE, FIRST, 8});
    CHECK("a=%di:s16", {BPF_PROBE_REGISTER, 1, 0}, {BPF_PROBE_STORE, FIRST, 2});
    CHECK("a=-8(%sp):u32", {BPF_PROBE_REGISTER, 2, 0}, {BPF_PROBE_ADD, 0, -8}, {BPF_PROBE_COPY_TO, FIRST, 4});
    CHECK("a=+4(-16(%di)):s64", {BPF_PROBE_REGISTER, 1, 0}, {BPF_PROBE_ADD, 0, -16}, {BPF_PROBE_LOAD, 8, 0},
          {BPF_PROBE_ADD, 0, 4}, {BPF_PROBE_COPY_TO, FIRST, 8});
    CHECK("a=+u0(%di):ustring b=%ax:x8", {BPF_PROBE_REGISTER, 1, 0}, {BPF_PROBE_ADD, 0, 0},
          {BPF_PROBE_TEXT_TO, FIRST, 0}, {BPF_PROBE_REGISTER, 0, 0}, {BPF_PROBE_STORE, FIRST + 4, 1});
    CHECK("a=@+0x4010:u16", {BPF_PROBE_IMAGE, 0, 0x4010 - OFFSET}, {BPF_PROBE_COPY_TO, FIRST, 2});
    CHECK("a=+8(@+0x4010):x8[3]", {BPF_PROBE_IMAGE, 0, 0x4010 - OFFSET}, {BPF_PROBE_LOAD, 8, 0},
          {BPF_PROBE_ADD, 0, 8}, {BPF_PROBE_COPY_TO, FIRST, 3});
    CHECK("a=%di:b5@3/32", {BPF_PROBE_REGISTER, 1, 0}, {BPF_PROBE_BITS, 3, 31}, {BPF_PROBE_STORE, FIRST, 4});
    CHECK("a=+2(%di):b64@0/64", {BPF_PROBE_REGISTER, 1, 0}, {BPF_PROBE_ADD, 0, 2}, {BPF_PROBE_LOAD, 8, 0},
          {BPF_PROBE_BITS, 0, -1}, {BPF_PROBE_STORE, FIRST, 8});
    CHECK("a=\\-7:s32", {BPF_PROBE_NUMBER, 0, -7}, {BPF_PROBE_STORE, FIRST, 4});
    CHECK("a=$stack b=$stack2", {BPF_PROBE_REGISTER, 2, 0}, {BPF_PROBE_STORE, FIRST, 8},
          {BPF_PROBE_REGISTER, 2, 0}, {BPF_PROBE_ADD, 0, 16}, {BPF_PROBE_COPY_TO, FIRST + 8, 8});
    CHECK("a=$comm", {BPF_PROBE_COMM_TO, FIRST, 0});
}

/* As tracefs on Linux 6.18 shows it for these definitions. */
static void test_format(void **state) {
    (void)state;
    static const char ENTRY[] =
        "name: e\nID: 65535\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
        "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:s32 a;\toffset:16;\tsize:4;\tsigned:1;\n"
        "\tfield:u64 c;\toffset:20;\tsize:8;\tsigned:0;\n"
        "\tfield:__data_loc char[] d;\toffset:28;\tsize:4;\tsigned:1;\n"
        "\tfield:u32 f;\toffset:32;\tsize:4;\tsigned:0;\n"
        "\tfield:u8 g[];\toffset:36;\tsize:2;\tsigned:0;\n"
        "\tfield:u8 i;\toffset:38;\tsize:1;\tsigned:0;\n"
        "\tfield:s64 t;\toffset:39;\tsize:8;\tsigned:1;\n\n"
        "print fmt: \"(%lx) a=%d c=0x%Lx d=\\\"%s\\\" f=%u g={0x%x,0x%x} i='%c' t=%Ld\", REC->__probe_ip, "
        "REC->a, REC->c, __get_str(d), REC->f, REC->g[0], REC->g[1], REC->i, REC->t\n";
    struct arena a = ARENA_INIT;
    const struct probe_program *p =
        make("p:g/e /t:0x1000 a=%di:s32 c=%di:x64 d=+0(%di):string f=%di:b5@3/32 g=+0(%di):x8[2] "
             "i=+0(%di):char t=%di:s64",
             &a, NULL);
    assert_non_null(p);
    assert_string_equal(p->format, ENTRY);
    assert_string_equal(p->group, "g");
    assert_int_equal(p->code.fixed, 47);
    p = make("r:g/e /t:0x1000 $retval arg=$retval:s32", &a, NULL);
    assert_non_null(p);
    assert_true(p->code.returns);
    assert_non_null(strstr(p->format,
                           "\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
                           "\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
                           "\tfield:u64 arg1;\toffset:24;\tsize:8;\tsigned:0;\n"));
    assert_non_null(strstr(p->format, "print fmt: \"(%lx <- %lx) arg1=0x%Lx arg=%d\", REC->__probe_func, "
                                      "REC->__probe_ret_ip, REC->arg1, REC->arg\n"));
    arena_fini(&a);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const BAD[] = {"a=%xx",
                                      "a=%di:u24",
                                      "a=%di:string",
                                      "a=%di:x8[4]",
                                      "a=+0(%di",
                                      "a=+0(%di))",
                                      "a=+(%di)",
                                      "a=+--4(%di)",
                                      "a=$retval",
                                      "a=$arg1",
                                      "a=$stack-1",
                                      "a=$stack999999",
                                      "a=+0(%di):x8[0]",
                                      "a=+0(%di):x8[65]",
                                      "a=%di:b0@0/32",
                                      "a=%di:b9@28/32",
                                      "a=%di:b5@3/33",
                                      "a=@name",
                                      "a=$comm:u8",
                                      "a=\\\"text\"",
                                      "a=+0(%di):string[2]",
                                      "a=+0()",
                                      "a=@+99999999999999999999:u8",
                                      "a=%",
                                      "a=$",
                                      "a=@",
                                      "a=%di:char[",
                                      "a=%di:symbol"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct arena a = ARENA_INIT;
        struct err err = ERR_INIT;
        if (make(arena_printf(&a, "p:g/e /t:0x1000 %s", BAD[i]), &a, &err))
            fail_msg("%s is accepted", BAD[i]);
        assert_true(*err.message);
        arena_fini(&a);
    }
    struct arena a = ARENA_INIT;
    assert_null(make("r:g/e /t:0x1000 a=@+4:u8", &a, NULL)); /* where the file lies is not known there */
    assert_null(make("p:g/e vfs_read+0 a=%di", &a, NULL));   /* the kernel's */
    struct probe_event e = {.group = "g", .event = "e", .path = "/t"};
    assert_null(probe_program_new(&e, NULL, 1, &a, NULL)); /* an unknown machine */
    arena_fini(&a);
}

/* More than there is room for. */
static void test_much(void **state) {
    (void)state;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    const char *wide = "p:g/e /t:0x1000", *deep = wide;
    for (int i = 0; i < 5; i++) /* bytes */
        wide = arena_printf(&a, "%s +0(%%di):x64[64]", wide);
    for (int i = 0; i < 129; i++) /* steps */
        deep = arena_printf(&a, "%s %%di:x8", deep);
    assert_null(make(wide, &a, &err));
    assert_non_null(strstr(err.message, "so much"));
    assert_null(make(deep, &a, NULL));
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
