/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with a dumped stack become callchains. */
#include "resolve/chain.h"
#include "resolve/unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model_test_records.h"
#include "tests/support/cfi_image.h"
#include "tests/support/fail_alloc.h"

/*
 * A process with a file's code and a JIT's:
 *
 *   FILE_AT + 0x10  frame      pushes rbp: CFA rsp + 16 from its second byte on
 *           + 0x50  outermost  the return address is undefined
 *           + 0x60  signal     the caller's are at rsp + 16 ...
 *           + 0x90             nothing covers it
 *   JIT_AT                     memory without a file
 */
enum { PID = 7, FILE_AT = 0x10000, JIT_AT = 0x40000, STACK = 0x700000, NOTHING = 0x90000 };
enum { FRAME = FILE_AT + 0x10, OUTERMOST = FILE_AT + 0x50, SIGNAL = FILE_AT + 0x60, BARE = FILE_AT + 0x90 };

#define INITIAL "\x0c\x07\x08\x90\x01" /* def_cfa rsp+8; rip at cfa-8 */
static const struct test_cfi_fde FDES[] = {
    TEST_CFI_FDE(0x1010, 0x40, "\x41\x0e\x10\x86\x02"),
    TEST_CFI_FDE(0x1050, 0x10, "\x07\x10"),
    TEST_CFI_FDE(0x1060, 0x10, "\x0e\x10"),
};

struct session {
    char root[64], folder[96], file[128];
    struct model *m;
    struct symbol_store *store;
    struct resolve_names *names;
    struct perfdata_header header;
    struct perfdata_feature arch;
    struct resolve_unwind *u;
    uint64_t regs[9], words[32];
    struct perfdata_sample sample;
};

enum kind { USUAL, SIGNAL_FRAMES, NO_TABLES };

/* SIGNAL_FRAMES: all functions of the file are such. Returns where its code begins. */
static uint64_t write_image(struct session *s, enum kind kind) {
    const struct test_cfi x = {.wide = true,
                               .machine = EM_X86_64,
                               .return_column = 16,
                               .data_align = -8,
                               .augmentation = kind == SIGNAL_FRAMES ? "zRS" : "zR",
                               .initial = INITIAL,
                               .initial_size = sizeof INITIAL - 1,
                               .fdes = FDES,
                               .count = 3};
    struct test_image image;
    struct bytes b = test_cfi_make(&x, &image);
    Elf64_Ehdr head;
    Elf64_Phdr text;
    memcpy(&head, b.data, sizeof head);
    memcpy(&text, b.data + head.e_phoff, sizeof text);
    assert_int_equal(text.p_vaddr, TEST_CFI_TEXT);
    if (kind == NO_TABLES) { /* only the code is left of what the file consists of */
        Elf64_Ehdr bare = head;
        bare.e_shoff = bare.e_shnum = bare.e_shstrndx = 0;
        bare.e_phnum = 1;
        memcpy((uint8_t *)(uintptr_t)b.data, &bare, sizeof bare);
    }
    FILE *f = fopen(s->file, "w");
    assert_true(f && fwrite(b.data, 1, b.size, f) == b.size && fclose(f) == 0);
    test_image_fini(&image);
    return text.p_offset;
}

static const char ARCH[] = "\7\0\0\0x86_64";

