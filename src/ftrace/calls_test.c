/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ftrace/rings.h"
#include "ftrace/spans.h"

#define COMMON                                                             \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
static const char ENTRY[] = "name: funcgraph_entry\nID: 11\nformat:\n" COMMON
                            "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
                            "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n";
static const char EXIT[] = "name: funcgraph_exit\nID: 10\nformat:\n" COMMON
                           "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
                           "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
                           "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
                           "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
                           "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n";
/* The format of newer kernels, where the times are those of the records. */
static const char SHORT_EXIT[] = "name: funcgraph_exit\nID: 10\nformat:\n" COMMON
                                 "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
                                 "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n";

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

struct made {
    uint8_t data[40];
};

static struct made entry(uint32_t pid, uint64_t func, uint32_t depth) {
    struct made m = {{11}};
    memcpy(m.data + 4, &pid, 4);
    memcpy(m.data + 8, &func, 8);
    memcpy(m.data + 16, &depth, 4);
    uint16_t type = 11;
    memcpy(m.data, &type, 2);
    return m;
}

static struct made leave(uint32_t pid, uint64_t func, uint32_t depth, uint64_t begin, uint64_t end) {
    struct made m = entry(pid, func, depth);
    uint16_t type = 10;
    memcpy(m.data, &type, 2);
    memcpy(m.data + 24, &begin, 8);
    memcpy(m.data + 32, &end, 8);
    return m;
}

static void take(struct ftrace_calls *c, uint64_t time, struct made m) {
    assert_true(ftrace_calls_take(c, time, (struct bytes){m.data, sizeof m.data}));
}

static const struct ftrace_sum *sum_of(const struct ftrace_calls *c, uint64_t address) {
    return &c->functions.items[hash_map_get(&c->by_address, address)].sum;
}

/* Two threads by turns: one calls B twice from A, the other calls B alone. */
static void sums(void **state) {
    static const char *const EXITS[] = {EXIT, SHORT_EXIT};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ftrace_calls c = {0};
        assert_true(ftrace_graph_format_read(&c.format, text(ENTRY), text(EXITS[i])));
        take(&c, 100, entry(1, 0xa, 0));
        take(&c, 110, entry(1, 0xb, 1));
        take(&c, 112, entry(2, 0xb, 0));
        take(&c, 120, leave(1, 0xb, 1, 110, 120));
        take(&c, 130, entry(1, 0xb, 1));
        assert_int_equal(c.open, 3);
        take(&c, 135, leave(1, 0xb, 1, 130, 135));
        take(&c, 200, leave(1, 0xa, 0, 100, 200));
        take(&c, 212, leave(2, 0xb, 0, 112, 212));
        assert_int_equal(c.open, 0);
        assert_int_equal(c.unmatched, 0);
        assert_int_equal(sum_of(&c, 0xa)->total_ns, 100);
        assert_int_equal(sum_of(&c, 0xa)->self_ns, 100 - 10 - 5);
        assert_int_equal(sum_of(&c, 0xb)->count, 3);
        assert_int_equal(sum_of(&c, 0xb)->total_ns, 10 + 5 + 100);
        assert_int_equal(sum_of(&c, 0xb)->max_ns, 100);
        assert_int_equal(c.nodes.count, 3); /* A, B of A, B */
        assert_int_equal(c.nodes.items[1].sum.count, 2);
        assert_int_equal(c.nodes.items[1].parent, 0);
        ftrace_calls_fini(&c);
    }
}

/* An end without a beginning counts if the record has the duration; a beginning without an end is dropped. */
static void halves(void **state) {
    struct ftrace_calls c = {0};
    (void)state;
    assert_true(ftrace_graph_format_read(&c.format, text(ENTRY), text(EXIT)));
    take(&c, 50, leave(1, 0xb, 3, 20, 50));
    assert_int_equal(c.unmatched, 1);
    assert_int_equal(sum_of(&c, 0xb)->total_ns, 30);
    take(&c, 60, entry(1, 0xa, 0));
    take(&c, 61, entry(1, 0xb, 1));
    take(&c, 70, entry(1, 0xa, 0));
    assert_int_equal(c.open, 1);
    take(&c, 71, leave(1, 0xc, 0, 70, 71)); /* not the function that began there */
    assert_int_equal(c.unmatched, 2);
    assert_int_equal(c.open, 0);
    assert_int_equal(sum_of(&c, 0xa)->count, 0);
    for (size_t n = 0; n < 40; n++) { /* cut records are harmless */
        struct made m = leave(1, 0xb, 0, 1, 2);
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, m.data, n);
        assert_true(ftrace_calls_take(&c, 80, (struct bytes){n ? copy : NULL, n}));
        free(copy);
    }
    struct made deep = entry(1, 0xa, 1u << 30);
    assert_true(ftrace_calls_take(&c, 90, (struct bytes){deep.data, sizeof deep.data}));
    ftrace_calls_fini(&c);
}

