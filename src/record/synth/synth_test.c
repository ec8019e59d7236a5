/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/synth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "events/cgroups.h"
#include "record/synth/bpf_programs.h"
#include "record/synth/cgroups.h"
#include "record/synth/synth_test.h"

#define STAT(pid) OS_PROC_TEXT(pid " (a) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99 0 0\n")

static const struct os_proc_fake_file FILES[] = {
    {"/proc/kallsyms", OS_PROC_TEXT("ffffffff81000000 T _text\nffffffff82000000 T _etext\n")},
    {"/proc/self/mounts", OS_PROC_TEXT("tmpfs /t tmpfs rw 0 0\n"
                                       "cg /cg2 cgroup2 rw,nsdelegate 0 0\n"
                                       "cg /cg/cpu cgroup rw,cpu,cpuacct 0 0\n")},
    {"/cg2/", .identity = {.ino = 1}},
    {"/cg2/a/b", .identity = {.ino = 77}},
    {"/cg2/a/b/cgroup.procs", OS_PROC_TEXT("")},
    {"/cg2/a", .identity = {.ino = 55}},
    {"/cg2/gone/x", OS_PROC_TEXT("")},
    {"/proc/5/stat", STAT("5")},
    {"/proc/5/maps", OS_PROC_TEXT("1000-2000 r-xp 00000000 fe:00 7 /bin/a\n")},
    {"/proc/6/stat", STAT("6")},
};

static void run(const struct record_options *o, struct perf_target *target, const char *want) {
    struct os_proc_fake fake = {.files = FILES, .file_count = sizeof FILES / sizeof *FILES, .no_query = true};
    const struct os_proc_fake_mapping mapping = {.pid = 5};
    fake.mappings = &mapping; /* there is a process 5 whose maps can be opened */
    fake.mapping_count = 1;
    struct os_proc proc = os_proc_fake(&fake);
    struct synth_test t;
    struct record_synth_request r = {.options = o, .target = target};
    char got[64] = "";
    size_t n = 0;
    synth_test_init(&t);
    assert_true(record_synth(&proc, &r, &t.sink, NULL));
    while (synth_test_next(&t, writer_bytes(&t.got)) && n + 1 < sizeof got)
        got[n++] = t.rec.type == PERFDATA_RECORD_MMAP     ? 'k'
                   : t.rec.type == PERFDATA_RECORD_FORK   ? 'f'
                   : t.rec.type == PERFDATA_RECORD_COMM   ? 'c'
                   : t.rec.type == PERFDATA_RECORD_MMAP2  ? 'm'
                   : t.rec.type == PERFDATA_RECORD_CGROUP ? 'g'
                                                          : '?';
    assert_string_equal(got, want);
    synth_test_fini(&t);
}

static void test_selection(void **state) {
    (void)state;
    struct perf_target_thread named[] = {{.tid = 5, .pid = 5}, {.tid = 9, .pid = 5}, {.tid = 6, .pid = 6}};
    struct perf_target all = {.system_wide = true}, command = {.exec = true}, some = {0};
    some.threads.items = named;
    some.threads.count = 3;
    run(&(struct record_options){0}, &all, "fcmfck");
    run(&(struct record_options){.all_cgroups = true}, &all, "fcmfckggg");
    run(&(struct record_options){.all_cgroups = true, .no_cgroups = true, .no_mappings = true}, &all,
        "fcfck");
    run(&(struct record_options){.no_tasks = true, .no_mappings = true}, &all, "k");
    run(&(struct record_options){0}, &command, "k");
    run(&(struct record_options){0}, &some, "cmck"); /* each process once, and no tree */
}

static void test_cgroups(void **state) {
    (void)state;
    static const struct {
        uint64_t id;
        const char *path;
    } WANT[] = {{1, "/"}, {55, "/a"}, {77, "/a/b"}};
    struct os_proc_fake fake = {.files = FILES, .file_count = sizeof FILES / sizeof *FILES};
    struct os_proc proc = os_proc_fake(&fake);
    struct synth_test t;
    synth_test_init(&t);
    assert_true(record_cgroups_encode(&proc, &t.sink, &t.got));
    for (size_t i = 0; i < 3; i++) {
        assert_true(synth_test_next(&t, writer_bytes(&t.got)));
        assert_int_equal(t.rec.type, PERFDATA_RECORD_CGROUP);
        assert_true(t.rec.cgroup.id == WANT[i].id);
        assert_string_equal((const char *)t.rec.cgroup.path.data, WANT[i].path);
    }
    assert_false(synth_test_next(&t, writer_bytes(&t.got)));
    uint64_t id = 0;
    assert_true(perf_cgroups_find(&proc, "a/b", &id) && id == 77);
    assert_true(perf_cgroups_find(&proc, "/a", &id) && id == 55);
    assert_false(perf_cgroups_find(&proc, "c", &id));
    synth_test_fini(&t);
}

