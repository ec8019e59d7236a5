/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/scrub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "tests/support/edit_recording.h"
#include "tests/support/fail_alloc.h"

static const char *path(struct edit_scrub *s, const char *text, bool whole) {
    static char room[128];
    snprintf(room, sizeof room, "%s", text);
    edit_scrub_path(s, (uint8_t *)room, strlen(room), whole);
    return room;
}

static void test_paths(void **state) {
    (void)state;
    struct edit_scrub *s = edit_scrub_new(1, NULL, NULL);
    assert_string_equal(path(s, "/home/alice/bin/prog", false), "/x000/x0000/x00/prog");
    assert_string_equal(path(s, "/home/bob/bin/prog", false), "/x000/x01/x00/prog");
    assert_string_equal(path(s, "/alice/home", false), "/x0000/home");
    assert_string_equal(path(s, "/alice/home", true), "/x0000/x000");
    assert_string_equal(path(s, "/home/alice/a b (deleted)", false), "/x000/x0000/a b (deleted)");
    assert_string_equal(path(s, "/a/b/a//c/", false), "/0/1/0//2/");
    static const char *const kept[] = {
        "[vdso]",          "//anon", "/dev/zero (deleted)",   "/memfd:x/y (deleted)",
        "/tmp/perf-1.map", "",       "/lib/modules/6.1/a.ko", "home/alice"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_string_equal(path(s, kept[i], false), kept[i]);
    /* As many names as there can be: no two are equal. */
    struct hash_map seen = {0};
    char text[32];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "/n%04u/x", i);
        const char *now = path(s, text, false);
        assert_int_equal(hash_map_get(&seen, hash_bytes(now, strlen(now))), HASH_ABSENT);
        assert_true(hash_map_set(&seen, hash_bytes(now, strlen(now)), i));
        assert_memory_equal(now, "/x0", 3);
    }
    hash_map_fini(&seen);
    edit_scrub_free(s);
}

static void test_strings(void **state) {
    (void)state;
    struct edit_scrub *s = edit_scrub_new(1, NULL, NULL);
    char bytes[] = "\1/etc/passwd\0a/b/c\0/ \0/run/x\n/not a path\0\xff/opt/y";
    edit_scrub_strings(s, (uint8_t *)bytes, sizeof bytes - 1);
    assert_memory_equal(bytes, "\1/x00/passwd\0a/b/c\0/ \0/x01/x\n/not a path\0\xff/x02/y", sizeof bytes);
    edit_scrub_free(s);
}

/* Order and distances stay; low addresses, fixed pages and markers too. */
static void test_addresses(void **state) {
    (void)state;
    static const uint64_t stay[] = {0,         0x400000, 0xfffffffff, 0xffffffffff600000, 0xffffffffffffff80,
                                    UINT64_MAX};
    for (uint64_t random = 1; random < 100; random++) {
        struct edit_scrub *s = edit_scrub_new(random, NULL, NULL);
        for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
            assert_int_equal(edit_scrub_address(s, stay[i]), stay[i]);
        uint64_t user = edit_scrub_address(s, 0x7f0000001234) - 0x7f0000001234;
        uint64_t kernel = 0xffffffff9b600123 - edit_scrub_address(s, 0xffffffff9b600123);
        assert_int_equal(user & 0xfff, 0);
        assert_true(user < (uint64_t)1 << 36);
        assert_true(kernel && kernel < 1 << 30 && kernel % (2 << 20) == 0);
        assert_int_equal(edit_scrub_address(s, 0x555555554000), 0x555555554000 + user);
        assert_int_equal(edit_scrub_address(s, 0x2f746f6f722f3536), 1ull << 57); /* "65/root/" */
        assert_int_equal(edit_scrub_address(s, 0x7fffffffffffffff), 1ull << 57);
        char text[] = "ffffffff9b600123 T f\nffffffff9b600123a 9b600123 ffffffffff600000";
        char want[sizeof text];
        edit_scrub_digits(s, (uint8_t *)text, sizeof text - 1);
        snprintf(want, sizeof want, "%llx T f\nffffffff9b600123a 9b600123 ffffffffff600000",
                 (unsigned long long)(0xffffffff9b600123 - kernel));
        assert_string_equal(text, want);
        edit_scrub_free(s);
    }
}

static void put_words(struct writer *w, uint32_t type, size_t count, const uint64_t *words) {
    writer_u32(w, type);
    writer_u16(w, 0);
    writer_u16(w, (uint16_t)(8 + 8 * count));
    for (size_t i = 0; i < count; i++)
        writer_u64(w, words[i]);
}

/* Records in which addresses cannot be found are left out. */
static void test_unreadable(void **state) {
    (void)state;
    enum { UNKNOWN_TYPE = 60, SECRET_HIGH = 0x7f123456 };
    const uint64_t secret = (uint64_t)SECRET_HIGH << 32 | 0x789000;
    struct perfdata_events events;
    perfdata_events_init(&events, false);
    edit_recording_event(&events, 0, 0);
    edit_recording_event(&events, 0, 0);
    events.list.items[0].attr.sample_type |= PERFDATA_SAMPLE_CALLCHAIN;
    struct writer data = writer_make(false);
    put_words(&data, PERFDATA_RECORD_SAMPLE, 4, (uint64_t[]){1, 100, 1, secret});
    put_words(&data, PERFDATA_RECORD_SAMPLE, 4, (uint64_t[]){1, 101, 9, secret}); /* of nine words, has one */
    put_words(&data, PERFDATA_RECORD_SAMPLE, 4, (uint64_t[]){77, 102, 1, secret}); /* of no event */
    put_words(&data, UNKNOWN_TYPE, 2, (uint64_t[]){secret, secret});
    put_words(&data, PERFDATA_RECORD_MMAP2, 2, (uint64_t[]){1, secret}); /* too short */
    struct writer file = edit_recording_file(&events, &data, NULL, 0), out = writer_make(false);
    struct copy_sink sink = edit_recording_sink(&out, false);
    struct copy_result result;
    struct err err = ERR_INIT;
    struct stream *in = stream_open_memory(writer_bytes(&file), NULL, &err);
    struct edit_scrub *s = edit_scrub_new(1, in, &err);
    assert_non_null(s);
    assert_true(copy_recording(in, &sink, edit_scrub_editor(s), &result, &err));
    for (size_t i = 0; i + 8 <= out.size; i++)
        assert_int_not_equal(bytes_load64(out.data + i, false), secret);
    assert_int_equal(edit_scrub_left_out(s),
                     3); /* the fourth damaged record does not count: the stream has skipped it */
    stream_close(in);
    in = stream_open_memory(writer_bytes(&out), NULL, &err);
    struct stream_record r;
    assert_int_equal(stream_next(in, &r, &err), STREAM_RECORD);
    assert_int_equal(bytes_load64(r.raw.body.data + 24, false), edit_scrub_address(s, secret));
    assert_int_equal(stream_next(in, &r, &err), STREAM_END);
    stream_close(in);
    edit_scrub_free(s);
    writer_fini(&file);
    writer_fini(&out);
}

static void try_all(void) {
    struct err err = ERR_INIT;
    struct edit_scrub *s = edit_scrub_new(1, NULL, &err);
    if (s)
        path(s, "/home/alice/bin/prog", true);
    edit_scrub_free(s);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(try_all());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),      cmocka_unit_test(test_strings), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_unreadable), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
