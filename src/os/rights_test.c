/* SPDX-License-Identifier: Apache-2.0 */
#include "os/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NONE   "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0"
#define SYSLOG "Name:\tx\nCapEff:\t0000000400000000\nSeccomp:\t0"

static struct os_rights read_rights(const char *paranoid, const char *kptr, const char *status) {
    const struct sysfs_fake_file files[] = {{"/proc/sys/kernel/perf_event_paranoid", paranoid},
                                            {"/proc/sys/kernel/kptr_restrict", kptr},
                                            {"/proc/self/status", status}};
    struct sysfs_fake tree = {files, 3};
    struct sysfs system = sysfs_fake(&tree);
    struct os_rights r;
    os_rights_read(&system, &r);
    return r;
}

/* Each advice was followed on Linux 6.18, and showed them. */
static void what_shows_addresses(void **state) {
    (void)state;
    static const struct {
        const char *paranoid, *kptr, *status, *advice;
    } cases[] = {
        {"2", "0", NONE, "run as root, or sudo sysctl kernel.perf_event_paranoid=1"},
        {"4", "0", NONE, "run as root, or sudo sysctl kernel.perf_event_paranoid=1"},
        {"1", "1", NONE, "run as root, or sudo sysctl kernel.kptr_restrict=0"},
        {"2", "1", NONE, "run as root, or sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
        {"-1", "2", NONE, "sudo sysctl kernel.kptr_restrict=0"},
        {"2", "2", NONE, "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
        {"2", "2", SYSLOG, "sudo sysctl kernel.kptr_restrict=1"},
        {"2", "1", SYSLOG, "run outside of this container, whose rights do not count for that"},
        {NULL, NULL, NONE, "run as root"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct os_rights r = read_rights(cases[i].paranoid, cases[i].kptr, cases[i].status);
        char room[OS_RIGHTS_ROOM];
        assert_string_equal(os_rights_show_addresses(&r, room), cases[i].advice);
    }
}

static void capabilities_and_filters(void **state) {
    (void)state;
    struct os_rights r = read_rights("-1", "2", "Name:\tx\nCapEff:\t0000004000004000\nSeccomp:\t2\n");
    assert_true(r.perfmon && r.ipc_lock && r.filtered && !r.syslog);
    assert_int_equal(r.paranoid, -1);
    assert_int_equal(r.kptr, 2);
    r = read_rights(NULL, NULL, NULL);
    assert_false(r.perfmon || r.ipc_lock || r.filtered || r.syslog);
    assert_int_equal(r.paranoid, OS_RIGHTS_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_shows_addresses),
        cmocka_unit_test(capabilities_and_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
