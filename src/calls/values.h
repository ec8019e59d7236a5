/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments and the result of a system call as text: "openat(dfd: CWD, filename: "/etc/passwd")", "3".
 * Whatever programs gave is shown escaped. */
#ifndef SONDE_CALLS_VALUES_H
#define SONDE_CALLS_VALUES_H

#include "base/text/out.h"
#include "calls/calls.h"

struct calls_values {
    struct calls *calls; /* names of threads */
    /* Returns the file that a process's descriptor refers to, or NULL; valid until the next call. The
     * function may be NULL. */
    const char *(*file)(void *ctx, uint32_t pid, int32_t fd);
    void *ctx;
    const struct calls_shape *shapes; /* CALLS_SHAPE_COUNT of the traced kernel; NULL: calls_shapes */
    bool no_names;                    /* argument names are left out */
    bool prefix;                      /* constants with their prefix in C */
    bool whole;                       /* minor members of structs are shown, too */
    bool zeros;                       /* zeros without a name are shown, too */
};

enum { CALLS_NAME_MAX = 32 }; /* the room that calls_values_name needs */

/* The call's name; "syscall_9999" in `room` if it has none. */
const char *calls_values_name(const struct calls *c, const struct calls_call *call,
                              char room[CALLS_NAME_MAX]);

/* Appends the arguments, without parentheses. Nothing if the call's beginning was not seen. */
void calls_values_args(const struct calls_values *v, const struct calls_call *call, struct out *o);
/* Likewise, but only what the kernel has written. */
void calls_values_written(const struct calls_values *v, const struct calls_call *call, struct out *o);

/* Appends a result: "3", "-1 ENOENT (No such file or directory)", "?" */
void calls_values_result(const struct calls_values *v, const struct calls_call *call, struct out *o);

/* Whether the result is an error, of which *number is the errno; restarts are none. */
bool calls_values_failed(const struct calls_call *call, uint32_t *number);

/* Appends a text with escapes, in quotes; `cut`: with three dots after them. */
void calls_values_text(const uint8_t *p, size_t size, bool cut, struct out *o);

#endif
