/* SPDX-License-Identifier: Apache-2.0 */
/* `lock report` and `lock info`: what lock:lock_acquired and the like tell where they were recorded, else the
 * events of contention. */
#include <stdlib.h>

#include "cmd/lock/lock.h"

struct report_options {
    struct lock_common common;
    const char *key, *fields;
    bool threads, combine, map;
    int entries;
};

enum { FIELDS = (1 << LOCK_FIELDS) - 1 };

#define OWN struct report_options
static const struct option report_rows[] = {
    OPTION_STRING('k', "key", OWN, key, "acquired",
                  "sort by this (acquired, contended, avg_wait, wait_total, wait_max, wait_min)"),
    OPTION_STRING('F', "field", OWN, fields, "field,...",
                  "columns (acquired, contended, avg_wait, wait_total, wait_max, wait_min)"),
    OPTION_BOOL('c', "combine-locks", OWN, combine, "locks with the same name are one row"),
    OPTION_BOOL('t', "threads", OWN, threads, "by thread"),
    OPTION_INT('E', "entries", OWN, entries, "n", "show so many rows"),
    LOCK_COMMON_OPTIONS(OWN, common),
    OPTION_END,
};
static const char *const report_usage[] = {"lock report [<options>]", NULL};

static const struct option info_rows[] = {
    OPTION_BOOL('t', "threads", OWN, threads, "the threads"),
    OPTION_BOOL('m', "map", OWN, map, "the locks, with their names"),
    LOCK_COMMON_OPTIONS(OWN, common),
    OPTION_END,
};
static const char *const info_usage[] = {"lock info [<options>]", NULL};

static struct lock_session session(struct command_env *env, const struct report_options *o, enum lock_by by) {
    return (struct lock_session){.view = {.env = env,
                                          .input = o->common.input,
                                          .output = o->common.output,
                                          .force = o->common.force,
                                          .dump = o->common.dump,
                                          .symbols = &o->common.symbols,
                                          .names_addresses = true},
                                 .table = {.by = by}};
}

int lock_report(struct command_env *env, const struct lock_common *common, int argc, char **argv) {
    struct report_options o = {.common = *common};
    struct err err = ERR_INIT;
    struct lock_columns columns = {0};
    enum lock_field key;
    int status;
    if (!command_verb_options(env, report_rows, report_usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.entries < 0)
        return command_usage(env, "numbers of rows are not negative");
    command_log(env, o.common.verbose, o.common.quiet);
    if (!lock_fields_parse(o.fields ? o.fields : "acquired,contended,avg_wait,wait_total,wait_max,wait_min",
                           o.key ? o.key : "acquired", FIELDS, &columns, &key, &err))
        return command_fail(&err);
    columns.most = (size_t)o.entries;
    columns.quiet = o.common.quiet;
    struct lock_session s = session(env, &o,
                                    o.threads   ? LOCK_BY_THREAD
                                    : o.combine ? LOCK_BY_NAME
                                                : LOCK_BY_ADDRESS);
    bool ok = lock_session_open(&s, &err) && lock_session_read(&s, key, &err);
    if (ok) {
        struct lock_names names = lock_session_names(&s);
        lock_text_report(&s.table, &columns, &names, &s.view.out);
    }
    return lock_session_close(&s, ok, &err);
}

static int by_tid(const void *a, const void *b) {
    const struct lock_row *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_address(const void *a, const void *b) {
    const struct lock_row *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void sort(struct lock_table *t, int (*order)(const void *, const void *)) {
    if (t->rows.count)
        qsort(t->rows.items, t->rows.count, sizeof *t->rows.items, order);
}

int lock_info(struct command_env *env, const struct lock_common *common, int argc, char **argv) {
    struct report_options o = {.common = *common};
    int status;
    if (!command_verb_options(env, info_rows, info_usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    command_log(env, o.common.verbose, o.common.quiet);
    struct err err = ERR_INIT;
    struct lock_table locks = {.by = LOCK_BY_ADDRESS};
    struct lock_session s = session(env, &o, LOCK_BY_THREAD);
    bool both = o.threads == o.map;
    s.also = &locks;
    bool ok = lock_session_open(&s, &err) && lock_session_read(&s, LOCK_ACQUIRED, &err);
    if (ok) {
        struct lock_names names = lock_session_names(&s);
        sort(&s.table, by_tid);
        sort(&locks, by_address);
        if (both || o.threads)
            lock_text_threads(&s.table, &names, &s.view.out);
        if (both)
            out_char(&s.view.out, '\n');
        if (both || o.map)
            lock_text_map(&locks, &names, &s.view.out);
    }
    status = lock_session_close(&s, ok, &err);
    lock_table_fini(&locks);
    return status;
}
