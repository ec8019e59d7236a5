/* SPDX-License-Identifier: Apache-2.0 */
/* Which half of BPF's is whose tracepoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/trace/trace_texts.h"

enum { A = 101, B = 102, OPEN = 2, READ = 0 };

static void put(struct trace_texts *x, uint64_t time, uint32_t tid, uint64_t order, bool exit, int number,
                int64_t value, const char *text) {
    struct bpf_trace_half h = {.time_ns = time,
                               .tid = tid,
                               .number = number,
                               .order = order,
                               .kind = exit ? BPF_TRACE_EXIT : BPF_TRACE_ENTER,
                               .result = exit ? value : 0};
    if (!exit)
        h.args[0] = (uint64_t)value;
    h.sizes[0] = (uint16_t)(strlen(text) + 1);
    assert_true(trace_texts_put(x, &h, (struct bytes){(const uint8_t *)text, strlen(text)}));
}

static struct calls_call call(uint32_t tid, uint64_t enter, int number, uint64_t a0) {
    return (struct calls_call){.tid = tid, .enter_ns = enter, .number = number, .args = {a0}};
}

static void check(const struct trace_text_half *h, const char *text) {
    struct calls_memory m[CALLS_ARGS];
    assert_non_null(h);
    trace_texts_memory(h->half, (const uint8_t *)(h->half + 1), h->room, m);
    assert_int_equal(m[0].size, strlen(text));
    assert_memory_equal(m[0].data, text, m[0].size);
    assert_null(m[1].data);
}

static void each_has_its_own(void **state) {
    struct trace_texts x = {0};
    struct calls_call c;
    struct calls_event e = {.number = OPEN, .result = 3};
    (void)state;
    /* The same call three times; tracepoints at 10, 20; 30, 40; 50, 60. */
    put(&x, 11, A, 1, false, OPEN, 7, "one");
    put(&x, 12, B, 1, false, OPEN, 7, "other");
    put(&x, 21, A, 2, true, OPEN, 3, "");
    put(&x, 31, A, 3, false, OPEN, 7, "two");
    put(&x, 41, A, 4, true, OPEN, 3, "out");
    put(&x, 51, A, 5, false, OPEN, 7, "three");
    put(&x, 61, A, 6, true, OPEN, 4, "");
    c = call(A, 30, OPEN, 7);
    const struct trace_text_half *h = trace_texts_enter(&x, &c, 40);
    check(h, "two");
    check(trace_texts_exit(&x, h, &e), "out");
    c = call(A, 50, OPEN, 7);
    assert_null(trace_texts_enter(&x, &c, 50)); /* it has not been told of by then */
    h = trace_texts_enter(&x, &c, 60);
    check(h, "three");
    assert_null(trace_texts_exit(&x, h, &e)); /* another result */
    c = call(A, 10, OPEN, 7);
    assert_null(trace_texts_enter(&x, &c, 20)); /* passed by */
    c = call(B, 10, READ, 7);
    assert_null(trace_texts_enter(&x, &c, 100));
    c = call(B, 10, OPEN, 8);
    assert_null(trace_texts_enter(&x, &c, 100));
    c = call(B, 10, OPEN, 7);
    check(trace_texts_enter(&x, &c, 100), "other");
    c = call(103, 10, OPEN, 7);
    assert_null(trace_texts_enter(&x, &c, 100));
    trace_texts_fini(&x);
}

/* Nobody gets the half of the same call later on. */
static void lost_halves(void **state) {
    struct trace_texts x = {0};
    struct calls_event e = {.number = OPEN, .result = 3};
    (void)state;
    put(&x, 31, A, 3, false, OPEN, 7, "two"); /* 1 and 2 were lost: the tracepoints of 10 and 20 */
    put(&x, 61, A, 6, true, OPEN, 3, "late"); /* and 4 and 5 */
    struct calls_call c = call(A, 10, OPEN, 7);
    assert_null(trace_texts_enter(&x, &c, 20));
    c = call(A, 30, OPEN, 7);
    const struct trace_text_half *h = trace_texts_enter(&x, &c, 40);
    check(h, "two");
    assert_null(trace_texts_exit(&x, h, &e));
    trace_texts_fini(&x);
}

static void those_that_nobody_asks_for(void **state) {
    struct trace_texts x = {0};
    (void)state;
    for (uint64_t i = 0; i < 3 * TRACE_TEXTS_MAX; i++)
        put(&x, i, A + i % 5, i, i & 1, OPEN, 7, "text");
    assert_int_equal(x.halves.count - x.head, TRACE_TEXTS_MAX);
    assert_true(x.halves.count < 3 * TRACE_TEXTS_MAX);
    const uint64_t last = 3 * TRACE_TEXTS_MAX - 2;
    struct calls_call c = call((uint32_t)(A + last % 5), last, OPEN, 7);
    check(trace_texts_enter(&x, &c, last), "text");
    /* Those that were passed by do not stay, however many come. */
    for (uint64_t i = 0; i < 5; i++) {
        c = call((uint32_t)(A + i), last + 10, OPEN, 7);
        assert_null(trace_texts_enter(&x, &c, UINT64_MAX));
    }
    put(&x, last + 20, A, 0, false, OPEN, 7, "new");
    assert_int_equal(x.halves.count - x.head, 1);
    c = call(A, last + 15, OPEN, 7);
    check(trace_texts_enter(&x, &c, last + 30), "new");
    trace_texts_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own),
        cmocka_unit_test(lost_halves),
        cmocka_unit_test(those_that_nobody_asks_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
