/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cmd/lock/lock.h"
#include "cmd/lock/lock_live.h"

struct contention_options {
    struct lock_common common;
    const char *key, *fields, *types, *locks, *stacks, *separator, *cgroups, *delay;
    const char *cpus, *pids, *tids;
    bool threads, addresses, owners, by_cgroup, use_bpf, all_cpus;
    int entries, stack_skip, max_stack, map_entries;
};

#define OWN struct contention_options
static const struct option options[] = {
    OPTION_STRING('k', "key", OWN, key, "wait_total",
                  "sort by this (contended, wait_total, wait_max, wait_min, avg_wait)"),
    OPTION_STRING('F', "field", OWN, fields, "contended,wait_total,wait_max,avg_wait",
                  "columns (contended, wait_total, wait_max, wait_min, avg_wait)"),
    OPTION_BOOL('t', "threads", OWN, threads, "by thread that waited"),
    OPTION_BOOL('l', "lock-addr", OWN, addresses, "by lock"),
    OPTION_BOOL('o', "lock-owner", OWN, owners, "by thread that held the lock (with -b)"),
    OPTION_BOOL(0, "lock-cgroup", OWN, by_cgroup, "by control group"),
    OPTION_BOOL('b', "use-bpf", OWN, use_bpf, "sum in the kernel, without a recording"),
    OPTION_BOOL('a', "all-cpus", OWN, all_cpus, "of all CPUs"),
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "on these CPUs only"),
    OPTION_STRING('p', "pid", OWN, pids, "pid", "of these processes only"),
    OPTION_STRING(0, "tid", OWN, tids, "tid", "of these threads only"),
    OPTION_INT('M', "map-nr-entries", OWN, map_entries, "n",
               "rows that there is room for in the kernel (with -b)"),
    OPTION_INT(0, "max-stack", OWN, max_stack, "n", "look at so many functions of a callchain"),
    OPTION_INT(0, "stack-skip", OWN, stack_skip, "n",
               "the first n functions of a callchain are no callers (default: 0; those of locks never are)"),
    OPTION_INT('E', "entries", OWN, entries, "n", "show so many rows"),
    OPTION_STRING('Y', "type-filter", OWN, types, "types", "locks of these types only (mutex, rwsem:W ...)"),
    OPTION_STRING('L', "lock-filter", OWN, locks, "addresses or names", "these locks only"),
    OPTION_STRING('S', "callstack-filter", OWN, stacks, "text",
                  "only with a function in the callchain whose name has this in it"),
    OPTION_STRING('x', "field-separator", OWN, separator, "separator", "CSV, with this between the fields"),
    OPTION_STRING('G', "cgroup-filter", OWN, cgroups, "control groups",
                  "in these control groups and those below them only"),
    OPTION_STRING('J', "inject-delay", OWN, delay, "time@function",
                  "refused: it slows the kernel's locks down"),
    LOCK_COMMON_OPTIONS(OWN, common),
    OPTION_END,
};

static const char *const usage[] = {"lock contention [<options>]",
                                    "lock contention -b [<options>] [<command>]", NULL};

enum {
    FIELDS = 1 << LOCK_CONTENDED | 1 << LOCK_TOTAL | 1 << LOCK_MAX | 1 << LOCK_MIN | 1 << LOCK_AVG,
};

static bool parse_types(const char *text, uint32_t *types, struct err *err) {
    for (const char *p = text; p && *p;) {
        size_t n = strcspn(p, ",");
        uint32_t found = lock_types_named(p, n);
        if (!found)
            return err_set(err, ERR_USAGE, "--type-filter", "unknown type of lock: %.*s", (int)n, p);
        *types |= found;
        p += n + (p[n] == ',');
    }
    return true;
}

static const char *what_is_wrong(const struct contention_options *o, bool operands) {
    if (o->delay)
        return "-J would make the kernel's locks slow: that is not done";
    if (o->owners && !o->use_bpf)
        return "owners of locks are known with -b only";
    if (o->by_cgroup && (o->threads || o->addresses || o->owners))
        return "--lock-cgroup does not go with -t, -l or -o";
    if (!o->use_bpf && operands)
        return "a command is measured with -b only: record it, or use -b";
    if (!o->use_bpf && o->all_cpus)
        return "-a is for -b: a recording has what was recorded";
    if (o->use_bpf && o->common.dump)
        return "-D dumps a recording: -b has none";
    if (o->threads && o->addresses)
        return "-t and -l do not go together";
    if (o->owners && o->addresses)
        return "-o and -l do not go together";
    if (o->entries < 0 || o->stack_skip < 0 || o->max_stack < 0 || o->map_entries < 0)
        return "numbers of rows and functions are not negative";
    return NULL;
}

