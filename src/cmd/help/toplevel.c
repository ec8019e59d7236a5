/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help/toplevel.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cmd/common/command.h"
#include "cmd/common/exec_path.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/common/options/usage.h"

#define USAGE "[--version] [--help] [OPTIONS] COMMAND [ARGS]"

struct toplevel_options {
    bool help, version, list_commands, exec_path;
    int verbose;
    int pager; /* as in struct command_env */
    const char *buildid_dir;
};

void toplevel_overview(struct out *o, const char *program) {
    out_printf(o, "\n usage: %s " USAGE "\n\n The %s commands are:\n", program, program);
    for (size_t i = 0; command_table[i]; i++) {
        out_str(o, "   ");
        out_left(o, command_table[i]->name, strlen(command_table[i]->name), 15);
        out_printf(o, " %s\n", command_table[i]->summary);
    }
    out_str(o, "\n Not there yet:");
    size_t column = 15;
    for (const struct command_absent *a = command_absent_table; a->name; a++) {
        if (command_find(a->name))
            continue;
        column += strlen(a->name) + 1;
        if (column > 78) {
            out_str(o, "\n               ");
            column = 15 + strlen(a->name) + 1;
        }
        out_printf(o, " %s", a->name);
    }
    out_printf(o, "\n\n See '%s help COMMAND' for more information on a specific command.\n\n", program);
}

int toplevel_no_command(const char *program, const char *name) {
    const struct command_absent *absent = command_find_absent(name);
    if (absent) {
        fprintf(stderr, "%s %s is not there yet (%s)\n", program, absent->name, absent->summary);
        return EXIT_ERROR;
    }
    struct nearest near = nearest_start(name);
    for (size_t i = 0; command_table[i]; i++)
        nearest_try(&near, command_table[i]->name);
    for (const struct command_absent *a = command_absent_table; a->name; a++)
        nearest_try(&near, a->name);
    fprintf(stderr, "%s: '%s' is not a %s-command.", program, name, program);
    if (near.best)
        fprintf(stderr, " Did you mean '%s'?\n", near.best);
    else
        fprintf(stderr, " See '%s --help'.\n", program);
    fprintf(stderr, "\n Usage: %s " USAGE "\n", program);
    return EXIT_USAGE;
}

static bool set_pager(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row, (void)value, (void)e;
    *(int *)field = !negated;
    return true;
}

/* Without a value: to be printed. */
static bool take_exec_path(const struct option *row, void *field, const char *value, bool negated,
                           struct err *e) {
    (void)row, (void)negated;
    *(bool *)field = !value;
    return !value || exec_path_give(value, e);
}

const struct option toplevel_option_rows[] = {
    OPTION_BOOL('h', "help", struct toplevel_options, help, "Show the commands, or what follows 'help'"),
    OPTION_COUNT('v', NULL, struct toplevel_options, verbose,
                 "Show the version; twice: and what is built in"),
    OPTION_BOOL(0, "version", struct toplevel_options, version, "Show the version"),
    OPTION_CALL('p', "paginate", struct toplevel_options, pager, NULL, "Use the pager", set_pager,
                .flags = OPTION_NO_VALUE | OPTION_NO_NEGATION),
    OPTION_CALL(0, "pager", struct toplevel_options, pager, NULL,
                "Use the pager as configured (--no-pager: never)", set_pager, .flags = OPTION_NO_VALUE),
    OPTION_STRING(0, "buildid-dir", struct toplevel_options, buildid_dir, "dir",
                  "Build-id cache; goes before buildid.dir of the configuration"),
    OPTION_BOOL(0, "list-cmds", struct toplevel_options, list_commands, "List the commands in one line"),
    OPTION_ABSENT(0, "debug", "variable[=value]", "Say more about something", .flags = OPTION_HIDDEN),
    OPTION_ABSENT(0, "debug-file", "file", "Where to", .flags = OPTION_HIDDEN),
    OPTION_ABSENT(0, "debugfs-dir", "dir", "Where debugfs is", .flags = OPTION_HIDDEN),
    OPTION_CALL(0, "exec-path", struct toplevel_options, exec_path, "dir",
                "Where scripts and filters are looked for first; without dir: print where", take_exec_path,
                .flags = OPTION_VALUE_OPTIONAL | OPTION_NO_NEGATION),
    OPTION_ABSENT(0, "html-path", NULL, "Where the manual is", .flags = OPTION_HIDDEN | OPTION_NO_VALUE),
    OPTION_END,
};

static int list(struct command_env *env, bool (*print)(struct out *, const char *), const char *what) {
    struct out out;
    env->pager = 0;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    bool ok = print(&out, what);
    return command_finish(env, &out, ok ? EXIT_OK : EXIT_ERROR);
}

static bool print_exec_path(struct out *o, const char *unused) {
    char own[4096];
    struct err err;
    const char *given = exec_path_given();
    (void)unused;
    if (!given && !exec_path_own(own, sizeof own, &err))
        return false;
    out_printf(o, "%s\n", given ? given : own);
    return true;
}

static bool print_commands(struct out *o, const char *unused) {
    (void)unused;
    for (size_t i = 0; command_table[i]; i++)
        out_printf(o, "%s ", command_table[i]->name);
    out_char(o, '\n');
    return true;
}

