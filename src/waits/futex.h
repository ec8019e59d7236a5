/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns the lock that a thread waits for in futex(2), by what glibc keeps in it (nptl; the same since 2.25
 * on 64-bit machines):
 *
 *   mutex    +0 the futex word: 0 free, 1 held, 2 held and waited for   +8 owner's tid   +12 users   +16 kind
 *   PI       the word is the owner's tid and two flags: the kernel's own format, see futex(2)
 *   rwlock   -8 readers (bit 0: a writer's turn, bit 1: a writer has it)   +0 the word   +16 writer's tid
 *            for the second of several writers the word lies 4 bytes further on
 *   join     the word is the thread's tid, which the kernel clears when the thread has ended
 *
 * A claim is what the words say. It holds only if a living thread has that tid, which the caller checks.
 * Anything else (condition variables, semaphores, locks of other libraries) gives no claim, as it stores no
 * owner.
 */
#ifndef SONDE_WAITS_FUTEX_H
#define SONDE_WAITS_FUTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAITS_FUTEX_BEFORE = 12, WAITS_FUTEX_AFTER = 24 }; /* how many bytes around the word are read */

struct waits_futex {
    uint32_t op, value; /* as given to the system call */
    bool limited;       /* with a timeout */
    const uint8_t
        *around; /* WAITS_FUTEX_BEFORE bytes, the word, and what follows: WAITS_FUTEX_AFTER in all */
};

enum waits_futex_kind {
    WAITS_FUTEX_UNKNOWN,
    WAITS_FUTEX_MUTEX,
    WAITS_FUTEX_PI,
    WAITS_FUTEX_RWLOCK,
    WAITS_FUTEX_JOIN
};

struct waits_futex_claim {
    enum waits_futex_kind kind;
    uint32_t tid;
    int at;   /* offset of the lock's beginning from the word */
    bool own; /* the thread must be one of the same process */
};

struct waits_futex_claim waits_futex_claim(const struct waits_futex *f);

/* Whether the operation waits at all; flags are ignored. */
bool waits_futex_waits(uint32_t op);
/* Whether the operation's timeout (args[3]) is relative. */
bool waits_futex_relative(uint32_t op);

#endif
