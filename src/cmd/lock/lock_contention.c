/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lock/lock.h"

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
    OPTION_BOOL(0, "lock-cgroup", OWN, by_cgroup, "by control group (with -b)"),
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
                  "in these control groups only (with -b)"),
    OPTION_STRING('J', "inject-delay", OWN, delay, "time@function",
                  "refused: it slows the kernel's locks down"),
    LOCK_COMMON_OPTIONS(OWN, common),
    OPTION_END,
};

static const char *const usage[] = {"lock contention [<options>]", NULL};

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

static const char *what_is_wrong(const struct contention_options *o) {
    if (o->delay)
        return "-J would make the kernel's locks slow: that is not done";
    if (o->use_bpf)
        return "-b is not there yet: use lock record and lock contention";
    if (o->owners)
        return "owners of locks are known with -b only";
    if (o->by_cgroup || o->cgroups)
        return "control groups are known with -b only";
    if (o->threads && o->addresses)
        return "-t and -l do not go together";
    if (o->entries < 0 || o->stack_skip < 0 || o->max_stack < 0)
        return "numbers of rows and functions are not negative";
    return NULL;
}

static int show(struct contention_options *o, struct lock_session *s, struct lock_columns *columns,
                enum lock_field key) {
    struct err err = ERR_INIT;
    bool ok = lock_session_open(s, &err) && lock_session_read(s, key, &err);
    if (ok) {
        struct lock_names names = lock_session_names(s);
        columns->verbose = o->common.verbose;
        lock_text_contention(&s->table, columns, &names, &s->view.out);
    }
    return lock_session_close(s, ok, &err);
}

int lock_contention(struct command_env *env, const struct lock_common *common, int argc, char **argv) {
    struct contention_options o = {.common = *common};
    struct filter who = {0};
    struct filter_names locks = {0};
    struct err err = ERR_INIT;
    enum lock_field key;
    uint32_t types = 0;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    const char *wrong = argc ? "unexpected argument" : what_is_wrong(&o);
    if (wrong)
        return command_usage(env, argc ? "%s `%s'" : "%s", wrong, argv[0]);
    command_log(env, o.common.verbose, o.common.quiet);
    struct lock_columns columns = {
        .separator = o.separator, .most = (size_t)o.entries, .quiet = o.common.quiet};
    struct filter_options lists = {.cpus = o.cpus, .pids = o.pids, .tids = o.tids};
    if (lock_fields_parse(o.fields ? o.fields : "contended,wait_total,wait_max,avg_wait",
                          o.key ? o.key : "wait_total", FIELDS, &columns, &key, &err) &&
        parse_types(o.types, &types, &err) && filter_parse(&lists, &who, &err) &&
        (!o.locks || filter_names_parse("--lock-filter", o.locks, &locks, &err))) {
        bool by_site = !o.threads && !o.addresses;
        struct lock_session s = {
            .view = {.env = env,
                     .input = o.common.input,
                     .output = o.common.output,
                     .force = o.common.force,
                     .symbols = &o.common.symbols,
                     .names_addresses = true},
            .contention = true,
            .sites = by_site || o.stacks,
            .types = types,
            .who = &who,
            .locks = &locks,
            .site = {.own = call_site_is_lock,
                     .skip = (unsigned)o.stack_skip,
                     .depth = (size_t)o.max_stack,
                     .stacks = by_site && o.common.verbose,
                     .filter = o.stacks},
            .table = {.by = o.threads     ? LOCK_BY_THREAD
                            : o.addresses ? LOCK_BY_ADDRESS
                                          : LOCK_BY_SITE,
                      .waits_only = true},
        };
        status = show(&o, &s, &columns, key);
    } else {
        status = command_fail(&err);
    }
    filter_fini(&who);
    filter_names_fini(&locks);
    return status;
}
