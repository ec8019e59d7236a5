/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "profile/collect/segments.h"

enum { SEGMENTS = 2000, LONGEST = 12 };

static uint32_t add(struct profile_segments *p, const char *text) {
    uint32_t ids[32];
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)text[i];
    return profile_segments_add(p, ids, n);
}

static void equal_sequences_are_one(void **state) {
    (void)state;
    struct profile_segments p = {0};
    uint32_t n;
    assert_int_equal(profile_segments_count(&p), 0);
    uint32_t abc = add(&p, "abc");
    assert_int_not_equal(abc, PROFILE_EMPTY_SEGMENT);
    assert_int_equal(add(&p, "abc"), abc);
    assert_int_not_equal(add(&p, "ab"), abc);
    assert_int_not_equal(add(&p, "abcd"), abc);
    assert_int_not_equal(add(&p, "cba"), abc);
    assert_int_equal(add(&p, ""), PROFILE_EMPTY_SEGMENT);
    assert_int_equal(profile_segments_count(&p), 5);
    const uint32_t *ids = profile_segments_ids(&p, abc, &n);
    assert_int_equal(n, 3);
    assert_int_equal(ids[0], 'a');
    assert_int_equal(ids[2], 'c');
    profile_segments_ids(&p, PROFILE_EMPTY_SEGMENT, &n);
    assert_int_equal(n, 0);
    profile_segments_trim(&p);
    assert_int_equal(profile_segments_ids(&p, abc, &n)[1], 'b');
    profile_segments_fini(&p);
}

/* Compares as texts, with the end before all numbers. */
static int compare(const struct profile_segments *p, uint32_t x, uint32_t y) {
    uint32_t n, m;
    const uint32_t *a = profile_segments_ids(p, x, &n), *b = profile_segments_ids(p, y, &m);
    for (uint32_t i = 0; i < n && i < m; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return n < m ? -1 : n > m;
}

static void check_ranks(const struct profile_segments *p) {
    uint32_t count = profile_segments_count(p);
    uint32_t *ranks = malloc((count + 1) * sizeof *ranks), *at = malloc((count + 1) * sizeof *at);
    assert_true(profile_segments_rank(p, ranks));
    for (uint32_t i = 0; i < count; i++)
        at[i] = PROFILE_NO_SEGMENT;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(ranks[i] < count);
        assert_int_equal(at[ranks[i]], PROFILE_NO_SEGMENT);
        at[ranks[i]] = i;
    }
    for (uint32_t i = 1; i < count; i++)
        assert_true(compare(p, at[i - 1], at[i]) < 0);
    free(ranks);
    free(at);
}

static void ranks_are_the_order_of_sequences(void **state) {
    (void)state;
    struct profile_segments p = {0};
    uint32_t none[1];
    assert_true(profile_segments_rank(&p, none));
    assert_int_equal(none[PROFILE_EMPTY_SEGMENT], 0);
    const char *const texts[] = {
        "b", "abcd", "abc", "abd", "a", "abcde", "ab", "aaaaaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add(&p, texts[i]);
    check_ranks(&p);
    /* Few different numbers, the largest among them, so that many begin alike. */
    uint64_t random = 1;
    for (unsigned i = 0; i < SEGMENTS; i++) {
        uint32_t ids[LONGEST], n = (uint32_t)((random = hash_u64(random)) % (LONGEST + 1));
        for (uint32_t k = 0; k < n; k++) {
            random = hash_u64(random);
            ids[k] = random % 3 == 0 ? UINT32_MAX - 1 : (uint32_t)(random % 3);
        }
        assert_int_not_equal(profile_segments_add(&p, ids, n), PROFILE_NO_SEGMENT);
    }
    check_ranks(&p);
    profile_segments_fini(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sequences_are_one),
        cmocka_unit_test(ranks_are_the_order_of_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
