/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of machines made of a table of files. */
#include "cmd/doctor/doctor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/perfdata/events/attr.h"
#include "os/perf/perf_event_fake.h"
#include "os/proc/proc_fake.h"

static const struct doctor_finding *find(const struct doctor *d, const char *id) {
    for (size_t i = 0; i < d->list.count; i++)
        if (!strcmp(d->list.items[i].id, id))
            return &d->list.items[i];
    return NULL;
}

/* A kernel that allows what its level says, and kallsyms with addresses or without. */
struct machine {
    int user, kernel, cpus, counters, tracepoint; /* errnos */
    bool hidden;
};

static int refuse(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    const struct machine *m = ctx;
    struct perfdata_attr a;
    (void)cpu;
    perfdata_attr_decode(attr, false, &a);
    return a.type == PERFDATA_TYPE_HARDWARE         ? m->counters
           : a.type == PERFDATA_TYPE_TRACEPOINT     ? m->tracepoint
           : pid < 0                                ? m->cpus
           : a.flags & PERFDATA_ATTR_EXCLUDE_KERNEL ? m->user
                                                    : m->kernel;
}

static struct doctor examine(struct machine m, const struct sysfs_fake_file *files, size_t count) {
    struct sysfs_fake tree = {files, count};
    struct sysfs system = sysfs_fake(&tree);
    const struct os_proc_fake_file list[] = {
        {"/proc/kallsyms",
         m.hidden ? (struct bytes)OS_PROC_TEXT("0000000000000000 T _text\n0000000000000000 T _etext\n")
                  : (struct bytes)OS_PROC_TEXT("ffffffff81000000 T _text\nffffffff82000000 T _etext\n")}};
    const struct os_proc_fake processes = {.files = list, .file_count = 1};
    struct os_proc proc = os_proc_fake(&processes);
    struct os_perf_fake kernel;
    struct doctor d = {0};
    os_perf_fake_init(&kernel);
    kernel.refuse = refuse;
    kernel.refuse_ctx = &m;
    unsetenv("DEBUGINFOD_URLS");
    doctor_machine(&d, &system, &kernel.perf, &proc);
    assert_false(d.failed);
    for (size_t i = 0; i < kernel.events.count; i++)
        assert_true(kernel.events.items[i].closed);
    os_perf_fake_fini(&kernel);
    return d;
}

#define EXAMINE(machine, files) examine(machine, files, sizeof(files) / sizeof(files)[0])
static const struct machine ALL_ALLOWED;

#define STATUS(caps) "Name:\tx\nCapEff:\t" caps "\nCapBnd:\t0"
#define NO_CAPS      STATUS("0000000000000000")
#define ALL_CAPS     STATUS("000001ffffffffff")

/* Whatever the level says: what counts is what the kernel does. */
static void what_was_tried_decides(void **state) {
    (void)state;
    static const struct {
        const char *level;
        struct machine machine;
        enum doctor_severity severity;
        const char *text, *advice;
    } cases[] = {
        {"-1",
         {0},
         DOCTOR_OK,
         "user code, the kernel and whole CPUs may be recorded (perf_event_paranoid is -1)",
         NULL},
        {"4", {0}, DOCTOR_OK, "whole CPUs may be recorded (perf_event_paranoid is 4)", NULL},
        {"1",
         {.cpus = EACCES},
         DOCTOR_NOTE,
         "but no whole CPUs",
         "kernel.perf_event_paranoid=-1, or sudo setcap"},
        {"4",
         {.cpus = EACCES, .kernel = EACCES},
         DOCTOR_WARNING,
         "only user code of one's own processes may be "
         "recorded (perf_event_paranoid is 4)",
         "kernel.perf_event_paranoid=-1"},
        {"3",
         {.cpus = EACCES, .kernel = EACCES, .user = EACCES},
         DOCTOR_PROBLEM,
         "nothing may be recorded",
         "kernel.perf_event_paranoid=2"},
        {"1",
         {.cpus = EPERM, .kernel = EPERM, .user = EPERM},
         DOCTOR_PROBLEM,
         "nothing may be recorded",
         "a container or a security module forbids it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sysfs_fake_file files[] = {{"/proc/sys/kernel/perf_event_paranoid", cases[i].level},
                                                {"/proc/self/status", NO_CAPS}};
        struct doctor d = EXAMINE(cases[i].machine, files);
        const struct doctor_finding *f = find(&d, "paranoid");
        assert_int_equal(f->severity, cases[i].severity);
        assert_non_null(strstr(f->text, cases[i].text));
        assert_int_equal(f->advice != NULL, cases[i].advice != NULL);
        assert_true(!f->advice || strstr(f->advice, cases[i].advice));
        doctor_fini(&d);
    }
}

