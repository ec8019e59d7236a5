/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel_cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "os/files/own_cache.h"

static const char listing[] = "ffffffff81000000 T _text\n"
                              "ffffffff81000100 t one\n"
                              "ffffffff81000100 W two\n"
                              "ffffffff81000200 r no_code\n"
                              "ffffffffc0000000 t theirs\t[module]\n";

static struct kernel_list *list_of(const char *text) {
    struct writer w = writer_make(false);
    struct err err = ERR_INIT;
    writer_put(&w, text, strlen(text));
    struct kernel_list *l = kernel_list_new(&w, &err);
    assert_non_null(l);
    return l;
}

static struct kernel_cache_key key_of(const char *boot, const char *id) {
    return kernel_cache_key((struct bytes){(const uint8_t *)boot, strlen(boot)},
                            (struct bytes){(const uint8_t *)id, strlen(id)});
}

static void encode(struct writer *w) {
    struct kernel_list *l = list_of(listing);
    struct kernel_cache_key key = key_of("boot", "build-id");
    *w = writer_make(false);
    assert_true(kernel_cache_encode(l, &key, w));
    kernel_list_free(l);
}

static struct kernel_list *decode(struct bytes file) {
    struct kernel_cache_key key = key_of("boot", "build-id");
    return kernel_cache_decode(file, &key);
}

static bool take(void *ctx, uint64_t address, const char *name, char type) {
    char *to = ctx;
    sprintf(to + strlen(to), "%llx %c %s\n", (unsigned long long)address, type, name);
    return true;
}

static const char taken[] = "ffffffff81000000 T _text\nffffffff81000100 t one\nffffffff81000100 W two\n";

static void keeps_the_kernels_own(void **state) {
    char text[512] = "";
    struct writer w;
    (void)state;
    encode(&w);
    struct kernel_list *l = decode(writer_bytes(&w));
    assert_non_null(l);
    assert_true(kernel_list_each(l, take, text));
    assert_string_equal(text, taken);
    uint64_t address = 0;
    assert_true(kernel_list_address(l, "two", &address));
    assert_int_equal(address, 0xffffffff81000100);
    assert_false(kernel_list_has_module(l, (struct bytes){(const uint8_t *)"module", 6}));
    assert_false(kernel_list_hidden(l));
    kernel_list_free(l);
    writer_fini(&w);
}

static void holds_for_one_boot_of_one_kernel(void **state) {
    struct writer w;
    (void)state;
    encode(&w);
    const struct kernel_cache_key others[] = {key_of("toob", "build-id"), key_of("boot", "build-ie"),
                                              key_of("boot", ""), key_of("", "build-id")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(kernel_cache_decode(writer_bytes(&w), &others[i]));
    writer_fini(&w);
}

static void hidden_addresses_are_not_kept(void **state) {
    struct writer w = writer_make(false);
    struct kernel_list *l = list_of("0000000000000000 T _text\n0000000000000000 t one\n");
    struct kernel_cache_key key = key_of("boot", "build-id"), none = key_of("", "");
    (void)state;
    assert_false(kernel_cache_encode(l, &key, &w));
    kernel_list_free(l);
    l = list_of(listing);
    assert_false(kernel_cache_encode(l, &none, &w));
    kernel_list_free(l);
    writer_fini(&w);
}

static void damage_is_noticed(void **state) {
    struct writer w;
    (void)state;
    encode(&w);
    for (size_t i = 0; i < w.size; i++) {
        uint8_t *part = malloc(i + 1); /* of its own, so that a sanitizer sees reads beyond */
        memcpy(part, w.data, i);
        assert_null(decode((struct bytes){part, i}));
        free(part);
        w.data[i] ^= 0x10;
        assert_null(decode(writer_bytes(&w)));
        w.data[i] ^= 0x10;
    }
    writer_fini(&w);
}

/* What only somebody who means harm writes: the checksum is right. */
static void lies_are_refused(void **state) {
    enum { KEY = 12, COUNTS = 24 + 16, SYMBOLS = COUNTS + 16 };
    static const struct {
        size_t at;
        uint32_t value;
    } lies[] = {
        {20, 1000},                     /* the key's size */
        {20, UINT32_MAX},               /* likewise */
        {COUNTS, 1000},                 /* symbols */
        {COUNTS + 4, 0x80000000},       /* likewise, too many to count */
        {COUNTS + 8, 5},                /* texts that do not end */
        {COUNTS + 8, 100000},           /* more texts than there are */
        {COUNTS + 8, 0},                /* none */
        {SYMBOLS + 8, 1000},            /* a name beyond the texts */
        {SYMBOLS + 12, 'r'},            /* a type that is not kept */
        {SYMBOLS + 12, 0},              /* none */
        {SYMBOLS + 12, 0x100 | 'T'},    /* none either */
        {SYMBOLS + 8, (uint32_t)-1},    /* a name at the end of all */
        {SYMBOLS + 16 + 8, 0x7fffffff}, /* the second's */
    };
    struct writer w;
    (void)state;
    encode(&w);
    assert_int_equal(w.data[20], KEY);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        uint8_t *file = malloc(w.size);
        memcpy(file, w.data, w.size);
        memcpy(file + lies[i].at, &lies[i].value, 4);
        uint64_t checksum = XXH3_64bits(file + 16, w.size - 16);
        memcpy(file + 8, &checksum, 8);
        assert_null(decode((struct bytes){file, w.size}));
        free(file);
    }
    writer_fini(&w);
}

