/* SPDX-License-Identifier: Apache-2.0 */
/* The pager: the only child process that is started without being asked for. */
#ifndef SONDE_CMD_COMMON_PAGER_H
#define SONDE_CMD_COMMON_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct pager {
    pid_t pid; /* 0: none */
    int err;   /* the original standard error; -1: the pager does not show it */
};

/* Returns the command to run: PERF_PAGER, else PAGER, else the first of the usual ones that is installed.
 * NULL: it is "cat" or empty, or none is installed. Borrowed from the environment or static. */
const char *pager_choice(void);

/* Puts the pager between standard output (and standard error, if that is a terminal, too) and the terminal.
 * False: no pager runs and nothing changed. Once it runs, leaving it early ends us with status 0. */
bool pager_start(struct pager *p, const char *command);

/* Closes our side and waits until the user has left the pager. After that only standard error can be printed
 * to, which is restored. */
void pager_finish(struct pager *p);

#endif