static void a_containers_filter_is_named(void **state) {
    (void)state;
    const struct sysfs_fake_file files[] = {{"/proc/self/status", NO_CAPS "\nSeccomp:\t2\n"}};
    struct doctor d = EXAMINE(((struct machine){EPERM, EPERM, EPERM, EPERM, EPERM, false}), files);
    assert_non_null(strstr(find(&d, "paranoid")->advice, "--cap-add PERFMON"));
    doctor_fini(&d);
}

static void addresses_are_looked_at(void **state) {
    (void)state;
    static const struct {
        bool hidden;
        const char *kptr, *status, *advice;
    } cases[] = {
        {false, "2", NO_CAPS, NULL},
        {true, "0", NO_CAPS, "run as root, or sudo sysctl kernel.perf_event_paranoid=1"},
        {true, "1", NO_CAPS,
         "run as root, or sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
        {true, "2", ALL_CAPS, "sudo sysctl kernel.kptr_restrict=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sysfs_fake_file files[] = {{"/proc/sys/kernel/perf_event_paranoid", "2"},
                                                {"/proc/sys/kernel/kptr_restrict", cases[i].kptr},
                                                {"/proc/self/status", cases[i].status}};
        struct doctor d = EXAMINE(((struct machine){.hidden = cases[i].hidden}), files);
        const struct doctor_finding *f = find(&d, "kptr_restrict");
        assert_int_equal(f->severity, cases[i].advice ? DOCTOR_WARNING : DOCTOR_OK);
        if (cases[i].advice)
            assert_string_equal(f->advice, cases[i].advice);
        doctor_fini(&d);
    }
}

static void tracefs_is_absent_closed_or_open(void **state) {
    (void)state;
#define ID "/sys/kernel/tracing/events/sched/sched_process_exec/id"
    const struct sysfs_fake_file none[] = {{"/proc/self/status", NO_CAPS}},
                                 unmounted[] = {{"/sys/kernel/tracing/", NULL}},
                                 closed[] = {{ID, SYSFS_FAKE_DENIED}}, open[] = {{ID, "300"}};
    struct doctor d = EXAMINE(ALL_ALLOWED, none);
    assert_non_null(strstr(find(&d, "tracefs")->text, "no tracepoints"));
    doctor_fini(&d);
    d = EXAMINE(ALL_ALLOWED, unmounted);
    assert_non_null(strstr(find(&d, "tracefs")->text, "not mounted"));
    doctor_fini(&d);
    d = EXAMINE(ALL_ALLOWED, closed);
    assert_non_null(strstr(find(&d, "tracefs")->text, "closed"));
    assert_null(strstr(find(&d, "tracefs")->text, "not mounted"));
    doctor_fini(&d);
    d = EXAMINE(((struct machine){.tracepoint = EPERM}), open);
    assert_int_equal(find(&d, "tracefs")->severity, DOCTOR_NOTE);
    assert_non_null(strstr(find(&d, "tracefs")->advice, "kernel.perf_event_paranoid=-1"));
    doctor_fini(&d);
    d = EXAMINE(ALL_ALLOWED, open);
    assert_int_equal(find(&d, "tracefs")->severity, DOCTOR_OK);
    doctor_fini(&d);
}

static void a_kernel_without_events_is_a_problem(void **state) {
    (void)state;
    const struct sysfs_fake_file files[] = {{"/proc/self/status", STATUS("0")}};
    struct doctor d = EXAMINE(((struct machine){ENOSYS, ENOSYS, ENOSYS, ENOSYS, ENOSYS, false}), files);
    assert_int_equal(find(&d, "perf_events")->severity, DOCTOR_PROBLEM);
    assert_null(find(&d, "paranoid"));
    doctor_fini(&d);
}

static void counters_and_limits_are_looked_for(void **state) {
    (void)state;
    const struct sysfs_fake_file none[] = {{"/sys/bus/event_source/devices/software/type", "1"},
                                           {"/proc/sys/kernel/perf_event_max_sample_rate", "1000"}};
    struct doctor d = EXAMINE(((struct machine){.counters = ENOENT}), none);
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
         "Limit  Soft Limit  Hard Limit  Units\nMax open files            256   512   files\n"}};
    d = EXAMINE(ALL_ALLOWED, all);
    assert_int_equal(find(&d, "pmu")->severity, DOCTOR_OK);
    assert_int_equal(find(&d, "btf")->severity, DOCTOR_OK);
    assert_int_equal(find(&d, "nmi_watchdog")->severity, DOCTOR_NOTE);
    assert_int_equal(find(&d, "open_files")->severity, DOCTOR_WARNING);
    doctor_fini(&d);
}

