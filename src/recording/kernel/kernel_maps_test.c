/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording/kernel/kernel_maps.h"

#define TEXT(s) \
    { (const uint8_t *)(s), sizeof(s) - 1 }

/* A note with little-endian numbers: this test is for little-endian machines. */
#define NOTE(id) TEXT("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0" id)

static const struct os_fake_file MACHINE[] = {
    {"/sys/kernel/notes", NOTE("KERN")},
    {"/proc/kallsyms", TEXT("ffffffff80fff000 A before\n"
                            "ffffffff81000000 T _text\n"
                            "ffffffff81000000 T _stext\n"
                            "ffffffff82000000 T _etext\n"
                            "ffffffff90000000 T _etext\n")},
    {"/proc/modules", TEXT("snd_pcm 1000 0 - Live 0xffffffffc0800000\n"
                           "ext4 4096 2 - Live 0xffffffffc0400000\n")},
    {"/lib/modules/6.1/modules.dep", TEXT("kernel/fs/ext4/ext4.ko: kernel/fs/mbcache.ko\n")},
    {"/sys/module/ext4/notes/.note.gnu.build-id", NOTE("EXT4")},
    {NULL, {NULL, 0}},
};

static void test_kernel_and_modules(void **state) {
    (void)state;
    if (BYTES_HOST_BIG)
        skip();
    struct os_files files = os_files_fake(MACHINE);
    struct kernel_maps maps;
    struct err err = ERR_INIT;
    assert_true(kernel_maps_read(&maps, &files, "6.1", &err));
    assert_int_equal(maps.list.count, 3);
    const struct kernel_map *m = maps.list.items;
    assert_string_equal(m[0].path, "[kernel.kallsyms]");
    assert_true(m[0].start == 0xffffffff81000000 && m[0].end == 0xffffffff82000000);
    assert_memory_equal(m[0].id.bytes, "KERN", 4);
    assert_string_equal(m[1].path, "/lib/modules/6.1/kernel/fs/ext4/ext4.ko");
    assert_true(m[1].start == 0xffffffffc0400000 && m[1].end == 0xffffffffc0401000);
    assert_memory_equal(m[1].id.bytes, "EXT4", 4);
    assert_string_equal(m[2].path, "[snd_pcm]");
    assert_int_equal(m[2].id.size, 0);
    kernel_maps_fini(&maps);
}

static void test_missing(void **state) {
    (void)state;
    struct os_files files = os_files_fake(&MACHINE[5]);
    struct kernel_maps maps;
    struct object_build_id id;
    struct err err = ERR_INIT;
    assert_false(kernel_maps_kernel_id(&files, &id, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    assert_string_equal(err.where, "/sys/kernel/notes");
    assert_false(kernel_maps_read(&maps, &files, "6.1", &err));
    assert_string_equal(err.where, "/proc/kallsyms");
    kernel_maps_fini(&maps);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernel_and_modules),
                                       cmocka_unit_test(test_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
