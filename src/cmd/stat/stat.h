/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the command share: cmd_stat.c reads the command line, stat_events.c makes events of it,
 * stat_run.c measures and prints. */
#ifndef SONDE_CMD_STAT_STAT_H
#define SONDE_CMD_STAT_STAT_H

#include "cmd/common/command.h"
#include "cmd/common/options/event_options.h"
#include "cmd/stat/stat_record.h"
#include "cmd/stat/stat_vs.h"
#include "count/metric/table.h"
#include "count/session.h"
#include "view/stat/stat.h"

struct stat_cli {
    struct count_options o;
    event_choices chosen;
    const char *input, *record; /* of report; what `stat record` writes to, NULL: this is none */
    char *const *argv;          /* the whole command line */
    const char *separator, *output, *user, *for_each_cgroup, *metrics, *metric_folder, *pre, *post,
        *pmu_filter, *cputype;
    bool json, null, append, sync, table, metric_only, metric_only_given, summary, no_csv_summary, no_group,
        big_num, scale, topdown, transaction, interval_clear, quiet, passes, force, level_given;
    int detailed, verbose, log_fd;
    uint64_t td_level;
    int64_t repeat; /* 0: for ever */
    struct stat_vs_options vs;
};

/* The events to count, and what is computed of them. */
struct stat_events {
    struct perf_event_sources *sources;
    struct perf_events events;
    VEC(bool) optional;        /* beside them */
    struct metric_table table; /* that metrics were chosen from */
    struct metric_set metrics;
    bool has_metrics; /* they are shown instead of rates */
};

/* False: *err says why; ERR_NONE when it has been said. */
bool stat_events_make(struct stat_events *s, const struct stat_cli *c, struct err *err);
void stat_events_fini(struct stat_events *s);

/* Where results go: -o, --log-fd, else the given descriptor. */
struct stat_sink {
    struct command_sink sink;
    struct out out;
    bool own_fd;
};
bool stat_sink_open(struct stat_sink *s, const struct stat_cli *c, int otherwise, struct err *err);
bool stat_sink_close(struct stat_sink *s, const struct stat_cli *c, struct err *err);

/* How counts are to look. `thousands` has to stay as long as the view. */
enum { STAT_THOUSANDS = 8 };
struct stat_view stat_view_of(struct command_env *env, const struct stat_cli *c,
                              char thousands[STAT_THOUSANDS]);
/* The heading over intervals, where one is due; *lines counts them. */
void stat_interval_heading(const struct stat_view *v, const struct counts *c, unsigned *lines, struct out *o);

/* --per-core and the like, -A. */
option_fn stat_set_level;
#define STAT_LEVEL(letter, name, help, ...)                                                             \
    OPTION_CALL(letter, name, struct stat_cli, o, NULL, help, stat_set_level, .flags = OPTION_NO_VALUE, \
                __VA_ARGS__)

/* Runs a command of --pre or --post (`name`), if there is one, by a shell; false and *err: it failed. */
bool stat_hook(const char *command, const char *name, struct err *err);

/* --vs: compares, and prints. The exit status. */
int stat_vs_run(struct command_env *env, const struct stat_cli *c, struct stat_events *events);
/* Whether the options that there are go with --vs, or without it; else *err says what is wrong. */
bool stat_vs_check(const struct stat_cli *c, struct err *err);

/* `stat report`, whose words are in argv[0 .. argc). The exit status. */
int stat_report(struct command_env *env, struct stat_cli *c, int argc, char **argv);

/* Measures as often as asked, and prints. The exit status. */
int stat_run(struct command_env *env, const struct stat_cli *c, struct stat_events *events);

#endif
