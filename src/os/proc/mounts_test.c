/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc/mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmocka.h>

static const char MOUNTINFO[] =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 22 0:5 / /home/a\\040b rw,nosuid shared:2 master:3 - fuse.sshfs host: rw\n"
    "31 30 0:6 / /home/a\\040b/local rw - tmpfs tmpfs rw\n"
    "32 22 0:7 / /mnt rw - fuse x rw\n"
    "33 22 0:8 / /mnt rw - ext4 /dev/vdb rw\n"
    "34 22 0:9 / /net rw - autofs a rw\n"
    "35 22 0:9 / /blk rw - fuseblk /dev/vdc rw\n"
    "36 22 cut";

static void test_lists(void **state) {
    (void)state;
    static const struct {
        const char *path;
        bool stall;
    } CASES[] = {
        {"/bin/true", false},
        {"/home/a b/bin/x", true},
        {"/home/a b", true},
        {"/home/a bc/x", false},
        {"/home/a b/local/x", false},
        {"/home/a b/localx", true},
        {"/mnt/x", false},
        {"/net/host/x", true},
        {"/blk/x", true},
        {"/home/a\\040b/x", false},
        {"/", false},
        {"", false},
    };
    struct bytes info = {(const uint8_t *)MOUNTINFO, sizeof MOUNTINFO - 1};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_int_equal(
            os_mounts_stall_in(info, (struct bytes){(const uint8_t *)CASES[i].path, strlen(CASES[i].path)}),
            CASES[i].stall);
    assert_false(os_mounts_stall_in((struct bytes){0}, (struct bytes){(const uint8_t *)"/x", 2}));
}

/* Our own files are there for a wary one too. */
static void test_system(void **state) {
    (void)state;
    struct os_mounts *m = os_mounts_new();
    assert_non_null(m);
    struct os_proc wary = os_proc_wary(m);
    struct os_identity id;
    static const char *const PATHS[] = {"/proc/self/exe", "/proc/self/ns/mnt", "/proc/1", "/"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        assert_false(os_mounts_stall(m, PATHS[i]));
        assert_true(wary.identity(wary.ctx, PATHS[i], &id, NULL));
    }
    os_mounts_free(m);
    os_mounts_free(NULL);
}

/* What is mounted meanwhile counts at once. Nobody stands behind this mount: whoever asked it would wait. */
static void test_changes(void **state) {
    (void)state;
    char folder[] = "/tmp/mounts-XXXXXX", file[64], options[96];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd < 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        print_message("SKIP: no FUSE, or no right to mount\n");
        close(fd);
        skip();
    }
    struct os_mounts *m = os_mounts_new();
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x", folder);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    for (int i = 0; i < 3; i++) {
        assert_false(os_mounts_stall(m, file));
        assert_int_equal(mount("x", folder, "fuse", 0, options), 0);
        assert_true(os_mounts_stall(m, file));
        assert_true(os_mounts_stall(m, file));
        assert_int_equal(umount2(folder, MNT_DETACH), 0);
        close(fd);
        fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    }
    close(fd);
    rmdir(folder);
    os_mounts_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_system),
                                       cmocka_unit_test(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
