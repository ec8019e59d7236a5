/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of machines made of a table of files. */
#include "cmd/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct doctor_finding *find(const struct doctor *d, const char *id) {
    for (size_t i = 0; i < d->list.count; i++)
        if (!strcmp(d->list.items[i].id, id))
            return &d->list.items[i];
    return NULL;
}

static struct doctor examine(const struct sysfs_fake_file *files, size_t count) {
    struct sysfs_fake tree = {files, count};
    struct sysfs system = sysfs_fake(&tree);
    struct doctor d = {0};
    unsetenv("DEBUGINFOD_URLS");
    doctor_machine(&d, &system);
    assert_false(d.failed);
    return d;
}

#define EXAMINE(files) examine(files, sizeof(files) / sizeof(files)[0])

#define STATUS(caps) "Name:\tx\nCapEff:\t" caps "\nCapBnd:\t0"

static void rights_and_the_level_decide(void **state) {
    (void)state;
    static const struct {
        const char *level, *status, *kptr;
        enum doctor_severity paranoid, pointers;
    } cases[] = {
        {"-1", STATUS("0000000000000000"), "0", DOCTOR_OK, DOCTOR_OK},
        {"0", STATUS("0000000000000000"), "1", DOCTOR_OK, DOCTOR_WARNING},
        {"1", STATUS("0000000000000000"), "2", DOCTOR_NOTE, DOCTOR_WARNING},
        {"2", STATUS("0000000000000000"), "0", DOCTOR_WARNING, DOCTOR_OK},
        {"4", STATUS("0000000000000000"), "0", DOCTOR_PROBLEM, DOCTOR_OK},
        {"4", STATUS("0000004000000000"), "1", DOCTOR_OK, DOCTOR_WARNING}, /* CAP_PERFMON */
        {"2", STATUS("0000000400200000"), "1", DOCTOR_OK, DOCTOR_OK},      /* SYS_ADMIN, SYSLOG */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sysfs_fake_file files[] = {
            {"/proc/sys/kernel/perf_event_paranoid", cases[i].level},
            {"/proc/sys/kernel/kptr_restrict", cases[i].kptr},
            {"/proc/self/status", cases[i].status},
        };
        struct doctor d = EXAMINE(files);
        assert_int_equal(find(&d, "paranoid")->severity, cases[i].paranoid);
        assert_int_equal(find(&d, "paranoid")->advice != NULL, cases[i].paranoid != DOCTOR_OK);
        assert_int_equal(find(&d, "kptr_restrict")->severity, cases[i].pointers);
        doctor_fini(&d);
    }
}

static void a_kernel_without_events_is_a_problem(void **state) {
    (void)state;
    const struct sysfs_fake_file files[] = {{"/proc/self/status", STATUS("0")}};
    struct doctor d = EXAMINE(files);
    assert_int_equal(find(&d, "perf_events")->severity, DOCTOR_PROBLEM);
    assert_null(find(&d, "paranoid"));
    doctor_fini(&d);
}

static void counters_and_limits_are_looked_for(void **state) {
    (void)state;
    const struct sysfs_fake_file none[] = {{"/sys/bus/event_source/devices/software/type", "1"},
                                           {"/proc/sys/kernel/perf_event_max_sample_rate", "1000"}};
    struct doctor d = EXAMINE(none);
    assert_int_equal(find(&d, "pmu")->severity, DOCTOR_WARNING);
    assert_int_equal(find(&d, "max_sample_rate")->severity, DOCTOR_WARNING);
    assert_int_equal(find(&d, "btf")->severity, DOCTOR_NOTE);
    assert_null(find(&d, "nmi_watchdog"));
    doctor_fini(&d);
    const struct sysfs_fake_file all[] = {
        {"/sys/bus/event_source/devices/cpu/type", "4"},
        {"/sys/kernel/btf/vmlinux", "x"},
        {"/proc/sys/kernel/nmi_watchdog", "1"},
        {"/proc/self/limits",
         "Limit  Soft Limit  Hard Limit  Units\nMax open files            512   4096   files\n"}};
    d = EXAMINE(all);
    assert_int_equal(find(&d, "pmu")->severity, DOCTOR_OK);
    assert_int_equal(find(&d, "btf")->severity, DOCTOR_OK);
    assert_int_equal(find(&d, "nmi_watchdog")->severity, DOCTOR_NOTE);
    assert_int_equal(find(&d, "open_files")->severity, DOCTOR_WARNING);
    doctor_fini(&d);
}

static const char *advice(const struct sysfs_fake_file *files, size_t count, const char *path) {
    static char text[256];
    struct sysfs_fake tree = {files, count};
    struct sysfs system = sysfs_fake(&tree);
    struct doctor d = {0};
    snprintf(text, sizeof text, "%s", doctor_debug_advice(&d, &system, path));
    doctor_fini(&d);
    return text;
}

static void packages_are_those_of_the_system(void **state) {
    (void)state;
    const struct sysfs_fake_file debian[] = {
        {"/etc/os-release", "PRETTY_NAME=\"Debian\"\nID=debian"},
        {"/var/lib/dpkg/info/liblzma5:amd64.list", "/.\n/lib\n/lib/x86_64-linux-gnu/liblzma.so.5.4.1"},
        {"/var/lib/dpkg/info/xz-utils.list", "/usr/bin/xz\n/usr/bin/xzcat"},
        {"/var/lib/dpkg/info/xz-utils.md5sums", "x  usr/bin/xzdiff"}};
#define SERVER "export DEBUGINFOD_URLS=https://debuginfod.debian.net"
    assert_string_equal(advice(debian, 4, "/usr/lib/x86_64-linux-gnu/liblzma.so.5.4.1"),
                        SERVER ", or apt install liblzma5-dbgsym");
    assert_string_equal(advice(debian, 4, "/usr/bin/xz"), SERVER ", or apt install xz-utils-dbgsym");
    assert_string_equal(advice(debian, 4, "/usr/bin/xzdiff"), SERVER);
    assert_string_equal(advice(debian, 4, "/bin/x"), SERVER);
    const struct sysfs_fake_file rocky[] = {
        {"/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"}};
    assert_string_equal(
        advice(rocky, 1, "/usr/bin/xz"),
        "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org, or dnf debuginfo-install /usr/bin/xz");
    assert_string_equal(advice(NULL, 0, "/usr/bin/xz"),
                        "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rights_and_the_level_decide),
        cmocka_unit_test(a_kernel_without_events_is_a_problem),
        cmocka_unit_test(counters_and_limits_are_looked_for),
        cmocka_unit_test(packages_are_those_of_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
