/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/module_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "os/uevents.h"
#include "record/synth/synth_test.h"

static const struct os_proc_fake_file BEFORE[] = {
    {"/proc/modules", OS_PROC_TEXT("old 4096 0 - Live 0xffffffffc0002000\n"
                                   "stays 4096 0 - Live 0xffffffffc0000000\n")}};
/* Another module lies where the old one was; and one after it. */
static const struct os_proc_fake_file AFTER[] = {
    {"/proc/modules", OS_PROC_TEXT("last 8192 0 - Live 0xffffffffc0008000\n"
                                   "new 4096 0 - Live 0xffffffffc0002000\n"
                                   "stays 4096 0 - Live 0xffffffffc0000000\n")},
    {"/sys/module/new/sections/.text", OS_PROC_TEXT("0xffffffffc0002010\n")}};
static const struct sysfs_fake_file NAMES[] = {{"/sys/module/new/sections/.text", ""}};

/* A recorder that has looked at the modules of the first list. */
struct bench {
    struct os_proc_fake fake;
    struct os_proc proc;
    struct sysfs_fake tree;
    struct sysfs sys;
    struct record_module_watch m;
    struct synth_test t;
};

static void begin(struct bench *b, const struct os_proc_fake_file *list, const struct sysfs_fake_file *names,
                  size_t count) {
    b->fake = (struct os_proc_fake){.files = list, .file_count = 1};
    b->proc = os_proc_fake(&b->fake);
    b->tree = (struct sysfs_fake){names, count};
    b->sys = sysfs_fake(&b->tree);
    synth_test_init(&b->t);
    assert_true(record_module_watch_init(&b->m, &b->proc, &b->sys, true));
}

static void end(struct bench *b) {
    record_module_watch_fini(&b->m);
    synth_test_fini(&b->t);
}

static void test_look(void **state) {
    (void)state;
    struct bench b;
    begin(&b, BEFORE, NAMES, 1);
    assert_true(record_module_watch_look(&b.m, &b.t.sink, 50, NULL)); /* nothing happened */
    assert_int_equal(b.t.got.size + b.m.log.size, 0);
    b.fake.files = AFTER;
    b.fake.file_count = 2;
    assert_true(record_module_watch_look(&b.m, &b.t.sink, 77, NULL));
    static const uint64_t START[] = {0xffffffffc0002000, 0xffffffffc0008000}, LENGTH[] = {4096, 8192};
    for (int i = 0; i < 2; i++) {
        assert_true(synth_test_next(&b.t, writer_bytes(&b.t.got)));
        assert_int_equal(b.t.rec.type, PERFDATA_RECORD_MMAP);
        assert_true(b.t.rec.mmap.addr == START[i] && b.t.rec.mmap.len == LENGTH[i]);
        assert_int_equal(b.t.rec.id.time, 77);
    }
    assert_false(synth_test_next(&b.t, writer_bytes(&b.t.got)));
    assert_true(record_module_watch_look(&b.m, &b.t.sink, 99, NULL)); /* told once */
    assert_int_equal(b.t.at, b.t.got.size);
    writer_u8(&b.m.log, 0);
    assert_string_equal((const char *)b.m.log.data,
                        "unloaded\t77\tffffffffc0002000\tffffffffc0003000\told\n"
                        "loaded\t77\nmodule\tffffffffc0002000\tffffffffc0003000\t-\tnew\t[new]\n"
                        "section\tffffffffc0002010\t.text\n"
                        "loaded\t77\nmodule\tffffffffc0008000\tffffffffc000a000\t-\tlast\t[last]\n");
    end(&b);
}

static void happens(struct record_module_watch *m, uint64_t ns, bool load, const char *name) {
    struct record_module_event *e = vec_push(&m->events.list);
    assert_non_null(e);
    *e = (struct record_module_event){.ns = ns, .load = load};
    strcpy(e->name, name);
}

/* "again" was loaded again to the same place and has its init code still, "new" has not ended loading,
 * "early" has barely begun, "going" is listed still; what came has the times of the tracepoints. */
