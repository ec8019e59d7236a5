/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/cfi.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/cfi_image.h"
#include "tests/support/fail_alloc.h"

/* DW_CFA_ programs of a function that saves rbp and takes it for its frame, for x86-64: columns 6 and 7. */
#define INITIAL "\x0c\x07\x08\x90\x01" /* def_cfa rsp+8; rip at cfa-8 */
#define PUSH    "\x41\x0e\x10\x86\x02" /* +1: def_cfa_offset 16; rbp at cfa-16 */
#define MOVE    "\x43\x0d\x06"         /* +3: def_cfa_register rbp */
#define LEAVE                                                                                    \
    "\x0a\x60\x0c\x07\x08\xc6\x41\x0b" /* remember; +32: def_cfa rsp+8; restore rbp; +1: restore \
                                        */

static const struct test_cfi_fde FDES[] = {
    TEST_CFI_FDE(0x1010, 0x40, PUSH MOVE LEAVE),
    TEST_CFI_FDE(0x1050, 0x10, "\x07\x10"), /* rip undefined */
    TEST_CFI_FDE(0x1080, 0x20,
                 "\x0f\x03\x77\x08\x06" /* cfa: breg7+8, deref */
                 "\x10\x06\x02\x77\x10" /* rbp at breg7+16 */
                 "\x16\x03\x02\x77\x18" /* rbx is breg7+24 */
                 "\x14\x0c\x02"         /* r12 is cfa-16 */
                 "\x09\x0d\x0e"         /* r13 in r14 */
                 "\x08\x0f"             /* r15 the same */
                 "\x2f\x02\x03" /* column 2 at cfa+24 */),
};

static const struct test_cfi X86_64 = {.wide = true,
                                       .machine = EM_X86_64,
                                       .return_column = 16,
                                       .data_align = -8,
                                       .augmentation = "zR",
                                       .initial = INITIAL,
                                       .initial_size = sizeof INITIAL - 1,
                                       .fdes = FDES,
                                       .count = 3};

static void row_at(const struct object_cfi *t, object_vaddr addr, struct object_cfi_row *row) {
    struct object_cfi_range range;
    assert_true(object_cfi_find(t, addr, &range));
    assert_true(addr >= range.start && addr < range.end);
    assert_true(object_cfi_row(t, &range, addr, row));
    assert_true(addr >= row->start && addr < row->end);
}

static void assert_rule(const struct object_cfi_row *row, unsigned column, unsigned kind, int64_t offset) {
    assert_int_equal(row->rules[column].kind, kind);
    if (kind != OBJECT_CFI_UNSPECIFIED)
        assert_int_equal(row->rules[column].offset, offset);
}

static void assert_cfa(const struct object_cfi_row *row, unsigned reg, int64_t offset) {
    assert_int_equal(row->cfa.kind, OBJECT_CFI_IS);
    assert_int_equal(row->cfa_register, reg);
    assert_int_equal(row->cfa.offset, offset);
}

/* What FDES say, whatever form they have. */
static void check(const struct object_cfi *t) {
    struct object_cfi_range range;
    struct object_cfi_row row;
    assert_false(object_cfi_find(t, 0x100f, &range));
    assert_false(object_cfi_find(t, 0x1060, &range));
    assert_false(object_cfi_find(t, 0x10a0, &range));
    row_at(t, 0x1010, &row);
    assert_cfa(&row, 7, 8);
    assert_rule(&row, 16, OBJECT_CFI_SAVED, -8);
    assert_rule(&row, 6, OBJECT_CFI_UNSPECIFIED, 0);
    assert_int_equal(row.end, 0x1011);
    row_at(t, 0x1013, &row);
    assert_cfa(&row, 7, 16);
    assert_rule(&row, 6, OBJECT_CFI_SAVED, -16);
    assert_int_equal(row.start, 0x1011);
    row_at(t, 0x1033, &row);
    assert_cfa(&row, 6, 16);
    row_at(t, 0x1034, &row);
    assert_cfa(&row, 7, 8);
    assert_rule(&row, 6, OBJECT_CFI_UNSPECIFIED, 0);
    assert_int_equal(row.end, 0x1035);
    row_at(t, 0x1035, &row);
    assert_cfa(&row, 6, 16);
    assert_rule(&row, 6, OBJECT_CFI_SAVED, -16);
    assert_int_equal(row.end, 0x1050);
    row_at(t, 0x1050, &row);
    assert_rule(&row, 16, OBJECT_CFI_UNDEFINED, 0);
    row_at(t, 0x109f, &row);
    assert_int_equal(row.cfa.kind, OBJECT_CFI_IS_EXPRESSION);
    assert_int_equal(row.cfa.size, 3);
    assert_memory_equal(row.cfa.expression, "\x77\x08\x06", 3);
    assert_int_equal(row.rules[6].kind, OBJECT_CFI_EXPRESSION);
    assert_memory_equal(row.rules[6].expression, "\x77\x10", 2);
    assert_int_equal(row.rules[3].kind, OBJECT_CFI_IS_EXPRESSION);
    assert_rule(&row, 12, OBJECT_CFI_IS, -16);
    assert_rule(&row, 13, OBJECT_CFI_REGISTER, 14);
    assert_rule(&row, 15, OBJECT_CFI_SAME, 0);
    assert_rule(&row, 2, OBJECT_CFI_SAVED, 24);
}

