/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads wait for, named so that waits which are alike have the same name: kind and path of a file,
 * other end of a pipe or socket, kind and symbol of a lock, name of a child; never a number of a process or
 * descriptor, nor an address of memory. The kernel says what it is (bpf/off_cpu.h), taken when the wait
 * began; /proc is asked for the rest while it is still there.
 *
 *     /var/log/syslog      a pipe, written by yes      unix socket to postgres      TCP socket to 10.0.0.1:80
 *     mutex the_lock (a.out)      rwlock      the end of child sh
 */
#ifndef SONDE_WAITS_NAME_NAMES_H
#define SONDE_WAITS_NAME_NAMES_H

#include "bpf/off_cpu.h"
#include "waits/ends.h"
#include "waits/name/symbols.h"

enum { WAITS_NAME_ROOM = 160 };

/* Zeroed, then `proc` is set. What was read of other processes is kept until waits_names_forget. */
struct waits_names {
    const struct os_proc *proc;
    struct waits_symbols symbols;
    struct waits w; /* only the processes */
    struct waits_ends ends;
    bool looked; /* `w` and `ends` are there */
    bool failed; /* memory ran out */
};

/* Which argument of the system call tells what it waits for. */
struct bpf_off_cpu_call waits_names_call(int64_t number);

enum waits_named {
    WAITS_UNNAMED, /* no more is known than the system call */
    WAITS_NAMED,
    WAITS_NOT_YET, /* the same, but another look at it may tell more: a lock that was just given away */
};
enum waits_named waits_names_find(struct waits_names *n, const struct bpf_off_cpu_object *o,
                                  char name[WAITS_NAME_ROOM]);
/* Replaces what would break lines, or stacks as text: names are of other people's making. */
void waits_names_clean(char *name);

void waits_names_forget(struct waits_names *n);

#endif
