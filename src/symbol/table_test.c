/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "symbol/build.h"
#include "tests/support/fail_alloc.h"

static struct symbol_table *build(const struct symbol_draft *list, size_t n,
                                  const struct symbol_rules *rules) {
    struct symbol_drafts d = {0};
    for (size_t i = 0; i < n; i++) {
        struct symbol_draft *to = vec_push(&d.list);
        if (to)
            *to = list[i];
    }
    return symbol_table_build(&d, rules, NULL);
}

#define BUILD(rules, ...)                             \
    build((const struct symbol_draft[]){__VA_ARGS__}, \
          sizeof((const struct symbol_draft[]){__VA_ARGS__}) / sizeof(struct symbol_draft), &(rules))

/* The name at an offset, asked for in both ways. */
static const char *at(const struct symbol_table *t, uint64_t offset) {
    uint32_t one = symbol_table_find(t, offset), sorted;
    symbol_table_find_sorted(t, &offset, 1, &sorted);
    assert_int_equal(one, sorted);
    return one == SYMBOL_NONE ? "" : symbol_table_name(t, one);
}

static void test_holes_and_ends(void **state) {
    (void)state;
    struct symbol_rules rules = {0};
    struct symbol_table *t =
        BUILD(rules, {.start = 0x30, .end = 0x38, .name = "c"}, {.start = 0x10, .end = 0x18, .name = "a"},
              {.start = 0x20, .name = "b", .bind = SYMBOL_WEAK}, {.start = 0x40, .name = "d"},
              {.start = UINT64_MAX, .end = 0, .name = "no room"});
    assert_int_equal(symbol_table_count(t), 4);
    assert_string_equal(at(t, 0xf), "");
    assert_string_equal(at(t, 0x10), "a");
    assert_string_equal(at(t, 0x17), "a");
    assert_string_equal(at(t, 0x18), "");
    assert_string_equal(at(t, 0x20), "b"); /* up to the next one */
    assert_string_equal(at(t, 0x2f), "b");
    assert_string_equal(at(t, 0x38), "");
    assert_string_equal(at(t, 0x40), "d"); /* nothing says where it ends: one byte */
    assert_string_equal(at(t, 0x41), "");
    assert_string_equal(at(t, UINT64_MAX), "");
    assert_int_equal(symbol_table_flags(t, 0), 0);
    assert_int_equal(symbol_table_flags(t, 1), SYMBOL_SIZE_GUESSED);
    assert_int_equal(symbol_table_bind(t, 1), SYMBOL_WEAK);
    assert_int_equal(symbol_table_start(t, 1), 0x20);
    assert_int_equal(symbol_table_end(t, 1), 0x30);
    symbol_table_free(t);
    t = build(NULL, 0, &rules);
    assert_string_equal(at(t, 0), "");
    symbol_table_free(t);
}

static uint64_t until_50(const void *ctx, uint64_t start) {
    (void)ctx;
    return start < 0x50 ? 0x50 : 0;
}

static void test_limit(void **state) {
    (void)state;
    struct symbol_rules rules = {.limit = until_50};
    struct symbol_table *t = BUILD(rules, {.start = 0x40, .name = "a"}, {.start = 0x60, .name = "b"},
                                   {.start = 0x70, .name = "c"});
    assert_string_equal(at(t, 0x4f), "a");
    assert_string_equal(at(t, 0x50), "");
    assert_string_equal(at(t, 0x60), "b");
    assert_string_equal(at(t, 0x61), "");
    symbol_table_free(t);
}

