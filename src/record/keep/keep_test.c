/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/keep.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/perfdata/record.h"
#include "object/compressed.h"
#include "object/elf.h"
#include "os/proc/proc_fake.h"
#include "symbol/symbol_kept.h"
#include "tests/support/elf_image.h"

enum { PID = 7, START = 0x400000, LINK = 0, NAME, MORE, FILES };
static const char ID[] = "0123456789";
static const char CODE[] = "machine code, and a lot of it";

struct fixture {
    struct record_keep keep;
    struct os_proc_fake_file files[FILES];
    struct os_proc_fake fake;
    struct os_proc proc;
    struct test_image image;
    struct bytes elf;
    struct arena arena;
};

static void make_image(struct fixture *f, const char *id) {
    struct test_image *t = &f->image;
    test_image_init(t, true, false, ET_EXEC, EM_X86_64);
    struct writer *note = test_image_part(t), *names = test_image_part(t), *table = test_image_part(t);
    elf_image_note_put(note, "GNU", NT_GNU_BUILD_ID, (struct bytes){(const uint8_t *)id, sizeof ID - 1});
    writer_zero(table, sizeof(Elf64_Sym));
    elf_image_symbol_put(&t->image, table, names,
                         &(struct elf_image_symbol){"a_function", START, 4, STB_GLOBAL, STT_FUNC, 0, 1});
    uint32_t text = elf_image_section(
        &t->image, &(struct elf_image_section){.name = ".text",
                                               .type = SHT_PROGBITS,
                                               .flags = SHF_ALLOC | SHF_EXECINSTR,
                                               .addr = START,
                                               .content = {(const uint8_t *)CODE, sizeof CODE}});
    uint32_t notes = elf_image_section(&t->image, &(struct elf_image_section){.name = ".note.gnu.build-id",
                                                                              .type = SHT_NOTE,
                                                                              .flags = SHF_ALLOC,
                                                                              .align = 4,
                                                                              .content = writer_bytes(note)});
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
    elf_image_segment(&t->image, &(struct elf_image_segment){PT_NOTE, PF_R, 0, 4, notes, notes});
    f->elf = test_image_done(t);
}

static void begin(struct fixture *f, enum os_held_where where) {
    memset(f, 0, sizeof *f);
    make_image(f, ID);
    for (size_t i = 0; i < FILES; i++)
        f->files[i] = (struct os_proc_fake_file){
            .path = "none", .content = f->elf, .identity = {8, 77, f->elf.size, 5, 6}, .where = where};
    f->files[LINK].path = "/proc/7/map_files/400000-401000";
    f->files[NAME].path = "/bin/a";
    f->fake = (struct os_proc_fake){.files = f->files, .file_count = FILES};
    f->proc = os_proc_fake(&f->fake);
    f->keep.proc = &f->proc;
}

static void end(struct fixture *f) {
    record_keep_fini(&f->keep);
    test_image_fini(&f->image);
    arena_fini(&f->arena);
}

static void note(struct fixture *f, const char *name, const char *id,
                 const struct perfdata_evidence *evidence) {
    char text[64] = "";
    strcpy(text, name);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_MMAP2,
        .misc = (uint16_t)(PERFDATA_MISC_USER | (id ? PERFDATA_MISC_MMAP_BUILD_ID : 0)),
        .mmap2 = {.pid = PID,
                  .tid = PID,
                  .addr = START,
                  .len = 0x1000,
                  .has_build_id = id != NULL,
                  .build_id_size = id ? sizeof ID - 1 : 0,
                  .prot = 5,
                  .flags = 2,
                  .filename = {(const uint8_t *)text, (strlen(text) + 8) & ~7ul}},
    };
    struct writer w = writer_make(false);
    if (id)
        memcpy(rec.mmap2.build_id, id, sizeof ID - 1);
    perfdata_record_encode(&rec, NULL, &w);
    record_keep_note(&f->keep, rec.misc,
                     (struct bytes){w.data + PERFDATA_HEADER_SIZE, w.size - PERFDATA_HEADER_SIZE}, evidence);
    writer_fini(&w);
}

/* The only thing that is kept; false for nothing. */
static bool finish(struct fixture *f, struct perfdata_kept *k) {
    struct bytes rest = record_keep_finish(&f->keep);
    bool any = perfdata_kept_next(&rest, false, k);
    assert_int_equal(rest.size, 0);
    assert_int_equal(f->keep.held.count, 0);
    return any;
}

static struct bytes plain(struct fixture *f, const struct perfdata_kept *k) {
    struct bytes b = k->packed;
    if (k->packed.size != k->kept_size)
        assert_true(object_decompress_sized(OBJECT_ZSTD, k->packed, k->kept_size, &f->arena, &b, NULL));
    return b;
}