static void session_init(struct session *s, enum kind kind) {
    *s = (struct session){.root = "/tmp/unwindXXXXXX"};
    assert_non_null(mkdtemp(s->root));
    snprintf(s->folder, sizeof s->folder, "%s/lib", s->root);
    snprintf(s->file, sizeof s->file, "%s/a.so", s->folder);
    assert_int_equal(mkdir(s->folder, 0700), 0);
    uint64_t offset = write_image(s, kind);
    s->m = batch();
    at(s->m, 1, rec_exec(PID, "prog"));
    at(s->m, 2, rec_mmap(U, PID, FILE_AT, 0x1000, offset, "/lib/a.so"));
    at(s->m, 3, rec_map(PID, JIT_AT, 0x1000, "//anon"));
    freeze(s->m);
    s->store = symbol_store_new(&(struct symbol_options){.symfs = s->root}, NULL);
    s->names = resolve_names_new(s->m, s->store, NULL, NULL);
    assert_true(s->store && s->names && resolve_names_prepare(s->names, NULL));
    s->arch = (struct perfdata_feature){.id = PERFDATA_FEATURE_ARCH,
                                        .content = {(const uint8_t *)ARCH, sizeof ARCH}};
    *vec_push(&s->header.features) = s->arch;
    s->u = resolve_unwind_new(s->names, &s->header, NULL);
    assert_non_null(s->u);
}

static void session_fini(struct session *s) {
    resolve_unwind_free(s->u);
    vec_fini(&s->header.features);
    resolve_names_free(s->names);
    symbol_store_free(s->store);
    model_free(s->m);
    unlink(s->file);
    rmdir(s->folder);
    assert_int_equal(rmdir(s->root), 0);
}

/* perf_regs.h of x86: bp is bit 6, sp 7, ip 8. */
static const struct perfdata_sample *sample(struct session *s, uint64_t ip, uint64_t bp, size_t words) {
    s->regs[0] = bp;
    s->regs[1] = STACK;
    s->regs[2] = ip;
    s->sample = (struct perfdata_sample){
        .have = RESOLVE_UNWIND_FIELDS,
        .pid = PID,
        .tid = PID,
        .regs_user = {2, 7 << 6, {(const uint8_t *)s->regs, 3, false}},
        .stack_user = {(const uint8_t *)s->words, words * sizeof *s->words},
        .stack_dyn_size = words * sizeof *s->words,
    };
    return &s->sample;
}

static struct perfdata_u64s chain_of(struct session *s, const struct perfdata_sample *x, uint64_t most) {
    return resolve_unwind_stack(s->u, x, U, upto(10), most);
}

static uint64_t ended(const struct session *s, enum resolve_unwind_end end) {
    return resolve_unwind_tally(s->u)->ends[end];
}

#define ASSERT_CHAIN(chain, ...)                                   \
    do {                                                           \
        const struct perfdata_u64s c_ = (chain);                   \
        const uint64_t want_[] = {__VA_ARGS__};                    \
        assert_int_equal(c_.count, sizeof want_ / sizeof *want_);  \
        for (size_t i_ = 0; i_ < c_.count; i_++)                   \
            assert_int_equal(perfdata_u64_at(&c_, i_), want_[i_]); \
    } while (0)

/* By the table, before and after the push; callers have the address before the one they return to. */
static void test_tables(void **state) {
    (void)state;
    struct session s;
    session_init(&s, USUAL);
    s.words[0] = FRAME + 5; /* nothing is pushed yet */
    s.words[1] = 0x1234;    /* the frame of that one: rbp, return address */
    s.words[2] = OUTERMOST + 2;
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME, 0, 8), 100), FRAME, FRAME + 4, OUTERMOST + 1);
    assert_int_equal(ended(&s, RESOLVE_UNWIND_COMPLETE), 1);
    assert_false(resolve_unwind_was_cut(s.u));
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME, 0, 8), 1), FRAME); /* as many as were asked for */
    assert_int_equal(ended(&s, RESOLVE_UNWIND_LIMIT), 1);
    assert_int_equal(resolve_unwind_tally(s.u)->stacks, 2);
    session_fini(&s);
}

