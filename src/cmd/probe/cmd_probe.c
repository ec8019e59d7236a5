/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cmd/probe/probe_run.h"

#include "base/log.h"
#include "probe/filter.h"

#define PLACE "[EVENT=]FUNC[@SRC][+OFF|%return|:RL|;PT]|SRC:AL|SRC;PT"

static const char ADD_HELP[] = "probe point definition, where\n"
                               "GROUP:   group of the event (optional)\n"
                               "EVENT:   name of the event\n"
                               "FUNC:    name of the function\n"
                               "OFF:     offset from the function's entry (in bytes)\n"
                               "%return: at the function's return\n"
                               "SRC:     path of the source\n"
                               "RL:      line, from the function's first\n"
                               "AL:      line of the file\n"
                               "PT:      pattern of a line's text\n"
                               "ARG:     argument: name of a variable, or what the kernel fetches";

static const struct option options[] = {
    OPTION_LIST('a', "add", struct probe_cli, add, PLACE " [[NAME=]ARG ...]", ADD_HELP),
    OPTION_LIST('D', "definition", struct probe_cli, define, PLACE " [[NAME=]ARG ...]",
                "show the definition for the kernel's uprobe_events or kprobe_events"),
    OPTION_LIST('d', "del", struct probe_cli, del, "[GROUP:]EVENT", "delete a probe event"),
    OPTION_BOOL('f', "force", struct probe_cli, force, "add events with an existing name, numbered"),
    OPTION_STRING('F', "funcs", struct probe_cli, funcs, "[FILTER]", "show functions that can be probed",
                  .flags = OPTION_VALUE_ADOPT, .fallback = ""),
    OPTION_STRING('k', "vmlinux", struct probe_cli, vmlinux, "file", "vmlinux pathname"),
    OPTION_STRING('L', "line", struct probe_cli, line, "FUNC[:RLN[+NUM|-RLN2]]|SRC:ALN[+NUM|-ALN2]",
                  "show source code lines"),
    OPTION_STRING('l', "list", struct probe_cli, list, "[GROUP:]EVENT", "list probe events",
                  .flags = OPTION_VALUE_ADOPT, .fallback = ""),
    OPTION_STRING('m', "module", struct probe_cli, module, "modname|path",
                  "kernel module, by name or by the path of its file"),
    OPTION_BOOL('n', "dry-run", struct probe_cli, dry_run, "change nothing"),
    OPTION_BOOL('q', "quiet", struct probe_cli, quiet, "be quiet (do not show any warnings or messages)"),
    OPTION_STRING('s', "source", struct probe_cli, o.source_dir, "directory", "where source files are"),
    OPTION_LIST('V', "vars", struct probe_cli, vars, PLACE, "show the variables that can be seen there"),
    OPTION_COUNT('v', "verbose", struct probe_cli, verbose, "be more verbose"),
    OPTION_STRING('x', "exec", struct probe_cli, exec, "executable|path", "program or library to probe"),
    OPTION_BOOL(0, "bootconfig", struct probe_cli, bootconfig,
                "show definitions as the kernel's boot configuration takes them (with --definition)"),
    OPTION_BOOL(
        0, "cache", struct probe_cli, cache,
        "keep the probes that --add sets in the build-id cache; show (--list) or remove (--del) those "
        "that are kept"),
    OPTION_BOOL(0, "demangle", struct probe_cli, demangle, "demangle symbols of programs"),
    OPTION_BOOL(0, "demangle-kernel", struct probe_cli, demangle_kernel, "demangle symbols of the kernel"),
    OPTION_BOOL(0, "externs", struct probe_cli, externs, "show external variables too (with --vars)"),
    OPTION_STRING(0, "filter", struct probe_cli, filter, "[!]FILTER",
                  "which variables or functions to show (with --vars, --funcs)\n"
                  "(default: \"!__k???tab_* & !__crc_*\" for --vars, \"!_* & !*@plt\" for --funcs)"),
    OPTION_INT(0, "max-probes", struct probe_cli, max_probes, "n", "how many places one probe may have"),
    OPTION_BOOL(0, "no-inlines", struct probe_cli, o.no_inlines, "leave inlined copies of functions out"),
    OPTION_BOOL(0, "range", struct probe_cli, range, "show where variables have values (with --vars)"),
    OPTION_STRING(0, "symfs", struct probe_cli, symfs, "directory[,layout]",
                  "where to look for files with symbols"),
    OPTION_STRING(0, "target-ns", struct probe_cli, target_ns, "pid",
                  "look for the file as this process sees it"),
    OPTION_END,
};

