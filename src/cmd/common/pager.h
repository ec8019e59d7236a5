/* SPDX-License-Identifier: Apache-2.0 */
/* The pager: the one child process on a default path. */
#ifndef SONDE_CMD_COMMON_PAGER_H
#define SONDE_CMD_COMMON_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct pager {
    pid_t pid; /* 0: none */
    int err;   /* standard error as it was; -1: the pager did not get it */
};

/* What to run: PERF_PAGER, else PAGER, else the first of the system's usual ones that is there. NULL when the
 * choice is "cat", empty, or nothing is there. Borrowed from the environment or static. */
const char *pager_choice(void);

/* Puts the pager between standard output (and standard error, if that is a terminal too) and the terminal.
 * False: no pager runs and nothing changed. From then on whoever leaves the pager early ends us, with status
 * 0. */
bool pager_start(struct pager *p, const char *command);

/* Closes our side and waits until the user has left the pager. Nothing can be printed afterwards but on
 * standard error, which is as it was. */
void pager_finish(struct pager *p);

#endif
