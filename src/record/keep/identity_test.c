/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/identity.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "os/proc/proc_fake.h"
#include "tests/support/elf_image.h"

enum { PID = 7, INO = 77, START = 0x400000, END = 0x402000 };
static const int64_t SECOND = 1000000000;

struct fixture {
    struct record_identities ids;
    struct record_build_ids build_ids;
    struct os_proc_fake_file files[3];
    struct os_proc_fake_mapping mapping;
    struct os_proc_fake fake;
    struct os_proc proc;
    struct test_image image; /* of a program without a build-id */
    struct writer record;
};

static void begin(struct fixture *f) {
    static const char CODE[] = "machine code";
    memset(f, 0, sizeof *f);
    test_image_init(&f->image, true, false, ET_EXEC, EM_X86_64);
    uint32_t text = elf_image_section(
        &f->image.image, &(struct elf_image_section){.name = ".text",
                                                     .type = SHT_PROGBITS,
                                                     .flags = SHF_ALLOC | SHF_EXECINSTR,
                                                     .addr = START,
                                                     .content = {(const uint8_t *)CODE, sizeof CODE}});
    elf_image_segment(&f->image.image,
                      &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, START, 16, text, text});
    f->mapping = (struct os_proc_fake_mapping){
        .pid = PID, .mapping = {.start = START, .end = END, .ino = INO, .maj = 8, .min = 1, .prot = 5}};
    f->files[0] = (struct os_proc_fake_file){
        .path = "none",
        .content = test_image_done(&f->image),
        .identity = {makedev(8, 1), INO, 1000, 5 * SECOND, 6 * SECOND},
    };
    f->files[1] = f->files[2] = (struct os_proc_fake_file){.path = "none"};
    f->fake = (struct os_proc_fake){f->files, 3, &f->mapping, 1, false, NULL};
    f->proc = os_proc_fake(&f->fake);
    f->ids.proc = &f->proc;
    f->ids.build_ids = &f->build_ids;
    f->ids.since_ns = 100 * SECOND;
}

static void end(struct fixture *f) {
    record_identities_fini(&f->ids);
    record_build_ids_fini(&f->build_ids);
    test_image_fini(&f->image);
    writer_fini(&f->record);
}

static const struct perfdata_evidence *note(struct fixture *f, uint64_t addr, uint64_t ino,
                                            const char *name) {
    char text[64] = "";
    strcpy(text, name);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_MMAP2,
        .misc = PERFDATA_MISC_USER,
        .mmap2 = {.pid = PID,
                  .tid = PID,
                  .addr = addr,
                  .len = 0x1000,
                  .maj = 8,
                  .min = 1,
                  .ino = ino,
                  .prot = 5,
                  .flags = 2,
                  .filename = {(const uint8_t *)text, (strlen(text) + 8) & ~7ul}},
    };
    writer_clear(&f->record);
    perfdata_record_encode(&rec, NULL, &f->record);
    return record_identities_note(
        &f->ids, rec.misc,
        (struct bytes){f->record.data + PERFDATA_HEADER_SIZE, f->record.size - PERFDATA_HEADER_SIZE});
}

/* What PERFDATA_PART_IMAGES says of the only image. */
static bool finish(struct fixture *f, struct perfdata_evidence *e) {
    struct writer w = writer_make(false);
    struct bytes name;
    record_identities_finish(&f->ids, &w);
    struct bytes rest = writer_bytes(&w);
    bool ok = perfdata_image_evidence_next(&rest, false, &name, e) && rest.size == 0;
    writer_fini(&w);
    return ok;
}

/* The mapping grew since: the kernel's link is found by its range now. The cookie waits for the end. */
static void test_link(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_evidence last;
    begin(&f);
    f.files[0].path = "/proc/7/map_files/400000-402000";
    const struct perfdata_evidence *e = note(&f, START + 0x1000, INO, "/bin/a");
    assert_non_null(e);
    assert_true(e->has_state && e->state.ino == INO && e->state.size == 1000 && !e->has_cookie);
    assert_ptr_equal(note(&f, START, INO, "/bin/a"), e);
    assert_int_equal(f.ids.list.count, 1);
    f.files[1] = f.files[0];
    f.files[1].path = "/bin/a";
    assert_true(finish(&f, &last));
    assert_true(last.has_state && last.has_cookie);
    end(&f);
}

/* Replaced before the end: its state is all there is. */
static void test_changed(void **state) {
    (void)state;
    for (int what = 0; what < 6; what++) {
        struct fixture f;
        struct perfdata_evidence last;
        begin(&f);
        f.files[0].path = "/proc/7/map_files/400000-402000";
        assert_non_null(note(&f, START, INO, "/bin/a"));
        f.files[1] = f.files[0];
        f.files[1].path = "/bin/a";
        struct os_identity *id = &f.files[1].identity;
        id->dev += what == 0;
        id->ino += what == 1;
        id->size += what == 2;
        id->mtime_ns += what == 3;
        id->ctime_ns += what == 4;
        assert_true(finish(&f, &last));
        assert_true(last.has_state && last.state.ino == INO);
        assert_int_equal(last.has_cookie, what == 5);
        end(&f);
    }
}

