/* SPDX-License-Identifier: Apache-2.0 */
#include "os/run/objdump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

extern char **environ;

enum { DEFAULT_MS = 10000, LINE_MOST = 256, HEAD_MOST = 4096, READ_BYTES = 65536 };

typedef VEC(char *) texts;

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Ours, but in the C locale: its headings and messages are translated. */
static bool make_environment(char *locale, texts *out) {
    for (char **e = environ; e && *e; e++) {
        char **to = strncmp(*e, "LC_ALL=", 7) && strncmp(*e, "LANGUAGE=", 9) ? vec_push(out) : NULL;
        if (to)
            *to = *e;
    }
    char **to = vec_push(out);
    if (to)
        *to = locale;
    return to && vec_push(out);
}

/* A file without a name that holds the code; -1 and *err on failure. */
static int code_file(struct bytes code, struct err *err) {
    int fd = memfd_create("code", MFD_CLOEXEC);
    size_t done = 0;
    while (fd >= 0 && done < code.size) {
        ssize_t n = write(fd, code.data + done, code.size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int why = errno;
            close(fd);
            errno = why;
            fd = -1;
            break;
        }
        done += (size_t)n;
    }
    if (fd < 0)
        err_errno(err, errno, "objdump", "cannot hand the code on");
    else
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* The code is its standard input; standard output and error are `output`. A process group of its own, so that
 * whatever it starts is ended with it. */
static int spawn(pid_t *pid, char *const *argv, char *const *environment, int code, int output) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, pipe_signal;
    sigemptyset(&none);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    int why = posix_spawn_file_actions_init(&files);
    if (why)
        return why;
    why = posix_spawnattr_init(&attr);
    if (!why) {
        posix_spawnattr_setflags(&attr,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attr, 0);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setsigdefault(&attr, &pipe_signal);
        why = posix_spawn_file_actions_adddup2(&files, code, STDIN_FILENO);
        if (!why)
            why = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
        if (!why)
            why = posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
        if (!why)
            why = posix_spawnp(pid, argv[0], &files, &attr, argv, environment);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return why;
}

static bool start(const struct os_objdump *how, int code, uint64_t address, int output, pid_t *pid) {
    char at[64], machine[64], style[256];
    char *argv[16] = {(char *)how->program};
    size_t n = 1;
    snprintf(at, sizeof at, "--adjust-vma=0x%" PRIx64, address);
    snprintf(machine, sizeof machine, "--architecture=%s", how->machine);
    char *const fixed[] = {
        "--disassemble-all", "--disassemble-zeroes", "--no-show-raw-insn", "--target=binary", machine, at};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = fixed[i];
    if (how->style) {
        snprintf(style, sizeof style, "--disassembler-options=%s", how->style);
        argv[n++] = style;
    }
    argv[n++] = "/proc/self/fd/0";
    char locale[] = "LC_ALL=C";
    texts environment = {0};
    errno = ENOMEM;
    int why =
        make_environment(locale, &environment) ? spawn(pid, argv, environment.items, code, output) : ENOMEM;
    vec_fini(&environment);
    errno = why;
    return why == 0;
}

/* Reads to the end of its output. */
static bool collect(int fd, uint64_t until_ms, size_t most, struct bytes *text, struct err *err) {
    VEC(uint8_t) all = {0};
    bool ok = false;
    for (;;) {
        uint64_t now = now_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, now < until_ms ? (int)(until_ms - now) : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            err_set(err, ERR_IO, "objdump", "it took too long and was ended");
            break;
        }
        if (!vec_reserve(&all, all.count + READ_BYTES)) {
            err_memory(err, "objdump");
            break;
        }
        ssize_t n = read(fd, all.items + all.count, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n == 0;
        if (n < 0)
            err_errno(err, errno, "objdump", "cannot read what it prints");
        if (n <= 0)
            break;
        all.count += (size_t)n;
        if (all.count > most) {
            err_set(err, ERR_IO, "objdump", "it printed more than so much code can need and was ended");
            break;
        }
    }
    *text = (struct bytes){all.items, all.count};
    return ok;
}

/* The last line that it printed, for messages. */
static struct bytes last_line(struct bytes text) {
    size_t end = text.size;
    while (end && text.data[end - 1] == '\n')
        end--;
    size_t start = end;
    while (start && text.data[start - 1] != '\n')
        start--;
    return (struct bytes){end ? text.data + start : text.data, end - start};
}

static bool finish(pid_t pid, bool whole, struct bytes text, const char *program, struct err *err) {
    int status = 0;
    if (!whole)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!whole || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return whole;
    struct bytes line = last_line(text);
    if (!line.size)
        return err_set(err, ERR_UNSUPPORTED, program, "it failed without a word");
    return err_set(err, ERR_UNSUPPORTED, program, "it failed: %.*s", (int)(line.size < 200 ? line.size : 200),
                   (const char *)line.data);
}

bool os_objdump_run(const struct os_objdump *how, struct bytes code, uint64_t address, struct bytes *text,
                    struct err *err) {
    struct os_objdump with = *how;
    if (!with.program)
        with.program = "objdump";
    *text = (struct bytes){NULL, 0};
    int output[2], fd = code_file(code, err);
    if (fd < 0)
        return false;
    if (pipe2(output, O_CLOEXEC) != 0) {
        err_errno(err, errno, with.program, "cannot make a pipe");
        close(fd);
        return false;
    }
    pid_t pid;
    bool ok = start(&with, fd, address, output[1], &pid);
    int why = errno;
    close(fd);
    close(output[1]);
    if (ok) {
        uint64_t until = now_ms() + (with.most_ms ? with.most_ms : DEFAULT_MS);
        ok = collect(output[0], until, code.size * LINE_MOST + HEAD_MOST, text, err);
        ok = finish(pid, ok, *text, with.program, err);
    } else if (why == ENOENT) {
        err_set(err, ERR_ABSENT, with.program,
                "it is not installed: install binutils, or name another one with --objdump");
    } else {
        err_errno(err, why, with.program, "cannot run it");
    }
    close(output[0]);
    if (!ok) {
        free((void *)text->data);
        *text = (struct bytes){NULL, 0};
    }
    return ok;
}