/* Found under its name at the end: nothing to keep. Replaced by a file with the same build-id: neither. */
static void test_there(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    for (uint64_t ino = 77; ino < 79; ino++) {
        begin(&f, OS_HELD_HERE);
        note(&f, "/bin/a", ID, NULL);
        note(&f, "/bin/a", ID, NULL);
        assert_int_equal(f.keep.held.count, 1);
        f.files[NAME].identity.ino = ino;
        assert_false(finish(&f, &k));
        end(&f);
    }
}

/* Deleted: its tables are kept, its code is not. */
static void test_deleted(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    begin(&f, OS_HELD_HERE);
    note(&f, "/bin/a", ID, NULL);
    f.files[NAME].path = "gone";
    assert_true(finish(&f, &k));
    assert_true(k.kind == PERFDATA_KEPT_TABLES && k.pid == PID && k.file_size == f.elf.size);
    assert_true(k.name.size == 6 && memcmp(k.name.data, "/bin/a", 6) == 0);
    assert_true(k.evidence.build_id_size == sizeof ID - 1 && memcmp(k.evidence.build_id, ID, 10) == 0);
    struct bytes b = plain(&f, &k);
    assert_non_null(memmem(b.data, b.size, "a_function", 10));
    assert_null(memmem(b.data, b.size, CODE, sizeof CODE));
    for (uint32_t i = 0, at = 0; i < k.extent_count; i++) {
        struct perfdata_extent x = perfdata_kept_extent(&k, false, i);
        assert_memory_equal(b.data + at, f.elf.data + x.offset, x.size);
        at += (uint32_t)x.size;
    }
    end(&f);
}

/* Replaced by another program; all of the old one is kept. */
static void test_replaced(void **state) {
    (void)state;
    struct fixture f, other;
    struct perfdata_kept k;
    begin(&f, OS_HELD_HERE);
    memset(&other, 0, sizeof other);
    make_image(&other, "9876543210");
    f.keep.what = RECORD_KEEP_FULL;
    note(&f, "/bin/a", ID, NULL);
    f.files[NAME].identity.ino = 78;
    f.files[NAME].content = other.elf;
    assert_true(finish(&f, &k));
    assert_int_equal(k.kind, PERFDATA_KEPT_WHOLE);
    assert_int_equal(k.extent_count, 1);
    struct bytes b = plain(&f, &k);
    assert_true(bytes_equal(b, f.elf));
    end(&f);
    test_image_fini(&other.image);
}

/* In memory or without a name: at once. On other mounts: at the end, without a build-id, if it is still
 * there; else not at all. Nothing: nothing. */
static void test_where(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    begin(&f, OS_HELD_PASSING);
    note(&f, "/memfd:a (deleted)", ID, NULL);
    assert_int_equal(f.keep.held.count, 0);
    f.files[LINK].path = f.files[NAME].path = "gone";
    assert_true(finish(&f, &k));
    end(&f);
    begin(&f, OS_HELD_ELSEWHERE);
    note(&f, "/bin/a", ID, NULL);
    assert_int_equal(f.keep.held.count, 0);
    assert_false(finish(&f, &k));
    end(&f);
    for (int written = 0; written < 2; written++) {
        begin(&f, OS_HELD_ELSEWHERE);
        const struct perfdata_evidence e = {.has_state = true, .state = {8, 77, f.elf.size, 5, 6}};
        note(&f, "/bin/a", NULL, &e);
        assert_int_equal(f.keep.held.count, 0);
        f.files[NAME].identity.mtime_ns += written;
        assert_int_equal(finish(&f, &k), !written);
        end(&f);
    }
    for (int written = 0; written < 2; written++) { /* into what was copied at once */
        begin(&f, OS_HELD_PASSING);
        note(&f, "/bin/a", ID, NULL);
        note(&f, "/memfd:b (deleted)", "1234567890", NULL);
        assert_int_equal(f.keep.copies.count, 1);
        f.files[NAME].identity.mtime_ns += written;
        assert_int_equal(finish(&f, &k), !written);
        end(&f);
    }
    begin(&f, OS_HELD_PASSING);
    f.keep.what = RECORD_KEEP_NONE;
    note(&f, "/bin/a", ID, NULL);
    assert_false(finish(&f, &k));
    end(&f);
}

/* A file that is not what was mapped, however it came there, is not kept. */
static void test_other(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    begin(&f, OS_HELD_PASSING);
    note(&f, "/bin/a", "9876543210", NULL);
    assert_false(finish(&f, &k));
    end(&f);
    const struct perfdata_evidence e = {.has_state = true, .state = {8, 77, 1, 5, 6}};
    begin(&f, OS_HELD_HERE);
    note(&f, "/bin/a", NULL, &e); /* of another size */
    assert_int_equal(f.keep.held.count, 0);
    end(&f);
}