/* Version 1's hierarchy of perf_event comes first; without any there is none. */
static void test_mount(void **state) {
    (void)state;
    static const struct os_proc_fake_file both[] =
        {{"/proc/self/mounts", OS_PROC_TEXT("c /two cgroup2 rw 0 0\nc /cg/net cgroup rw,net_cls 0 0\nc "
                                            "/cg/perf cgroup rw,perf_event 0 0\nc /z cgroup2 rw 0 0")}},
                                          none[] = {
                                              {"/proc/self/mounts", OS_PROC_TEXT("tmpfs /t tmpfs rw 0 0\n")}};
    char room[64];
    struct os_proc_fake fake = {.files = both, .file_count = 1};
    struct os_proc proc = os_proc_fake(&fake);
    assert_true(perf_cgroups_mount(&proc, room, sizeof room));
    assert_string_equal(room, "/cg/perf");
    assert_false(perf_cgroups_mount(&proc, room, 4) && strcmp(room, "/cg/perf") == 0);
    fake.files = none;
    assert_false(perf_cgroups_mount(&proc, room, sizeof room));
}

static void test_bpf(void **state) {
    (void)state;
    static const struct os_bpf_program PROGRAMS[] = {
        {.id = 3,
         .tag = {0xab, 1},
         .name = "filter",
         .function_count = 1,
         .functions = {{0xffffffffc0001000, 100, {0xab, 1}}}},
        {.id = 5}, /* gone before it could be looked at */
        {.id = 9,
         .tag = {2},
         .name = "main",
         .function_count = 3,
         .functions = {{0xffffffffc0002000, 50, {2}}, {0xffffffffc0003000, 60, {3}}, {0, 70, {4}}}},
    };
    static const struct {
        uint64_t addr;
        uint32_t len;
        const char *name;
    } WANT[] = {{0xffffffffc0001000, 100, "bpf_prog_ab01000000000000_filter"},
                {0, 3, NULL},
                {0xffffffffc0002000, 50, "bpf_prog_0200000000000000_F"},
                {0xffffffffc0003000, 60, "bpf_prog_0300000000000000_F"},
                {0, 9, NULL}};
    struct os_proc_fake fake = {.programs = PROGRAMS, .program_count = 3};
    struct os_proc proc = os_proc_fake(&fake);
    struct synth_test t;
    synth_test_init(&t);
    assert_true(record_bpf_encode(&proc, &t.sink, &t.got));
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        assert_true(synth_test_next(&t, writer_bytes(&t.got)));
        if (!WANT[i].name) {
            assert_int_equal(t.rec.type, PERFDATA_RECORD_BPF_EVENT);
            assert_true(t.rec.bpf_event.type == 1 && t.rec.bpf_event.id == WANT[i].len);
            continue;
        }
        assert_int_equal(t.rec.type, PERFDATA_RECORD_KSYMBOL);
        assert_true(t.rec.ksymbol.addr == WANT[i].addr && t.rec.ksymbol.len == WANT[i].len);
        assert_true(t.rec.ksymbol.ksym_type == 1 && t.rec.ksymbol.flags == 0);
        assert_string_equal((const char *)t.rec.ksymbol.name.data, WANT[i].name);
    }
    assert_false(synth_test_next(&t, writer_bytes(&t.got)));
    synth_test_fini(&t);
}

/* A program of one function, with its name in the type information. */
static bool one_info(void *ctx, uint32_t id, struct os_bpf_info *out) {
    enum {
        SIZE = 232,
        AT_ID = 4,
        AT_KSYM_COUNT = 104,
        AT_LENGTH_COUNT = 108,
        AT_KSYMS = 112,
        AT_LENGTHS = 120
    };
    enum { AT_BTF_ID = 128, AT_FUNC_INFO_SIZE = 132, AT_FUNC_INFO = 136, AT_FUNC_INFO_COUNT = 144 };
    (void)ctx;
    *out = (struct os_bpf_info){.info = writer_make(false), .data = writer_make(false), .arrays = 0x38};
    writer_zero(&out->info, SIZE);
    writer_patch32(&out->info, AT_ID, id);
    writer_patch32(&out->info, AT_KSYM_COUNT, 1);
    writer_patch32(&out->info, AT_LENGTH_COUNT, 1);
    writer_patch64(&out->info, AT_KSYMS, 0);
    writer_patch64(&out->info, AT_LENGTHS, 8);
    writer_patch32(&out->info, AT_BTF_ID, 9);
    writer_patch32(&out->info, AT_FUNC_INFO_SIZE, 8);
    writer_patch64(&out->info, AT_FUNC_INFO, 16);
    writer_patch32(&out->info, AT_FUNC_INFO_COUNT, 1);
    writer_u64(&out->data, 0xffffffffc0005000);
    writer_u64(&out->data, 77);
    writer_u32(&out->data, 0);
    writer_u32(&out->data, 1); /* type 1 */
    return true;
}

