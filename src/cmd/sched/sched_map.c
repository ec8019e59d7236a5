/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "cmd/sched/sched.h"
#include "view/sched/map_text.h"

struct map_options {
    struct sched_common common;
    const char *cpus;
    bool compact;
};

#define OWN struct map_options
static const struct option options[] = {
    SCHED_COMMON_OPTIONS(OWN, common),
    OPTION_ABSENT(0, "color-cpus", "cpus", "highlight given CPUs in map"),
    OPTION_ABSENT(0, "color-pids", "pids", "highlight given pids in map"),
    OPTION_BOOL(0, "compact", OWN, compact, "map output in compact mode"),
    OPTION_STRING(0, "cpus", OWN, cpus, "cpus", "display given CPUs in map"),
    OPTION_ABSENT_FLAG(0, "fuzzy-name", "given command name can be partially matched"),
    OPTION_ABSENT(0, "task-name", "task", "map output only for the given task name(s)."),
    OPTION_END,
};

static const char *const usage[] = {"sched map [<options>]", NULL};

static int show(struct command_env *env, const struct map_options *o, struct map_text *map) {
    struct recording r = {0};
    struct states states;
    struct err err = ERR_INIT;
    struct out out = {0};
    struct model *m = model_new(&(struct model_options){.need = 0}, &err);
    bool ok = m && command_output(env, &out);
    int status = EXIT_ERROR;
    states_init(&states, map_text_interval, map);
    states.tap = map_text_event;
    map->out = &out;
    if (ok && sched_read(&r, &o->common, m, &states, &err))
        status = input_status(&r);
    else if (ok || err.code)
        status = command_fail(&err);
    if (map->unshown)
        log_line(LOG_WARN, "%llu switches on CPUs from %d on are not shown", (unsigned long long)map->unshown,
                 MAP_CPUS_MAX);
    if (ok)
        status = command_finish(env, &out, status);
    states_fini(&states);
    model_free(m);
    recording_close(&r);
    return status;
}

int sched_map(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct map_options o = {.common = *common};
    struct filter_ranges cpus = {0};
    struct map_text map = {.cpus = &cpus};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    command_log(env, o.common.verbose, false);
    map.compact = o.compact;
    status = !o.cpus || filter_ranges_parse("--cpus", o.cpus, &cpus, &err) ? show(env, &o, &map)
                                                                           : command_fail(&err);
    map_text_fini(&map);
    filter_ranges_fini(&cpus);
    return status;
}
