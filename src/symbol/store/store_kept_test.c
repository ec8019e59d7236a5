/* SPDX-License-Identifier: Apache-2.0 */
/* Names from files that only the recording has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/perfdata/added/kept.h"
#include "symbol/grade.h"
#include "tests/support/elf_image.h"

enum { START = 0x400000, PID = 4194303 /* the largest: hardly a real one */ };
static const struct perfdata_file_state STATE = {1, 2, 3, 4, 5};

static struct bytes text_bytes(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void make_image(struct test_image *t, const char *name) {
    test_image_init(t, true, false, ET_EXEC, EM_X86_64);
    struct writer *names = test_image_part(t), *table = test_image_part(t);
    writer_zero(table, sizeof(Elf64_Sym));
    elf_image_symbol_put(&t->image, table, names,
                         &(struct elf_image_symbol){name, START, 4, STB_GLOBAL, STT_FUNC, 0, 1});
    uint32_t text =
        elf_image_section(&t->image, &(struct elf_image_section){.name = ".text",
                                                                 .type = SHT_PROGBITS,
                                                                 .flags = SHF_ALLOC | SHF_EXECINSTR,
                                                                 .addr = START,
                                                                 .content = text_bytes("code")});
    uint32_t strings = elf_image_section(
        &t->image,
        &(struct elf_image_section){.name = ".strtab", .type = SHT_STRTAB, .content = writer_bytes(names)});
    elf_image_section(&t->image, &(struct elf_image_section){.name = ".symtab",
                                                             .type = SHT_SYMTAB,
                                                             .link = strings,
                                                             .info = 1,
                                                             .entry_size = sizeof(Elf64_Sym),
                                                             .content = writer_bytes(table)});
    elf_image_segment(&t->image, &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, START, 16, text, text});
}

/* Everything but the machine code of an image. `id`: NULL for one that only its state tells. */
static void keep_image(struct writer *w, const char *function, const char *id, uint64_t *text_at) {
    struct test_image t;
    make_image(&t, function);
    struct bytes file = test_image_done(&t);
    const uint8_t *code = memmem(file.data, file.size, "code", 4);
    *text_at = (uint64_t)(code - file.data);
    const struct perfdata_extent extents[] = {{0, *text_at}, {*text_at + 4, file.size - *text_at - 4}};
    struct writer plain = writer_make(false);
    for (size_t i = 0; i < 2; i++)
        writer_put(&plain, file.data + extents[i].offset, extents[i].size);
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_TABLES,
                              .pid = PID,
                              .name = text_bytes("/no/such/prog"),
                              .file_size = file.size,
                              .kept_size = plain.size,
                              .packed = writer_bytes(&plain)};
    if (id) {
        k.evidence.build_id_size = (uint8_t)strlen(id);
        memcpy(k.evidence.build_id, id, strlen(id));
    } else {
        k.evidence.has_state = true;
        k.evidence.state = STATE;
    }
    perfdata_kept_encode(&k, extents, 2, w);
    writer_fini(&plain);
    test_image_fini(&t);
}

static void keep_map(struct writer *w) {
    struct bytes map = text_bytes("1000 10 jitted\n");
    const struct perfdata_kept k = {.kind = PERFDATA_KEPT_MAP,
                                    .pid = PID,
                                    .name = text_bytes("/tmp/perf-4194303.map"),
                                    .file_size = map.size,
                                    .kept_size = map.size,
                                    .packed = map};
    perfdata_kept_encode(&k, &(struct perfdata_extent){0, map.size}, 1, w);
}