static void test_events(void **state) {
    (void)state;
    static const struct os_proc_fake_file FIRST[] = {
        {"/proc/modules", OS_PROC_TEXT("going 4096 0 - Live 0xffffffffc0004000\n"
                                       "again 4096 0 - Live 0xffffffffc0000000\n")}};
    static const struct os_proc_fake_file THEN[] = {
        {"/proc/modules", OS_PROC_TEXT("early 12288 0 - Loading 0xffffffffc000c000\n"
                                       "new 12288 0 - Loading 0xffffffffc0008000\n"
                                       "going 4096 0 - Unloading 0xffffffffc0004000\n"
                                       "again 8192 0 - Live 0xffffffffc0000000\n")},
        {"/sys/module/new/coresize", OS_PROC_TEXT("8192\n")},
        {"/sys/module/again/coresize", OS_PROC_TEXT("4096\n")}};
    static const struct os_proc_fake_file END[] = {
        {"/proc/modules", OS_PROC_TEXT("new 8192 0 - Live 0xffffffffc0008000\n"
                                       "again 4096 0 - Live 0xffffffffc0000000\n")}};
    struct bench b;
    begin(&b, FIRST, NULL, 0);
    b.fake.files = THEN;
    b.fake.file_count = 3;
    happens(&b.m, 60, false, "again");
    happens(&b.m, 61, false, "passed"); /* came and went unseen */
    happens(&b.m, 62, true, "again");
    happens(&b.m, 63, true, "new");
    happens(&b.m, 64, false, "going");
    assert_true(record_module_watch_look(&b.m, &b.t.sink, 50, NULL));
    assert_int_equal(b.m.events.list.count, 0);
    static const uint64_t START[] = {0xffffffffc0000000, 0xffffffffc0008000}, LENGTH[] = {4096, 8192},
                          TIME[] = {62, 63};
    for (int i = 0; i < 2; i++) {
        assert_true(synth_test_next(&b.t, writer_bytes(&b.t.got)));
        assert_true(b.t.rec.mmap.addr == START[i] && b.t.rec.mmap.len == LENGTH[i]);
        assert_int_equal(b.t.rec.id.time, TIME[i]);
    }
    assert_false(synth_test_next(&b.t, writer_bytes(&b.t.got)));
    b.fake.files = END;
    b.fake.file_count = 1;
    assert_true(record_module_watch_look(&b.m, &b.t.sink, 99, NULL)); /* nothing new, nothing gone again */
    assert_int_equal(b.t.at, b.t.got.size);
    writer_u8(&b.m.log, 0);
    assert_string_equal((const char *)b.m.log.data,
                        "unloaded\t60\tffffffffc0000000\tffffffffc0001000\tagain\n"
                        "unloaded\t64\tffffffffc0004000\tffffffffc0005000\tgoing\n"
                        "loaded\t62\nmodule\tffffffffc0000000\tffffffffc0001000\t-\tagain\t[again]\n"
                        "loaded\t63\nmodule\tffffffffc0008000\tffffffffc000a000\t-\tnew\t[new]\n");
    end(&b);
}

/* An event may come before its module is listed, and counts then; not for ever. */
static void test_early_event(void **state) {
    (void)state;
    static const struct os_proc_fake_file NONE[] = {{"/proc/modules", OS_PROC_TEXT("")}};
    static const struct os_proc_fake_file BOTH[] = {
        {"/proc/modules", OS_PROC_TEXT("one 4096 0 - Live 0xffffffffc0004000\n"
                                       "two 4096 0 - Live 0xffffffffc0000000\n")}};
    for (uint64_t looks = 1; looks < 4; looks++) {
        struct bench b;
        begin(&b, NONE, NULL, 0);
        happens(&b.m, 60, true, "one");
        happens(&b.m, 61, true, "two");
        happens(&b.m, 62, false, "two"); /* came and went unseen; what is listed later is another */
        for (uint64_t i = 0; i < looks; i++) {
            if (i + 1 == looks)
                b.fake.files = BOTH;
            assert_true(record_module_watch_look(&b.m, &b.t.sink, 90, NULL));
        }
        if (looks > 1) {
            assert_true(synth_test_next(&b.t, writer_bytes(&b.t.got)));
            assert_int_equal(b.t.rec.mmap.addr, 0xffffffffc0000000);
            assert_int_equal(b.t.rec.id.time, 90);
        }
        assert_true(synth_test_next(&b.t, writer_bytes(&b.t.got)));
        assert_int_equal(b.t.rec.mmap.addr, 0xffffffffc0004000);
        assert_int_equal(b.t.rec.id.time, looks < 3 ? 60 : 90);
        assert_int_equal(b.m.events.list.count, 0);
        end(&b);
    }
}

static void test_announcements(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool module;
    } TEXTS[] = {{"add@/module/ext4", true},
                 {"remove@/module/ext4", true},
                 {"add@/devices/virtual/net/x", false},
                 {"add@/module/", false},
                 {"libudev", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        assert_int_equal(
            os_uevents_is_module((struct bytes){(const uint8_t *)TEXTS[i].text, strlen(TEXTS[i].text)}),
            TEXTS[i].module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_look), cmocka_unit_test(test_events),
                                       cmocka_unit_test(test_early_event),
                                       cmocka_unit_test(test_announcements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
