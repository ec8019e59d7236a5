/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "record/synth/loaded_modules.h"
#include "record/synth/synth_test.h"

#define NOTE "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0"

#define X86                                                                                       \
    "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\nffffffff81000000 T _text\n" \
    "ffffffff81000010 T __pi__text\nffffffff82000000 T x_etext\nffffffff8220bb08 T _etext\n"      \
    "ffffffffc0001000 T _stext\t[odd]\nffffffffc0001000 T _etext\t[odd]\n"
#define ARM64 "ffffa2bc55c10000 T _stext\nffffa2bc56900000 D _etext\n"
#define MODULES                                             \
    "last 4096 0 - Live 0xffffffffc0600000\n"               \
    "odd-one 24576 2 virtio_pci, Live 0xffffffffc05f8000\n" \
    "wide 1048576 1 last, Live 0xffffffffc0500000\n"        \
    "hidden 4096 0 - Live 0x0000000000000000\n"

static const struct os_proc_fake_file X86_FILES[] = {
    {"/proc/kallsyms", OS_PROC_TEXT(X86)},
    {"/sys/kernel/notes", OS_PROC_TEXT(NOTE "abc")},
    {"/proc/modules", OS_PROC_TEXT(MODULES)},
    {"/proc/sys/kernel/osrelease", OS_PROC_TEXT("6.1.0-test\n")},
    {"/lib/modules/6.1.0-test/modules.dep",
     OS_PROC_TEXT("kernel/a/last.ko.xz: kernel/b/wide.ko\nupdates/odd_one.ko:\nno colon\n")},
    {"/sys/module/last/notes/.note.gnu.build-id", OS_PROC_TEXT(NOTE "xyz")},
};

static struct os_proc proc_of(struct os_proc_fake *f, const struct os_proc_fake_file *files, size_t n) {
    *f = (struct os_proc_fake){.files = files, .file_count = n};
    return os_proc_fake(f);
}
#define PROC(f, files) proc_of(f, files, sizeof(files) / sizeof *(files))

static void test_find(void **state) {
    (void)state;
    static const struct os_proc_fake_file arm[] = {{"/proc/kallsyms", OS_PROC_TEXT(ARM64)}},
                                          none[] = {{"/proc/kallsyms", OS_PROC_TEXT(""), .denied = true}},
                                          hidden[] = {
                                              {"/proc/kallsyms",
                                               OS_PROC_TEXT(
                                                   "0000000000000000 T _text\n0000000000000000 T _etext\n")}};
    struct os_proc_fake f;
    struct record_kernel k;
    struct os_proc p = PROC(&f, X86_FILES);
    record_kernel_find(&p, &k);
    assert_true(k.start == 0xffffffff81000000 && k.end == 0xffffffff8220bb08 && !k.hidden);
    assert_string_equal(k.reference, "_text");
    p = PROC(&f, arm);
    record_kernel_find(&p, &k);
    assert_true(k.start == 0xffffa2bc55c10000 && k.end == 0xffffa2bc56900000);
    assert_string_equal(k.reference, "_stext");
    p = PROC(&f, hidden);
    record_kernel_find(&p, &k);
    assert_true(k.hidden && k.start == 0 && k.end == 0);
    p = PROC(&f, none);
    record_kernel_find(&p, &k);
    assert_true(!k.hidden && k.start == 0);
}

static void test_facts(void **state) {
    (void)state;
    static char text[400 * 40];
    size_t n = 0;
    for (int i = 0; i < 300; i++)
        n += (size_t)sprintf(text + n, "%016x %c f%d\n", 0x1000 + i * 16, i % 2 ? 't' : 'd', i);
    n += (size_t)sprintf(text + n, "%016x T _text\n%016x T _etext\n%016x T behind\n", 0x9000, 0xa000, 0xb000);
    struct os_proc_fake_file files[] = {
        {"/proc/kallsyms", {(const uint8_t *)text, n}},
        {"/proc/sys/kernel/random/boot_id", OS_PROC_TEXT("0b1c2d3e-0000-1111-2222-333344445555\n")},
        {"/sys/kernel/notes", OS_PROC_TEXT(NOTE "abc")}};
    struct os_proc_fake f;
    struct os_proc p = PROC(&f, files);
    struct perfdata_kernel_facts facts;
    struct record_kernel k;
    record_kernel_facts(&p, &facts, &k);
    assert_string_equal(facts.boot_id, "0b1c2d3e-0000-1111-2222-333344445555");
    assert_true(facts.start == 0x9000 && facts.end == 0xa000);
    assert_true(k.start == 0x9000 && k.end == 0xa000);
    assert_int_equal(facts.build_id_size, 3);
    assert_memory_equal(facts.build_id, "abc", 3);
    assert_int_equal(facts.symbol_count, PERFDATA_KERNEL_SYMBOLS);
    for (uint32_t i = 0; i < facts.symbol_count; i++) { /* functions only, far from each other */
        uint64_t number = strtoull(facts.symbols[i].name + 1, NULL, 10);
        assert_true(number % 2 == 1 && facts.symbols[i].address == 0x1000 + number * 16);
        assert_true(!i || facts.symbols[i].address >= facts.symbols[i - 1].address + 16 * 10);
    }
}

static void count_line(void *ctx, enum log_level level, const char *line) {
    assert_non_null(strstr(line, "addresses are hidden"));
    *(int *)ctx += level == LOG_WARN;
}

