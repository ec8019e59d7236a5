/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/kcore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "object/elf.h"
#include "os/files/place.h"
#include "tests/support/elf_image.h"

/*
 * A kernel's memory: text at KERNEL (three pages, and a page of notes), modules at MODULES, and a segment
 * that is all data. Each page holds its own number.
 */
#define KERNEL  0xffffffff81000000
#define MODULES 0xffffffffc0000000
#define DATA    0xffff888000000000
enum { PAGE = 4096, KERNEL_PAGES = 8, MODULE_PAGES = 8, DATA_PAGES = 4 };

static const char KALLSYMS[] = "ffffffff81000000 T _text\n"
                               "ffffffff81000000 T _stext\n"
                               "ffffffff81001010 T schedule\n"
                               "ffffffff81002800 T _etext\n"
                               "ffffffff81004000 R __start_notes\n"
                               "ffffffff81004024 R __stop_notes\n"
                               "ffffffff81006010 D linux_banner\n"
                               "ffffffffc0001010 t init_one\t[one]\n"
                               "ffffffffc0005010 d data_one\t[one]\n"
                               "ffffffffc0006010 t bpf_prog_1\t[bpf]\n";
static const char LOADED[] = "one 8192 0 - Live 0xffffffffc0000000\n";
static const uint8_t ID[20] = {0xde, 0xad, 0xbe, 0xef};

struct fixture {
    struct test_image image;
    struct bytes file;
    struct record_kcore k;
    struct err err;
};

static void put_pages(struct test_image *t, uint64_t vaddr, uint32_t pages, uint8_t first) {
    struct writer *w = test_image_part(t), note = elf_image_writer(&t->image);
    for (uint32_t i = 0; i < pages; i++) {
        writer_zero(w, PAGE);
        memset(w->data + w->size - PAGE, first + (int)i, PAGE);
    }
    elf_image_note_put(&note, "GNU", NT_GNU_BUILD_ID, (struct bytes){ID, sizeof ID});
    if (vaddr == KERNEL)
        memcpy(w->data + 4 * PAGE, note.data, note.size);
    writer_fini(&note);
    uint32_t s = elf_image_section(&t->image, &(struct elf_image_section){.name = "m",
                                                                          .type = SHT_PROGBITS,
                                                                          .flags = SHF_ALLOC,
                                                                          .addr = vaddr,
                                                                          .align = PAGE,
                                                                          .content = writer_bytes(w)});
    elf_image_segment(&t->image, &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, vaddr, PAGE, s, s});
}

static void begin(struct fixture *f) {
    *f = (struct fixture){.err = ERR_INIT};
    test_image_init(&f->image, true, BYTES_HOST_BIG, ET_CORE, EM_X86_64);
    put_pages(&f->image, DATA, DATA_PAGES, 100);
    put_pages(&f->image, MODULES, MODULE_PAGES, 50);
    put_pages(&f->image, KERNEL, KERNEL_PAGES, 1);
    f->file = test_image_done(&f->image);
    f->k = (struct record_kcore){os_core_fake(&f->file), writer_make(false), writer_make(false)};
    writer_put(&f->k.kallsyms, KALLSYMS, sizeof KALLSYMS - 1);
    writer_put(&f->k.modules, LOADED, sizeof LOADED - 1);
}

static void end(struct fixture *f) {
    record_kcore_close(&f->k);
    test_image_fini(&f->image);
}

/* The page of the copy at that address; -1: it has not that. */
static int page_at(const struct object_elf *e, uint64_t address) {
    struct object_segment s;
    for (uint32_t i = 0; object_elf_segment(e, i, &s); i++)
        if (address - s.vaddr < s.file_size) {
            assert_int_equal(s.type, PT_LOAD);
            assert_int_equal(s.offset % PAGE, 0);
            return e->file.data[s.offset + (address - s.vaddr) + PAGE - 1];
        }
    return -1;
}

/* Text, notes, banner and modules are copied, what is listed as code elsewhere too, and nothing else. */
static void copies_code(void **state) {
    (void)state;
    struct fixture f;
    struct os_output_fake disk;
    struct object_elf e;
    static const struct {
        uint64_t at;
        int page;
    } WANT[] = {
        {KERNEL, 1},
        {KERNEL + PAGE, 2},
        {KERNEL + 2 * PAGE, 3},
        {KERNEL + 3 * PAGE, -1},
        {KERNEL + 4 * PAGE, 5},
        {KERNEL + 5 * PAGE, -1},
        {KERNEL + 6 * PAGE, 7},
        {KERNEL + 7 * PAGE, -1},
        {MODULES, 50},
        {MODULES + PAGE, 51},
        {MODULES + 2 * PAGE, 52},
        {MODULES + 3 * PAGE, -1},
        {MODULES + 5 * PAGE, -1},
        {MODULES + 6 * PAGE, 56},
        {MODULES + 7 * PAGE, 57},
        {DATA, -1},
    };
    begin(&f);
    os_output_fake_init(&disk, true);
    assert_true(record_kcore_write(&f.k, &disk.out, &f.err));
    assert_true(object_elf_open((struct bytes){disk.bytes.items, disk.bytes.count}, &e, &f.err));
    assert_true(e.type == ET_CORE && e.machine == EM_X86_64);
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++)
        assert_int_equal(page_at(&e, WANT[i].at), WANT[i].page);
    os_output_fake_fini(&disk);
    end(&f);
}

