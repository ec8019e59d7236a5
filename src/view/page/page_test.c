/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/gzip.h"
#include "view/page/page.h"

/* One row of each of two events, with samples at 0, 10, 999 and 1000 ms, and at 5 ms. */
static void make(struct stacks *s) {
    static const uint64_t ms[] = {1000, 10, 0, 999, 5};
    struct err err = ERR_INIT;
    assert_true(stacks_init(s, &err));
    struct stacks_frame f = {.name = stacks_text(s, "</script>", 9), .image = STACKS_NONE};
    uint32_t node = stacks_node(s, STACKS_NONE, stacks_frame(s, &f));
    assert_non_null(vec_push(&s->recordings));
    assert_non_null(vec_push(&s->events));
    assert_non_null(vec_push(&s->events));
    uint32_t thread = stacks_thread(s, 1, 1);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t row = stacks_row(s, i == 4, 0, node);
        struct stacks_moment *m = vec_push(&s->moments);
        assert_non_null(m);
        stacks_add(s, row, 1, 100 + i);
        *m = (struct stacks_moment){.time_ns = 7000000000 + ms[i] * 1000000,
                                    .period = 100 + i,
                                    .row = row,
                                    .thread = thread,
                                    .cpu = STACKS_NONE};
    }
    assert_true(stacks_finish(s, &err));
}

static int digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = memchr(digits, c, 64);
    return at ? (int)(at - digits) : -1;
}

/* Decodes a block of the page: its header as text, and the columns that follow. */
static char *block_of(const char *page, const char *id, struct bytes *columns) {
    char start[64];
    struct err err = ERR_INIT;
    struct bytes raw;
    snprintf(start, sizeof start, "id=\"%s\">", id);
    const char *at = strstr(page, start);
    assert_non_null(at);
    at += strlen(start);
    size_t len = strcspn(at, "<"), n = 0;
    uint8_t *packed = calloc(len + 4, 1);
    for (size_t i = 0; i + 4 <= len; i += 4) {
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++)
            v = v << 6 | (uint32_t)(digit(at[i + k]) < 0 ? 0 : digit(at[i + k]));
        for (int k = 16; k >= 0; k -= 8)
            packed[n++] = (uint8_t)(v >> k);
    }
    assert_true(gzip_read((struct bytes){packed, n}, 1 << 20, &raw, &err));
    size_t header = raw.data[0] | (size_t)raw.data[1] << 8;
    char *text = strndup((const char *)raw.data + 4, header);
    *columns = (struct bytes){
        (const uint8_t *)memcpy(malloc(raw.size), raw.data + 4 + header, raw.size - 4 - header),
        raw.size - 4 - header};
    free((void *)(uintptr_t)raw.data);
    free(packed);
    return text;
}

static char *write_page(const struct page_options *o) {
    struct stacks s = {0};
    struct out out;
    struct err err = ERR_INIT;
    make(&s);
    assert_true(out_init(&out, NULL, NULL));
    if (!page_write(&s, o, &out, &err)) {
        print_message("SKIP: %s\n", err.message);
        skip();
    }
    char *page = strdup(out_text(&out));
    out_fini(&out);
    stacks_fini(&s);
    return page;
}

static void test_every_sample(void **state) {
    struct bytes columns;
    (void)state;
    char *page = write_page(&(struct page_options){.title = "<b>\x1b", .program = "p"});
    assert_non_null(strstr(page, "<title>&lt;b&gt;\\x1b</title>"));
    assert_null(strstr(page, "<b>"));
    char *tree = block_of(page, "sonde-tree", &columns);
    assert_non_null(strstr(tree, "\"row.event\",2,"));
    free((void *)(uintptr_t)columns.data);
    char *time = block_of(page, "sonde-time", &columns);
    assert_non_null(strstr(time, "\"first_ns\":\"7000000000\",\"last_ns\":\"8000000000\""));
    assert_non_null(strstr(time, "[\"time+\",5,"));
    assert_non_null(strstr(time, "[\"period\",5,5]")); /* they differ within a row */
    assert_null(strstr(time, "\"cpu\""));
    /* 10 ms after the first one: zigzag of 10000 us is 20000. */
    static const uint8_t first[] = {0, 0xa0, 0x9c, 1};
    assert_memory_equal(columns.data, first, sizeof first);
    free((void *)(uintptr_t)columns.data);
    free(tree);
    free(time);
    free(page);
}

static void test_a_large_time_axis_is_summed_up(void **state) {
    struct bytes columns;
    (void)state;
    char *page = write_page(&(struct page_options){.title = "", .program = "p", .time_bytes = 1});
    char *time = block_of(page, "sonde-time", &columns);
    assert_non_null(strstr(time, "\"buckets\":1000"));
    assert_non_null(strstr(time, "[\"bucket+\",4,")); /* 999 and 1000 ms are one entry */
    /* Buckets 0, 10, 999 of the first event and 5 of the second, as deltas; rows; threads; numbers. */
    static const uint8_t want[] = {0, 20, 0xba, 0x0f, 0xc3, 0x0f, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 2, 1};
    assert_memory_equal(columns.data, want, sizeof want);
    free((void *)(uintptr_t)columns.data);
    free(time);
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sample),
        cmocka_unit_test(test_a_large_time_axis_is_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
