/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process that the signal handler waits for; 0: none. */
static volatile sig_atomic_t pager_pid;

/* ^C in a terminal reaches us and the pager. If we died at once, the shell and the pager would both read the
 * terminal, so close the pipe and wait until the user has left the pager. */
static void interrupted(int sig) {
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Ends us without an error when the user leaves the pager early: they have seen enough, and nothing more need
 * be computed. */
static void left(int sig) {
    (void)sig;
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    _exit(0);
}

static bool in_path(const char *name) {
    const char *path = getenv("PATH");
    char full[4096];
    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        if (snprintf(full, sizeof full, "%.*s/%s", (int)n, p, name) < (int)sizeof full &&
            access(full, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

const char *pager_choice(void) {
    static const char *const usual[] = {"pager", "less"};
    const char *choice = getenv("PERF_PAGER");
    if (!choice)
        choice = getenv("PAGER");
    for (size_t i = 0; !choice && i < sizeof usual / sizeof *usual; i++)
        if (in_path(usual[i]))
            choice = usual[i];
    return choice && *choice && strcmp(choice, "cat") != 0 ? choice : NULL;
}

bool pager_start(struct pager *p, const char *command) {
    int fd[2];
    p->pid = 0;
    if (pipe2(fd, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid < 0) {
        close(fd[0]);
        close(fd[1]);
        return false;
    }
    if (pid == 0) {
        dup2(fd[0], STDIN_FILENO);
        /* As perf: do not page short texts, fold long lines, or clear the screen. */
        setenv("LESS", "FRSX", 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(fd[0]);
    fflush(NULL);
    dup2(fd[1], STDOUT_FILENO);
    p->err = isatty(STDERR_FILENO) ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (p->err >= 0)
        dup2(fd[1], STDERR_FILENO);
    close(fd[1]);
    p->pid = pid;
    pager_pid = pid;
    signal(SIGPIPE, left);
    signal(SIGINT, interrupted);
    signal(SIGTERM, interrupted);
    signal(SIGHUP, interrupted);
    return true;
}

void pager_finish(struct pager *p) {
    if (!p->pid)
        return;
    fflush(NULL);
    close(STDOUT_FILENO);
    if (p->err >= 0) { /* it is the pipe, too */
        dup2(p->err, STDERR_FILENO);
        close(p->err);
    }
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
}
