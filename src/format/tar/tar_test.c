/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tar/tar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static unsigned checksum(const uint8_t *h) {
    unsigned sum = 8 * ' ';
    for (unsigned i = 0; i < TAR_BLOCK; i++)
        sum += i < 148 || i >= 156 ? h[i] : 0;
    return sum;
}

static void short_names_stand_in_the_header(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    tar_entry_encode(&(struct tar_entry){.path = "a/b", .size = 8 * 64 + 3, .mode = 0640, .mtime_s = 8}, &w);
    tar_entry_encode(&(struct tar_entry){.path = "l", .link = "../b", .mode = 0777}, &w);
    tar_end_encode(&w);
    assert_int_equal(w.size, 4 * TAR_BLOCK);
    assert_string_equal((char *)w.data, "a/b");
    assert_string_equal((char *)w.data + 100, "0000640");
    assert_string_equal((char *)w.data + 124, "00000001003");
    assert_string_equal((char *)w.data + 136, "00000000010");
    assert_int_equal(w.data[156], '0');
    assert_memory_equal(w.data + 257, "ustar\00000root", 12);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(strtoul((char *)w.data + i * TAR_BLOCK + 148, NULL, 8),
                         checksum(w.data + i * TAR_BLOCK));
    assert_int_equal(w.data[TAR_BLOCK + 156], '2');
    assert_string_equal((char *)w.data + TAR_BLOCK + 157, "../b");
    for (unsigned i = 2 * TAR_BLOCK; i < 4 * TAR_BLOCK; i++)
        assert_int_equal(w.data[i], 0);
    writer_fini(&w);
}

static void long_names_have_a_header_of_their_own(void **state) {
    (void)state;
    char path[121], record[160];
    struct writer w = writer_make(false);
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    tar_entry_encode(&(struct tar_entry){.path = path, .size = (uint64_t)1 << 33, .mode = 0644}, &w);
    assert_int_equal(w.size, 3 * TAR_BLOCK);
    assert_int_equal(w.data[156], 'x');
    snprintf(record, sizeof record, "130 path=%s\n19 size=8589934592\n", path);
    assert_string_equal((char *)w.data + TAR_BLOCK, record);
    assert_int_equal(strtoul((char *)w.data + 124, NULL, 8), strlen(record));
    assert_memory_equal(w.data + 2 * TAR_BLOCK, path, 100);
    writer_fini(&w);
}

static void contents_are_padded(void **state) {
    (void)state;
    assert_int_equal(tar_padding(0), 0);
    assert_int_equal(tar_padding(1), 511);
    assert_int_equal(tar_padding(512), 0);
    assert_int_equal(tar_padding(513), 511);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names_stand_in_the_header),
        cmocka_unit_test(long_names_have_a_header_of_their_own),
        cmocka_unit_test(contents_are_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
