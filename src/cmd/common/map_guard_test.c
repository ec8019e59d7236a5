/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/map_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/files/map.h"

/* A file that is cut short while it is mapped. */
static void test_guard(void **state) {
    (void)state;
    char path[] = "/tmp/sonde-os-test-XXXXXX";
    int fd = mkstemp(path);
    struct os_file f;
    struct os_map m;
    assert_true(fd >= 0 && ftruncate(fd, 1 << 20) == 0 && pwrite(fd, "x", 1, 0) == 1);
    assert_true(os_file_open(path, &f, NULL) && os_map_file(&f, path, &m, NULL));
    assert_int_equal(m.bytes.data[0], 'x');
    assert_int_equal(ftruncate(fd, 0), 0);
    map_guard_install();
    const volatile uint8_t *p = m.bytes.data;
    assert_int_equal(p[0], 0);
    assert_int_equal(p[(1 << 20) - 1], 0);
    os_map_fini(&m);
    os_file_close(&f);
    close(fd);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_guard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