static const char *advice(const struct sysfs_fake_file *files, size_t count, const char *path) {
    static char text[1024];
    struct sysfs_fake tree = {files, count};
    struct sysfs system = sysfs_fake(&tree);
    struct doctor d = {0};
    snprintf(text, sizeof text, "%s", doctor_debug_advice(&d, &system, path));
    doctor_fini(&d);
    return text;
}

static void packages_are_those_of_the_system(void **state) {
    (void)state;
    struct sysfs_fake_file debian[] = {
        {"/etc/os-release", "PRETTY_NAME=\"Debian\"\nVERSION_CODENAME=bookworm\nID=debian"},
        {"/var/lib/dpkg/info/liblzma5:amd64.list", "/.\n/lib\n/lib/x86_64-linux-gnu/liblzma.so.5.4.1"},
        {"/var/lib/dpkg/info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6"},
        {"/var/lib/dpkg/info/xz-utils.list", "/usr/bin/xz\n/usr/bin/xzcat"},
        {"/var/lib/dpkg/info/xz-utils.md5sums", "x  usr/bin/xzdiff"},
        {"/etc/apt/sources.list.d/debian.sources",
         "Types: deb\nURIs: https://mirror.example/debian-security\nURIs: https://mirror.example/debian/\n"}};
#define SERVER "export DEBUGINFOD_URLS=https://debuginfod.debian.net"
#define ARCHIVE                                                                      \
    "echo 'deb https://mirror.example/debian-debug bookworm-debug main' | sudo tee " \
    "/etc/apt/sources.list.d/debug.list && sudo apt update && "
    assert_string_equal(advice(debian, 6, "/usr/lib/x86_64-linux-gnu/liblzma.so.5.4.1"),
                        SERVER ", or " ARCHIVE "sudo apt install liblzma5-dbgsym");
    assert_string_equal(advice(debian, 6, "/usr/bin/xz"),
                        SERVER ", or " ARCHIVE "sudo apt install xz-utils-dbgsym");
    assert_string_equal(advice(debian, 6, "/usr/bin/xzdiff"), SERVER);
    assert_string_equal(advice(debian, 6, "/bin/x"), SERVER);
    /* In the main archive. */
    assert_string_equal(advice(debian, 6, "/usr/lib/x86_64-linux-gnu/libc.so.6"),
                        SERVER ", or sudo apt install libc6-dbg");
    debian[5].text = "deb [signed-by=/x] https://mirror.example/debian/pool main";
    assert_string_equal(advice(debian, 6, "/usr/bin/xz"),
                        SERVER ", or with Debian's archive debian-debug among apt's sources "
                               "(https://wiki.debian.org/HowToGetABacktrace), sudo apt install "
                               "xz-utils-dbgsym");
    debian[5].text = "URIs: https://mirror.example/debian-debug";
    assert_string_equal(advice(debian, 6, "/usr/bin/xz"), SERVER ", or sudo apt install xz-utils-dbgsym");
    debian[0].text = "ID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=noble\nVERSION_CODENAME=noble";
    assert_string_equal(
        advice(debian, 6, "/usr/bin/xz"),
        "export DEBUGINFOD_URLS=https://debuginfod.ubuntu.com, or sudo apt install ubuntu-dbgsym-keyring && "
        "printf 'deb http://ddebs.ubuntu.com %s main restricted universe multiverse\\n' noble noble-updates "
        "| "
        "sudo tee /etc/apt/sources.list.d/debug.list && sudo apt update && sudo apt install xz-utils-dbgsym");
    debian[0].text = "ID=kali\nID_LIKE=debian\nVERSION_CODENAME=kali-rolling"; /* Kali's debug packages are
                                                                                  not in Debian's archive */
    assert_string_equal(advice(debian, 6, "/usr/bin/xz"),
                        "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org");
    debian[0].text = "ID=arch"; /* whose debug packages no repository of its own has */
    assert_string_equal(advice(debian, 6, "/usr/bin/xz"),
                        "export DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
    const struct sysfs_fake_file rocky[] = {
        {"/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"}};
    assert_string_equal(
        advice(rocky, 1, "/usr/bin/xz"),
        "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org, or sudo dnf debuginfo-install /usr/bin/xz "
        "(which turns its debuginfo repositories on)");
    assert_string_equal(advice(NULL, 0, "/usr/bin/xz"),
                        "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_tried_decides),
        cmocka_unit_test(a_containers_filter_is_named),
        cmocka_unit_test(addresses_are_looked_at),
        cmocka_unit_test(tracefs_is_absent_closed_or_open),
        cmocka_unit_test(a_kernel_without_events_is_a_problem),
        cmocka_unit_test(counters_and_limits_are_looked_for),
        cmocka_unit_test(packages_are_those_of_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