static void test_ends(void **state) {
    (void)state;
    struct session s;
    session_init(&s, USUAL);
    s.words[0] = FRAME + 5;
    s.words[1] = 0x1234;
    s.words[2] = OUTERMOST + 2;
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME, 0, 2), 100), FRAME, FRAME + 4);
    assert_true(resolve_unwind_was_cut(s.u));
    assert_int_equal(ended(&s, RESOLVE_UNWIND_CUT), 1);
    s.words[0] = NOTHING;
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME, 0, 8), 100), FRAME);
    assert_false(resolve_unwind_was_cut(s.u));
    assert_int_equal(ended(&s, RESOLVE_UNWIND_UNMAPPED), 1);
    s.words[0] = BARE + 4; /* with a frame pointer that is none */
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME, 3, 8), 100), FRAME, BARE + 3);
    assert_int_equal(ended(&s, RESOLVE_UNWIND_NO_TABLE), 1);
    assert_int_equal(resolve_unwind_tally(s.u)->images.count != 0, 1);
    /* A process that the recording does not know; 32-bit code of a CPU that has none here. */
    struct perfdata_sample x = *sample(&s, FRAME, 0, 8);
    x.pid = 9;
    assert_int_equal(chain_of(&s, &x, 100).count, 0);
    x = *sample(&s, FRAME, 0, 8);
    x.regs_user.abi = 0;
    assert_int_equal(chain_of(&s, &x, 100).count, 0);
    assert_int_equal(ended(&s, RESOLVE_UNWIND_CPU), 1);
    x = *sample(&s, FRAME, 0, 8);
    x.have &= ~(uint64_t)PERFDATA_SAMPLE_REGS_USER;
    assert_int_equal(chain_of(&s, &x, 100).count, 0);
    assert_int_equal(resolve_unwind_tally(s.u)->stacks, 5);
    struct resolve_unwind_tally sum = {0};
    for (int i = 0; i < 2; i++)
        assert_true(resolve_unwind_tally_add(&sum, resolve_unwind_tally(s.u)));
    assert_int_equal(sum.stacks, 10);
    assert_int_equal(sum.ends[RESOLVE_UNWIND_NO_TABLE], 2);
    assert_int_equal(sum.images.count, resolve_unwind_tally(s.u)->images.count);
    vec_fini(&sum.images);
    session_fini(&s);
}

/* Without unwinding: the innermost address alone, counted as one that was skipped. */
static void test_leaf(void **state) {
    (void)state;
    struct session s;
    session_init(&s, USUAL);
    ASSERT_CHAIN(resolve_unwind_leaf(s.u, sample(&s, FRAME, 0, 8), U, upto(10)), FRAME);
    assert_false(resolve_unwind_was_cut(s.u));
    struct perfdata_u64s none = resolve_unwind_leaf(s.u, sample(&s, NOTHING, 0, 8), U, upto(10));
    assert_int_equal(none.count, 0);
    struct resolve_unwind_tally sum = {0};
    assert_true(resolve_unwind_tally_add(&sum, resolve_unwind_tally(s.u)));
    assert_int_equal(sum.stacks, 2);
    assert_int_equal(sum.skipped, 2);
    assert_int_equal(sum.frames, 1);
    vec_fini(&sum.images);
    session_fini(&s);
}

/* A reader of chains unwinds three of ten dumped stacks, in even distances. */
static void test_share(void **state) {
    (void)state;
    struct session s;
    uint64_t skipped = 0;
    session_init(&s, USUAL);
    s.words[0] = FRAME + 5;
    s.words[1] = 0x1234;
    s.words[2] = OUTERMOST + 2;
    struct resolve_chain c = {
        .o = {.most = 100, .names = s.names, .header = &s.header, .unwind_most = 3, .unwind_of = 10}};
    const struct perfdata_attr attr = {.sample_type = RESOLVE_UNWIND_FIELDS};
    const uint8_t dummy[8] = {0};
    for (uint64_t i = 1; i <= 20; i++) {
        struct perfdata_sample x = *sample(&s, FRAME, 0, 8);
        x.callchain.data = dummy;
        for (unsigned again = 0; again < 2; again++) /* which does not count */
            assert_true(resolve_chain_read(&c, &x, &attr, U, (struct model_when){10, i}));
        const struct resolve_unwind_tally *t = resolve_unwind_tally(c.unwind);
        bool whole = t->skipped == skipped;
        skipped = t->skipped;
        assert_int_equal(t->stacks, i);
        assert_int_equal(i - skipped, 3 * i / 10);
        assert_int_equal(c.segments.count, 1);
        assert_int_equal(c.segments.items[0].count, whole ? 3 : 1);
        assert_int_equal(c.segments.items[0].ends_early, !whole);
        assert_int_equal(c.cut, !whole);
    }
    resolve_chain_fini(&c);
    session_fini(&s);
}