/* What is left of the command line is one probe; an absolute path before it is the file. */
static bool take_operands(struct probe_cli *c, int argc, char **argv, struct arena *a, struct err *err) {
    const char *text = NULL;
    if (argc && *argv[0] == '/' && !c->exec && !c->module) {
        c->exec = argv[0];
        argc--;
        argv++;
    }
    for (int i = 0; i < argc; i++) {
        text = text ? arena_printf(a, "%s %s", text, argv[i]) : argv[i];
        if (!text)
            return err_memory(err, "probe");
    }
    if (!text)
        return true;
    const char **items = realloc(c->add.items, (c->add.count + 1) * sizeof *items);
    if (!items)
        return err_memory(err, "probe");
    c->add.items = items;
    c->add.cap = c->add.count + 1;
    c->add.items[c->add.count++] = text;
    return true;
}

/* The options that say what to do; one kind of it at a time. */
static const char *conflict(const struct probe_cli *c) {
    int kinds = (c->add.count || c->del.count) + (c->define.count > 0) + (c->funcs != NULL) +
                (c->line != NULL) + (c->list != NULL) + (c->vars.count > 0);
    if (kinds > 1)
        return "--add and --del, --definition, --funcs, --line, --list and --vars exclude each other";
    if (c->list && (c->exec || c->module))
        return "--list shows all probes: leave --exec and --module out";
    if (c->bootconfig && !c->define.count)
        return "--bootconfig goes with --definition";
    if (c->bootconfig && c->exec)
        return "--bootconfig is for probes of the kernel: programs do not run yet when it boots";
    if (c->quiet && c->verbose)
        return "--quiet and --verbose exclude each other";
    if (c->exec && (c->module || c->vmlinux))
        return "--exec excludes --module and --vmlinux";
    if (c->max_probes < 0)
        return "--max-probes must be positive";
    return kinds ? NULL : "";
}

static int run_one(struct command_env *env, struct probe_cli *c) {
    if (c->list)
        return c->cache ? probe_run_list_cached(env, c) : probe_run_list(env, c);
    if (c->funcs || c->line || c->vars.count)
        return probe_run_show(env, c);
    if (c->del.count) {
        int status = c->cache ? probe_run_delete_cached(env, c) : probe_run_delete(env, c);
        if (status != EXIT_OK || !c->add.count)
            return status;
    }
    return probe_run_add(env, c);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct probe_cli c = {.demangle = true};
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &c, 0, &argc, &argv, &status))
        return status;
    command_log(env, c.verbose, c.quiet);
    c.o.max_probes = (unsigned)c.max_probes;
    bool ok = take_operands(&c, argc, argv, &a, &err);
    const char *why = ok ? conflict(&c) : NULL;
    if (!ok)
        status = command_fail(&err);
    else if (why)
        status = command_usage(env, *why ? "%s" : NULL, why);
    else if (c.filter && !probe_filter_check(c.filter, &err))
        status = command_fail(&err);
    else
        status = run_one(env, &c);
    option_list_fini(&c.add);
    option_list_fini(&c.define);
    option_list_fini(&c.del);
    option_list_fini(&c.vars);
    arena_fini(&a);
    return status;
}

const struct command cmd_probe = {
    .name = "probe",
    .summary = "Define new dynamic tracepoints",
    .usage =
        (const char *const[]){"probe [<options>] 'PROBEDEF' ['PROBEDEF' ...]",
                              "probe [<options>] --add 'PROBEDEF' [--add 'PROBEDEF' ...]",
                              "probe [<options>] --del '[GROUP:]EVENT' ...", "probe --list [GROUP:]EVENT ...",
                              "probe [<options>] --line 'LINEDESC'", "probe [<options>] --vars 'PROBEPOINT'",
                              "probe [<options>] --funcs", NULL},
    .options = options,
    .run = run,
};
