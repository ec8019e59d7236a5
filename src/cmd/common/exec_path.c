/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/exec_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char VARIABLE[] = "PERF_EXEC_PATH";

const char *exec_path_given(void) {
    const char *given = getenv(VARIABLE);
    return given && *given ? given : NULL;
}

bool exec_path_give(const char *folder, struct err *err) {
    return setenv(VARIABLE, folder, 1) == 0 || err_memory(err, "--exec-path");
}

/* Makes the path of a place next to the program's folder; symbolic links to the program are resolved. */
static bool beside_program(const char *place, char *path, size_t size) {
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = 0;
    slash = slash ? strrchr(exe, '/') : NULL;
    if (!slash)
        return false;
    *slash = 0;
    int length = snprintf(path, size, "%s/%s", exe, place);
    return length > 0 && (size_t)length < size;
}

bool exec_path_own(char *path, size_t size, struct err *err) {
    static const char *const places[] = {"libexec/sonde", "share/sonde", "share"};
    char probe[PATH_MAX + 128];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!beside_program(places[i], path, size))
            continue;
        snprintf(probe, sizeof probe, "%s/scripts/python/Perf-Trace-Util/sonde_script.py", path);
        if (access(probe, R_OK) == 0)
            return true;
    }
    return err_set(err, ERR_ABSENT, "script", "the Python modules that come with sonde are not installed");
}

void exec_path_own_filters(char *path, size_t size) {
    if (!beside_program("libexec/sonde/dlfilters", path, size))
        *path = 0;
}

static bool is_below(const char *folder, const char *name, char *path, size_t size) {
    int n = snprintf(path, size, "%s/%s", folder, name);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

bool exec_path_find(const char *name, char *path, size_t size) {
    const char *given = exec_path_given();
    char own[PATH_MAX];
    struct err err;
    return (given && is_below(given, name, path, size)) ||
           (exec_path_own(own, sizeof own, &err) && is_below(own, name, path, size));
}

bool exec_path_export(struct err *err) {
    char own[PATH_MAX], path[3 * PATH_MAX];
    const char *old = getenv("PATH");
    if (!exec_path_own(own, sizeof own, err) || (!exec_path_given() && !exec_path_give(own, err)))
        return false;
    int n = snprintf(path, sizeof path, "%s%s%s", own, old && *old ? ":" : "", old ? old : "");
    if (n < 0 || (size_t)n >= sizeof path)
        return err_set(err, ERR_USAGE, "PATH", "is too long");
    return setenv("PATH", path, 1) == 0 || err_memory(err, "PATH");
}
