/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/writer.h"
#include "model/model_test_records.h"
#include "os/proc/host.h"
#include "recording/kernel/late_modules.h"

#define TEXT 0xffffffff81000000
#define HERE 0xffffffffc0400000
#define LATE 0xffffffffc0500000

#define CONTENT(text) \
    { (const uint8_t *)(text), sizeof(text) - 1 }

/* A kernel, and a recording of it that maps one of the two modules in the list. */
struct session {
    char path[32];
    struct model *m;
    struct resolve_recorded r;
};

static void session_open(struct session *s, const char *release) {
    /* A file without events: magic, its own size, the size of an attr, and empty sections. */
    uint64_t head[13] = {0x32454c4946524550, sizeof head, 128, sizeof head, 0, sizeof head, 0};
    *s = (struct session){.path = "/tmp/late-modulesXXXXXX"};
    int fd = mkstemp(s->path);
    assert_true(fd >= 0 && write(fd, head, sizeof head) == sizeof head && close(fd) == 0);
    s->r.stream = stream_open(s->path, &(struct stream_options){0}, NULL);
    assert_non_null(s->r.stream);
    s->r.release = strdup(release);
    s->m = batch();
    at(s->m, 0, rec_mmap(K, UINT32_MAX, TEXT, 0x1000000, TEXT, "[kernel.kallsyms]_text"));
    at(s->m, 0, rec_mmap(K, UINT32_MAX, HERE, 0x4000, 0, "/lib/modules/1/is-here.ko"));
}

static void session_close(struct session *s) {
    model_free(s->m);
    stream_close(s->r.stream);
    resolve_recorded_fini(&s->r);
    unlink(s->path);
}

/* Checks what is mapped at the late module's code, given these files. */
static void check(const struct os_fake_file *files, const char *list, const char *release, const char *want) {
    struct session s;
    struct os_files fake = os_files_fake(files);
    struct model_hit hit;
    session_open(&s, release);
    assert_true(late_modules_map(&s.r, &fake, list, s.m, NULL));
    freeze(s.m);
    assert_string_equal(dso(s.m, K, 7, 5, LATE + 0x123), want);
    assert_string_equal(dso(s.m, K, 7, 5, LATE - 1), "-");
    if (*want != '-') {
        assert_true(model_find(s.m, K, 7, upto(5), LATE + 0x123, &hit));
        assert_int_equal(hit.offset, 0x123);
        assert_int_equal(model_mapping(s.m, hit.mapping).order, 0);
    }
    assert_string_equal(dso(s.m, K, 7, 5, HERE + 0x10), "[is_here]");
    session_close(&s);
}

static const char own[] = "late 8192 0 - Live 0xffffffffc0500000\n"
                          "is_here 16384 0 - Live 0xffffffffc0400000\n";
static const char moved[] = "late 8192 0 - Live 0xffffffffc0500000\n"
                            "is_here 16384 0 - Live 0xffffffffc0480000\n";
static const char hidden[] = "late 8192 0 - Live 0x0000000000000000\n"
                             "is_here 16384 0 - Live 0x0000000000000000\n";
static const char loading[] = "late 8192 0 - Loading 0xffffffffc0500000\n"
                              "is_here 16384 0 - Live 0xffffffffc0400000\n";

static void running_kernel(void **state) {
    struct os_host host;
    (void)state;
    os_host_read(&host);
    const struct os_fake_file good[] = {{"/proc/modules", CONTENT(own)}, {0}},
                              elsewhere[] = {{"/proc/modules", CONTENT(moved)}, {0}},
                              zeros[] = {{"/proc/modules", CONTENT(hidden)}, {0}},
                              early[] = {{"/proc/modules", CONTENT(loading)}, {0}}, none[] = {{0}};
    check(good, NULL, host.release, "[late]");
    check(good, NULL, "4.2.0-another", "-");
    check(elsewhere, NULL, host.release, "-");
    check(zeros, NULL, host.release, "-");
    check(early, NULL, host.release, "-");
    check(none, NULL, host.release, "-");
}

static void booted_since(void **state) {
    struct os_host host;
    (void)state;
    os_host_read(&host);
    const struct os_fake_file before[] = {{"/proc/modules", CONTENT(own)},
                                          {"/proc/stat", CONTENT("cpu 1\nbtime 1000000\n")},
                                          {0}},
                              after[] = {{"/proc/modules", CONTENT(own)},
                                         {"/proc/stat", CONTENT("cpu 1\nbtime 99999999999\n")},
                                         {0}};
    check(before, NULL, host.release, "[late]");
    check(after, NULL, host.release, "-");
}

/* With a list of symbols, the code ends a page after its last function. */
static void list_of_symbols(void **state) {
    static const char good[] = "ffffffff81000000 T _text\n"
                               "ffffffffc0400010 t a\t[is_here]\n"
                               "ffffffffc0500020 t b\t[late]\n"
                               "ffffffffc0501000 t c\t[late]\n"
                               "ffffffffc0700000 d data\t[late]\n"
                               "ffffffffc0600000 t bpf_prog_x\t[bpf]\n",
                      other[] = "ffffffff82000000 T _text\n"
                                "ffffffffc0400010 t a\t[is_here]\n"
                                "ffffffffc0500020 t b\t[late]\n",
                      empty[] = "";
    const struct os_fake_file files[] = {
        {"/good", CONTENT(good)}, {"/other", CONTENT(other)}, {"/empty", CONTENT(empty)}, {0}};
    (void)state;
    check(files, "/good", "any", "[late]");
    check(files, "/other", "any", "-");
    check(files, "/empty", "any", "-");
    check(files, "/absent", "any", "-");
    struct session s;
    struct os_files fake = os_files_fake(files);
    session_open(&s, "any");
    at(s.m, 3, rec_mmap(K, UINT32_MAX, LATE + 0x1000, 0x1000, 0, "[recorded]"));
    assert_true(late_modules_map(&s.r, &fake, "/good", s.m, NULL));
    freeze(s.m);
    assert_string_equal(dso(s.m, K, 7, 5, LATE + 0xfff), "[late]");
    assert_string_equal(dso(s.m, K, 7, 5, LATE + 0x1000), "[recorded]");
    assert_string_equal(dso(s.m, K, 7, 5, LATE + 0x2000), "-");
    assert_string_equal(dso(s.m, K, 7, 5, 0xffffffffc0600000), "-");
    session_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_kernel),
        cmocka_unit_test(booted_since),
        cmocka_unit_test(list_of_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
