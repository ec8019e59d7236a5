/* SPDX-License-Identifier: Apache-2.0 */
/* What system calls wait for, and which of their arguments tells that; built on the table of all calls
 * (calls/table.h). */
#ifndef SONDE_WAITS_CALLS_H
#define SONDE_WAITS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum waits_call_kind {
    WAITS_CALL_READ,  /* from the descriptor in `arg` */
    WAITS_CALL_WRITE, /* to it */
    WAITS_CALL_FILE,  /* does something else with it */
    WAITS_CALL_PATH,  /* with the file whose path is in `arg` */
    WAITS_CALL_LOCKF, /* flock, fcntl */
    WAITS_CALL_POLL,  /* poll, ppoll */
    WAITS_CALL_SELECT,
    WAITS_CALL_EPOLL,
    WAITS_CALL_FUTEX,
    WAITS_CALL_FUTEXES,  /* futex_waitv */
    WAITS_CALL_SLEEP,    /* the time is where `arg` points to */
    WAITS_CALL_CHILD,    /* wait4: `arg` is a pid */
    WAITS_CALL_CHILDREN, /* waitid: kind and number */
    WAITS_CALL_SIGNAL,
    WAITS_CALL_VFORK,
    WAITS_CALL_IPC,
    WAITS_CALL_OTHER,
};

struct waits_call {
    const char *name;
    enum waits_call_kind kind;
    uint8_t arg;
    const char *verb; /* of READ, WRITE and FILE: "read of"; NULL: "NAME of" */
};

/* The call of that number on this machine. False: there is none, or it is not known. */
bool waits_call_find(int64_t number, struct waits_call *out);

#endif
