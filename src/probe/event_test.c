/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/defined.h"

static const char *const LINES[] = {
    "p:probe_t/work /tmp/t:0x1250 n=%di:s32 s=+0(%si):string",
    "r:probe_t/work__return /tmp/t:0x1250 arg1=$retval",
    "p:sdt_a/b /tmp/t:0x10(0x4020) arg1=%di:s32",
    "p:probe/vfs_read vfs_read+0",
    "p:probe/ext4_open ext4:ext4_open+16 inode=%di:x64",
};

static void check_same(const char *line) {
    struct arena a = ARENA_INIT;
    struct probe_event e;
    struct out o;
    assert_true(probe_event_parse(line, &a, &e, NULL));
    assert_true(out_init(&o, NULL, NULL));
    probe_event_print(&o, &e);
    assert_string_equal(out_text(&o), line);
    out_fini(&o);
    vec_fini(&e.args);
    arena_fini(&a);
}

static void test_text(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
        check_same(LINES[i]);
    static const char *const BAD[] = {"",      "x",       "p",     "p:",      "p:a",
                                      "p:a b", "q:a/b c", "p:a/b", "p:a b/c", "p:a/b /x"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct arena a = ARENA_INIT;
        struct probe_event e;
        if (probe_event_parse(BAD[i], &a, &e, NULL))
            fail_msg("'%s' is accepted", BAD[i]);
        vec_fini(&e.args);
        arena_fini(&a);
    }
}

static void test_names(void **state) {
    (void)state;
    struct arena a = ARENA_INIT;
    assert_string_equal(probe_event_group(&a, "/lib/libc.so.6"), "probe_libc");
    assert_string_equal(probe_event_group(&a, "/bin/my-prog"), "probe_my");
    assert_string_equal(probe_event_group(&a, "a_b.x"), "probe_a_b");
    assert_string_equal(probe_event_name(&a, "std::vector<int>::at"), "std__vector_int___at");
    assert_string_equal(probe_event_name(&a, "1st"), "_1st");
    struct probe_event e = {.group = "g", .event = "e", .path = "/a b", .given = "f"};
    assert_false(probe_event_check(&e, NULL));
    e.path = "/a#b";
    assert_false(probe_event_check(&e, NULL));
    e.path = "/ab";
    assert_true(probe_event_check(&e, NULL));
    char name[PROBE_NAME_MAX + 1];
    memset(name, 'x', sizeof name);
    name[PROBE_NAME_MAX] = '\0';
    e.event = name;
    assert_false(probe_event_check(&e, NULL));
    name[PROBE_NAME_MAX - 1] = '\0';
    assert_true(probe_event_check(&e, NULL));
    arena_fini(&a);
}

static void add(probe_events *to, const char *line, struct arena *a) {
    struct probe_event *e = vec_push(to);
    assert_non_null(e);
    assert_true(probe_event_parse(line, a, e, NULL));
}

/* Definitions with equal arguments share a name, others get a number; none shares the name of an existing
 * event. */
static void test_distinguish(void **state) {
    (void)state;
    struct arena a = ARENA_INIT;
    probe_events events = {0}, there = {0};
    struct err err = ERR_INIT;
    add(&events, "p:g/f /t:0x10 n=%di:s32", &a);
    add(&events, "p:g/f /t:0x20 n=%bx:s32", &a);
    add(&events, "p:g/f /t:0x30", &a);
    assert_true(probe_events_distinguish(&events, &there, false, &a, &err));
    assert_string_equal(events.items[0].event, "f");
    assert_string_equal(events.items[1].event, "f");
    assert_string_equal(events.items[2].event, "f_1");
    add(&there, "p:g/f /t:0x10", &a);
    assert_false(probe_events_distinguish(&events, &there, false, &a, &err));
    assert_true(probe_events_distinguish(&events, &there, true, &a, &err));
    assert_string_equal(events.items[0].event, "f_1");
    assert_string_equal(events.items[1].event, "f_1");
    assert_string_equal(events.items[2].event, "f_1_1");
    probe_events_fini(&events);
    probe_events_fini(&there);
    arena_fini(&a);
}

static void test_defined(void **state) {
    (void)state;
    struct os_dynamic_fake fake = {.refuses = false};
    struct os_dynamic_events sys = os_dynamic_events_fake(&fake);
    struct arena a = ARENA_INIT;
    probe_events events = {0}, read = {0};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        add(&events, LINES[i], &a);
        assert_true(probe_defined_add(&sys, &events.items[i], NULL));
    }
    assert_true(probe_defined_read(&sys, OS_DYNAMIC_UPROBES, &a, &read, NULL));
    assert_int_equal(read.count, 3);
    assert_string_equal(read.items[1].event, "work__return");
    assert_true(read.items[1].returns);
    assert_int_equal(read.items[2].semaphore, 0x4020);
    assert_true(probe_defined_read(&sys, OS_DYNAMIC_KPROBES, &a, &read, NULL));
    assert_int_equal(read.count, 5);
    assert_string_equal(read.items[4].module, "ext4");
    assert_true(probe_defined_remove(&sys, &events.items[0], NULL));
    assert_false(probe_defined_remove(&sys, &events.items[0], NULL));
    probe_events_fini(&read);
    assert_true(probe_defined_read(&sys, OS_DYNAMIC_UPROBES, &a, &read, NULL));
    assert_int_equal(read.count, 2);
    fake.refuses = true;
    assert_false(probe_defined_add(&sys, &events.items[0], NULL));
    probe_events_fini(&read);
    probe_events_fini(&events);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_distinguish), cmocka_unit_test(test_defined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