/* Said once, and only to whom it concerns. */
static void test_advice(void **state) {
    (void)state;
    static const struct os_proc_fake_file hidden[] = {
        {"/proc/kallsyms", OS_PROC_TEXT("0000000000000000 T _text\n0000000000000000 T _etext\n")}};
    struct os_proc_fake f;
    struct synth_test t;
    int lines = 0;
    struct os_proc p = PROC(&f, hidden);
    synth_test_init(&t);
    log_set_sink(count_line, &lines);
    assert_true(record_kernel_encode(&p, &t.sink, NULL, true, false, &t.got));
    assert_int_equal(lines, 0);
    assert_true(record_kernel_encode(&p, &t.sink, NULL, true, true, &t.got));
    assert_int_equal(lines, 1);
    assert_int_equal(t.got.size, 0);
    log_set_sink(NULL, NULL);
    synth_test_fini(&t);
}

static void check_map(struct synth_test *t, uint64_t start, uint64_t end, uint64_t offset, const char *name) {
    assert_true(synth_test_next(t, writer_bytes(&t->got)));
    assert_int_equal(t->rec.misc & PERFDATA_MISC_CPUMODE_MASK, PERFDATA_MISC_KERNEL);
    bool two = t->rec.type == PERFDATA_RECORD_MMAP2;
    assert_true(two || t->rec.type == PERFDATA_RECORD_MMAP);
    assert_int_equal(two ? t->rec.mmap2.pid : t->rec.mmap.pid, UINT32_MAX);
    assert_true((two ? t->rec.mmap2.addr : t->rec.mmap.addr) == start);
    assert_true((two ? t->rec.mmap2.len : t->rec.mmap.len) == end - start);
    assert_true((two ? t->rec.mmap2.pgoff : t->rec.mmap.pgoff) == offset);
    assert_string_equal((const char *)(two ? t->rec.mmap2.filename : t->rec.mmap.filename).data, name);
}

static void test_records(void **state) {
    (void)state;
    struct os_proc_fake f;
    struct synth_test t;
    struct os_proc p = PROC(&f, X86_FILES);
    synth_test_init(&t);
    assert_true(record_kernel_encode(&p, &t.sink, NULL, true, true, &t.got));
    check_map(&t, 0xffffffff81000000, 0xffffffff8220bb08, 0xffffffff81000000, "[kernel.kallsyms]_text");
    assert_true(t.rec.mmap2.has_build_id && t.rec.mmap2.build_id_size == 3);
    assert_memory_equal(t.rec.mmap2.build_id, "abc", 3);
    /* What tells this boot goes along where it is wanted: pipes have no other place. */
    struct perfdata_evidence e;
    struct perfdata_kernel_facts facts = {0}, back;
    assert_false(perfdata_evidence_decode(t.rec.mmap2.filename, false, &e));
    check_map(&t, 0xffffffffc0500000, 0xffffffffc05f8000, 0, "[wide]");
    check_map(&t, 0xffffffffc05f8000, 0xffffffffc05fe000, 0, "/lib/modules/6.1.0-test/updates/odd_one.ko");
    assert_int_equal(t.rec.type, PERFDATA_RECORD_MMAP); /* no build-id: nothing to say */
    check_map(&t, 0xffffffffc0600000, 0xffffffffc0601000, 0, "/lib/modules/6.1.0-test/kernel/a/last.ko.xz");
    assert_int_equal(t.rec.type, PERFDATA_RECORD_MMAP2);
    assert_false(synth_test_next(&t, writer_bytes(&t.got)));
    assert_int_equal(t.ids.count, 2);
    assert_non_null(memmem(t.ids.content.data, t.ids.content.size, "[kernel.kallsyms]\0", 18));
    synth_test_fini(&t);
    synth_test_init(&t);
    t.sink.kernel_facts = &facts;
    assert_true(record_kernel_encode(&p, &t.sink, NULL, true, true, &t.got));
    check_map(&t, 0xffffffff81000000, 0xffffffff8220bb08, 0xffffffff81000000, "[kernel.kallsyms]_text");
    assert_true(perfdata_evidence_decode(t.rec.mmap2.filename, false, &e));
    perfdata_kernel_facts_decode(e.kernel, &back);
    assert_true(back.start == 0xffffffff81000000 && back.symbol_count == facts.symbol_count &&
                back.symbol_count);
    synth_test_fini(&t);
}

/* What a module claims never reaches into the next; the last ends where it says. */
static void test_modules(void **state) {
    (void)state;
    struct os_proc_fake f;
    struct record_modules m;
    struct os_proc p = PROC(&f, X86_FILES);
    assert_true(record_modules_read(&p, &m));
    assert_int_equal(m.list.count, 3);
    assert_string_equal(m.list.items[0].path, "[wide]");
    assert_true(m.list.items[0].end == 0xffffffffc05f8000);
    assert_string_equal(m.list.items[1].path, "/lib/modules/6.1.0-test/updates/odd_one.ko");
    assert_true(m.list.items[1].end == 0xffffffffc05fe000);
    assert_string_equal(m.list.items[2].path, "/lib/modules/6.1.0-test/kernel/a/last.ko.xz");
    assert_true(m.list.items[2].start == 0xffffffffc0600000 && m.list.items[2].end == 0xffffffffc0601000);
    assert_int_equal(m.list.items[2].build_id.size, 3);
    record_modules_fini(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),    cmocka_unit_test(test_facts),   cmocka_unit_test(test_advice),
        cmocka_unit_test(test_records), cmocka_unit_test(test_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