/* Without a build-id it is kept although it is still there; not when somebody wrote into it. */
static void test_no_id(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    for (int written = 0; written < 2; written++) {
        begin(&f, OS_HELD_HERE);
        const struct perfdata_evidence e = {.has_state = true, .state = {8, 77, f.elf.size, 5, 6}};
        note(&f, "/bin/a", NULL, NULL);
        assert_int_equal(f.keep.held.count, 0);
        note(&f, "/bin/a", NULL, &e);
        assert_int_equal(f.keep.held.count, 1);
        f.files[LINK].identity.mtime_ns += written;
        assert_int_equal(finish(&f, &k), !written);
        if (!written)
            assert_true(k.evidence.has_state && k.evidence.state.ino == 77);
        end(&f);
    }
}

/* A process with code of its own making: what it has written of it, once it has ended. */
static void test_map(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    for (int ended = 0; ended < 2; ended++) {
        begin(&f, OS_HELD_HERE);
        note(&f, "//anon", NULL, NULL);
        assert_int_equal(f.keep.held.count, 0);
        f.files[MORE].path = "/proc/7/root/tmp/perf-7.map";
        f.files[MORE].content = (struct bytes)OS_PROC_TEXT("1000 10 jitted\n");
        if (!ended)
            f.files[NAME].path = "/proc/7";
        note(&f, "//anon", NULL, NULL);
        assert_int_equal(f.keep.held.count, 1);
        assert_int_equal(finish(&f, &k), ended);
        if (ended) {
            assert_true(k.kind == PERFDATA_KEPT_MAP && k.pid == PID && k.name.size == 15);
            struct bytes b = plain(&f, &k);
            assert_memory_equal(b.data, "1000 10 jitted\n", 15);
        }
        end(&f);
    }
}

/* Once in a pass is enough to look whether it is there. */
static void test_map_by_pass(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, OS_HELD_HERE);
    f.keep.pass_ns = 5000000000;
    note(&f, "//anon", NULL, NULL);
    f.files[MORE].path = "/proc/7/root/tmp/perf-7.map";
    f.files[MORE].content = (struct bytes)OS_PROC_TEXT("1000 10 jitted\n");
    note(&f, "//anon", NULL, NULL);
    assert_int_equal(f.keep.held.count, 0);
    f.keep.pass_ns += 1000000;
    note(&f, "//anon", NULL, NULL);
    assert_int_equal(f.keep.held.count, 1);
    end(&f);
}

static void test_jitdump(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_kept k;
    begin(&f, OS_HELD_ELSEWHERE);
    f.files[LINK].content = (struct bytes)OS_PROC_TEXT("JiTD");
    note(&f, "/home/jit-7.dump", NULL, NULL);
    note(&f, "/home/jit-7.dump", NULL, NULL);
    assert_int_equal(f.keep.held.count, 1);
    assert_true(finish(&f, &k));
    assert_int_equal(k.kind, PERFDATA_KEPT_JITDUMP);
    end(&f);
    /* Its process lives on, but another program of it wrote another file there. */
    for (int replaced = 0; replaced < 2; replaced++) {
        begin(&f, OS_HELD_HERE);
        f.files[LINK].content = (struct bytes)OS_PROC_TEXT("JiTD");
        note(&f, "/home/jit-7.dump", NULL, NULL);
        f.files[NAME].path = "/proc/7/root/home/jit-7.dump";
        f.files[NAME].identity = f.files[LINK].identity;
        f.files[NAME].identity.ino += (uint64_t)replaced;
        f.files[MORE].path = "/proc/7";
        assert_int_equal(finish(&f, &k), replaced);
        end(&f);
    }
}

/* Not an ELF file, or one without any symbols: nothing of it names anything. */
static void test_tables(void **state) {
    (void)state;
    struct fixture f;
    symbol_extents extents = {0};
    begin(&f, OS_HELD_HERE);
    assert_false(symbol_kept_tables((struct bytes)OS_PROC_TEXT("#!/bin/sh"), false, &extents));
    for (size_t cut = 0; cut < f.elf.size; cut++) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, f.elf.data, cut);
        vec_clear(&extents);
        symbol_kept_tables((struct bytes){exact, cut}, cut % 2, &extents);
        for (size_t i = 0; i < extents.count; i++)
            assert_true(extents.items[i].offset + extents.items[i].size <= cut);
        free(exact);
    }
    vec_fini(&extents);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there),  cmocka_unit_test(test_deleted),     cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_where),  cmocka_unit_test(test_other),       cmocka_unit_test(test_no_id),
        cmocka_unit_test(test_map),    cmocka_unit_test(test_map_by_pass), cmocka_unit_test(test_jitdump),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
