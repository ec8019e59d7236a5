/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/common/options/usage.h"
#include "cmd/common/options/words.h"
#include "cmd/common/terminal/pager.h"
#include "cmd/common/terminal/progress.h"

/* clang-format off */
const struct command *const command_table[] = {
    &cmd_annotate,
    &cmd_archive,
    &cmd_buildid_cache,
    &cmd_buildid_list,
    &cmd_check,
    &cmd_config,
    &cmd_data,
    &cmd_diff,
    &cmd_doctor,
    &cmd_evlist,
    &cmd_export,
    &cmd_ftrace,
    &cmd_help,
    &cmd_import,
    &cmd_inject,
    &cmd_kallsyms,
    &cmd_kmem,
    &cmd_kwork,
    &cmd_list,
    &cmd_lock,
    &cmd_probe,
    &cmd_record,
    &cmd_report,
    &cmd_sched,
    &cmd_script,
    &cmd_stat,
    &cmd_test,
    &cmd_timechart,
    &cmd_top,
    &cmd_trace,
    &cmd_version,
    &cmd_view,
    &cmd_waits,
    &cmd_why,
    NULL,
};
/* clang-format on */

/* What perf(1) and its manual pages list, by name. */
const struct command_absent command_absent_table[] = {
    {"bench", "Measure parts of the system"},
    {"buildid-list", "List the build-ids in a recording"},
    {"c2c", "Find cache lines that CPUs fight over"},
    {"daemon", "Keep recordings running in the background"},
    {"data", "Convert a recording to other formats"},
    {"evlist", "List the events of a recording"},
    {"iostat", "Show PCIe root port bandwidth"},
    {"kvm", "Profile guests and their exits"},
    {"mem", "Profile memory accesses"},
    {"record", "Run a command and record its profile"},
    {"report", "Show the profile in a recording"},
    {"script", "Print every sample of a recording"},
    {NULL, NULL},
};