static bool one_btf(void *ctx, uint32_t id, struct writer *w) {
    (void)ctx;
    assert_int_equal(id, 9);
    writer_u16(w, 0xeb9f);
    writer_u16(w, 1);
    const uint32_t rest[] = {24, 0,         12, 12, 8, /* header, types, strings */
                             1,  12u << 24, 0};        /* a function, its name at 1 */
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        writer_u32(w, rest[i]);
    writer_put(w, "\0filter", 8);
    return true;
}

/* All about them is kept for the header, and they have their names from there. */
static void test_bpf_info(void **state) {
    (void)state;
    static const struct os_bpf_program PROGRAM = {.id = 5, .tag = {1}, .name = "cut_off"};
    const struct os_proc_fake fake = {.programs = &PROGRAM, .program_count = 1};
    struct os_proc proc = os_proc_fake(&fake);
    struct record_bpf bpf = {0};
    struct synth_test t;
    proc.bpf_info = one_info;
    proc.bpf_btf = one_btf;
    synth_test_init(&t);
    t.sink.bpf = &bpf;
    assert_true(record_bpf_encode(&proc, &t.sink, &t.got));
    assert_non_null(memmem(t.got.data, t.got.size, "bpf_prog_0000000000000000_filter", 33));
    assert_int_equal(bpf.programs.count, 1);
    assert_int_equal(bpf.types.count, 1);
    assert_int_equal(bpf.types.items[0].id, 9);
    /* Those that come while recording join them, each once. */
    record_bpf_note(&proc, &bpf, 5);
    assert_int_equal(bpf.programs.count, 1);
    record_bpf_note(&proc, &bpf, 6);
    record_bpf_note(&proc, &bpf, 6);
    assert_int_equal(bpf.programs.count, 2);
    assert_int_equal(bpf.types.count, 1);
    proc.bpf_info = os_proc_fake(&fake).bpf_info; /* gone before it could be looked at */
    record_bpf_note(&proc, &bpf, 7);
    assert_int_equal(bpf.programs.count, 2);
    record_bpf_fini(&bpf);
    synth_test_fini(&t);
}

static void keep_line(void *ctx, enum log_level level, const char *line) {
    if (level == LOG_WARN)
        snprintf(ctx, 200, "%s", line);
}

/* Said once, with how many; the rest goes on. */
static void test_denied(void **state) {
    (void)state;
    const struct os_proc_fake_mapping mapping = {.pid = 5};
    struct os_proc_fake fake = {.files = FILES,
                                .file_count = sizeof FILES / sizeof *FILES,
                                .mappings = &mapping,
                                .mapping_count = 1,
                                .mappings_denied = true};
    struct os_proc proc = os_proc_fake(&fake);
    struct record_options o = {0};
    struct perf_target all = {.system_wide = true};
    struct record_synth_request r = {.options = &o, .target = &all};
    struct synth_test t;
    char line[200] = "";
    synth_test_init(&t);
    log_set_sink(keep_line, line);
    assert_true(record_synth(&proc, &r, &t.sink, NULL));
    log_set_sink(NULL, NULL);
    assert_non_null(strstr(line, "1 of 2 processes"));
    assert_non_null(strstr(line, "record as root"));
    assert_true(t.got.size > 0);
    line[0] = 0;
    r.root = true; /* whom nobody has to tell that */
    log_set_sink(keep_line, line);
    assert_true(record_synth(&proc, &r, &t.sink, NULL));
    log_set_sink(NULL, NULL);
    assert_string_equal(line, "");
    synth_test_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_selection), cmocka_unit_test(test_cgroups),
                                       cmocka_unit_test(test_mount),     cmocka_unit_test(test_bpf),
                                       cmocka_unit_test(test_denied),    cmocka_unit_test(test_bpf_info)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
