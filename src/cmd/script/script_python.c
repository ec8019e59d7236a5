/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/script/script_python.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/common/exec_path.h"
#include "format/perfdata/events/events.h"
#include "format/tracefs/tracing_data.h"
#include "os/run/child.h"
#include "view/script/script_skeleton.h"

/* Below our own folder; perf's scripts look for modules below $PERF_EXEC_PATH in the second one. */
#define SCRIPTS "/scripts/python"
#define MODULES SCRIPTS "/Perf-Trace-Util/lib/Perf/Trace"
#define DRIVER  SCRIPTS "/Perf-Trace-Util/sonde_script.py"

/* The part after "py:" or "Python:"; NULL when another language is named. */
static const char *python_part(const char *given) {
    const char *colon = strchr(given, ':');
    if (!colon || memchr(given, '/', (size_t)(colon - given)))
        return given;
    size_t n = (size_t)(colon - given);
    bool python = (n == 2 && !strncasecmp(given, "py", n)) || (n == 6 && !strncasecmp(given, "python", n));
    return python ? colon + 1 : NULL;
}

bool script_python_is_lang(const char *given) {
    return !strcmp(given, "lang");
}

bool script_python_find(const char *given, char *path, size_t size, struct err *err) {
    const char *name = python_part(given);
    char below[PATH_MAX];
    if (!name)
        return err_set(err, ERR_UNSUPPORTED, given, "only scripts in Python can be run");
    snprintf(path, size, "%s", name);
    if (access(path, R_OK) == 0)
        return true;
    snprintf(below, sizeof below, SCRIPTS "/%s", name);
    if (exec_path_find(below + 1, path, size))
        return true;
    snprintf(below, sizeof below, SCRIPTS "/%s.py", name);
    return exec_path_find(below + 1, path, size) ||
           err_set(err, ERR_ABSENT, name, "no such recording or script; script -l lists the scripts");
}

/* Puts our modules on Python's path and where perf's scripts look for them. */
static bool set_paths(const char *home, struct err *err) {
    const char *old = getenv("PYTHONPATH");
    char path[2 * PATH_MAX];
    int n = snprintf(path, sizeof path, "%s" MODULES "%s%s", home, old && *old ? ":" : "", old ? old : "");
    if (n >= (int)sizeof path)
        return err_set(err, ERR_USAGE, "PYTHONPATH", "is too long");
    return (setenv("PYTHONPATH", path, 1) == 0 && (exec_path_given() || exec_path_give(home, err))) ||
           err_memory(err, "script");
}

static bool run(struct script_python *p, const char *home, const char *script, char **arguments, int input,
                struct err *err) {
    char driver[PATH_MAX + 128], fd[16];
    size_t count = 0;
    while (arguments[count])
        count++;
    char **argv = calloc(count + 5, sizeof *argv);
    if (!argv)
        return err_memory(err, "script");
    snprintf(driver, sizeof driver, "%s" DRIVER, home);
    snprintf(fd, sizeof fd, "%d", input);
    argv[0] = (char *)"python3";
    argv[1] = driver;
    argv[2] = fd;
    argv[3] = (char *)script;
    memcpy(argv + 4, arguments, count * sizeof *argv);
    struct os_child child;
    bool ok = os_child_start(&child, argv, NULL, OS_CHILD_OURS, err);
    if (ok && !os_child_go(&child, "python3", err))
        ok = err_set(err, ERR_ABSENT, "script",
                     "python3 is needed to run scripts: install the package python3");
    if (ok)
        p->pid = child.pid;
    free(argv);
    return ok;
}