static void test_forms(void **state) {
    (void)state;
    for (int kind = TEST_CFI_HEADER; kind <= TEST_CFI_SEGMENTS; kind++)
        for (int form = 0; form < 8; form++) {
            struct test_cfi x = X86_64;
            struct test_image t;
            x.kind = (enum test_cfi_kind)kind;
            x.wide = form & 1;
            x.big = form & 2;
            x.long_form = form & 4;
            struct object_cfi *cfi = object_cfi_new(test_cfi_make(&x, &t), (struct bytes){0}, NULL);
            assert_non_null(cfi);
            assert_int_equal(object_cfi_machine(cfi), EM_X86_64);
            check(cfi);
            struct object_cfi_range range;
            uint64_t at = 0;
            for (size_t i = 0; i < x.count; i++) {
                assert_true(object_cfi_next(cfi, &at, &range));
                assert_int_equal(range.start, FDES[i].start);
                assert_int_equal(range.end, FDES[i].start + FDES[i].size);
                assert_int_equal(range.return_column, 16);
                assert_false(range.signal);
            }
            assert_false(object_cfi_next(cfi, &at, &range));
            object_cfi_free(cfi);
            test_image_fini(&t);
        }
}

/* The mapped file has none, or other, functions than its debug file. */
static void test_debug_file(void **state) {
    (void)state;
    struct test_cfi x = X86_64, y = X86_64;
    struct test_image a, b;
    struct object_cfi_range range;
    x.count = 1;
    y.kind = TEST_CFI_DEBUG;
    struct bytes image = test_cfi_make(&x, &a), debug = test_cfi_make(&y, &b);
    struct object_cfi *cfi = object_cfi_new(image, (struct bytes){0}, NULL);
    assert_false(object_cfi_find(cfi, 0x1050, &range));
    object_cfi_free(cfi);
    cfi = object_cfi_new(image, debug, NULL);
    check(cfi);
    object_cfi_free(cfi);
    test_image_fini(&a);
    test_image_fini(&b);
}

static void test_signal_frame(void **state) {
    (void)state;
    struct test_cfi x = X86_64;
    struct test_image t;
    struct object_cfi_range range;
    x.augmentation = "zRS";
    struct object_cfi *cfi = object_cfi_new(test_cfi_make(&x, &t), (struct bytes){0}, NULL);
    assert_true(object_cfi_find(cfi, 0x1010, &range));
    assert_true(range.signal);
    object_cfi_free(cfi);
    test_image_fini(&t);
}

/* Programs that cannot be: each fails, none is followed beyond its end. */
static void test_broken_programs(void **state) {
    (void)state;
    static const struct test_cfi_fde bad[] = {
        TEST_CFI_FDE(0x1000, 8, "\x0b"),             /* restore_state of nothing */
        TEST_CFI_FDE(0x1010, 8, "\x3f"),             /* no such opcode */
        TEST_CFI_FDE(0x1020, 8, "\x10\x06\x7f\x77"), /* an expression longer than the program */
        TEST_CFI_FDE(0x1030, 8, "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"), /* more states than anybody keeps */
        TEST_CFI_FDE(0x1040, 8, "\x0c\xff\x7f\x08"),     /* a CFA of a register that nobody has */
        TEST_CFI_FDE(0x1050, 8, "\x0f\x01\x77\x0e\x08"), /* an offset to an expression */
    };
    struct test_cfi x = X86_64;
    struct test_image t;
    x.fdes = bad;
    x.count = sizeof bad / sizeof *bad;
    struct object_cfi *cfi = object_cfi_new(test_cfi_make(&x, &t), (struct bytes){0}, NULL);
    for (size_t i = 0; i < x.count; i++) {
        struct object_cfi_range range;
        struct object_cfi_row row;
        assert_true(object_cfi_find(cfi, bad[i].start, &range));
        assert_false(object_cfi_row(cfi, &range, bad[i].start + 4, &row));
    }
    object_cfi_free(cfi);
    test_image_fini(&t);
}