/* ---- the folder ---- */

static void is_kept_in_a_folder_of_ones_own(void **state) {
    char base[] = "/tmp/kernel-cache.XXXXXX", folder[64], file[96], text[512] = "";
    struct kernel_cache_key key = key_of("boot", "build-id");
    struct kernel_list *l = list_of(listing);
    struct os_map map = {0};
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%s/a/b", base);
    snprintf(file, sizeof file, "%s/kernel-symbols", folder);
    assert_null(kernel_cache_load(folder, &key, &map));
    kernel_cache_save(folder, &key, l);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    kernel_cache_save(folder, &key, l); /* in its place */
    struct kernel_list *kept = kernel_cache_load(folder, &key, &map);
    assert_non_null(kept);
    assert_true(kernel_list_each(kept, take, text));
    assert_string_equal(text, taken);
    kernel_list_free(kept);
    os_map_fini(&map);
    /* What others could have written is left alone, */
    static const mode_t open_to_others[] = {0620, 0602};
    for (size_t i = 0; i < sizeof open_to_others / sizeof *open_to_others; i++) {
        assert_int_equal(chmod(file, open_to_others[i]), 0);
        assert_null(kernel_cache_load(folder, &key, &map));
    }
    assert_int_equal(chmod(file, 0600), 0);
    assert_int_equal(chmod(folder, 0770), 0);
    assert_null(kernel_cache_load(folder, &key, &map));
    unlink(file);
    kernel_cache_save(folder, &key, l); /* and nothing put beside it. */
    assert_int_equal(stat(file, &st), -1);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_null(kernel_cache_load(folder, &key, &map));
    unlink(file);
    assert_int_equal(symlink("/proc/self/exe", file), 0);
    assert_null(kernel_cache_load(folder, &key, &map));
    unlink(file);
    kernel_list_free(l);
    rmdir(folder);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
    assert_int_equal(rmdir(base), 0); /* nothing else was left there */
}

static void too_large_files_are_not_mapped(void **state) {
    char folder[] = "/tmp/own-cache.XXXXXX", file[64];
    struct os_map map = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x", folder);
    assert_true(os_own_cache_put(folder, "x", (struct bytes){(const uint8_t *)"12345", 5}));
    assert_false(os_own_cache_map(folder, "x", 4, &map));
    assert_true(os_own_cache_map(folder, "x", 5, &map));
    assert_memory_equal(map.bytes.data, "12345", 5);
    os_map_fini(&map);
    assert_true(os_own_cache_put(folder, "x", (struct bytes){NULL, 0}));
    assert_false(os_own_cache_map(folder, "x", 5, &map)); /* empty */
    unlink(file);
    assert_int_equal(rmdir(folder), 0);
    assert_false(os_own_cache_put("/proc/none", "x", (struct bytes){NULL, 0}));
}

/* Those used last stay, as long as all have room; other files, and what is being written, do too. */
static void what_was_not_used_goes(void **state) {
    static const char *const names[] = {"a-1", "a-2", "a-3", "b-1", ".a-4.1", ".a-5.2"};
    static const bool left[] = {false, true, true, true, false, true};
    char folder[] = "/tmp/own-cache.XXXXXX", file[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 6; i++) {
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        assert_true(os_own_cache_put(folder, names[i], (struct bytes){(const uint8_t *)"12345", 5}));
        snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        if (i < 5)
            assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
    }
    os_own_cache_touch(folder, "a-2");
    os_own_cache_touch(folder, "none");
    os_own_cache_trim(folder, "a-", 14);
    os_own_cache_trim("/proc/none", "a-", 14);
    for (int i = 0; i < 6; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(file) == 0, left[i]);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_kernels_own),
        cmocka_unit_test(holds_for_one_boot_of_one_kernel),
        cmocka_unit_test(hidden_addresses_are_not_kept),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(is_kept_in_a_folder_of_ones_own),
        cmocka_unit_test(too_large_files_are_not_mapped),
        cmocka_unit_test(what_was_not_used_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
