/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error value. A function that can fail takes `struct err *`, fills it
 * and returns false or NULL; nobody below cmd/ prints.
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum err_code {
    ERR_NONE = 0,
    ERR_ABSENT,      /* what was asked for is not there; nothing is wrong with the input */
    ERR_BROKEN,      /* the input contradicts itself or its format */
    ERR_IO,          /* the system said no: read, write, open */
    ERR_MEMORY,      /* an allocation failed */
    ERR_USAGE,       /* the user asked for something impossible */
    ERR_UNSUPPORTED, /* valid, but this build or version cannot do it */
    ERR_PERMISSION,  /* the system refused for want of rights */
};

struct err {
    enum err_code code;
    char message[400]; /* one line, no newline: what, and what to do */
    char where[256];   /* file, option or record concerned; may be empty */
};

#define ERR_INIT ((struct err){0})

/* Fills `e` (which may be NULL) and returns false, so that `return err_set(...)` reads well. */
bool err_set(struct err *e, enum err_code code, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* As err_set, with ": strerror(errnum)" appended; the code is ERR_PERMISSION, ERR_ABSENT, ERR_MEMORY or
 * ERR_IO according to errnum. */
bool err_errno(struct err *e, int errnum, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "out of memory", where = what was being built. Returns false. */
bool err_memory(struct err *e, const char *where);

#endif