/* Of all pairs that perf was given, one of each kind. */
static void test_choice(void **state) {
    (void)state;
    static const struct {
        struct symbol_draft a, b;
        const char *best;
    } pairs[] = {
        {{.end = 16, .name = "g", .bind = SYMBOL_GLOBAL}, {.end = 16, .name = "l"}, "g"},
        {{.end = 16, .name = "l"}, {.end = 16, .name = "g", .bind = SYMBOL_GLOBAL}, "g"},
        {{.end = 16, .name = "w", .bind = SYMBOL_WEAK}, {.end = 16, .name = "l"}, "l"},
        {{.end = 16, .name = "a"}, {.end = 16, .name = "b"}, "a"},
        {{.end = 16, .name = "a"}, {.end = 8, .name = "b"}, "a"},
        {{.name = "zero", .bind = SYMBOL_GLOBAL}, {.end = 16, .name = "sized"}, "sized"},
        {{.end = 16, .name = "sized"}, {.name = "zero", .bind = SYMBOL_GLOBAL}, "zero"},
        {{.end = 16, .name = "label", .untyped = true}, {.end = 16, .name = "func"}, "func"},
        {{.end = 16, .name = "_a"}, {.end = 16, .name = "b"}, "b"},
        {{.end = 16, .name = "_a", .bind = SYMBOL_GLOBAL}, {.end = 16, .name = "b"}, "_a"},
        {{.end = 16, .name = "short"}, {.end = 16, .name = "longer"}, "longer"},
        {{.end = 16, .name = "SyS_y"}, {.end = 16, .name = "sys_y"}, "sys_y"},
        {{.end = 16, .name = "sys_y"}, {.end = 16, .name = "SyS_y"}, "sys_y"},
    };
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_BEST, .raw_names = true};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct symbol_table *t = BUILD(rules, pairs[i].a, pairs[i].b);
        assert_int_equal(symbol_table_count(t), 1);
        assert_string_equal(at(t, 0), pairs[i].best);
        symbol_table_free(t);
    }
    rules.choice = SYMBOL_CHOOSE_LAST;
    struct symbol_table *t =
        BUILD(rules, {.name = "longer", .end = 4}, {.name = "b"}, {.start = 8, .name = "c"});
    assert_string_equal(at(t, 7), "b");
    symbol_table_free(t);
}

static void test_nested(void **state) {
    (void)state;
    struct symbol_rules rules = {0};
    struct symbol_table *t =
        BUILD(rules, {.start = 0, .end = 100, .name = "A"}, {.start = 10, .end = 50, .name = "B"},
              {.start = 20, .end = 30, .name = "C"}, {.start = 25, .name = "label", .untyped = true},
              {.start = 40, .end = 60, .name = "D"}, {.start = 90, .end = 120, .name = "E"},
              {.start = 110, .end = 115, .name = "F"},
              {.start = 70, .name = "entry", .untyped = true, .bind = SYMBOL_GLOBAL});
    static const struct {
        uint64_t offset;
        const char *name;
    } want[] = {{0, "A"},      {9, "A"},      {10, "B"},  {19, "B"},  {20, "C"},  {25, "C"},
                {29, "C"},     {30, "B"},     {39, "B"},  {40, "D"},  {59, "D"},  {60, "A"},
                {70, "entry"}, {89, "entry"}, {90, "E"},  {99, "E"},  {100, "E"}, {109, "E"},
                {110, "F"},    {114, "F"},    {115, "E"}, {119, "E"}, {120, ""}};
    uint64_t offsets[sizeof want / sizeof *want];
    uint32_t found[sizeof want / sizeof *want];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_string_equal(at(t, want[i].offset), want[i].name);
        offsets[i] = want[i].offset;
    }
    symbol_table_find_sorted(t, offsets, sizeof offsets / sizeof *offsets, found);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(found[i], symbol_table_find(t, offsets[i]));
    symbol_table_free(t);
}

static void test_newest(void **state) {
    (void)state;
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_NEWEST};
    struct symbol_table *t =
        BUILD(rules, {.start = 0, .end = 100, .name = "old"}, {.start = 10, .end = 20, .name = "new"},
              {.start = 110, .end = 120, .name = "inner"}, {.start = 100, .end = 130, .name = "over it"},
              {.start = 130, .end = 140, .name = "a"}, {.start = 130, .end = 135, .name = "b"},
              {.start = 132, .name = "point"});
    static const struct {
        uint64_t offset;
        const char *name;
    } want[] = {{9, ""},          {10, "new"},      {20, ""},   {100, "over it"},
                {115, "over it"}, {129, "over it"}, {130, "b"}, {135, ""}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_string_equal(at(t, want[i].offset), want[i].name);
    symbol_table_free(t);
}

