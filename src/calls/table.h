/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of an architecture: their names by number, and what their arguments are. The tables are
 * made by scripts/syscalls.py. On architectures without a table calls have numbers only.
 */
#ifndef SONDE_CALLS_TABLE_H
#define SONDE_CALLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/sets.h"
#include "calls/shapes.h"

enum { CALLS_ARGS = 6 };

/* What an argument, or a result, is. */
enum calls_kind {
    CALLS_DEC,
    CALLS_UNSIGNED,
    CALLS_HEX, /* an address, or bits without names */
    CALLS_SET, /* see its set */
    CALLS_FD,
    CALLS_DFD,   /* a directory's descriptor, or AT_FDCWD */
    CALLS_NEWFD, /* a number that is to become a descriptor */
    CALLS_PATH,
    CALLS_TEXT,
    CALLS_DATA, /* bytes */
    CALLS_SOCKADDR,
    CALLS_STRUCT,  /* see its shape */
    CALLS_TEXTS,   /* pointers to texts, to NULL */
    CALLS_VECTORS, /* struct iovec and what is there */
    CALLS_MESSAGE, /* struct msghdr, likewise */
    CALLS_MODE,
    CALLS_PID, /* of a thread or a process: its name is shown, too */
    CALLS_PLAIN_PID,
    CALLS_SIGNAL,
    CALLS_IOCTL,
    CALLS_FCNTL,     /* depends on the command before */
    CALLS_PRCTL,     /* likewise */
    CALLS_SOCKOPT,   /* depends on the level before */
    CALLS_SOCKPROTO, /* depends on the family */
    CALLS_TIMEOUT,   /* a result: 0 means a timeout */
    CALLS_NEVER,     /* a result: there is none, the thread ends */
    CALLS_NONE,      /* a result: there is none, as registers are restored */
    /* Of members of structs. */
    CALLS_SIGSET,
    CALLS_HANDLER, /* of a signal */
    CALLS_WAIT_STATUS,
    CALLS_CPUS,    /* a mask */
    CALLS_OPTION,  /* of a socket: depends on its size */
    CALLS_CONTROL, /* ioctl's: depends on the command before */
    CALLS_DEVICE,
    CALLS_FILE_MODE, /* with the file's type */
    CALLS_LIMIT,
    CALLS_KINDS,
};

/* When what an argument points to is what the call is about. */
enum calls_when {
    CALLS_IN,
    CALLS_OUT,      /* the kernel writes it, if the call succeeds */
    CALLS_POSITIVE, /* if its result is above 0 */
    CALLS_BOTH,     /* the kernel changes it */
};

/* How many there are. */
enum calls_many {
    CALLS_ONE,
    CALLS_PAIR,
    CALLS_NEXT, /* as the next argument says, or the one before, or the result: as elements, or as bytes */
    CALLS_NEXT_BYTES,
    CALLS_BEFORE_BYTES,
    CALLS_RESULT,
    CALLS_RESULT_BYTES,
    CALLS_RESULT_NEXT, /* bytes: the lesser of the two */
    CALLS_LENGTH,      /* bytes: as the number says that the next argument points to */
};

struct calls_arg {
    const char *name;
    uint8_t kind;  /* enum calls_kind */
    uint8_t set;   /* enum calls_set_id */
    int8_t width;  /* bytes that count; negative: it is signed */
    uint8_t shape; /* enum calls_shape_id; of CALLS_STRUCT */
    uint8_t when;  /* enum calls_when */
    uint8_t many;  /* enum calls_many */
};

struct calls_row {
    const char *name; /* the kernel's own: several calls may share a row */
    uint8_t returns;  /* enum calls_kind */
    uint8_t count;
    struct calls_arg args[CALLS_ARGS];
};

struct calls_table {
    const char *machine;
    enum calls_flavour flavour;
    const struct calls_table_entry *entries; /* by number; name NULL: there is none */
    size_t count;
};

struct calls_table_entry {
    const char *name;
    const struct calls_row *row; /* NULL: its arguments are not known */
};

/* The table of a machine (uname(2)'s name: "x86_64", "aarch64" ...; NULL: not known), or of its 32-bit
 * programs. NULL: there is none. */
const struct calls_table *calls_table(const char *machine, bool compat);

/* By number; NULL: unknown. `t` may be NULL. */
const char *calls_table_name(const struct calls_table *t, int64_t number);
const struct calls_row *calls_table_row(const struct calls_table *t, int64_t number);

/* Whether one of its calls has a name that fits the glob. */
bool calls_table_has(const struct calls_table *t, const char *glob);

#endif
