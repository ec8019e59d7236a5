/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and modules that nothing proves, judged by what was returned to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/grade.h"
#include "tests/support/elf_image.h"

/* In the file the code lies at FILE_AT, with a call every EVERY bytes that returns to AFTER; recorded at
 * START. */
enum { CALLS = 300, EVERY = 16, AFTER = 5, FILE_AT = 0x1000, ENTRY = 0x10 };
#define START 0xffffffff9b600000

struct setting {
    char path[64];
    struct symbol_return list[CALLS];
    struct symbol_returns returns;
    unsigned asked;
};

/* A kernel, or (ET_REL) a module. `stripped`: as in a separate debug file, without the code. */
static void put_file(struct setting *s, uint16_t type, bool stripped) {
    struct test_image t;
    test_image_init(&t, true, false, type, EM_X86_64);
    struct elf_image *m = &t.image;
    struct writer *text = test_image_part(&t), *table = test_image_part(&t), *strings = test_image_part(&t),
                  *note = test_image_part(&t);
    uint64_t base = type == ET_REL ? 0 : FILE_AT;
    for (unsigned i = 0; i < CALLS; i++) {
        writer_put(text, "\xe8\x01\x02\x03\x04", 5);
        writer_zero(text, EVERY - 5);
    }
    const struct elf_image_symbol symbols[] = {
        {"_text", base, ENTRY, STB_GLOBAL, STT_FUNC, 0, 1},
        {"asm_exc_page_fault", base + ENTRY, EVERY, STB_GLOBAL, STT_FUNC, 0, 1},
        {"work", base + ENTRY + EVERY, (CALLS - 2) * EVERY, STB_GLOBAL, STT_FUNC, 0, 1},
    };
    for (size_t i = 0; i < 3; i++)
        elf_image_symbol_put(m, table, strings, &symbols[i]);
    struct elf_image_section code = {".text",
                                     stripped ? SHT_NOBITS : SHT_PROGBITS,
                                     0,
                                     0,
                                     SHF_ALLOC | SHF_EXECINSTR,
                                     base,
                                     16,
                                     0,
                                     writer_bytes(text),
                                     0};
    if (stripped) {
        code.memory_size = text->size;
        code.content = (struct bytes){0};
    }
    elf_image_section(m, &code);
    elf_image_section(
        m, &(struct elf_image_section){".symtab", SHT_SYMTAB, 3, 1, 0, 0, 8, 24, writer_bytes(table), 0});
    elf_image_section(
        m, &(struct elf_image_section){".strtab", SHT_STRTAB, 0, 0, 0, 0, 1, 0, writer_bytes(strings), 0});
    elf_image_note_put(note, "GNU", 3, (struct bytes){(const uint8_t *)"aaaaaaaaaaaaaaaaaaaa", 20});
    if (type == ET_REL)
        elf_image_section(
            m, &(struct elf_image_section){".note", SHT_NOTE, 0, 0, 0, 0, 4, 0, writer_bytes(note), 0});
    struct bytes file = test_image_done(&t);
    FILE *f = fopen(s->path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(file.data, 1, file.size, f), file.size);
    fclose(f);
    test_image_fini(&t);
}

/* `count` addresses, of which the last `wrong` do not follow a call. */
static void set_returns(struct setting *s, unsigned count, unsigned wrong) {
    for (unsigned i = 0; i < count; i++)
        s->list[i] =
            (struct symbol_return){START + EVERY * i + AFTER + (i + wrong >= count ? 4 : 0), START + 0x500};
    s->returns = (struct symbol_returns){s->list, count};
}

static struct symbol_returns give_returns(void *ctx, enum symbol_space space) {
    struct setting *s = ctx;
    s->asked++;
    return space == SYMBOL_KERNEL ? s->returns : (struct symbol_returns){0};
}

static int setup(void **state) {
    struct setting *s = calloc(1, sizeof *s);
    const char *tmp = getenv("TMPDIR");
    snprintf(s->path, sizeof s->path, "%.30s/a_modXXXXXX", tmp ? tmp : "/tmp");
    int fd = mkstemp(s->path);
    assert_true(fd >= 0);
    close(fd);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct setting *s = *state;
    unlink(s->path);
    free(s);
    return 0;
}

