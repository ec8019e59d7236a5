/* SPDX-License-Identifier: Apache-2.0 */
#include "os/perf/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "os/perf/perf_event_fake.h"
#include "os/run/child.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>

enum { PAGE = 4096 };

static void spans_wrap(void **state) {
    (void)state;
    struct os_ring r;
    void *map = calloc(3, PAGE);
    os_ring_init(&r, map, 3 * PAGE, PAGE);
    assert_int_equal(r.data_bytes, 2 * PAGE);
    for (size_t i = 0; i < r.data_bytes; i++)
        r.data[i] = (uint8_t)(i % 251);
    struct bytes s[2];
    uint64_t far = 7 * r.data_bytes; /* positions grow for ever */
    os_ring_spans(&r, far + 8, far + 24, s);
    assert_ptr_equal(s[0].data, r.data + 8);
    assert_int_equal(s[0].size, 16);
    assert_int_equal(s[1].size, 0);
    os_ring_spans(&r, far + r.data_bytes - 16, far + r.data_bytes + 40, s);
    assert_ptr_equal(s[0].data, r.data + r.data_bytes - 16);
    assert_int_equal(s[0].size, 16);
    assert_ptr_equal(s[1].data, r.data);
    assert_int_equal(s[1].size, 40);
    os_ring_spans(&r, far + 8, far + 8 + r.data_bytes, s); /* a full ring */
    assert_int_equal(s[0].size + s[1].size, r.data_bytes);
    uint8_t copy[32];
    os_ring_copy(&r, r.data_bytes - 8, copy, sizeof copy);
    assert_memory_equal(copy, r.data + r.data_bytes - 8, 8);
    assert_memory_equal(copy + 8, r.data, 24);
    free(map);
}

/* The control page's word on the counter counts if it is there, and not while it is being written. */
static void counter(void **state) {
    (void)state;
    struct os_ring r;
    struct os_ring_counter c;
    void *map = calloc(2, PAGE);
    struct perf_event_mmap_page *page = map;
    os_ring_init(&r, map, 2 * PAGE, PAGE);
    assert_false(os_ring_counter(&r, &c));
    page->time_mult = 7;
    page->time_shift = 31;
    page->time_zero = 1000;
    page->time_cycles = 5;
    page->time_mask = 0xffff;
    page->cap_user_time = 1;
    assert_false(os_ring_counter(&r, &c));
    page->cap_user_time_zero = 1;
    assert_true(os_ring_counter(&r, &c));
    assert_true(c.mult == 7 && c.shift == 31 && c.zero == 1000 && c.cycles == 5 && c.mask == 0xffff);
    assert_false(c.is_short);
    page->cap_user_time_short = 1;
    assert_true(os_ring_counter(&r, &c) && c.is_short);
    page->lock = 3;
    assert_false(os_ring_counter(&r, &c));
    free(map);
}

/* The fake does as the kernel: it never writes over what was not consumed. */
static void fake_never_overwrites(void **state) {
    (void)state;
    struct os_perf_fake f;
    struct os_ring r;
    uint8_t attr[64] = {0}, record[1000];
    os_perf_fake_init(&f);
    int fd = f.perf.open(&f, (struct bytes){attr, sizeof attr}, -1, 0, -1);
    int other = f.perf.open(&f, (struct bytes){attr, sizeof attr}, -1, 0, -1);
    assert_int_equal(f.perf.map(&f, fd, 1, false, &r), 0);
    assert_false(os_perf_fake_write(&f, other, (struct bytes){record, sizeof record})); /* no ring yet */
    assert_int_equal(f.perf.control(&f, other, OS_PERF_SET_OUTPUT, fd), 0);
    for (int i = 0; i < 4; i++) {
        memset(record, i, sizeof record);
        assert_true(os_perf_fake_write(&f, i % 2 ? fd : other, (struct bytes){record, sizeof record}));
    }
    assert_false(os_perf_fake_write(&f, fd, (struct bytes){record, sizeof record}));
    os_ring_consume(&r, 2000);
    assert_true(os_perf_fake_write(&f, fd, (struct bytes){record, sizeof record}));
    assert_int_equal(os_ring_head(&r), 5000);
    uint8_t got[1000];
    os_ring_copy(&r, 2000, got, sizeof got);
    assert_int_equal(got[0], 2);
    assert_int_equal(got[999], 2);
    f.perf.unmap(&f, &r);
    f.perf.close(&f, fd);
    assert_int_equal(f.perf.control(&f, fd, OS_PERF_ENABLE, 0), -EBADF);
    os_perf_fake_fini(&f);
}

static int end_of(struct os_child *c, const struct os_signals *s) {
    int status = -1;
    struct err err;
    int poller = os_poller_open(&err);
    assert_true(os_poller_add(poller, s->fd, 7, &err));
    while (!os_child_ended(c, &status)) {
        struct os_poll_event e;
        if (os_poller_wait(poller, &e, 1, 10000) == 1) {
            assert_int_equal(e.tag, 7);
            assert_true(e.readable);
            while (os_signals_next(s, NULL))
                ;
        }
    }
    os_close(poller);
    return status;
}

static void child_is_held_and_ends(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    struct os_signals s;
    struct os_child c;
    int status;
    assert_true(os_signals_open(&s, (const int[]){SIGCHLD, SIGUSR1, 0}, &err));
    assert_true(os_child_start(&c, (char *[]){"sh", "-c", "exit 42", NULL}, &s, OS_CHILD_OUTPUT_ASIDE, &err));
    assert_false(os_child_ended(&c, &status)); /* it waits for us */
    assert_true(os_child_go(&c, "sh", &err));
    assert_int_equal(end_of(&c, &s), 42);

    /* The mask of before is the command's: SIGUSR1 is not blocked there, and kills it. */
    assert_true(os_child_start(&c, (char *[]){"sh", "-c", "kill -USR1 $$; exit 3", NULL}, &s,
                               OS_CHILD_OUTPUT_ASIDE, &err));
    assert_true(os_child_go(&c, "sh", &err));
    assert_int_equal(end_of(&c, &s), 128 + SIGUSR1);

    assert_true(os_child_start(&c, (char *[]){"/no/such/program", NULL}, &s, OS_CHILD_OUTPUT_ASIDE, &err));
    assert_false(os_child_go(&c, "/no/such/program", &err));
    assert_int_equal(err.code, ERR_ABSENT);
    assert_false(os_child_ended(&c, &status));

    assert_true(os_child_start(&c, (char *[]){"sh", NULL}, &s, OS_CHILD_OUTPUT_ASIDE, &err));
    os_child_stop(&c);
    assert_int_equal(c.pid, 0);
    os_signals_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_wrap),
        cmocka_unit_test(counter),
        cmocka_unit_test(fake_never_overwrites),
        cmocka_unit_test(child_is_held_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