/* The name of the image's place, or "". */
static void check_name(struct bytes kept, bool swap, const struct symbol_image *image, uint64_t offset,
                       const char *want) {
    struct symbol_options o = {.kept = kept, .kept_swap = swap};
    struct symbol_store *s = symbol_store_new(&o, NULL);
    assert_non_null(s);
    assert_int_equal(symbol_store_add(s, image), 0);
    const struct symbol_table *t = symbol_store_table(s, 0);
    uint32_t i = t ? symbol_table_find(t, offset) : SYMBOL_NONE;
    assert_string_equal(i == SYMBOL_NONE ? "" : symbol_table_shown(t, i), want);
    if (i != SYMBOL_NONE) {
        struct symbol_provenance p = symbol_store_provenance(s, 0, i);
        bool map = !image->build_id.size && !image->evidence;
        assert_int_equal(symbol_store_source(s, 0).origin, map ? SYMBOL_FROM_MAP : SYMBOL_FROM_KEPT);
        assert_int_equal(symbol_store_grade(s, 0, i), map ? GRADE_INFERRED : GRADE_EXACT);
        assert_int_equal(p.list, map ? SYMBOL_IN_MAP : SYMBOL_IN_SYMTAB);
        assert_int_equal(p.identity, map                    ? SYMBOL_BY_NOTHING
                                     : image->build_id.size ? SYMBOL_BY_BUILD_ID
                                                            : SYMBOL_BY_FSTAT);
        assert_int_equal(symbol_store_bytes(s, 0).code.size, 0);
    }
    symbol_store_free(s);
}

static void test_images(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        uint64_t at;
        keep_image(&w, "by_id", "0123456789", &at);
        keep_image(&w, "of_another", "9876543210", &at);
        keep_image(&w, "by_state", NULL, &at);
        struct perfdata_evidence e = {.has_state = true, .state = STATE};
        struct symbol_image image = {.kind = SYMBOL_IMAGE_FILE, .name = "/no/such/prog", .pid = UINT32_MAX};
        check_name(writer_bytes(&w), swap, &image, at, "");
        image.build_id = text_bytes("0123456789");
        check_name(writer_bytes(&w), swap, &image, at, "by_id");
        check_name(writer_bytes(&w), swap, &image, at + 4, "");
        image.kind = SYMBOL_IMAGE_JIT; /* as code in a memfd is taken to be */
        check_name(writer_bytes(&w), swap, &image, at, "by_id");
        image.kind = SYMBOL_IMAGE_FILE;
        image.build_id = text_bytes("9876543210");
        check_name(writer_bytes(&w), swap, &image, at, "of_another");
        image.build_id = text_bytes("012345678");
        check_name(writer_bytes(&w), swap, &image, at, "");
        image.build_id = (struct bytes){0};
        image.evidence = &e;
        image.deleted = true;
        check_name(writer_bytes(&w), swap, &image, at, "by_state");
        e.state.mtime_ns++;
        check_name(writer_bytes(&w), swap, &image, at, "");
        writer_fini(&w);
    }
}

static void test_map(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    keep_map(&w);
    struct symbol_image image = {.kind = SYMBOL_IMAGE_JIT, .name = "/tmp/perf-4194303.map", .pid = PID};
    check_name(writer_bytes(&w), false, &image, 0x1008, "jitted");
    /* A file in memory, of which two parts are mapped: the map's addresses, in the file. */
    static const struct symbol_part PARTS[] = {{0x1000, 0x1007, 0x5000}, {0x1008, 0x2fff, 0x7000}};
    image.name = "/memfd:jit (deleted)";
    image.parts = PARTS;
    image.part_count = 2;
    check_name(writer_bytes(&w), false, &image, 0x5007, "jitted");
    check_name(writer_bytes(&w), false, &image, 0x7007, "jitted");
    check_name(writer_bytes(&w), false, &image, 0x5008, "");
    check_name(writer_bytes(&w), false, &image, 0x7008, "");
    check_name(writer_bytes(&w), false, &image, 0x1000, "");
    image.pid--;
    check_name(writer_bytes(&w), false, &image, 0x5007, "");
    writer_fini(&w);
}