/* Against the slow way, on many symbols in disorder. */
static void test_many(void **state) {
    (void)state;
    enum { N = 5000 };
    static char names[N][8];
    static struct symbol_draft list[N];
    static uint64_t offsets[N];
    static uint32_t found[N];
    uint64_t x = 1;
    for (size_t i = 0; i < N; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        list[i] = (struct symbol_draft){.start = x >> 40 << (i % 3 * 16), .name = names[i]};
        list[i].end = list[i].start + (x >> 8 & 0xfff) + 1;
        snprintf(names[i], sizeof names[i], "%zu", i);
        offsets[i] = (uint64_t)i << 24;
    }
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_LAST};
    struct symbol_table *t = build(list, N, &rules);
    symbol_table_find_sorted(t, offsets, N, found);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(found[i], symbol_table_find(t, offsets[i]));
        const struct symbol_draft *best = NULL;
        for (size_t k = 0; k < N; k++)
            if (offsets[i] >= list[k].start && offsets[i] < list[k].end &&
                (!best || list[k].start >= best->start))
                best = &list[k];
        assert_string_equal(found[i] == SYMBOL_NONE ? "" : symbol_table_name(t, found[i]),
                            best ? best->name : "");
    }
    for (uint32_t i = 1; i < symbol_table_count(t); i++)
        assert_true(symbol_table_start(t, i - 1) < symbol_table_start(t, i));
    symbol_table_free(t);
}

/* A few symbols at both ends of all addresses. */
static void test_far_apart(void **state) {
    (void)state;
    const uint64_t far = UINT64_MAX - 0x100;
    struct symbol_rules rules = {0};
    struct symbol_table *t = BUILD(rules, {.start = 0x10, .end = 0x20, .name = "a"},
                                   {.start = far, .end = far + 0x10, .name = "b"});
    assert_string_equal(at(t, 0xf), "");
    assert_string_equal(at(t, 0x1f), "a");
    assert_string_equal(at(t, 0x20), "");
    assert_string_equal(at(t, far - 1), "");
    assert_string_equal(at(t, far), "b");
    assert_string_equal(at(t, far + 0x10), "");
    symbol_table_free(t);
}

static void test_shown(void **state) {
    (void)state;
    struct symbol_rules rules = {0};
    static const struct symbol_draft list[] = {
        {.start = 0, .end = 4, .name = "_ZN4core3fmt5write17h0123456789abcdefE"},
        {.start = 4, .end = 8, .name = "main"},
        {.start = 8, .end = 12, .name = "_ZN4core3fmt5write17h0123456789abcdefE@plt", .flags = SYMBOL_PLT},
        {.start = 12, .end = 16, .name = "", .flags = SYMBOL_PLT, .target = 4},
        {.start = 16, .end = 20, .name = "", .flags = SYMBOL_PLT, .target = 5}};
    struct symbol_table *t = build(list, 5, &rules);
    uint32_t all[] = {0, SYMBOL_NONE, 2, 0, 1, 3};
    assert_true(symbol_table_show(t, all, 6));
    assert_string_equal(symbol_table_shown(t, 0), "core::fmt::write");
    assert_string_equal(symbol_table_name(t, 0), "_ZN4core3fmt5write17h0123456789abcdefE");
    assert_string_equal(symbol_table_shown(t, 1), "main");
    assert_string_equal(symbol_table_shown(t, 2), "core::fmt::write@plt");
    assert_string_equal(symbol_table_shown(t, 3), "main@plt"); /* after the resolver that it jumps through */
    assert_string_equal(symbol_table_shown(t, 4), "@plt");
    assert_ptr_equal(symbol_table_shown(t, 2), symbol_table_shown(t, 2));
    symbol_table_free(t);
    rules.raw_names = true;
    t = build(list, 5, &rules);
    assert_string_equal(symbol_table_shown(t, 0), "_ZN4core3fmt5write17h0123456789abcdefE");
    symbol_table_free(t);
}

static void try_memory(void) {
    struct symbol_rules rules = {0};
    struct symbol_table *t = BUILD(rules, {.start = 9, .end = 30, .name = "_Z1av"},
                                   {.start = 4, .end = 20, .name = "b"}, {.start = 5, .end = 6, .name = "c"},
                                   {.start = 5, .name = "", .flags = SYMBOL_PLT, .target = 4});
    if (t) {
        assert_non_null(symbol_table_shown(t, 0));
        assert_non_null(symbol_table_shown(t, symbol_table_count(t) - 1));
    }
    symbol_table_free(t);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(try_memory());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes_and_ends), cmocka_unit_test(test_limit),  cmocka_unit_test(test_choice),
        cmocka_unit_test(test_nested),         cmocka_unit_test(test_newest), cmocka_unit_test(test_many),
        cmocka_unit_test(test_far_apart),      cmocka_unit_test(test_shown),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
