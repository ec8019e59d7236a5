/* SPDX-License-Identifier: Apache-2.0 */
/* A live profile. */
#include "cmd/common/command.h"
#include "cmd/common/map_guard.h"
#include "cmd/top/top.h"

static int top(struct command_env *env, struct top_options *o, char *const *argv) {
    struct err err = ERR_INIT;
    struct perf_events events = PERF_EVENTS_INIT;
    struct perf_event_sources *src = perf_event_sources_new(&sysfs_system);
    struct top t = {.env = env, .o = o};
    if (src)
        perf_event_sources_filter_samples(src);
    bool ok = (src || err_memory(&err, "events")) && top_options_settle(o, env->config, src, &events, &err) &&
              top_open(&t, &err) && (top_tui_wanted(&t) ? top_tui : top_stdio)(&t, src, &events, argv, &err);
    top_close(&t);
    perf_events_fini(&events);
    perf_event_sources_free(src);
    if (!ok && err.code == ERR_NONE)
        return EXIT_USAGE; /* an event's error was marked in its text */
    return ok ? EXIT_OK : command_fail(&err);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct top_options o;
    int status;
    char *line[] = {argv[0], NULL};
    top_options_init(&o, env->config);
    map_guard_install();
    if (command_options(env, &o, 0, &argc, &argv, &status)) {
        command_log(env, o.verbose, false);
        status = argc ? command_usage(env, NULL) : top(env, &o, line);
    }
    top_options_fini(&o);
    return status;
}

const struct command cmd_top = {
    .name = "top",
    .summary = "Show a live profile",
    .usage = (const char *const[]){"top [<options>]", NULL},
    .options = top_option_rows,
    .run = run,
};
