/* SPDX-License-Identifier: Apache-2.0 */
/* Callchains become segments: docs/FRAMES.md. What other records tell of them is in tests/frames_test.py. */
#include "resolve/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/fail_alloc.h"

#define KERNEL PERFDATA_CONTEXT_KERNEL
#define USER   PERFDATA_CONTEXT_USER
enum { K = PERFDATA_MISC_KERNEL, U = PERFDATA_MISC_USER, G = PERFDATA_MISC_GUEST_USER };

/* "K:10,11 U:1" */
static const char *text_of(const struct resolve_chain *c) {
    static char text[512];
    size_t len = 0;
    text[0] = 0;
    for (size_t i = 0; i < c->segments.count; i++) {
        const struct resolve_segment *s = &c->segments.items[i];
        const char *kinds[] = {"", "branches ", "cookie "};
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s%s:", i ? " " : "", kinds[s->kind],
                                s->inner ? "inner " : "",
                                s->cpumode == K   ? "K"
                                : s->cpumode == U ? "U"
                                                  : "G");
        for (uint64_t k = 0; k < s->count; k++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", k ? "," : "",
                                    (int)resolve_segment_at(s, k));
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", s->ends_early ? "!" : "");
    }
    return text;
}

static struct perfdata_sample sample_of(const uint64_t *words, uint64_t count) {
    return (struct perfdata_sample){.have = PERFDATA_SAMPLE_CALLCHAIN,
                                    .callchain = {(const uint8_t *)words, count, false}};
}

struct how {
    uint64_t most;
    bool outermost;
    unsigned limit; /* sample_max_stack; 0: as usual */
};

static void check(struct how how, const uint64_t *words, uint64_t count, const char *want) {
    struct resolve_chain c = {.o = {.most = how.most, .outermost = how.outermost}};
    struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_CALLCHAIN,
                                 .sample_max_stack = (uint16_t)how.limit};
    struct perfdata_sample s = sample_of(words, count);
    for (int i = 0; i < 2; i++) { /* asked again it is the same */
        assert_true(resolve_chain_read(&c, &s, &attr, K, (struct model_when){1, 1}));
        assert_string_equal(text_of(&c), want);
        assert_false(c.own_memory);
    }
    resolve_chain_fini(&c);
}

#define CHECK(how, want, ...)                                     \
    do {                                                          \
        const uint64_t words_[] = {__VA_ARGS__};                  \
        check(how, words_, sizeof words_ / sizeof *words_, want); \
    } while (0)

static void test_markers(void **state) {
    const struct how all = {127, false, 0};
    (void)state;
    CHECK(all, "K:10,11 U:1,2", KERNEL, 10, 11, USER, 1, 2);
    CHECK(all, "K:10", KERNEL, 10);
    CHECK(all, "U:1,2", USER, 1, 2);
    CHECK(all, "U:1,2", 1, 2); /* before any marker: the user's */
    CHECK(all, "U:1 K:10", 1, KERNEL, 10);
    CHECK(all, "U:1 U:2", USER, 1, USER, 2);
    CHECK(all, "K:10", KERNEL, 10, USER);                    /* nothing of the user's */
    CHECK(all, "K:10 U:1,2!", KERNEL, 10, USER, 1, 2, USER); /* cut while recording */
    CHECK(all, "G:5", PERFDATA_CONTEXT_GUEST_USER, 5);
    CHECK(all, "", KERNEL);
    CHECK(all, "", USER, 1, (uint64_t)-600); /* nobody knows it */
    CHECK(all, "", (uint64_t)-600, 1);
    CHECK(all, "U:1 cookie U:7", USER, 1, PERFDATA_CONTEXT_USER_DEFERRED, 7);
    check(all, NULL, 0, "");
}