/* Whatever byte is changed and wherever the file is cut, no question leads outside (the sanitizers watch). */
static void test_damage(void **state) {
    (void)state;
    for (int kind = TEST_CFI_HEADER; kind <= TEST_CFI_SEGMENTS; kind++) {
        struct test_cfi x = X86_64;
        struct test_image t;
        struct object_cfi_range range;
        struct object_cfi_row row;
        x.kind = (enum test_cfi_kind)kind;
        struct bytes file = test_cfi_make(&x, &t);
        uint8_t *copy = malloc(file.size);
        memcpy(copy, file.data, file.size);
        for (size_t i = 0; i < file.size; i++) {
            if (i >= 0x400 && !file.data[i] && i % 16) /* the code, which nobody reads */
                continue;
            for (int cut = 0; cut < 2; cut++) {
                copy[i] ^= cut ? 0 : 0xff;
                struct bytes damaged = {copy, cut ? i : file.size};
                struct object_cfi *cfi = object_cfi_new(damaged, (struct bytes){0}, NULL);
                for (object_vaddr a = 0x1000; cfi && a < 0x10a8; a += 3)
                    if (object_cfi_find(cfi, a, &range))
                        object_cfi_row(cfi, &range, a, &row);
                object_cfi_free(cfi);
                copy[i] = file.data[i];
            }
        }
        free(copy);
        test_image_fini(&t);
    }
}