/* "inferred: 300 of 300 return addresses in it follow calls", or why there are no names. */
static const char *judge(struct setting *s, const struct symbol_image *image, bool forced) {
    static char text[256];
    struct symbol_options o = {.symfs = "/nonexistent", .returns = give_returns, .returns_ctx = s};
    o.host.vmlinux = image->kind == SYMBOL_IMAGE_KERNEL ? s->path : NULL;
    o.force_images = forced ? s->path : NULL;
    if (image->kind == SYMBOL_IMAGE_MODULE)
        o.symfs = NULL;
    struct symbol_store *store = symbol_store_new(&o, NULL);
    uint32_t id = symbol_store_add(store, image);
    const struct symbol_table *t = symbol_store_table(store, id);
    struct symbol_source source = symbol_store_source(store, id);
    if (t)
        snprintf(text, sizeof text, "%s: %s", source.proved ? "exact" : "inferred",
                 source.support ? source.support : "");
    else
        snprintf(text, sizeof text, "%s: ", source.status == SYMBOL_CONTRADICTED ? "refused" : "failed");
    struct symbol_try tried;
    for (size_t i = 0; !t && symbol_store_try(store, id, i, &tried); i++)
        if (!strcmp(tried.path, s->path))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s", tried.why);
    symbol_store_free(store);
    return text;
}

static const struct symbol_image KERNEL = {.kind = SYMBOL_IMAGE_KERNEL,
                                           .space = SYMBOL_KERNEL,
                                           .name = "[kernel.kallsyms]",
                                           .pid = UINT32_MAX,
                                           .start = START,
                                           .end = START + CALLS * EVERY,
                                           .reference = "_text",
                                           .reference_address = START};

static void test_kernel(void **state) {
    struct setting *s = *state;
    put_file(s, ET_EXEC, false);
    const struct {
        unsigned count, wrong;
        const char *want;
    } cases[] = {
        {300, 0, "inferred: 300 of 300 return addresses in it follow calls"},
        {300, 3, "inferred: 297 of 300 return addresses in it follow calls"},
        {300, 4, "refused: only 296 of 300 return addresses in it follow calls: other code"},
        {20, 2, "inferred: 18 of 20 return addresses in it follow calls"}, /* threads start somewhere */
        {20, 3, "refused: only 17 of 20 return addresses in it follow calls: other code"},
        {2, 2, "inferred: "}, /* too few to tell */
        {0, 0, "inferred: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_returns(s, cases[i].count, cases[i].wrong);
        assert_string_equal(judge(s, &KERNEL, false), cases[i].want);
    }
}

/* What an exception interrupted does not follow a call, nor does what another image's code returned to count.
 */
static void test_exceptions(void **state) {
    struct setting *s = *state;
    put_file(s, ET_EXEC, false);
    set_returns(s, 100, 50);
    for (unsigned i = 50; i < 100; i++)
        s->list[i].inner = START + ENTRY + AFTER;
    assert_string_equal(judge(s, &KERNEL, false), "inferred: 50 of 50 return addresses in it follow calls");
    for (unsigned i = 50; i < 100; i++)
        s->list[i] = (struct symbol_return){START + 0x100000 + i, 0};
    assert_string_equal(judge(s, &KERNEL, false), "inferred: 50 of 50 return addresses in it follow calls");
}

/* No code, the user's word: nothing to judge. */
static void test_no_code(void **state) {
    struct setting *s = *state;
    set_returns(s, 100, 100);
    put_file(s, ET_EXEC, false);
    assert_string_equal(judge(s, &KERNEL, true), "inferred: ");
    assert_int_equal(s->asked, 0);
    put_file(s, ET_EXEC, true);
    assert_string_equal(judge(s, &KERNEL, false), "inferred: ");
}

static void test_module(void **state) {
    struct setting *s = *state;
    char id[] = "aaaaaaaaaaaaaaaaaaaa";
    struct symbol_image image = {.kind = SYMBOL_IMAGE_MODULE,
                                 .space = SYMBOL_KERNEL,
                                 .name = s->path,
                                 .pid = UINT32_MAX,
                                 .start = START,
                                 .end = START + CALLS * EVERY,
                                 .build_id = {(const uint8_t *)id, 20}};
    put_file(s, ET_REL, false); /* the file is the right one; where its sections lay is guessed */
    set_returns(s, 200, 0);
    assert_string_equal(judge(s, &image, false), "inferred: 200 of 200 return addresses in it follow calls");
    set_returns(s, 200, 100);
    assert_string_equal(judge(s, &image, false),
                        "refused: only 100 of 200 return addresses in it follow calls: other code");
    assert_string_equal(judge(s, &image, true), "inferred: ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_exceptions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_code, setup, teardown),
        cmocka_unit_test_setup_teardown(test_module, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
