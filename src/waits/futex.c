/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/futex.h"

#include <string.h>

/* linux/futex.h; older headers lack the last ones. */
enum {
    OP_WAIT = 0,
    OP_LOCK_PI = 6,
    OP_WAIT_BITSET = 9,
    OP_WAIT_REQUEUE_PI = 11,
    OP_LOCK_PI2 = 13,
    FLAG_PRIVATE = 128,
    FLAG_REALTIME = 256,
    FLAGS = FLAG_PRIVATE | FLAG_REALTIME,
    PI_TID = 0x3fffffff,
};

/* glibc's: 2 is "locked, and somebody waits"; a rwlock's words have 2 added to 0 or 1 when somebody waits. */
enum { MUTEX_CONTENDED = 2, RWLOCK_WRITER_WAITED = 3, RWLOCK_WRITER = 3 };
/* Type, robust, priority inheritance, priority protection, shared, elision: pthread_mutex_t.__kind has no
 * other bits. */
enum { MUTEX_KINDS = 0x3 | 0x10 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200 };
enum { MUTEX_PI_OR_PROTECT = 0x60 };

static uint32_t word(const struct waits_futex *f, int at) {
    uint32_t v;
    memcpy(&v, f->around + WAITS_FUTEX_BEFORE + at, sizeof v);
    return v;
}

bool waits_futex_waits(uint32_t op) {
    op &= ~(uint32_t)FLAGS;
    return op == OP_WAIT || op == OP_WAIT_BITSET || op == OP_LOCK_PI || op == OP_LOCK_PI2 ||
           op == OP_WAIT_REQUEUE_PI;
}

bool waits_futex_relative(uint32_t op) {
    return (op & ~(uint32_t)FLAGS) == OP_WAIT;
}

static bool is_mutex(const struct waits_futex *f, uint32_t op) {
    uint32_t users = word(f, 12), kind = word(f, 16);
    /* glibc uses FUTEX_WAIT_BITSET only with a timeout; locks of other libraries use it always. */
    return (op == OP_WAIT || (op == OP_WAIT_BITSET && f->limited)) && f->value == MUTEX_CONTENDED &&
           word(f, 0) == MUTEX_CONTENDED && users && users <= INT32_MAX && !(kind & ~(uint32_t)MUTEX_KINDS) &&
           !(kind & MUTEX_PI_OR_PROTECT);
}

/* `turn`: the offset of the word that says whose turn it is. */
static bool is_rwlock(const struct waits_futex *f, uint32_t op, int turn) {
    return op == OP_WAIT_BITSET && f->value == RWLOCK_WRITER_WAITED && word(f, 0) == f->value &&
           (word(f, turn) & 1) && (word(f, turn - 8) & 3) == RWLOCK_WRITER;
}

struct waits_futex_claim waits_futex_claim(const struct waits_futex *f) {
    uint32_t op = f->op & ~(uint32_t)FLAGS;
    bool own = f->op & FLAG_PRIVATE;
    if (op == OP_LOCK_PI || op == OP_LOCK_PI2)
        return (struct waits_futex_claim){WAITS_FUTEX_PI, word(f, 0) & PI_TID, 0, own};
    if (is_mutex(f, op))
        return (struct waits_futex_claim){WAITS_FUTEX_MUTEX, word(f, 8), 0, own};
    if (is_rwlock(f, op, 0))
        return (struct waits_futex_claim){WAITS_FUTEX_RWLOCK, word(f, 16), -8, own};
    if (is_rwlock(f, op, -4))
        return (struct waits_futex_claim){WAITS_FUTEX_RWLOCK, word(f, 12), -12, own};
    /* When a thread ends, the kernel wakes only waiters without the private flag. */
    if ((op == OP_WAIT || op == OP_WAIT_BITSET) && !own && f->value && word(f, 0) == f->value)
        return (struct waits_futex_claim){WAITS_FUTEX_JOIN, f->value, 0, true};
    return (struct waits_futex_claim){0};
}
