/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/build_id_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/proc/proc.h"
#include "tests/support/elf_image.h"

static const uint8_t ID[] = {0xab, 1, 2, 3, 4, 5, 6, 7};

struct fixture {
    char top[64], folder[96], file[96];
    struct record_build_ids ids;
    struct record_cache cache;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct test_image t;
    strcpy(f->top, "/tmp/sonde-cache-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    snprintf(f->folder, sizeof f->folder, "%s/cache", f->top);
    snprintf(f->file, sizeof f->file, "%s/lib x.so", f->top);
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    struct writer *notes = test_image_part(&t);
    elf_image_note_put(notes, "GNU", NT_GNU_BUILD_ID, (struct bytes){ID, sizeof ID});
    uint32_t at = elf_image_section(&t.image, &(struct elf_image_section){.name = ".note",
                                                                          .type = SHT_NOTE,
                                                                          .flags = SHF_ALLOC,
                                                                          .align = 4,
                                                                          .content = writer_bytes(notes)});
    elf_image_segment(&t.image, &(struct elf_image_segment){PT_NOTE, PF_R, 0, 4, at, at});
    struct bytes image = test_image_done(&t);
    int fd = open(f->file, O_CREAT | O_WRONLY, 0644);
    assert_int_equal(write(fd, image.data, image.size), image.size);
    close(fd);
    test_image_fini(&t);
    f->cache = (struct record_cache){f->folder, &os_proc_system, RECORD_CACHE_FILE_MAX, RECORD_CACHE_ALL_MAX};
    *state = f;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    nftw(f->top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    record_build_ids_fini(&f->ids);
    free(f);
    return 0;
}

static void list(struct fixture *f, const uint8_t *id, const char *name) {
    record_build_ids_add(&f->ids, PERFDATA_MISC_USER, (struct bytes){id, sizeof ID},
                         (struct bytes){(const uint8_t *)name, strlen(name)});
}

/* Found by its id through the link; a file of its own, so that writing into the original leaves it as it is.
 */
static void kept(void **state) {
    struct fixture *f = *state;
    char path[256], target[256] = "", want[256];
    struct stat a, b;
    list(f, ID, f->file);
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 1);
    snprintf(path, sizeof path, "%s/.build-id/ab/01020304050607/elf", f->folder);
    assert_int_equal(stat(path, &a), 0);
    assert_int_equal(stat(f->file, &b), 0);
    assert_true(a.st_ino != b.st_ino && a.st_size == b.st_size);
    snprintf(path, sizeof path, "%s/.build-id/ab/01020304050607", f->folder);
    assert_true(readlink(path, target, sizeof target - 1) > 0);
    snprintf(want, sizeof want, "../..%s/ab01020304050607", f->file);
    assert_string_equal(target, want);
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 0); /* it is there */
}

/* What would be too much to copy is linked. */
static void linked(void **state) {
    struct fixture *f = *state;
    char path[256];
    struct stat a, b;
    list(f, ID, f->file);
    f->cache.all_bytes_max = 1;
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 1);
    snprintf(path, sizeof path, "%s/.build-id/ab/01020304050607/elf", f->folder);
    assert_int_equal(stat(path, &a), 0);
    assert_int_equal(stat(f->file, &b), 0);
    assert_true(a.st_ino == b.st_ino);
}

/* What is there now is another one: it must not be kept under that id. */
static void replaced(void **state) {
    struct fixture *f = *state;
    static const uint8_t OTHER[sizeof ID] = {9};
    list(f, OTHER, f->file);
    list(f, ID, "/no/such/file");
    list(f, ID, "[vdso]");
    list(f, ID, "/tmp/../tmp/x");
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 0);
    assert_int_equal(access(f->folder, F_OK), -1);
}

static void bounded(void **state) {
    struct fixture *f = *state;
    static const char HIDDEN[] = "/dev/shm"; /* another file system: no hard links to it */
    char copy[96], path[256];
    struct stat a, b;
    if (stat(HIDDEN, &a) != 0 || stat(f->top, &b) != 0 || a.st_dev == b.st_dev || access(HIDDEN, W_OK) != 0) {
        print_message("SKIP: there is no second file system at %s\n", HIDDEN);
        skip();
    }
    uint64_t copied;
    snprintf(copy, sizeof copy, "%s/sonde-cache-test-%d", HIDDEN, (int)getpid());
    struct os_image image;
    assert_true(os_proc_system.image(NULL, f->file, UINT64_MAX, &image, NULL));
    int fd = open(copy, O_CREAT | O_WRONLY, 0644);
    assert_int_equal(write(fd, image.bytes.data, image.bytes.size), image.bytes.size);
    close(fd);
    list(f, ID, copy);
    f->cache.file_bytes_max = image.bytes.size - 1;
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 0);
    f->cache.file_bytes_max = image.bytes.size;
    f->cache.all_bytes_max = image.bytes.size - 1;
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 0);
    f->cache.all_bytes_max = image.bytes.size;
    assert_int_equal(record_cache_add(&f->cache, &f->ids), 1);
    snprintf(path, sizeof path, "%s/.build-id/ab/01020304050607/elf", f->folder);
    copied = stat(path, &a) == 0 ? (uint64_t)a.st_size : 0;
    assert_int_equal(copied, image.bytes.size);
    os_proc_system.release(NULL, &image);
    unlink(copy);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(kept), TEST(linked), TEST(replaced), TEST(bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