/* What cannot be unpacked names nothing. */
static void test_damaged(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    const struct perfdata_kept k = {.kind = PERFDATA_KEPT_TABLES,
                                    .name = text_bytes("/no/such/prog"),
                                    .evidence = {.build_id_size = 4, .build_id = "abcd"},
                                    .file_size = 1 << 20,
                                    .kept_size = 1 << 20,
                                    .packed = text_bytes("no zstd")};
    perfdata_kept_encode(&k, &(struct perfdata_extent){0, 1 << 20}, 1, &w);
    const struct symbol_image image = {.kind = SYMBOL_IMAGE_FILE,
                                       .name = "/no/such/prog",
                                       .pid = UINT32_MAX,
                                       .build_id = text_bytes("abcd")};
    check_name(writer_bytes(&w), false, &image, 0, "");
    writer_fini(&w);
}

/* A kernel's list, of its build-id and at the addresses of its boot only; modules are named by it, too. */
static void test_kallsyms(void **state) {
    (void)state;
    static const uint64_t text = 0xffffffff9b600000, module = 0xffffffffc0000000;
    struct bytes list =
        text_bytes("ffffffff9b600000 T _text\nffffffff9b600100 t one\nffffffff9b600200 t two\n"
                   "ffffffff9b601000 T _etext\nffffffffc0000000 t mod_one\t[a_b]\n");
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_KALLSYMS,
                              .name = text_bytes("[kernel.kallsyms]"),
                              .file_size = list.size,
                              .kept_size = list.size,
                              .packed = list};
    k.evidence.build_id_size = 8;
    memcpy(k.evidence.build_id, "kernel01", 8);
    struct writer w = writer_make(false);
    perfdata_kept_encode(&k, &(struct perfdata_extent){0, list.size}, 1, &w);
    const struct symbol_image kernels[] = {
        {SYMBOL_IMAGE_KERNEL, SYMBOL_KERNEL, "[kernel.kallsyms]", .build_id = text_bytes("kernel01"),
         .pid = UINT32_MAX, .start = text, .end = text + 0x1000, .reference = "_text",
         .reference_address = text},
        {SYMBOL_IMAGE_KERNEL, SYMBOL_KERNEL, "[kernel.kallsyms]", .build_id = text_bytes("kernel02"),
         .pid = UINT32_MAX, .start = text, .end = text + 0x1000, .reference = "_text",
         .reference_address = text},
        {SYMBOL_IMAGE_KERNEL, SYMBOL_KERNEL, "[kernel.kallsyms]", .build_id = text_bytes("kernel01"),
         .pid = UINT32_MAX, .start = text, .end = text + 0x1000, .reference = "_text",
         .reference_address = text + 0x2000},
    };
    for (size_t i = 0; i < 3; i++) {
        struct symbol_options o = {.kept = writer_bytes(&w), .symfs = "/nonexistent"};
        struct symbol_store *s = symbol_store_new(&o, NULL);
        const struct symbol_image part = {SYMBOL_IMAGE_MODULE, SYMBOL_KERNEL,   "[a_b]",
                                          .pid = UINT32_MAX,   .start = module, .end = module + 0x1000};
        assert_int_equal(symbol_store_add(s, &kernels[i]), 0);
        assert_int_equal(symbol_store_add(s, &part), 1);
        const struct symbol_table *of_kernel = symbol_store_table(s, 0),
                                  *of_module = symbol_store_table(s, 1);
        assert_int_equal(of_kernel != NULL, i == 0);
        assert_int_equal(of_module != NULL, i == 0);
        if (i == 0) {
            uint32_t one = symbol_table_find(of_kernel, text + 0x180);
            assert_string_equal(symbol_table_shown(of_kernel, one), "one");
            assert_int_equal(symbol_store_grade(s, 0, one), GRADE_EXACT);
            assert_int_equal(symbol_store_provenance(s, 0, one).list, SYMBOL_IN_KALLSYMS);
            assert_string_equal(symbol_table_shown(of_module, symbol_table_find(of_module, 0)), "mod_one");
        }
        symbol_store_free(s);
    }
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_images), cmocka_unit_test(test_map),
                                       cmocka_unit_test(test_kallsyms), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
