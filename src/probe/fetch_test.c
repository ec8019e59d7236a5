/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/arguments.h"
#include "probe/registers.h"

#define REGISTER(n) \
    { OBJECT_PLACE_REGISTER, {(n), false, 1, {0}}, false }
#define MEMORY(n, ...) \
    { OBJECT_PLACE_MEMORY, {(n), false, sizeof((int[]){__VA_ARGS__}) / sizeof(int), {__VA_ARGS__}}, false }
#define VALUE(n, ...) \
    { OBJECT_PLACE_VALUE, {(n), false, sizeof((int[]){__VA_ARGS__}) / sizeof(int), {__VA_ARGS__}}, false }

static const struct {
    struct object_value v;
    const char *type, *expected; /* NULL: refused */
} VALUES[] = {
    {{.place = REGISTER(5), .type = OBJECT_VALUE_SIGNED, .size = 4}, NULL, "%di:s32"},
    {{.place = REGISTER(5), .type = OBJECT_VALUE_UNSIGNED, .size = 1}, NULL, "%di:x8"},
    {{.place = REGISTER(17), .type = OBJECT_VALUE_FLOAT, .size = 8}, NULL, NULL},
    {{.place = REGISTER(4), .type = OBJECT_VALUE_POINTER, .size = 8, .text = true}, NULL, "%si:x64"},
    {{.place = REGISTER(4), .type = OBJECT_VALUE_POINTER, .size = 8, .text = true},
     "string",
     "+0(%si):string"},
    {{.place = REGISTER(4), .type = OBJECT_VALUE_POINTER, .size = 8}, "string", NULL},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_SIGNED, .size = 1}, NULL, "+8(%sp):s8"},
    {{.place = MEMORY(6, -16, 4), .type = OBJECT_VALUE_SIGNED, .size = 8}, NULL, "+4(-16(%bp)):s64"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_POINTER, .size = 8, .text = true},
     "ustring",
     "+0(+8(%sp)):ustring"},
    {{.place = MEMORY(7, 8),
      .type = OBJECT_VALUE_ARRAY,
      .item = OBJECT_VALUE_SIGNED,
      .size = 1,
      .count = 16,
      .text = true},
     "string",
     "+8(%sp):string"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_ARRAY, .item = OBJECT_VALUE_SIGNED, .size = 4, .count = 3},
     NULL,
     "+8(%sp):s32[3]"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_ARRAY, .item = OBJECT_VALUE_SIGNED, .size = 4, .count = 65},
     NULL,
     NULL},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_STRUCT, .size = 24}, NULL, "+8(%sp):x8[24]"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_STRUCT, .size = 65}, NULL, NULL},
    {{.place = REGISTER(5), .type = OBJECT_VALUE_STRUCT, .size = 8}, NULL, "%di:x64"},
    {{.place = REGISTER(5), .type = OBJECT_VALUE_STRUCT, .size = 12}, NULL, NULL},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_FLOAT, .size = 4}, NULL, "+8(%sp):x32"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_OTHER, .size = 16}, NULL, NULL},
    {{.place = VALUE(5, 0), .type = OBJECT_VALUE_SIGNED, .size = 4}, NULL, "%di:s32"},
    {{.place = VALUE(5, 3), .type = OBJECT_VALUE_SIGNED, .size = 4}, NULL, NULL},
    {{.place = VALUE(OBJECT_NO_REGISTER, -7), .type = OBJECT_VALUE_SIGNED, .size = 4}, NULL, "\\-7:s32"},
    {{.place = VALUE(7, 8, 0), .type = OBJECT_VALUE_SIGNED, .size = 8}, NULL, "+8(%sp):s64"},
    {{.place = VALUE(7, 8, 1), .type = OBJECT_VALUE_SIGNED, .size = 8}, NULL, NULL},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_UNSIGNED, .size = 4, .bit_size = 3, .bit_at = 5},
     NULL,
     "+8(%sp):b3@5/32"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_SIGNED, .size = 4, .bit_size = 3, .bit_at = 5}, NULL, NULL},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_SIGNED, .size = 4, .bit_size = 3, .bit_at = 5},
     "x",
     "+8(%sp):b3@5/32"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_SIGNED, .size = 4}, "u", "+8(%sp):u32"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_SIGNED, .size = 4}, "x8", "+8(%sp):x8"},
    {{.place = MEMORY(7, 8), .type = OBJECT_VALUE_SIGNED, .size = 4}, "x64", NULL},
    {{.place = {OBJECT_PLACE_NOWHERE, {0}, false}, .type = OBJECT_VALUE_SIGNED, .size = 4}, NULL, NULL},
};