/* No name any more: looked into at once. */
static void test_deleted(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_evidence last;
    begin(&f);
    f.files[0].path = "/proc/7/map_files/400000-402000";
    const struct perfdata_evidence *e = note(&f, START, INO, "/memfd:x (deleted)");
    assert_true(e && e->has_cookie);
    f.files[0].gone = true;
    assert_true(finish(&f, &last));
    assert_true(last.has_cookie && memcmp(last.cookie, e->cookie, sizeof last.cookie) == 0);
    end(&f);
}

/* By name: the same inode, and either still mapped or unchanged since before. */
static void test_name(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    f.files[0].path = "/proc/7/root/bin/a";
    assert_null(note(&f, START, INO + 1, "/bin/a"));
    assert_non_null(note(&f, START, INO, "/bin/a"));
    f.mapping.pid = 1000; /* ended: only what is old enough */
    assert_non_null(note(&f, START, INO, "/bin/a"));
    f.files[0].identity.ctime_ns = 100 * SECOND;
    assert_null(note(&f, START, INO, "/bin/a"));
    f.files[0].identity.ctime_ns = 6 * SECOND;
    f.files[0].path = "/bin/a"; /* in our own root: on the same device too */
    assert_non_null(note(&f, START, INO, "/bin/a"));
    f.files[0].identity.dev++;
    assert_null(note(&f, START, INO, "/bin/a"));
    end(&f);
}

/* Mapped still, but written into since that may have been: only what cannot be written into is what was
 * mapped. Removed or renamed it may have been. */
static void test_written(void **state) {
    (void)state;
    for (int by_name = 0; by_name < 2; by_name++) {
        struct fixture f;
        begin(&f);
        f.files[0].path = by_name ? "/proc/7/root/bin/a" : "/proc/7/map_files/400000-402000";
        f.files[0].identity.ctime_ns = 101 * SECOND;
        assert_non_null(note(&f, START, INO, "/bin/a"));
        f.files[0].identity.mtime_ns = 101 * SECOND;
        assert_null(note(&f, START, INO, "/bin/a"));
        f.files[1] = f.files[0];
        f.files[1].path = "/proc/7/exe";
        f.files[1].identity.dev++; /* of an overlay */
        assert_non_null(note(&f, START, INO, "/bin/a"));
        f.files[1].identity.ino++; /* another program runs */
        assert_null(note(&f, START, INO, "/bin/a"));
        f.ids.since_ns = 0; /* it ran before */
        assert_non_null(note(&f, START, INO, "/bin/a"));
        end(&f);
    }
}

/* A build-id that the kernel did not give is given to the header too, and needs no cookie. */
static void test_build_id(void **state) {
    (void)state;
    struct fixture f;
    struct perfdata_evidence last;
    begin(&f);
    f.files[0].path = "/proc/7/map_files/400000-402000";
    struct test_image with;
    test_image_init(&with, true, false, ET_EXEC, EM_X86_64);
    struct writer *notes = test_image_part(&with);
    elf_image_note_put(notes, "GNU", NT_GNU_BUILD_ID, (struct bytes){(const uint8_t *)"12345678", 8});
    uint32_t at = elf_image_section(&with.image, &(struct elf_image_section){.name = ".note",
                                                                             .type = SHT_NOTE,
                                                                             .flags = SHF_ALLOC,
                                                                             .addr = START,
                                                                             .align = 4,
                                                                             .content = writer_bytes(notes)});
    elf_image_segment(&with.image, &(struct elf_image_segment){PT_NOTE, PF_R, START, 4, at, at});
    f.files[0].content = test_image_done(&with);
    const struct perfdata_evidence *e = note(&f, START, INO, "/bin/a");
    assert_true(e && e->build_id_size == 8 && memcmp(e->build_id, "12345678", 8) == 0);
    assert_int_equal(f.build_ids.count, 1);
    assert_true(finish(&f, &last));
    assert_true(last.build_id_size == 8 && !last.has_cookie);
    test_image_fini(&with);
    end(&f);
}

/* The record is read late: something else lies at its place by now, and is what the kernel's link leads to.
 */
static void test_other_mapped_since(void **state) {
    (void)state;
    for (int unknown = 0; unknown < 2; unknown++) {
        struct fixture f;
        begin(&f);
        f.files[0].path = "/proc/7/map_files/400000-402000";
        f.files[0].identity.ino = f.mapping.mapping.ino = INO + 1;
        f.fake.no_query = unknown;
        if (unknown)
            f.files[0].path = "/proc/7/map_files/400000-401000";
        assert_null(note(&f, START, INO, "/bin/a"));
        f.files[1] = f.files[0];
        f.files[1].path = "/proc/7/root/bin/a";
        f.files[1].identity.ino = INO;
        const struct perfdata_evidence *e = note(&f, START, INO, "/bin/a");
        assert_true(e && e->state.ino == INO);
        end(&f);
    }
}

static void test_others(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    f.files[0].path = "/proc/7/map_files/400000-402000";
    assert_null(note(&f, START, INO, "//anon"));
    assert_null(note(&f, START, INO, "[vdso]"));
    assert_null(note(&f, START, 0, "/bin/a"));
    assert_null(record_identities_note(&f.ids, PERFDATA_MISC_USER, (struct bytes){NULL, 0}));
    f.ids.proc = NULL;
    assert_null(note(&f, START, INO, "/bin/a"));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link),    cmocka_unit_test(test_changed),
        cmocka_unit_test(test_deleted), cmocka_unit_test(test_name),
        cmocka_unit_test(test_written), cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_others),  cmocka_unit_test(test_other_mapped_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