const struct command *command_find(const char *name) {
    for (size_t i = 0; command_table[i]; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

const struct command_absent *command_find_absent(const char *name) {
    for (const struct command_absent *a = command_absent_table; a->name; a++)
        if (strcmp(a->name, name) == 0 && !command_find(name))
            return a;
    return NULL;
}

bool command_write_fd(void *ctx, const char *p, size_t n) {
    struct command_sink *sink = ctx;
    while (n) {
        ssize_t done = write(sink->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            sink->errnum = errno;
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* What is needed to print the usage of a command, or of one of its verbs. */
struct usage {
    const char *program;
    const char *const *lines;
    const struct option *rows;
};

/* Returns the length of the fixed words of a usage line: of "data convert". */
static int fixed_words(const char *line) {
    size_t n = strcspn(line, "[<");
    const char *dash = strstr(line, " -");
    if (dash && (size_t)(dash - line) < n)
        n = (size_t)(dash - line);
    while (n && line[n - 1] == ' ')
        n--;
    return (int)n;
}

/* Prints the error last, where a terminal shows it, and without all options, which would push it out of
 * sight. */
static void print_bad(const struct usage *u, const struct option_result *r) {
    struct command_sink sink = {.fd = STDERR_FILENO};
    struct out o;
    if (!out_init(&o, command_write_fd, &sink))
        return;
    usage_lines(&o, u->program, u->lines);
    if (r->row_only && r->row) {
        out_char(&o, '\n');
        usage_option(&o, r->row);
    } else if (u->rows) {
        out_printf(&o, " See '%s %.*s -h' for the options.\n", u->program, fixed_words(u->lines[0]),
                   u->lines[0]);
    }
    if (r->err.message[0])
        out_printf(&o, "\n Error: %s\n", r->err.message);
    out_flush(&o);
    out_fini(&o);
}

/* Returns the pager to run for this command, or NULL. */
static const char *wanted_pager(const struct command_env *env) {
    if (env->pager == 0 || !isatty(STDOUT_FILENO))
        return NULL;
    char key[64];
    snprintf(key, sizeof key, "pager.%s", env->command->name);
    const char *configured = perfconfig_text(env->config, key);
    static const char *const yes_no[] = {"true", "yes", "on", "1", "false", "no", "off", "0"};
    bool is_bool = !configured;
    for (size_t i = 0; !is_bool && i < sizeof yes_no / sizeof *yes_no; i++)
        is_bool = strcasecmp(configured, yes_no[i]) == 0;
    if (!is_bool)
        return configured;
    if (env->pager < 0 && !perfconfig_bool(env->config, key, true))
        return NULL;
    return pager_choice();
}

static void print_help(struct command_env *env, const struct usage *u, int count, char *const *words) {
    struct command_sink sink = {.fd = STDERR_FILENO};
    struct out o;
    /* Without a terminal usage goes to standard error, as perf's does. */
    const char *pager = isatty(STDERR_FILENO) ? wanted_pager(env) : NULL;
    if (!out_init(&o, command_write_fd, &sink))
        return;
    if (pager)
        pager_start(&env->pager_run, pager);
    out_char(&o, '\n');
    usage_lines(&o, u->program, u->lines);
    out_char(&o, '\n');
    usage_options(&o, u->rows, count, words);
    out_char(&o, '\n');
    out_flush(&o);
    out_fini(&o);
    pager_finish(&env->pager_run);
}

static int print_words(struct command_env *env, const struct option *row) {
    struct out o;
    if (!command_output(env, &o))
        return EXIT_ERROR;
    words_explain(&o, row->words);
    return command_finish(env, &o, EXIT_OK);
}

static bool parse(struct command_env *env, const struct usage *u, void *into, unsigned flags, int *argc,
                  char ***argv, int *status) {
    struct option_result r = option_parse(u->rows, into, flags, *argc, *argv);
    if (r.status == OPTION_DONE) {
        *argc = r.argc;
        *argv = r.argv;
        return true;
    }
    *status = EXIT_USAGE;
    if (r.status == OPTION_HELP)
        print_help(env, u, r.argc, r.argv);
    else if (r.status == OPTION_LIST_WORDS)
        *status = print_words(env, r.row);
    else if (r.err.code != ERR_USAGE)
        *status = command_fail(&r.err);
    else
        print_bad(u, &r);
    return false;
}

bool command_options(struct command_env *env, void *into, unsigned flags, int *argc, char ***argv,
                     int *status) {
    const struct usage u = {env->program, env->command->usage, env->command->options};
    return parse(env, &u, into, flags, argc, argv, status);
}

bool command_verb_options(struct command_env *env, const struct option *rows, const char *const *usage,
                          void *into, int *argc, char ***argv, int *status) {
    const struct usage u = {env->program, usage, rows};
    return parse(env, &u, into, 0, argc, argv, status);
}

bool command_verb_options_first(struct command_env *env, const struct option *rows, const char *const *usage,
                                void *into, int *argc, char ***argv, int *status) {
    const struct usage u = {env->program, usage, rows};
    return parse(env, &u, into, OPTION_STOP_AT_OPERAND, argc, argv, status);
}

int command_usage(const struct command_env *env, const char *fmt, ...) {
    const struct usage u = {env->program, env->command->usage, env->command->options};
    struct option_result r = {.status = OPTION_BAD};
    va_list ap;
    va_start(ap, fmt);
    if (fmt)
        vsnprintf(r.err.message, sizeof r.err.message, fmt, ap);
    va_end(ap);
    print_bad(&u, &r);
    return EXIT_USAGE;
}

const char *command_program(void) {
    return strcmp(program_invocation_short_name, "perf") == 0 ? "perf" : "sonde";
}

/* Whether "sonde " at `at` is followed by the name of a command, so that it is a command line, not a part of
 * a file's name. */
static bool names_command(const char *text, const char *at, size_t length) {
    if (at > text && !strchr(" `'(", at[-1]))
        return false;
    const char *word = at + length;
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz-");
    for (size_t i = 0; n && word[n] != '/' && command_table[i]; i++)
        if (strlen(command_table[i]->name) == n && !strncmp(command_table[i]->name, word, n))
            return true;
    return false;
}

const char *command_words(const char *text, char *room, size_t size) {
    static const char ours[] = "sonde ", theirs[] = "perf ";
    size_t length = sizeof ours - 1, used = 0;
    if (strcmp(command_program(), "sonde") == 0 || !strstr(text, ours) || strlen(text) >= size)
        return text;
    for (const char *p = text; *p;) {
        bool change = !strncmp(p, ours, length) && names_command(text, p, length);
        used = change ? (size_t)(stpcpy(room + used, theirs) - room) : used;
        p += change ? length : 0;
        room[used++] = *p++; /* a command's name follows these words */
    }
    room[used] = 0;
    return room;
}

int command_fail(const struct err *e) {
    char room[COMMAND_WORDS_ROOM];
    const char *message = command_words(e->message, room, sizeof room);
    progress_end();
    if (e->where[0])
        fprintf(stderr, "%s: %s\n", e->where, message);
    else
        fprintf(stderr, "%s\n", message);
    return e->code == ERR_USAGE ? EXIT_USAGE : EXIT_ERROR;
}

static void print_log(void *ctx, enum log_level level, const char *line) {
    const struct command_env *env = ctx;
    char room[COMMAND_WORDS_ROOM];
    if ((int)level > env->verbose)
        return;
    progress_clear();
    fprintf(stderr, "%s\n", command_words(line, room, sizeof room));
}

void command_log(struct command_env *env, int verbose, bool quiet) {
    env->verbose = quiet ? -1 : verbose;
    progress_allow(!quiet);
    log_set_sink(print_log, env);
}

bool command_output(struct command_env *env, struct out *o) {
    const char *pager = wanted_pager(env);
    if (isatty(STDOUT_FILENO)) /* what is printed there says how far it is */
        progress_end();
    if (pager)
        pager_start(&env->pager_run, pager);
    env->sink = (struct command_sink){.fd = STDOUT_FILENO};
    if (out_init(o, command_write_fd, &env->sink))
        return true;
    struct err e;
    err_memory(&e, "standard output");
    command_fail(&e);
    return false;
}

bool command_output_to(struct command_env *env, const char *path, struct out *o) {
    struct err e = ERR_INIT;
    if (!path)
        return command_output(env, o);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    env->sink = (struct command_sink){.fd = fd};
    if (fd < 0)
        err_errno(&e, errno, path, "cannot write");
    else if (out_init(o, command_write_fd, &env->sink))
        return true;
    else
        err_memory(&e, path);
    if (fd >= 0)
        close(fd);
    command_fail(&e);
    return false;
}

int command_finish(struct command_env *env, struct out *o, int status) {
    progress_end();
    bool ok = out_flush(o);
    out_fini(o);
    /* A reader that closed the pipe early (head, a pager) has what it wanted: this is no error. */
    bool file = env->sink.fd != STDOUT_FILENO;
    if (file && close(env->sink.fd) != 0 && ok) {
        ok = false;
        env->sink.errnum = errno;
    }
    if (!ok && (file || env->sink.errnum != EPIPE))
        fprintf(stderr, "writing %s failed: %s\n", file ? "the output" : "standard output",
                strerror(env->sink.errnum));
    pager_finish(&env->pager_run);
    return ok || status ? status : EXIT_ERROR;
}