static void test_absent(void **state) {
    (void)state;
    struct test_image t;
    struct err err = ERR_INIT;
    struct test_cfi x = X86_64;
    x.count = 0;
    x.kind = TEST_CFI_BARE;
    assert_null(object_cfi_new(test_cfi_make(&x, &t), (struct bytes){0}, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    test_image_fini(&t);
    assert_null(object_cfi_new((struct bytes){(const uint8_t *)"no", 2}, (struct bytes){0}, &err));
    assert_int_equal(err.code, ERR_BROKEN);
}

/* Each FDE has its CIE read anew: one as long as the table would cost the square of it. */
static void test_long_cie(void **state) {
    (void)state;
    static const char nops[5000];
    struct test_image t;
    struct err err = ERR_INIT;
    struct test_cfi x = X86_64;
    x.kind = TEST_CFI_BARE;
    x.initial = nops;
    x.initial_size = sizeof nops;
    assert_null(object_cfi_new(test_cfi_make(&x, &t), (struct bytes){0}, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    test_image_fini(&t);
}

static void test_no_memory(void **state) {
    (void)state;
    struct test_image t;
    struct test_cfi x = X86_64;
    x.kind = TEST_CFI_DEBUG;
    struct bytes file = test_cfi_make(&x, &t);
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        struct object_cfi *cfi = object_cfi_new(file, (struct bytes){0}, &err);
        assert_true(cfi || err.code == ERR_MEMORY);
        object_cfi_free(cfi);
    });
    test_image_fini(&t);
}

/* ---- against readelf --debug-dump=frames-interp, over real files ---- */

static const char *const X86_64_NAMES[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                           "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "ra"};

static unsigned column_named(const char *name) {
    for (unsigned i = 0; i < 17; i++)
        if (!strcmp(name, X86_64_NAMES[i]))
            return i;
    return OBJECT_CFI_COLUMNS;
}

/* readelf's word for a rule. */
static void rule_text(const struct object_cfi_rule *r, char *out, size_t size) {
    switch (r->kind) {
    case OBJECT_CFI_SAVED:
        snprintf(out, size, "c%+" PRId64, r->offset);
        break;
    case OBJECT_CFI_IS:
        snprintf(out, size, "v%+" PRId64, r->offset);
        break;
    case OBJECT_CFI_SAME:
        snprintf(out, size, "s");
        break;
    case OBJECT_CFI_EXPRESSION:
        snprintf(out, size, "exp");
        break;
    case OBJECT_CFI_IS_EXPRESSION:
        snprintf(out, size, "vexp");
        break;
    case OBJECT_CFI_REGISTER:
        snprintf(out, size, "r%" PRId64, r->offset);
        break;
    default:
        snprintf(out, size, "u");
    }
}

/* One line of a table: "LOC CFA rule..." under the columns of the last heading. */
static void check_line(const struct object_cfi *t, char *line, const unsigned *columns, unsigned count) {
    struct object_cfi_row row;
    struct object_cfi_range range;
    char want[32], *save = NULL;
    object_vaddr addr = strtoull(strtok_r(line, " \n", &save), NULL, 16);
    if (!object_cfi_find(t, addr, &range)) {
        fail_msg("no range covers %" PRIx64, addr);
        return;
    }
    assert_true(object_cfi_row(t, &range, addr, &row));
    assert_int_equal(row.start, addr);
    const char *word = strtok_r(NULL, " \n", &save);
    if (row.cfa.kind == OBJECT_CFI_IS)
        snprintf(want, sizeof want, "%s%+" PRId64, X86_64_NAMES[row.cfa_register], row.cfa.offset);
    else
        snprintf(want, sizeof want, "exp");
    assert_string_equal(word, want);
    for (unsigned i = 0; i < count; i++) {
        do /* registers are "r1 (rdx)" */
            word = strtok_r(NULL, " \n", &save);
        while (word && *word == '(');
        assert_non_null(word);
        rule_text(&row.rules[columns[i]], want, sizeof want);
        assert_string_equal(word, want);
    }
}

/* Compares all rows that readelf prints of FDEs; how many there were. */
static unsigned compare(const struct object_cfi *t, FILE *in) {
    char line[1024];
    unsigned columns[32], count = 0, rows = 0;
    bool fde = false;
    while (fgets(line, sizeof line, in)) {
        char *save = NULL, *word;
        if (strstr(line, " FDE ") || strstr(line, " CIE ") || line[0] == '\n')
            fde = strstr(line, " FDE ") != NULL;
        else if (strstr(line, "LOC")) {
            strtok_r(line, " \n", &save);
            strtok_r(NULL, " \n", &save);
            for (count = 0; count < 32 && (word = strtok_r(NULL, " \n", &save)); count++) {
                columns[count] = column_named(word);
                assert_int_not_equal(columns[count], OBJECT_CFI_COLUMNS);
            }
        } else if (fde && strspn(line, "0123456789abcdef") == 16) {
            check_line(t, line, columns, count);
            rows++;
        }
    }
    return rows;
}

static bool read_file(const char *path, struct writer *w) {
    FILE *f = fopen(path, "rb");
    char part[65536];
    for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
        writer_put(w, part, n);
    if (f)
        fclose(f);
    return f && writer_ok(w);
}

static void test_readelf(void **state) {
    (void)state;
    static const char *const files[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
                                        "/bin/ls", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    unsigned compared = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct writer w = writer_make(false);
        char command[256];
        snprintf(command, sizeof command, "LC_ALL=C readelf --debug-dump=frames-interp %s 2>/dev/null",
                 files[i]);
        if (read_file(files[i], &w)) {
            struct object_cfi *t = object_cfi_new(writer_bytes(&w), (struct bytes){0}, NULL);
            FILE *in = t && object_cfi_machine(t) == EM_X86_64 ? popen(command, "r") : NULL;
            compared += in ? compare(t, in) : 0;
            if (in)
                pclose(in);
            object_cfi_free(t);
        }
        writer_fini(&w);
    }
    printf("%u rows equal readelf's\n", compared);
    if (!compared) {
        printf("SKIP: no readelf (package binutils), or no x86-64 files to compare\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),        cmocka_unit_test(test_debug_file),
        cmocka_unit_test(test_signal_frame), cmocka_unit_test(test_broken_programs),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_absent),
        cmocka_unit_test(test_long_cie),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_readelf),
    };
    return cmocka_run_group_tests_name("object: unwind rows", tests, NULL, NULL);
}
