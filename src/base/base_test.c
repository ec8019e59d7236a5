/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "base/strpool.h"
#include "base/text/out.h"
#include "base/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void test_cursor_is_sticky(void **state) {
    (void)state;
    const uint8_t raw[] = {1, 2, 3, 4, 5, 6, 7};
    struct cursor c = cursor_make((struct bytes){raw, sizeof raw}, BYTES_HOST_BIG);
    assert_int_equal(cursor_u32(&c), 0x04030201);
    assert_int_equal(cursor_u64(&c), 0);
    assert_false(cursor_ok(&c));
    assert_int_equal(cursor_u8(&c), 0); /* three bytes were left, but failure sticks */
    c = cursor_make((struct bytes){raw, sizeof raw}, !BYTES_HOST_BIG);
    assert_int_equal(cursor_u16(&c), 0x0102);
    assert_null(cursor_take(&c, UINT64_MAX));
}

/* DWARF 5, 7.6, tables 7.7 and 7.8; then what is as long as it can be, too long, and cut off. */
static void test_leb128(void **state) {
    (void)state;
    const uint8_t raw[] = {2,    127,  0x80, 1,    0x81, 1,    0xb9, 0x64,             /* unsigned */
                           2,    0x7e, 0xff, 0,    0x81, 0x7f, 0x80, 1,    0x80, 0x7f, /* signed */
                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x80};
    struct cursor c = cursor_make((struct bytes){raw, sizeof raw}, false);
    const uint64_t numbers[] = {2, 127, 128, 129, 12857};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(cursor_uleb(&c), numbers[i]);
    const int64_t integers[] = {2, -2, 127, -127, 128, -128};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        assert_int_equal(cursor_sleb(&c), integers[i]);
    struct cursor again = c;
    assert_int_equal(cursor_uleb(&c), UINT64_MAX);
    assert_int_equal(cursor_sleb(&again), -1);
    assert_int_equal(cursor_pos(&c), sizeof raw - 1);
    assert_int_equal(cursor_pos(&again), sizeof raw - 1);
    cursor_uleb(&c);
    assert_false(cursor_ok(&c));
    assert_int_equal(cursor_sleb(&c), 0);
}

static void test_writer_mirrors_cursor(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        writer_u8(&w, 1);
        writer_u16(&w, 0x1234);
        writer_u32(&w, 0xdeadbeef);
        writer_u64(&w, 0x0123456789abcdef);
        writer_align(&w, 8);
        writer_patch16(&w, 1, 0x4321);
        assert_true(writer_ok(&w));
        assert_int_equal(w.size, 16);
        struct cursor c = cursor_make(writer_bytes(&w), swap);
        assert_int_equal(cursor_u8(&c), 1);
        assert_int_equal(cursor_u16(&c), 0x4321);
        assert_int_equal(cursor_u32(&c), 0xdeadbeef);
        assert_int_equal(cursor_u64(&c), 0x0123456789abcdef);
        writer_patch64(&w, 9, 0);
        assert_false(writer_ok(&w));
        writer_fini(&w);
    }
}

static void test_checked(void **state) {
    (void)state;
    uint64_t v;
    assert_false(checked_add(UINT64_MAX, 1, &v));
    assert_true(checked_range(8, 8, 16));
    assert_false(checked_range(8, UINT64_MAX, 16));
    assert_false(checked_range(17, 0, 16));
}

static void test_hash_map(void **state) {
    (void)state;
    struct hash_map m = {0};
    assert_int_equal(hash_map_get(&m, 7), HASH_ABSENT);
    for (uint32_t i = 0; i < 10000; i++)
        assert_true(hash_map_set(&m, (uint64_t)i << 32, i));
    assert_true(hash_map_set(&m, 0, 77));
    assert_int_equal(m.count, 10000);
    assert_int_equal(hash_map_get(&m, 0), 77);
    for (uint32_t i = 1; i < 10000; i++)
        assert_int_equal(hash_map_get(&m, (uint64_t)i << 32), i);
    assert_int_equal(hash_map_get(&m, 1), HASH_ABSENT);
    hash_map_fini(&m);
}

static void test_strpool(void **state) {
    (void)state;
    struct strpool p = {0};
    char name[16];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            int n = snprintf(name, sizeof name, "s%u", i);
            assert_int_equal(strpool_add(&p, name, (size_t)n), i);
        }
    assert_string_equal(strpool_text(&p, 4321), "s4321");
    assert_int_equal(strpool_find(&p, "absent", 6), STRPOOL_NONE);
    assert_int_equal(strpool_add(&p, "", 0), 5000);
    strpool_fini(&p);
}