static void knows_the_build_id(void **state) {
    (void)state;
    struct fixture f;
    struct object_build_id id;
    begin(&f);
    assert_true(record_kcore_id(&f.k, &id));
    assert_true(id.size == sizeof ID && memcmp(id.bytes, ID, sizeof ID) == 0);
    writer_clear(&f.k.kallsyms);
    assert_false(record_kcore_id(&f.k, &id));
    end(&f);
}

/* Cut anywhere, or changed anywhere in its headers: a copy or an error, and nothing else. */
static void survives_damage(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    uint8_t *copy = malloc(f.file.size);
    struct bytes all = f.file;
    for (size_t i = 0; i < 64 + 4 * 56 + 200; i++) {
        struct os_output_fake disk;
        os_output_fake_init(&disk, true);
        disk.room = 4 << 20;
        if (i % 2) {
            f.file.size = i * 97 % all.size;
        } else {
            memcpy(copy, all.data, all.size);
            copy[i / 2] ^= (uint8_t)(0x80 >> i % 8);
            f.file = (struct bytes){copy, all.size};
        }
        f.err = ERR_INIT;
        assert_true(record_kcore_write(&f.k, &disk.out, &f.err) || f.err.code != ERR_NONE);
        f.file = all;
        os_output_fake_fini(&disk);
    }
    free(copy);
    end(&f);
}

static void refuses_others(void **state) {
    (void)state;
    struct fixture f;
    struct os_output_fake disk;
    begin(&f);
    os_output_fake_init(&disk, true);
    /* Another boot's list: nothing of it is here. */
    for (size_t i = 0; i < 2; i++)
        memcpy(f.k.kallsyms.data + i * 25, "ffffffff91", 10);
    assert_false(record_kcore_write(&f.k, &disk.out, &f.err));
    assert_int_equal(f.err.code, ERR_ABSENT);
    os_output_fake_fini(&disk);
    os_output_fake_init(&disk, true);
    disk.room = 3 * PAGE;
    memcpy(f.k.kallsyms.data, KALLSYMS, sizeof KALLSYMS - 1);
    f.err = ERR_INIT;
    assert_false(record_kcore_write(&f.k, &disk.out, &f.err));
    assert_non_null(strstr(f.err.message, "cannot write"));
    os_output_fake_fini(&disk);
    end(&f);
}

/* In the cache once for each set of modules. */
static void in_the_cache(void **state) {
    (void)state;
    struct fixture f;
    char folder[] = "/tmp/kcore-XXXXXX", command[64];
    bool added;
    begin(&f);
    assert_non_null(mkdtemp(folder));
    assert_true(record_kcore_cache(&f.k, folder, "dead", &added, &f.err) && added);
    assert_true(record_kcore_cache(&f.k, folder, "dead", &added, &f.err) && !added);
    f.k.modules.data[sizeof LOADED - 6] = '1'; /* another address */
    /* Copies are called after the hundredth of a second. */
    snprintf(command, sizeof command, "cd %s/*/dead && mv * 1", folder);
    assert_int_equal(system(command), 0);
    assert_true(record_kcore_cache(&f.k, folder, "dead", &added, &f.err) && added);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    end(&f);
}

static void put_text(const char *folder, const char *name, struct bytes content) {
    char path[128];
    struct os_output out;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(os_output_create(path, &out, NULL));
    assert_int_equal(out.write(out.ctx, 0, &content, 1), content.size);
    out.close(out.ctx);
}

static bool there(const char *folder, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return os_place_taken(path);
}

/* A recording is a folder with the copy in it; older ones make way, and only where there is a copy. */
static void in_a_recording(void **state) {
    (void)state;
    struct fixture f;
    char folder[] = "/tmp/kcore-XXXXXX", from[64], to[64];
    begin(&f);
    assert_non_null(mkdtemp(folder));
    snprintf(from, sizeof from, "%s/kcore", folder);
    snprintf(to, sizeof to, "%s/perf.data", folder);
    put_text(folder, "perf.data", (struct bytes){(const uint8_t *)"older", 5});
    assert_false(record_kcore_begin(from, to, &f.err));
    assert_false(there(folder, "perf.data.old"));
    put_text(folder, "kcore", f.file);
    put_text(folder, "kallsyms", writer_bytes(&f.k.kallsyms));
    for (int i = 0; i < 3; i++) {
        f.err = ERR_INIT;
        assert_true(record_kcore_begin(from, to, &f.err));
        assert_true(there(folder, "perf.data/kcore_dir/kcore") &&
                    there(folder, "perf.data/kcore_dir/kallsyms"));
        assert_true(there(folder, "perf.data/kcore_dir/modules"));
        assert_int_equal(there(folder, "perf.data.old/kcore_dir/kcore"), i > 0);
    }
    snprintf(from, sizeof from, "rm -r %s", folder);
    assert_int_equal(system(from), 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_code),     cmocka_unit_test(knows_the_build_id),
        cmocka_unit_test(survives_damage), cmocka_unit_test(refuses_others),
        cmocka_unit_test(in_the_cache),    cmocka_unit_test(in_a_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
