/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns the lock that a thread waits for in futex(2), by what glibc keeps in it (nptl; the same since 2.25
 * on 64-bit machines):
 *
 *   mutex    +0 word: 0 free, 1 held, 2 held and waited for   +8 owner's tid   +12 users   +16 kind
 *   PI word  owner's tid and two flags: futex(2), "Priority-inheritance futexes", the kernel's own format
 *   rwlock   -8 readers (bit 0: a writer's turn, bit 1: a writer has it)   +0 word, its turn   +16 writer's
 * tid or, for the second of several writers, the word lies at +4 of that join     the word is the thread's
 * tid, which the kernel clears when it has ended
 *
 * A claim is what the words say. It holds only if a living thread has that number: the caller checks it. All
 * else (condition variables, semaphores, locks of other libraries) makes no claim: there is no owner in it.
 */
#ifndef SONDE_WAITS_FUTEX_H
#define SONDE_WAITS_FUTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAITS_FUTEX_BEFORE = 12, WAITS_FUTEX_AFTER = 24 }; /* bytes around the word that are looked at */

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
    int at;   /* where the lock begins, from the word on */
    bool own; /* the thread must be one of the same process */
};

struct waits_futex_claim waits_futex_claim(const struct waits_futex *f);

/* Whether the operation waits at all, by its number without flags. */
bool waits_futex_waits(uint32_t op);
/* Where that operation has its timeout is args[3]; whether it is a time from now on. */
bool waits_futex_relative(uint32_t op);

#endif