static void formats(void **state) {
    struct ftrace_graph_format f;
    (void)state;
    assert_false(ftrace_graph_format_read(&f, text(""), text(EXIT)));
    assert_false(ftrace_graph_format_read(&f, text(ENTRY), text("ID: x\n")));
    assert_int_equal(ftrace_format_id(text("name: a\nID: 372\n")), 372);
    assert_true(ftrace_format_id(text("name: a\n")) == UINT64_MAX);
}

static void count_span(void *ctx, uint64_t ns) {
    uint64_t *sum = ctx;
    *sum = *sum * 1000 + ns;
}

static void spans(void **state) {
    uint64_t got = 0;
    struct ftrace_spans s = {
        .type = {0, 2}, .pid = {4, 4}, .first = 11, .second = 10, .ended = count_span, .ctx = &got};
    struct made a = entry(1, 0, 0), b = leave(1, 0, 0, 0, 0), other = leave(2, 0, 0, 0, 0);
    (void)state;
    assert_true(ftrace_spans_take(&s, 5, (struct bytes){b.data, 40}));
    assert_true(ftrace_spans_take(&s, 10, (struct bytes){a.data, 40}));
    assert_true(ftrace_spans_take(&s, 12, (struct bytes){a.data, 40})); /* the last beginning counts */
    assert_true(ftrace_spans_take(&s, 14, (struct bytes){other.data, 40}));
    assert_true(ftrace_spans_take(&s, 19, (struct bytes){b.data, 40}));
    assert_true(ftrace_spans_take(&s, 25, (struct bytes){b.data, 40}));
    assert_int_equal(got, 7);
    assert_int_equal(s.unmatched, 3);
    assert_true(ftrace_spans_take(&s, 30, (struct bytes){a.data, 40}));
    assert_true(ftrace_spans_take(&s, 30, (struct bytes){b.data, 40})); /* no time is a time */
    assert_int_equal(got, 7000);
    assert_true(ftrace_spans_take(&s, 40, (struct bytes){a.data, 40}));
    assert_true(ftrace_spans_take(&s, 39, (struct bytes){b.data, 40}));
    assert_int_equal(got, 7000);
    assert_int_equal(s.unmatched, 4);
    ftrace_spans_fini(&s);
    s = (struct ftrace_spans){
        .type = {0, 2}, .pid = {4, 4}, .first = 11, .second = 11, .ended = count_span, .ctx = &got};
    got = 0;
    for (uint64_t i = 0; i < 3; i++)
        assert_true(ftrace_spans_take(&s, 4 * i, (struct bytes){a.data, 40}));
    assert_int_equal(got, 4004);
    ftrace_spans_fini(&s);
}

/* --- rings --- */

static void put_page(struct writer *w, uint64_t time, const uint32_t *deltas, size_t n) {
    *w = writer_make(false);
    writer_u64(w, time);
    writer_u64(w, 8 * n);
    for (size_t i = 0; i < n; i++) {
        bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        writer_u32(w, big ? 1u << 27 | deltas[i] : deltas[i] << 5 | 1);
        writer_u32(w, (uint32_t)(time + deltas[i]));
    }
}

struct order {
    uint64_t last;
    size_t count;
};

static bool see(void *ctx, const struct ftrace_record *r, struct err *err) {
    struct order *o = ctx;
    (void)err;
    assert_true(r->time >= o->last);
    assert_int_equal(r->data.size, 4);
    o->last = r->time;
    o->count++;
    return true;
}

/* Records of two CPUs are merged in the order of time; newer ones are held back. */
static void merging(void **state) {
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    struct ftrace_rings r = {.layout = {8, 8, 16, big}, .page_bytes = 4096, .bytes = writer_make(false)};
    struct err err = ERR_INIT;
    struct order o = {0};
    struct writer w;
    uint64_t last = 0;
    (void)state;
    put_page(&w, 100, (const uint32_t[]){0, 50, 100}, 3);
    assert_true(ftrace_rings_add_page(&r, 0, writer_bytes(&w), &last, &err));
    assert_int_equal(last, 250);
    writer_fini(&w);
    put_page(&w, 120, (const uint32_t[]){0, 10, 400}, 3);
    assert_true(ftrace_rings_add_page(&r, 1, writer_bytes(&w), &last, &err));
    writer_fini(&w);
    assert_true(ftrace_rings_add_page(&r, 1, (struct bytes){(const uint8_t *)"x", 1}, &last, &err));
    assert_int_equal(r.broken, 1);
    assert_true(ftrace_rings_take(&r, 200, see, &o, &err));
    assert_int_equal(o.count, 4);
    assert_true(ftrace_rings_take(&r, UINT64_MAX, see, &o, &err));
    assert_int_equal(o.count, 6);
    assert_int_equal(o.last, 530);
    ftrace_rings_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),  cmocka_unit_test(halves),  cmocka_unit_test(formats),
        cmocka_unit_test(spans), cmocka_unit_test(merging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