/* The long options of a command, or of sonde itself, as completion scripts want them. */
static bool print_options(struct out *o, const char *name) {
    const struct command *c = name ? command_find(name) : NULL;
    if (name && !c)
        return false;
    for (const struct option *row = c ? c->options : toplevel_option_rows; row && row->kind; row++)
        if (row->name && !(row->flags & OPTION_HIDDEN))
            out_printf(o, "--%s ", row->name);
    out_char(o, '\n');
    return true;
}

static int bad_option(const char *program, const char *message) {
    struct command_sink sink = {.fd = STDERR_FILENO};
    struct out o;
    if (out_init(&o, command_write_fd, &sink)) {
        out_printf(&o, " Usage: %s " USAGE "\n\n", program);
        usage_options(&o, toplevel_option_rows, 0, NULL);
        out_printf(&o, "\n Error: %s\n", message);
        out_flush(&o);
        out_fini(&o);
    }
    return EXIT_USAGE;
}

/* "CMD --help" is "help CMD"; everything else is the command's own business. */
static int run_command(struct command_env *env, int argc, char **argv) {
    const struct command *c = command_find(argv[0]);
    if (!c)
        return toplevel_no_command(env->program, argv[0]);
    env->command = c;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        char *help[] = {"help", argv[0], NULL};
        env->command = &cmd_help;
        return cmd_help.run(env, 2, help);
    }
    return c->run(env, argc, argv);
}

/* What can be done with a recording that lies here. */
static void tell_next(const char *program) {
    if (access("perf.data", R_OK))
        return;
    printf(" There is a perf.data here:\n"
           "   %s view              look at it in a browser: flame graph, time line, tables\n"
           "   %s report            the functions it spent its time in\n"
           "   %s doctor perf.data  how much of it is proved, and how to get more\n\n",
           program, program, program);
}

static int run_words(struct command_env *env, const struct toplevel_options *o, int argc, char **argv) {
    char *version[] = {"version", o->verbose > 1 ? "--build-options" : NULL, NULL};
    char *help[] = {"help", argc ? argv[0] : NULL, NULL};
    if (o->version || o->verbose)
        return run_command(env, o->verbose > 1 ? 2 : 1, version);
    if (o->help || argc == 0) {
        int status = run_command(env, argc ? 2 : 1, help);
        if (!o->help)
            tell_next(env->program);
        /* As perf: asked for, the overview is an answer; shown for want of a command, an error. */
        return o->help ? status : EXIT_ERROR;
    }
    return run_command(env, argc, argv);
}

/* "~" in front is the user's home. NULL when there is none, or the text too long for `room`. */
static const char *below_home(const char *folder, char *room, size_t cap) {
    const char *home = getenv("HOME");
    if (folder[0] != '~')
        return folder;
    int n = home ? snprintf(room, cap, "%s%s", home, folder + 1) : -1;
    return n > 0 && (size_t)n < cap ? room : NULL;
}

/* Where the base directory specification (freedesktop.org) puts what can be made again: a path that is not
 * absolute counts as none. NULL: nowhere. */
static const char *own_cache_path(char *room, size_t cap) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = cache && *cache == '/' ? snprintf(room, cap, "%s/sonde", cache)
            : home && *home == '/' ? snprintf(room, cap, "%s/.cache/sonde", home)
                                   : -1;
    return n > 0 && (size_t)n < cap ? room : NULL;
}

static const char *debuginfod_urls(void) {
    const char *servers = getenv("DEBUGINFOD_URLS");
    return servers && *servers ? servers : NULL;
}

int toplevel_run(int argc, char **argv) {
    struct perfconfig config = PERFCONFIG_INIT;
    struct command_env env = {
        .command = &cmd_help,
        .program = command_program(),
        .config = &config,
    };
    struct toplevel_options o = {.pager = -1};
    char folder[4096], own_cache[4096];
    int status;
    command_log(&env, 0, false);
    /* --list-opts takes the rest as it is: a command, or nothing. */
    if (argc > 1 && strcmp(argv[1], "--list-opts") == 0)
        return list(&env, print_options, argc > 2 ? argv[2] : NULL);
    struct option_result r = option_parse(toplevel_option_rows, &o, OPTION_STOP_AT_OPERAND, argc, argv);
    if (r.status != OPTION_DONE)
        return r.err.code == ERR_USAGE ? bad_option(env.program, r.err.message) : command_fail(&r.err);
    env.pager = o.pager;
    if (o.list_commands)
        return list(&env, print_commands, NULL);
    if (o.exec_path)
        return list(&env, print_exec_path, NULL);
    perfconfig_load(&config);
    env.buildid_dir = o.buildid_dir ? o.buildid_dir : perfconfig_text(&config, "buildid.dir");
    env.buildid_dir = below_home(env.buildid_dir ? env.buildid_dir : "~/.debug", folder, sizeof folder);
    env.own_cache = own_cache_path(own_cache, sizeof own_cache);
    env.debuginfod_urls = debuginfod_urls();
    status = run_words(&env, &o, r.argc, r.argv);
    perfconfig_fini(&config);
    return status;
}