static void test_limits(void **state) {
    (void)state;
    CHECK(((struct how){3, false, 0}), "K:10,11 U:1", KERNEL, 10, 11, USER, 1, 2);
    CHECK(((struct how){2, false, 0}), "K:10,11", KERNEL, 10, 11, USER, 1,
          (uint64_t)-600); /* not looked at */
    CHECK(((struct how){3, true, 0}), "inner K:11 U:1,2", KERNEL, 10, 11, USER, 1, 2);
    CHECK(((struct how){2, true, 0}), "U:1,2", KERNEL, 10, 11, USER, 1, 2);
    CHECK(((struct how){1, true, 0}), "inner U:2", KERNEL, 10, 11, USER, 1, 2);
    CHECK(((struct how){0, false, 0}), "", USER, 1, 2);
    /* A cookie is no address. */
    CHECK(((struct how){1, true, 0}), "inner K:11 cookie U:7", KERNEL, 10, 11, PERFDATA_CONTEXT_USER_DEFERRED,
          7);
    CHECK(((struct how){1, true, 0}), "U:1", PERFDATA_CONTEXT_USER_DEFERRED, 7, KERNEL, 10, USER, 1);
    /* As many as the event can have: callers may be missing. */
    CHECK(((struct how){9, false, 4}), "K:10,11 U:1,2!", KERNEL, 10, 11, USER, 1, 2);
    CHECK(((struct how){9, false, 5}), "K:10,11 U:1,2", KERNEL, 10, 11, USER, 1, 2);
    CHECK(((struct how){3, false, 4}), "K:10,11 U:1", KERNEL, 10, 11, USER, 1, 2);
}

static void test_call_stacks(void **state) {
    const uint64_t words[] = {KERNEL, 10, USER, 1, 2}, branches[] = {21, 20, 0, 31, 30, 0};
    const struct perfdata_attr attr = {.sample_type =
                                           PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_BRANCH_STACK,
                                       .branch_sample_type = PERFDATA_BRANCH_CALL_STACK};
    struct perfdata_sample s = sample_of(words, 5);
    const struct {
        unsigned cpumode;
        uint64_t words, branches;
        struct resolve_chain_options o;
        const char *want;
    } cases[] = {
        {K, 5, 2, {.most = 127}, "K:10 branches U:1,21,31"},
        {U, 5, 2, {.most = 127}, "K:10 branches U:9,21,31"},
        {K, 3, 2, {.most = 127}, "K:10 branches U:20,21,31"}, /* the target of the last call */
        {K, 2, 2, {.most = 127}, "K:10"},                     /* no part of the user's */
        {K, 5, 0, {.most = 127}, "K:10 branches U:1"},
        {K, 5, 0, {.most = 127, .outermost = true}, "K:10"},
        {K, 5, 2, {.most = 2}, "K:10 branches U:1"},
        {K, 5, 2, {.most = 2, .outermost = true}, "branches inner U:21,31"},
        {K, 5, 2, {.most = 127, .no_calls = true}, "K:10 U:1,2"},
    };
    (void)state;
    s.have |= PERFDATA_SAMPLE_BRANCH_STACK | PERFDATA_SAMPLE_IP;
    s.ip = 9;
    s.branches = (const uint8_t *)branches;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct resolve_chain c = {.o = cases[i].o};
        s.callchain.count = cases[i].words;
        s.branch_count = cases[i].branches;
        assert_true(resolve_chain_read(&c, &s, &attr, cases[i].cpumode, (struct model_when){1, i}));
        assert_string_equal(text_of(&c), cases[i].want);
        resolve_chain_fini(&c);
    }
}

static void test_memory(void **state) {
    uint64_t words[60];
    const struct perfdata_attr attr = {.sample_type =
                                           PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_BRANCH_STACK,
                                       .branch_sample_type = PERFDATA_BRANCH_CALL_STACK};
    struct perfdata_sample s = sample_of(words, 60);
    (void)state;
    for (size_t i = 0; i < 60; i += 2) {
        words[i] = i % 4 ? KERNEL : PERFDATA_CONTEXT_GUEST_USER;
        words[i + 1] = i;
    }
    words[58] = USER;
    s.have |= PERFDATA_SAMPLE_BRANCH_STACK;
    FAIL_EACH_ALLOC({
        struct resolve_chain c = {.o = {.most = 127}};
        if (resolve_chain_read(&c, &s, &attr, K, (struct model_when){1, 1}))
            assert_int_equal(c.segments.count, 30);
        resolve_chain_fini(&c);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markers),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_call_stacks),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