static void test_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        struct arena a = ARENA_INIT;
        struct probe_fetch f = {NULL, NULL, NULL};
        struct err err = ERR_INIT;
        const char *note;
        char text[64] = "refused";
        struct probe_fetch_request r = {
            .v = &VALUES[i].v, .machine = EM_X86_64, .type = VALUES[i].type, .a = &a};
        if (probe_value_fetch(&r, &f, &note, &err))
            snprintf(text, sizeof text, "%s:%s", f.fetch, f.type);
        else
            assert_true(*err.message);
        if (strcmp(text, VALUES[i].expected ? VALUES[i].expected : "refused") != 0)
            fail_msg("case %zu: %s (%s)", i, text, err.message);
        arena_fini(&a);
    }
}

static void test_linked(void **state) {
    (void)state;
    struct object_value v = {.place = {OBJECT_PLACE_MEMORY, {OBJECT_NO_REGISTER, true, 1, {0x4028}}, false},
                             .type = OBJECT_VALUE_SIGNED,
                             .size = 4};
    struct arena a = ARENA_INIT;
    struct probe_fetch f = {NULL, NULL, NULL};
    const char *note;
    struct probe_fetch_request r = {.v = &v, .machine = EM_X86_64, .linked_delta = -0x1000, .a = &a};
    assert_true(probe_value_fetch(&r, &f, &note, NULL));
    assert_string_equal(f.fetch, "@+0x3028");
    r.linked_symbol = "_text";
    assert_true(probe_value_fetch(&r, &f, &note, NULL));
    assert_string_equal(f.fetch, "@_text+12328");
    r.linked_delta = -0x5000;
    assert_false(probe_value_fetch(&r, &f, &note, NULL));
    arena_fini(&a);
}

static void test_registers(void **state) {
    (void)state;
    static const struct {
        uint16_t machine;
        int number;
        const char *name;
    } CASES[] = {{EM_X86_64, 7, "%sp"},  {EM_X86_64, 15, "%r15"}, {EM_X86_64, 16, NULL},
                 {EM_386, 4, "%sp"},     {EM_AARCH64, 0, "%x0"},  {EM_AARCH64, 31, "%sp"},
                 {EM_AARCH64, 64, NULL}, {EM_RISCV, 10, "%a0"},   {EM_RISCV, 0, NULL},
                 {EM_S390, 15, "%r15"},  {EM_X86_64, -1, NULL},   {EM_MIPS, 1, NULL}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char room[PROBE_REGISTER_ROOM];
        const char *name = probe_register(CASES[i].machine, CASES[i].number, room);
        assert_string_equal(name ? name : "-", CASES[i].name ? CASES[i].name : "-");
    }
}

static void test_markers(void **state) {
    (void)state;
    static const struct {
        uint16_t machine;
        const char *text, *expected;
    } CASES[] = {
        {EM_X86_64, "-4@%edi 8@-16(%rbp)", "arg1=%di:s32 arg2=-16(%bp):u64"},
        {EM_X86_64, "-4@$5 1@%al 2@%r9w 4@%r12d", "arg1=\\5:s32 arg2=%ax:u8 arg3=%r9:u16 arg4=%r12:u32"},
        {EM_X86_64, "8@(%rdi) 1@%sil 1@%ah 8@%rdi", "arg1=+0(%di):u64 arg2=%si:u8 arg4=%di:u64"},
        {EM_X86_64, "8@(%rax,%rbx,4) 8@sym(%rip) 3@%eax x", ""},
        {EM_AARCH64, "-4@w0 8@x19 8@[sp, 24] 4@[x1] -4@5",
         "arg1=%x0:s32 arg2=%x19:u64 arg3=+24(%sp):u64 arg4=+0(%x1):u32 arg5=\\5:s32"},
        {EM_AARCH64, "4@[x1, x2] 4@[x1", ""},
        {EM_RISCV, "4@a0", ""},
        {EM_X86_64, "", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct arena a = ARENA_INIT;
        struct probe_spec spec = {.text = "m"};
        struct probe_event e = {.group = "g", .event = "e", .path = "/p"};
        struct bytes text = {(const uint8_t *)CASES[i].text, strlen(CASES[i].text)};
        struct out o;
        char expected[256];
        snprintf(expected, sizeof expected, "p:g/e /p:0x0%s%s", *CASES[i].expected ? " " : "",
                 CASES[i].expected);
        assert_true(probe_marker_arguments(CASES[i].machine, &spec, text, &a, &e, NULL));
        assert_true(out_init(&o, NULL, NULL));
        probe_event_print(&o, &e);
        assert_string_equal(out_text(&o), expected);
        out_fini(&o);
        vec_fini(&e.args);
        arena_fini(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_linked),
                                       cmocka_unit_test(test_registers), cmocka_unit_test(test_markers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
