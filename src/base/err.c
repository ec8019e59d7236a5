/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void fill(struct err *e, enum err_code code, const char *where, const char *fmt, va_list ap) {
    e->code = code;
    snprintf(e->where, sizeof e->where, "%s", where ? where : "");
    vsnprintf(e->message, sizeof e->message, fmt, ap);
}

bool err_set(struct err *e, enum err_code code, const char *where, const char *fmt, ...) {
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        fill(e, code, where, fmt, ap);
        va_end(ap);
    }
    return false;
}

bool err_errno(struct err *e, int errnum, const char *where, const char *fmt, ...) {
    if (!e)
        return false;
    enum err_code code = errnum == EACCES || errnum == EPERM   ? ERR_PERMISSION
                         : errnum == ENOENT || errnum == ESRCH ? ERR_ABSENT
                         : errnum == ENOMEM                    ? ERR_MEMORY
                                                               : ERR_IO;
    va_list ap;
    va_start(ap, fmt);
    fill(e, code, where, fmt, ap);
    va_end(ap);
    size_t n = strlen(e->message);
    snprintf(e->message + n, sizeof e->message - n, ": %s", strerror(errnum));
    return false;
}

bool err_memory(struct err *e, const char *where) {
    return err_set(e, ERR_MEMORY, where, "out of memory");
}
