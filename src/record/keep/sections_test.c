/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config.h"
#include "os/proc/proc_fake.h"

static void check(const struct os_proc_fake *fake, const struct sysfs_fake *tree, const char *want) {
    struct os_proc proc = os_proc_fake(fake);
    struct sysfs sys = sysfs_fake(tree);
    struct writer w = writer_make(false);
    struct record_modules m;
    assert_true(record_modules_read(&proc, &m));
    assert_true(record_sections_encode(&proc, &sys, &m, &w));
    record_modules_fini(&m);
    writer_u8(&w, 0);
    assert_string_equal((const char *)w.data, want);
    writer_fini(&w);
}

static void test_text(void **state) {
    (void)state;
    static const struct os_proc_fake_file FILES[] = {
        {"/proc/modules", OS_PROC_TEXT("b 4096 0 - Live 0xffffffffc0002000\n"
                                       "a 8192 1 b, Live 0xffffffffc0000000\n")},
        {"/sys/module/a/notes/.note.gnu.build-id", OS_PROC_TEXT("\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\1\2\xff")},
        {"/sys/module/a/sections/.text", OS_PROC_TEXT("0xffffffffc0000040\n")},
        {"/sys/module/a/sections/.init.text", OS_PROC_TEXT("0x0000000000000000\n")}, /* freed, or hidden */
        {"/sys/module/a/sections/.noinstr.text", OS_PROC_TEXT("0xffffffffc0001000\n")},
        {"/sys/module/b/sections/.text", OS_PROC_TEXT(""), .denied = true},
    };
    static const struct sysfs_fake_file NAMES[] = {{"/sys/module/a/sections/.init.text", ""},
                                                   {"/sys/module/a/sections/.noinstr.text", ""},
                                                   {"/sys/module/a/sections/.text", ""},
                                                   {"/sys/module/b/sections/.text", ""}};
    check(&(struct os_proc_fake){.files = FILES, .file_count = sizeof FILES / sizeof *FILES},
          &(struct sysfs_fake){NAMES, sizeof NAMES / sizeof *NAMES},
          "module\tffffffffc0000000\tffffffffc0002000\t0102ff\ta\t[a]\n"
          "section\tffffffffc0001000\t.noinstr.text\n"
          "section\tffffffffc0000040\t.text\n"
          "module\tffffffffc0002000\tffffffffc0003000\t-\tb\t[b]\n");
    check(&(struct os_proc_fake){.file_count = 0}, &(struct sysfs_fake){0}, "");
}

/* What a real kernel said in the lab: each module's sections lie where the text says, and the last module
 * ends where /proc/modules says. */
struct lab {
    struct writer modules, sections;
    VEC(struct os_proc_fake_file) files;
    VEC(struct sysfs_fake_file) names;
    struct arena arena;
};

static bool load(const char *arch, const char *name, struct writer *w) {
    char path[512];
    snprintf(path, sizeof path, "%s/../lab/recordings/%s/%s", SONDE_TEST_CORPUS, arch, name);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    for (int c; (c = fgetc(f)) != EOF;)
        writer_u8(w, (uint8_t)c);
    fclose(f);
    writer_u8(w, 0);
    return true;
}

static bool lab_open(struct lab *l, const char *arch) {
    *l = (struct lab){0};
    if (!load(arch, "modules", &l->modules) || !load(arch, "sections", &l->sections))
        return false;
    *vec_push(&l->files) = (struct os_proc_fake_file){.path = "/proc/modules",
                                                      .content = {l->modules.data, l->modules.size - 1}};
    char *save,
        *line = strtok_r(arena_strndup(&l->arena, (char *)l->sections.data, l->sections.size), "\n", &save);
    for (; line; line = strtok_r(NULL, "\n", &save)) {
        char module[64], section[128], address[32], path[256];
        if (sscanf(line, "%63s %127s %31s", module, section, address) != 3)
            continue;
        int n = snprintf(path, sizeof path, "/sys/module/%s/sections/%s", module, section);
        const char *kept = arena_strndup(&l->arena, path, (size_t)n);
        *vec_push(&l->files) = (struct os_proc_fake_file){
            .path = kept,
            .content = {(uint8_t *)arena_strndup(&l->arena, address, strlen(address)), strlen(address)}};
        *vec_push(&l->names) = (struct sysfs_fake_file){kept, ""};
    }
    return true;
}

static void test_lab(void **state) {
    (void)state;
    static const char *const ARCHS[] = {"x86-64", "arm64", "s390x", "i386"};
    int done = 0;
    for (size_t i = 0; i < sizeof ARCHS / sizeof *ARCHS; i++) {
        struct lab l;
        if (lab_open(&l, ARCHS[i])) {
            struct os_proc_fake fake = {.files = l.files.items, .file_count = l.files.count};
            struct sysfs_fake tree = {l.names.items, l.names.count};
            struct os_proc proc = os_proc_fake(&fake);
            struct sysfs sys = sysfs_fake(&tree);
            struct record_modules m;
            struct writer w = writer_make(false);
            assert_true(record_modules_read(&proc, &m));
            assert_true(m.list.count > 10);
            const struct record_module *last = &m.list.items[m.list.count - 1];
            char want[128];
            unsigned long long size = 0, base = 0;
            snprintf(want, sizeof want, "\n%s ", last->name);
            const char *line = strstr((const char *)l.modules.data, want);
            line = line ? line + 1 : (const char *)l.modules.data;
            assert_int_equal(sscanf(line, "%*s %llu %*s %*s %*s 0x%llx", &size, &base), 2);
            assert_true(last->base == base && last->end == base + size);
            for (size_t k = 0; k + 1 < m.list.count; k++)
                assert_true(m.list.items[k].start < m.list.items[k].end &&
                            m.list.items[k].end <= m.list.items[k + 1].base);
            assert_true(record_sections_encode(&proc, &sys, &m, &w));
            writer_u8(&w, 0);
            size_t lines = 0;
            for (const char *p = (const char *)w.data; (p = strstr(p, "section\t")); p++)
                lines++;
            assert_true(lines > 10 * m.list.count / 2);
            record_modules_fini(&m);
            writer_fini(&w);
            done++;
        }
        writer_fini(&l.modules);
        writer_fini(&l.sections);
        vec_fini(&l.files);
        vec_fini(&l.names);
        arena_fini(&l.arena);
    }
    if (!done) {
        print_message("SKIP: there are no recordings of the lab\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_lab)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
