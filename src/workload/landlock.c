/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int landlock(void);

/* landlock(7): struct landlock_ruleset_attr and struct landlock_path_beneath_attr as first published. */
struct ruleset {
    uint64_t handled_access_fs;
};
struct __attribute__((packed)) path_beneath {
    uint64_t allowed_access;
    int32_t parent_fd;
};

enum { READ_FILE = 4, RULE_PATH_BENEATH = 1 };

/* System calls with structs behind pointers, for tracers to show. They restrict nothing, and it does not
 * matter whether this kernel knows them: making them is the point. */
WORKLOAD_FUNCTION int landlock(void) {
    WORKLOAD_FRAME();
    struct ruleset r = {.handled_access_fs = READ_FILE};
    struct path_beneath p = {.allowed_access = READ_FILE, .parent_fd = 14};
    long fd = syscall(SYS_landlock_create_ruleset, &r, sizeof r, 0);
    syscall(SYS_landlock_add_rule, fd, RULE_PATH_BENEATH, &p, 0);
    if (fd >= 0)
        close((int)fd);
    return 0;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    return landlock();
}

const struct workload workload_landlock = {"landlock", "", "the landlock system calls, once", run};