bool script_python_start(struct script_python *p, const char *given, char **arguments, struct out *out,
                         struct err *err) {
    char home[PATH_MAX], script[PATH_MAX + 1024];
    int fds[2];
    if (!exec_path_own(home, sizeof home, err) || !script_python_find(given, script, sizeof script, err) ||
        !set_paths(home, err))
        return false;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_errno(err, errno, "script", "cannot make a pipe");
    fcntl(fds[0], F_SETFD, 0); /* the child's */
    fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
    bool ok = run(p, home, script, arguments, fds[0], err);
    close(fds[0]);
    if (!ok) {
        close(fds[1]);
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* a script may end before its input does */
    p->sink = (struct command_sink){.fd = fds[1]};
    return out_init(out, command_write_fd, &p->sink) || err_memory(err, "script");
}

int script_python_finish(struct script_python *p, struct out *out) {
    int status = 0;
    out_flush(out);
    out_fini(out);
    close(p->sink.fd);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ERROR;
}

/* ---- the list ---- */

/* What follows "# key: " in one of the first lines; false without it. */
static bool head_line(FILE *f, const char *key, char *text, size_t size) {
    char line[256];
    size_t n = strlen(key);
    rewind(f);
    for (int i = 0; i < 20 && fgets(line, sizeof line, f); i++) {
        if (strncmp(line, "# ", 2) != 0 || strncmp(line + 2, key, n) != 0 || line[2 + n] != ':')
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(text, size, "%s", line + 3 + n + strspn(line + 3 + n, " "));
        return true;
    }
    return false;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

static int is_python(const struct dirent *e) {
    return ends_with(e->d_name, ".py");
}

static int is_report(const struct dirent *e) {
    return ends_with(e->d_name, "-report");
}

static void list_one(struct out *out, const char *path, const char *entry, size_t name_size) {
    char name[400], about[256] = "", args[128] = "";
    FILE *f = fopen(path, "re");
    if (f && head_line(f, "description", about, sizeof about)) {
        head_line(f, "args", args, sizeof args);
        snprintf(name, sizeof name, "%.*s%s%s", (int)name_size, entry, *args ? " " : "", args);
        out_str(out, "  ");
        out_left(out, name, strlen(name), 36);
        out_char(out, ' ');
        out_str(out, about);
        out_char(out, '\n');
    }
    if (f)
        fclose(f);
}

/* Those in a folder that say what they are, whose names have an ending of `cut` bytes. */
static bool list_folder(struct out *out, const char *folder, int (*is_one)(const struct dirent *),
                        size_t cut) {
    char path[2 * PATH_MAX];
    struct dirent **entries;
    int count = scandir(folder, &entries, is_one, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        list_one(out, path, entries[i]->d_name, strlen(entries[i]->d_name) - cut);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count >= 0;
}

bool script_python_list(struct out *out, struct err *err) {
    char home[PATH_MAX], path[2 * PATH_MAX];
    const char *given = exec_path_given();
    if (!exec_path_own(home, sizeof home, err))
        return false;
    out_str(out, "List of available trace scripts:\n");
    if (given && strcmp(given, home) != 0) {
        snprintf(path, sizeof path, "%s" SCRIPTS "/bin", given);
        list_folder(out, path, is_report, sizeof "-report" - 1);
    }
    snprintf(path, sizeof path, "%s" SCRIPTS, home);
    return list_folder(out, path, is_python, sizeof ".py" - 1) ||
           err_errno(err, errno, path, "cannot list the scripts");
}

/* ---- scripts that start others ---- */

bool script_python_report(const char *name, const char *input, char **arguments, struct err *err) {
    char below[PATH_MAX], path[PATH_MAX + 1024];
    size_t count = 0, at = 0;
    snprintf(below, sizeof below, SCRIPTS "/bin/%s-report", name);
    if (!exec_path_find(below + 1, path, sizeof path))
        return true;
    while (arguments[count])
        count++;
    char **argv = calloc(count + 5, sizeof *argv);
    if (!argv)
        return err_memory(err, "script");
    argv[at++] = (char *)"sh";
    argv[at++] = path;
    if (input) {
        argv[at++] = (char *)"-i";
        argv[at++] = (char *)input;
    }
    memcpy(argv + at, arguments, count * sizeof *argv);
    bool ok = exec_path_export(err);
    if (ok) {
        execv(path, argv + 1); /* by the interpreter that its first line names */
        execv("/bin/sh", argv);
        ok = err_errno(err, errno, path, "cannot run");
    }
    free(argv);
    return ok;
}

/* ---- the start of a script ---- */

bool script_python_generate(const char *given, const struct perfdata_events *events,
                            const struct tracing_data *tracing, char *path, size_t size, struct err *err) {
    size_t n = strlen(given);
    bool named = n > 3 && !strcmp(given + n - 3, ".py");
    if (!named && strcasecmp(given, "python") != 0 && strcasecmp(given, "py") != 0)
        return err_set(err, ERR_UNSUPPORTED, "--gen-script",
                       "cannot write a script in '%s': the only language is python", given);
    snprintf(path, size, "%s", named ? given : "perf-script.py");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(err, errno, path, "cannot write the script");
    struct command_sink sink = {.fd = fd};
    struct out out;
    bool ok = out_init(&out, command_write_fd, &sink);
    if (ok) {
        script_skeleton_write(events, tracing, &out);
        ok = out_flush(&out);
    }
    out_fini(&out);
    return close(fd) == 0 && ok ? true
                                : err_errno(err, sink.errnum ? sink.errnum : ENOMEM, path, "cannot write");
}
