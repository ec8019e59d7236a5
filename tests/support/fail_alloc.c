/* SPDX-License-Identifier: Apache-2.0 */
#include "fail_alloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

static atomic_long left = -1;
static atomic_bool hit;

void fail_alloc_after(long n) {
    left = n;
    hit = false;
}

bool fail_alloc_hit(void) {
    left = -1;
    return hit;
}

static bool fails(void) {
    if (left < 0 || left-- != 0) /* one thread alone comes to 0 */
        return false;
    hit = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t n) {
    return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t count, size_t n) {
    return fails() ? NULL : __real_calloc(count, n);
}
void *__wrap_realloc(void *p, size_t n) {
    return fails() ? NULL : __real_realloc(p, n);
}
char *__wrap_strdup(const char *s) {
    return fails() ? NULL : __real_strdup(s);
}
