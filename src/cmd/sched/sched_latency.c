/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sched/sched.h"
#include "states/sched/latency.h"
#include "view/sched/latency_text.h"
#include "view/sched/sched_json.h"

struct latency_options {
    struct sched_common common;
    const char *sort, *cpus;
    bool pids, json;
};

#define OWN struct latency_options
static const struct option options[] = {
    OPTION_STRING('s', "sort", OWN, sort, "key[,key2...]", "sort by key(s): runtime, switch, avg, max"),
    OPTION_STRING('C', "CPU", OWN, cpus, "n", "running and waiting on these CPUs only (0,2-4)"),
    OPTION_BOOL('p', "pids", OWN, pids, "latency stats per pid instead of per comm"),
    OPTION_BOOL(0, "json", OWN, json, "show it as JSON"),
    SCHED_COMMON_OPTIONS(OWN, common),
    OPTION_END,
};

static const char *const usage[] = {"sched latency [<options>]", NULL};

static int show(struct command_env *env, struct latency_options *o, const struct latency_order *order,
                const struct filter_ranges *cpus) {
    struct event_view view = sched_view(env, &o->common);
    struct latency latency = {.cpus = cpus};
    struct states states;
    struct err err = ERR_INIT;
    states_init(&states, latency_add, &latency);
    bool ok = event_view_open(&view, &err) && sched_read(&view, &states, &err) &&
              (latency_finish(&latency, &states, !o->pids, order) || err_memory(&err, "rows"));
    if (ok && o->json)
        latency_json_write(&latency, &states, &view.out);
    else if (ok)
        latency_text_write(&latency, &states, &view.out);
    int status = event_view_close(&view, ok, &err);
    latency_fini(&latency);
    states_fini(&states);
    return status;
}

int sched_latency(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct latency_options o = {.common = *common};
    struct latency_order order;
    struct filter_ranges cpus = {0};
    struct err err = ERR_INIT;
    struct bytes bad;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.json && o.common.dump)
        return command_usage(env, "use only one of --json and -D");
    if (!latency_order_parse(o.sort ? o.sort : "avg,max,switch,runtime", &order, &bad))
        return command_usage(env, "Unknown --sort key: `%.*s'", (int)bad.size, (const char *)bad.data);
    command_log(env, o.common.verbose, false);
    if (!o.cpus || filter_ranges_parse("--CPU", o.cpus, &cpus, &err))
        status = show(env, &o, &order, &cpus);
    else
        status = command_fail(&err);
    filter_ranges_fini(&cpus);
    return status;
}