static void test_arena(void **state) {
    (void)state;
    struct arena a = ARENA_INIT;
    assert_non_null(arena_alloc(&a, 0)); /* nothing is not a failure */
    char *small = arena_strndup(&a, "hello", 5);
    memset(arena_alloc(&a, 1 << 20), 0xaa, 1 << 20);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(*(char *)arena_zalloc(&a, 200), 0);
    assert_string_equal(small, "hello");
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_string_equal(arena_printf(&a, "%s-%05d", "x", 42), "x-00042");
    assert_int_equal(strlen(arena_printf(&a, "%10000s", "")), 10000);
    arena_fini(&a);
}

/* Every formatter against the C library's, over values around each power of two and ten. */
static void test_out_numbers(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    uint64_t v = 1;
    for (int i = 0; i < 300; i++, v = v * 7 + (uint64_t)i) {
        char want[256];
        int n = snprintf(want, sizeof want,
                         "%" PRIu64 "|%12" PRIu64 "|%06" PRIu64 "|%16" PRIx64 "|%016" PRIx64 "|%" PRId64
                         "|%22" PRId64,
                         v, v, v, v, v, (int64_t)v, (int64_t)v);
        o.len = 0;
        out_dec(&o, v, 0), out_char(&o, '|'), out_dec(&o, v, 12), out_char(&o, '|'), out_dec0(&o, v, 6);
        out_char(&o, '|'), out_hex(&o, v, 16), out_char(&o, '|'), out_hex0(&o, v, 16), out_char(&o, '|');
        out_int(&o, (int64_t)v, 0), out_char(&o, '|'), out_int(&o, (int64_t)v, 22);
        out_mem(&o, NULL, 0); /* allowed, and nothing */
        assert_int_equal(o.len, n);
        assert_string_equal(out_text(&o), want);
        char put[16];
        out_put_hex16(put, v);
        snprintf(want, sizeof want, "%016" PRIx64, v);
        assert_memory_equal(put, want, sizeof put);
    }
    out_fini(&o);
}

static void test_out_plain(void **state) {
    (void)state;
    static const char TEXT[] = "a\x1b[1m\t\x7f \xc3\xbc\xe2\x82\xac \xc2\x9b"
                               "2J \xff\xc3";
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    out_plain(&o, TEXT, sizeof TEXT - 1);
    assert_string_equal(out_text(&o), "a?[1m?? \xc3\xbc\xe2\x82\xac ?2J ??");
    o.len = 0;
    out_plain(&o, NULL, 0);
    assert_string_equal(out_text(&o), "");
    out_fini(&o);
}

static bool count_writes(void *ctx, const char *p, size_t n) {
    size_t *total = ctx;
    assert_int_equal(p[0], 'x');
    *total += n;
    return *total < 300000;
}

static void test_out_flush_and_failure(void **state) {
    (void)state;
    struct out o;
    size_t total = 0;
    assert_true(out_init(&o, count_writes, &total));
    out_fill(&o, 'x', 100000);
    assert_true(out_flush(&o));
    assert_int_equal(total, 100000);
    assert_int_equal(o.total, 100000);
    out_fill(&o, 'x', 300000);
    assert_false(out_flush(&o));
    out_fini(&o);
}

static void test_err(void **state) {
    (void)state;
    struct err e = ERR_INIT;
    assert_false(err_errno(&e, ENOENT, "perf.data", "cannot open"));
    assert_int_equal(e.code, ERR_ABSENT);
    assert_string_equal(e.message, "cannot open: No such file or directory");
    assert_string_equal(e.where, "perf.data");
    assert_false(err_set(NULL, ERR_IO, NULL, "nobody listens"));
}

static void test_sorted(void **state) {
    (void)state;
    struct point {
        uint64_t x;
    };
    VEC(struct point) v = {0};
    assert_int_equal(sorted_up_to(&v, x, UINT64_MAX), 0);
    for (size_t n = 1; n < 20; n++) {
        struct point *p = vec_push(&v);
        assert_non_null(p);
        p->x = 10 * (n / 2); /* 0 10 10 20 20 ... */
        for (uint64_t key = 0; key < 110; key++) {
            size_t want = 0;
            while (want < v.count && v.items[want].x <= key)
                want++;
            assert_int_equal(sorted_up_to(&v, x, key), want);
            while (want && v.items[want - 1].x == key)
                want--;
            assert_int_equal(sorted_below(&v, x, key), want);
        }
    }
    vec_fini(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor_is_sticky),
        cmocka_unit_test(test_leb128),
        cmocka_unit_test(test_writer_mirrors_cursor),
        cmocka_unit_test(test_checked),
        cmocka_unit_test(test_hash_map),
        cmocka_unit_test(test_strpool),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_out_numbers),
        cmocka_unit_test(test_out_plain),
        cmocka_unit_test(test_out_flush_and_failure),
        cmocka_unit_test(test_err),
        cmocka_unit_test(test_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
