/* SPDX-License-Identifier: Apache-2.0 */
#include "os/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. The descriptors close on exec; only when that fails is something written. */
static void run_child(const struct os_child *c, int go_read, int failure_write, char *const *argv,
                      const struct os_signals *signals) {
    char byte;
    ssize_t n;
    close(c->go);
    do
        n = read(go_read, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(0); /* the parent gave up */
    if (signals) {
        sigset_t old;
        memcpy(&old, signals->old, sizeof old);
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    execvp(argv[0], argv);
    int why = errno;
    ssize_t sent = write(failure_write, &why, sizeof why);
    _exit(sent == sizeof why ? 127 : 126);
}

/* In the child. */
static void lead_streams(enum os_child_streams streams) {
    int nowhere = streams >= OS_CHILD_ERRORS_ONLY ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (streams == OS_CHILD_OUTPUT_ASIDE)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    if (streams == OS_CHILD_SILENT)
        dup2(nowhere, STDERR_FILENO);
}

bool os_child_start(struct os_child *c, char *const *argv, const struct os_signals *signals,
                    enum os_child_streams streams, struct err *err) {
    int go[2], failure[2];
    if (pipe2(go, O_CLOEXEC) != 0)
        return err_errno(err, errno, argv[0], "cannot make a pipe");
    if (pipe2(failure, O_CLOEXEC) != 0) {
        int why = errno;
        close(go[0]), close(go[1]);
        return err_errno(err, why, argv[0], "cannot make a pipe");
    }
    *c = (struct os_child){.pid = fork(), .go = go[1], .failure = failure[0]};
    if (c->pid == 0) {
        lead_streams(streams);
        run_child(c, go[0], failure[1], argv, signals);
    }
    int why = errno;
    close(go[0]);
    close(failure[1]);
    if (c->pid > 0)
        return true;
    close(c->go), close(c->failure);
    *c = (struct os_child){0};
    return err_errno(err, why, argv[0], "cannot fork");
}

bool os_child_go(struct os_child *c, const char *name, struct err *err) {
    int why = 0;
    ssize_t n = write(c->go, "", 1);
    close(c->go);
    c->go = -1;
    if (n == 1)
        do
            n = read(c->failure, &why, sizeof why);
        while (n < 0 && errno == EINTR);
    close(c->failure);
    if (n != sizeof why)
        return true; /* the pipe closed on exec */
    waitpid(c->pid, NULL, 0);
    c->pid = 0;
    return err_errno(err, why, name, "cannot run the command");
}

static int code_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static uint64_t ns_of(struct timeval t) {
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static pid_t wait_for(struct os_child *c, int *status, int flags) {
    struct rusage used;
    pid_t pid = wait4(c->pid, status, flags, &used);
    if (pid == c->pid) {
        c->user_ns = ns_of(used.ru_utime);
        c->system_ns = ns_of(used.ru_stime);
    }
    return pid;
}

bool os_child_ended(struct os_child *c, int *status) {
    int s;
    if (c->pid <= 0 || wait_for(c, &s, WNOHANG) != c->pid)
        return false;
    c->pid = 0;
    *status = code_of(s);
    return true;
}

int os_child_stop(struct os_child *c) {
    int s = 0;
    if (c->pid <= 0)
        return 0;
    if (c->go >= 0) { /* it still waits, with SIGTERM blocked: the end of the pipe ends it */
        close(c->go);
        close(c->failure);
        c->go = -1;
    } else {
        kill(c->pid, SIGTERM);
    }
    while (wait_for(c, &s, 0) < 0 && errno == EINTR)
        ;
    c->pid = 0;
    return code_of(s);
}
