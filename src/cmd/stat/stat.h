/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the command share: cmd_stat.c reads the command line, stat_events.c makes events of it,
 * stat_run.c measures and prints. */
#ifndef SONDE_CMD_STAT_STAT_H
#define SONDE_CMD_STAT_STAT_H

#include "cmd/common/command.h"
#include "cmd/common/event_options.h"
#include "cmd/stat/stat_vs.h"
#include "count/metric/table.h"
#include "count/session.h"
#include "view/stat/stat.h"

struct stat_cli {
    struct count_options o;
    event_choices chosen;
    const char *separator, *output, *user, *for_each_cgroup, *metrics, *metric_folder, *pre, *post;
    bool json, null, append, sync, table, metric_only, metric_only_given, summary, no_csv_summary, no_group,
        big_num, scale, topdown, transaction, interval_clear, quiet, per_thread, passes;
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

/* Runs a command of --pre or --post (`name`), if there is one, by a shell; false and *err: it failed. */
bool stat_hook(const char *command, const char *name, struct err *err);

/* --vs: compares, and prints. The exit status. */
int stat_vs_run(struct command_env *env, const struct stat_cli *c, struct stat_events *events);
/* Whether the options that there are go with --vs, or without it; else *err says what is wrong. */
bool stat_vs_check(const struct stat_cli *c, struct err *err);

/* Measures as often as asked, and prints. The exit status. */
int stat_run(struct command_env *env, const struct stat_cli *c, struct stat_events *events);

#endif