/* What -b, or a recording, is asked for. */
struct wish {
    struct filter who;
    struct filter_names locks, groups;
    uint32_t types;
    enum lock_field key;
    struct lock_columns columns;
};

static struct call_sites sites_of(const struct contention_options *o, bool by_site) {
    return (struct call_sites){.own = call_site_is_lock,
                               .skip = (unsigned)o->stack_skip,
                               .depth = (size_t)o->max_stack,
                               .stacks = by_site && o->common.verbose,
                               .filter = o->stacks};
}

static struct lock_table table_of(const struct contention_options *o) {
    return (struct lock_table){.by = o->threads || o->owners ? LOCK_BY_THREAD
                                     : o->addresses          ? LOCK_BY_ADDRESS
                                     : o->by_cgroup          ? LOCK_BY_GROUP
                                                             : LOCK_BY_SITE,
                               .waits_only = true};
}

static int show_live(struct command_env *env, const struct contention_options *o, struct wish *w, int argc,
                     char **argv) {
    struct err err = ERR_INIT;
    struct out out;
    struct lock_table table = table_of(o);
    bool by_site = table.by == LOCK_BY_SITE;
    struct lock_live l = {
        .bpf = &os_bpf_system,
        .all = o->all_cpus || (!argc && !w->who.pids.list.count && !w->who.tids.list.count),
        .verbose = o->common.verbose,
        .owners = o->owners,
        .cpus = &w->who.cpus,
        .pids = &w->who.pids,
        .tids = &w->who.tids,
        .types = w->types,
        .locks = &w->locks,
        .groups = &w->groups,
        .entries = (uint32_t)o->map_entries,
        .command = argc ? argv : NULL,
        .site = sites_of(o, by_site),
        .table = table,
    };
    int status = EXIT_ERROR;
    if (!lock_live_run(&l, w->key, &err)) {
        status = command_fail(&err);
    } else if (command_output_to(env, o->common.output, &out)) {
        struct lock_names names = lock_live_names(&l);
        lock_text_contention(&l.table, &w->columns, &names, &out);
        status = command_finish(env, &out, l.status);
    }
    lock_live_close(&l);
    return status;
}

static int show_recording(struct command_env *env, const struct contention_options *o, struct wish *w) {
    struct err err = ERR_INIT;
    struct lock_table table = table_of(o);
    bool by_site = table.by == LOCK_BY_SITE;
    struct lock_session s = {
        .view = {.env = env,
                 .input = o->common.input,
                 .output = o->common.output,
                 .force = o->common.force,
                 .dump = o->common.dump,
                 .symbols = &o->common.symbols,
                 .names_addresses = true},
        .contention = true,
        .sites = by_site || o->stacks,
        .types = w->types,
        .who = &w->who,
        .locks = &w->locks,
        .groups = &w->groups,
        .site = sites_of(o, by_site),
        .table = table,
    };
    bool ok = lock_session_open(&s, &err) && lock_session_read(&s, w->key, &err);
    if (ok) {
        struct lock_names names = lock_session_names(&s);
        lock_text_contention(&s.table, &w->columns, &names, &s.view.out);
    }
    return lock_session_close(&s, ok, &err);
}

int lock_contention(struct command_env *env, const struct lock_common *common, int argc, char **argv) {
    struct contention_options o = {.common = *common};
    struct wish w = {0};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    const char *wrong = what_is_wrong(&o, argc > 0);
    if (wrong)
        return command_usage(env, "%s", wrong);
    command_log(env, o.common.verbose, o.common.quiet);
    w.columns = (struct lock_columns){.separator = o.separator,
                                      .most = (size_t)o.entries,
                                      .quiet = o.common.quiet,
                                      .owners = o.owners,
                                      .verbose = o.common.verbose};
    struct filter_options lists = {.cpus = o.cpus, .pids = o.pids, .tids = o.tids};
    bool ok = lock_fields_parse(o.fields ? o.fields : "contended,wait_total,wait_max,avg_wait",
                                o.key ? o.key : "wait_total", FIELDS, &w.columns, &w.key, &err) &&
              parse_types(o.types, &w.types, &err) && filter_parse(&lists, &w.who, &err) &&
              (!o.locks || filter_names_parse("--lock-filter", o.locks, &w.locks, &err)) &&
              (!o.cgroups || filter_names_parse("--cgroup-filter", o.cgroups, &w.groups, &err));
    if (!ok)
        status = command_fail(&err);
    else
        status = o.use_bpf ? show_live(env, &o, &w, argc, argv) : show_recording(env, &o, &w);
    filter_fini(&w.who);
    filter_names_fini(&w.locks);
    filter_names_fini(&w.groups);
    return status;
}
