/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "base/log.h"
#include "cmd/sched/sched.h"
#include "view/sched/map_text.h"

struct map_options {
    struct sched_common common;
    const char *cpus, *color_cpus, *color_pids, *names;
    bool compact, fuzzy;
};

#define OWN struct map_options
static const struct option options[] = {
    SCHED_COMMON_OPTIONS(OWN, common),
    OPTION_STRING(0, "color-cpus", OWN, color_cpus, "cpus", "highlight given CPUs in map"),
    OPTION_STRING(0, "color-pids", OWN, color_pids, "pids", "highlight given pids in map"),
    OPTION_BOOL(0, "compact", OWN, compact, "map output in compact mode"),
    OPTION_STRING(0, "cpus", OWN, cpus, "cpus", "display given CPUs in map"),
    OPTION_BOOL(0, "fuzzy-name", OWN, fuzzy, "given command name can be partially matched"),
    OPTION_STRING(0, "task-name", OWN, names, "task", "map output only for the given task name(s)."),
    OPTION_END,
};

static const char *const usage[] = {"sched map [<options>]", NULL};

static int show(struct command_env *env, const struct map_options *o, struct map_text *map) {
    struct event_view view = sched_view(env, &o->common);
    struct states states;
    struct err err = ERR_INIT;
    states_init(&states, map_text_interval, map);
    states.tap = map_text_event;
    map->out = &view.out;
    bool ok = event_view_open(&view, &err) && sched_read(&view, &states, &err);
    if (map->unshown)
        log_line(LOG_WARN, "%llu switches on CPUs from %d on are not shown", (unsigned long long)map->unshown,
                 MAP_CPUS_MAX);
    int status = event_view_close(&view, ok, &err);
    states_fini(&states);
    return status;
}

int sched_map(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct map_options o = {.common = *common};
    struct filter_ranges cpus = {0}, color_cpus = {0}, color_pids = {0};
    struct filter_names names = {0};
    struct map_text map = {.cpus = &cpus, .names = &names};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    command_log(env, o.common.verbose, false);
    map.compact = o.compact;
    map.fuzzy = o.fuzzy;
    if (isatty(STDOUT_FILENO)) {
        map.color_cpus = &color_cpus;
        map.color_pids = &color_pids;
    }
    bool ok = (!o.cpus || filter_ranges_parse("--cpus", o.cpus, &cpus, &err)) &&
              (!o.color_cpus || filter_ranges_parse("--color-cpus", o.color_cpus, &color_cpus, &err)) &&
              (!o.color_pids || filter_ranges_parse("--color-pids", o.color_pids, &color_pids, &err)) &&
              (!o.names || filter_names_parse("--task-name", o.names, &names, &err));
    status = ok ? show(env, &o, &map) : command_fail(&err);
    map_text_fini(&map);
    filter_ranges_fini(&cpus);
    filter_ranges_fini(&color_cpus);
    filter_ranges_fini(&color_pids);
    filter_names_fini(&names);
    return status;
}
