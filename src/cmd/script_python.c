/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/script_python.h"

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

#include "format/perfdata/events.h"
#include "format/tracefs/tracing_data.h"
#include "os/child.h"
#include "view/script_skeleton.h"

/* Below a data folder; perf's scripts look for modules below $PERF_EXEC_PATH in the second one. */
#define SCRIPTS "/scripts/python"
#define MODULES SCRIPTS "/Perf-Trace-Util/lib/Perf/Trace"
#define DRIVER  SCRIPTS "/Perf-Trace-Util/sonde_script.py"

/* The folder with our Python files: of the installed program, or share/ around the build tree. */
static bool find_home(char *home, size_t size, struct err *err) {
    static const char *const places[] = {"/../share/sonde", "/../share"};
    char exe[PATH_MAX], probe[PATH_MAX + 128];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(probe, sizeof probe, "%s%s" DRIVER, exe, places[i]);
        if (access(probe, R_OK) == 0 && snprintf(home, size, "%s%s", exe, places[i]) < (int)size)
            return true;
    }
    return err_set(err, ERR_ABSENT, "script", "the Python modules that come with sonde are not installed");
}

/* The part behind "py:" or "Python:"; NULL when another language is named. */
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

/* The script's path: as given, or among those that come with sonde. */
static bool find_script(const char *given, const char *home, char *path, size_t size, struct err *err) {
    const char *name = python_part(given);
    if (!name)
        return err_set(err, ERR_UNSUPPORTED, given, "only scripts in Python can be run");
    snprintf(path, size, "%s", name);
    if (access(path, R_OK) == 0)
        return true;
    snprintf(path, size, "%s" SCRIPTS "/%s", home, name);
    if (access(path, R_OK) == 0)
        return true;
    snprintf(path, size, "%s" SCRIPTS "/%s.py", home, name);
    return access(path, R_OK) == 0 ||
           err_set(err, ERR_ABSENT, name, "no such script; script -l lists those that come with sonde");
}

/* Puts our modules on Python's path and where perf's scripts look for them. */
static bool set_paths(const char *home, struct err *err) {
    const char *old = getenv("PYTHONPATH");
    char path[2 * PATH_MAX];
    int n = snprintf(path, sizeof path, "%s" MODULES "%s%s", home, old && *old ? ":" : "", old ? old : "");
    if (n >= (int)sizeof path)
        return err_set(err, ERR_USAGE, "PYTHONPATH", "is too long");
    return (setenv("PYTHONPATH", path, 1) == 0 && setenv("PERF_EXEC_PATH", home, 1) == 0) ||
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
    bool ok = os_child_start(&child, argv, NULL, false, err);
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
    if (!find_home(home, sizeof home, err) || !find_script(given, home, script, sizeof script, err) ||
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

static int is_script(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 3 && !strcmp(e->d_name + n - 3, ".py");
}

bool script_python_list(struct out *out, struct err *err) {
    char home[PATH_MAX], path[2 * PATH_MAX];
    struct dirent **entries;
    if (!find_home(home, sizeof home, err))
        return false;
    snprintf(path, sizeof path, "%s" SCRIPTS, home);
    int count = scandir(path, &entries, is_script, alphasort);
    if (count < 0)
        return err_errno(err, errno, path, "cannot list the scripts");
    out_str(out, "List of available trace scripts:\n");
    for (int i = 0; i < count; i++) {
        char name[300], about[256] = "", args[128] = "";
        snprintf(path, sizeof path, "%s" SCRIPTS "/%s", home, entries[i]->d_name);
        FILE *f = fopen(path, "re");
        if (f && head_line(f, "description", about, sizeof about)) {
            head_line(f, "args", args, sizeof args);
            snprintf(name, sizeof name, "%.*s%s%s", (int)strlen(entries[i]->d_name) - 3, entries[i]->d_name,
                     *args ? " " : "", args);
            out_str(out, "  ");
            out_left(out, name, strlen(name), 36);
            out_char(out, ' ');
            out_str(out, about);
            out_char(out, '\n');
        }
        if (f)
            fclose(f);
        free(entries[i]);
    }
    free(entries);
    return true;
}

/* ---- the start of a script ---- */

bool script_python_generate(const char *given, const struct perfdata_events *events,
                            const struct tracing_data *tracing, char *path, size_t size, struct err *err) {
    size_t n = strlen(given);
    bool named = n > 3 && !strcmp(given + n - 3, ".py");
    if (!named && strcasecmp(given, "python") != 0 && strcasecmp(given, "py") != 0)
        return err_set(err, ERR_UNSUPPORTED, "--gen-script",
                       "'%s' is no language that scripts can be written in: python", given);
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
