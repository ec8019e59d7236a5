/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tracefs/ring_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/writer.h"

static const char HEADER[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                             "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                             "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                             "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static struct ring_page_layout layout_of(bool big) {
    struct ring_page_layout l;
    assert_true(ring_page_layout_parse((struct bytes){(const uint8_t *)HEADER, sizeof HEADER - 1}, big, &l));
    return l;
}

static bool host_big(void) {
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static void put_head(struct writer *w, bool big, uint32_t type, uint32_t delta) {
    writer_u32(w, big ? type << 27 | delta : delta << 5 | type);
}

/* Data of each kind: short, long with its own size, after a long pause, and after a time of its own. */
static void make_page(struct writer *w, bool big, uint64_t flags) {
    *w = writer_make(big != host_big());
    writer_u64(w, 1000);
    size_t commit = w->size;
    writer_u64(w, 0);
    put_head(w, big, 2, 5);
    writer_u64(w, 0x1111);
    put_head(w, big, 0, 7);
    writer_u32(w, 4 + 12); /* that word and three more */
    for (int i = 0; i < 3; i++)
        writer_u32(w, 0x22u + (uint32_t)i);
    put_head(w, big, 30, 3);
    writer_u32(w, 2);
    put_head(w, big, 1, 0);
    writer_u32(w, 0x33);
    put_head(w, big, 29, 1); /* a gap */
    writer_u32(w, 4 + 4);
    writer_u32(w, 0);
    put_head(w, big, 31, 9);
    writer_u32(w, 4);
    put_head(w, big, 1, 1);
    writer_u32(w, 0x44);
    put_head(w, big, 28, 2); /* the longest one without a size of its own */
    for (int i = 0; i < 28; i++)
        writer_u32(w, 0x55);
    put_head(w, big, 29, 0); /* and no more */
    writer_u32(w, 0xffffffff);
    uint64_t used = w->size - 16;
    if (flags >> 30 & 1)
        writer_u64(w, 77);
    struct writer number = writer_make(big != host_big());
    writer_u64(&number, used | flags);
    memcpy(w->data + commit, number.data, 8);
    writer_fini(&number);
}

static void kinds(void **state) {
    static const struct {
        uint64_t time;
        size_t at, size;
    } WANT[] = {{1005, 20, 8},
                {1012, 36, 12},
                {1012 + 3 + (2ull << 27), 60, 4},
                {(4ull << 27) + 9 + 1, 88, 4},
                {(4ull << 27) + 9 + 1 + 2, 96, 112}};
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct ring_page_layout l = layout_of(big);
        struct ring_page_record r;
        struct ring_page p;
        struct writer w;
        make_page(&w, big, 0);
        assert_true(ring_page_open(&p, &l, writer_bytes(&w)));
        assert_int_equal(p.missed, 0);
        for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
            assert_true(ring_page_next(&p, &r));
            assert_true(r.time == WANT[i].time);
            assert_int_equal(r.data.size, WANT[i].size);
            assert_ptr_equal(r.data.data, w.data + WANT[i].at);
        }
        assert_false(ring_page_next(&p, &r));
        assert_false(p.broken);
        writer_fini(&w);
    }
}

static void losses(void **state) {
    struct ring_page_layout l = layout_of(host_big());
    struct ring_page p;
    struct writer w;
    (void)state;
    make_page(&w, host_big(), 1ull << 31);
    assert_true(ring_page_open(&p, &l, writer_bytes(&w)));
    assert_true(p.missed == UINT64_MAX);
    writer_fini(&w);
    make_page(&w, host_big(), 3ull << 30);
    assert_true(ring_page_open(&p, &l, writer_bytes(&w)));
    assert_int_equal(p.missed, 77);
    writer_fini(&w);
}

static void damage(void **state) {
    struct ring_page_layout l = layout_of(host_big());
    struct ring_page_record r;
    struct ring_page p;
    struct writer w;
    (void)state;
    assert_false(ring_page_layout_parse((struct bytes){(const uint8_t *)HEADER, 60}, false, &l));
    l = layout_of(host_big());
    make_page(&w, host_big(), 0);
    for (size_t n = 0; n < w.size; n++) { /* shorter than it says */
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, w.data, n);
        assert_false(ring_page_open(&p, &l, (struct bytes){copy, n}));
        free(copy);
    }
    w.data[16 + 12 + 4] = 3; /* less than the word that says so */
    assert_true(ring_page_open(&p, &l, writer_bytes(&w)));
    assert_true(ring_page_next(&p, &r));
    assert_false(ring_page_next(&p, &r));
    assert_true(p.broken);
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(losses),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
