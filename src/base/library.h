/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared libraries that few runs need, loaded where one does: to relocate a large one takes longer than all
 * else that a short command does.
 */
#ifndef SONDE_BASE_LIBRARY_H
#define SONDE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A function and where a pointer to it goes. */
struct library_function {
    const char *name;
    void *to;
};

/* Loads the library of that file name (dlopen(3)) and finds its functions: a handle for library_unload, or
 * NULL with ERR_UNSUPPORTED, which names the file. */
void *library_load(const char *file, const struct library_function *functions, size_t count, struct err *err);
void library_unload(void *library); /* NULL is fine */

#define LIBRARY_TEXT_OF(x) #x
/* A macro's value as text, for a library's version. */
#define LIBRARY_TEXT(x) LIBRARY_TEXT_OF(x)

#endif
