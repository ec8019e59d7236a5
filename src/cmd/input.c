/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_INPUT "perf.data"

const char *input_path(const char *given) {
    struct stat st;
    if (given)
        return given;
    return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : DEFAULT_INPUT;
}

bool input_check(const char *path, bool force, struct err *e) {
    if (strcmp(path, "-") == 0)
        return true;
    struct stat st;
    int errnum = stat(path, &st) != 0 ? errno : access(path, R_OK) != 0 ? errno : 0;
    if (errnum) {
        const char *hint = strcmp(path, DEFAULT_INPUT) == 0 ? "  (try 'perf record' first)" : "";
        enum err_code code = errnum == ENOENT ? ERR_ABSENT : errnum == EACCES ? ERR_PERMISSION : ERR_IO;
        return err_set(e, code, "", "failed to open %s: %s%s", path, strerror(errnum), hint);
    }
    if (!force && st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(e, ERR_PERMISSION, "",
                       "File %s not owned by current user or root (use -f to override)", path);
    if (S_ISREG(st.st_mode) && st.st_size == 0)
        return err_set(e, ERR_BROKEN, "", "zero-sized data (%s), nothing to do!", path);
    return true;
}