/* Code of a JIT without tables: by its frame pointer, or, where it has made no frame yet, by the word on top
 * of the stack, if that leads to a file's code. */
static void test_memory_without_tables(void **state) {
    (void)state;
    struct session s;
    session_init(&s, USUAL);
    s.words[4] = STACK + 0x30; /* the frame of JIT_AT + 8 */
    s.words[5] = JIT_AT + 0x21;
    s.words[6] = 0; /* the frame of that one: the caller's frame pointer, its return address */
    s.words[7] = OUTERMOST + 2;
    ASSERT_CHAIN(chain_of(&s, sample(&s, JIT_AT + 8, STACK + 0x20, 16), 100), JIT_AT + 8, JIT_AT + 0x20,
                 OUTERMOST + 1);
    s.words[0] = OUTERMOST + 2;
    ASSERT_CHAIN(chain_of(&s, sample(&s, JIT_AT, 1, 16), 100), JIT_AT, OUTERMOST + 1);
    session_fini(&s);
}

/* A file's code without tables: by its frame pointer; never by the word on top, which nothing proves. */
static void test_file_without_tables(void **state) {
    (void)state;
    struct session s;
    session_init(&s, NO_TABLES);
    s.words[0] = OUTERMOST + 2;
    s.words[4] = STACK + 0x30; /* the frame of FRAME + 8 */
    s.words[5] = BARE + 4;
    s.words[6] = 0; /* the frame of that one */
    s.words[7] = 0;
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME + 8, STACK + 0x20, 16), 100), FRAME + 8, BARE + 3);
    assert_int_equal(ended(&s, RESOLVE_UNWIND_COMPLETE), 1);
    ASSERT_CHAIN(chain_of(&s, sample(&s, FRAME + 8, 1, 16), 100), FRAME + 8);
    assert_int_equal(ended(&s, RESOLVE_UNWIND_NO_TABLE), 1);
    session_fini(&s);
}

/* What a signal interrupted is exact. */
static void test_signal(void **state) {
    (void)state;
    struct session s;
    session_init(&s, SIGNAL_FRAMES);
    s.words[0] = 0x77;
    s.words[1] = FRAME; /* its first instruction, where nothing is pushed */
    s.words[2] = OUTERMOST;
    ASSERT_CHAIN(chain_of(&s, sample(&s, SIGNAL + 4, 0, 16), 100), SIGNAL + 4, FRAME, OUTERMOST);
    session_fini(&s);
}

static void test_memory(void **state) {
    (void)state;
    struct session s;
    session_init(&s, USUAL);
    s.words[0] = FRAME + 5;
    s.words[2] = OUTERMOST + 2;
    const struct perfdata_sample *x = sample(&s, FRAME, 0, 8);
    chain_of(&s, x, 100); /* its file is open now */
    FAIL_EACH_ALLOC({
        struct resolve_unwind *u = resolve_unwind_new(s.names, &s.header, NULL);
        struct perfdata_u64s c = {0};
        if (u)
            c = resolve_unwind_stack(u, x, U, upto(10), 100);
        assert_true(c.count <= 3);
        resolve_unwind_free(u);
    });
    session_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_leaf),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_memory_without_tables),
        cmocka_unit_test(test_file_without_tables),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
