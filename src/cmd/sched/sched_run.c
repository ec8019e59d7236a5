/* SPDX-License-Identifier: Apache-2.0 */
/* `sched record` and `sched script`: other commands, with what scheduling needs. */
#include "cmd/common/forward.h"
#include "cmd/sched/sched.h"

int sched_script(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    return forward_script(env, common->input, common->force, common->dump, argc, argv);
}

/* perf's events, and the two that tell of programs that begin and threads that end. What a kernel does not
 * have is left out, but for the first one. */
static const char *const EVENTS[] = {
    "sched:sched_switch",       "sched:sched_stat_wait",    "sched:sched_stat_sleep",
    "sched:sched_stat_iowait",  "sched:sched_stat_runtime", "sched:sched_process_fork",
    "sched:sched_wakeup_new",   "sched:sched_migrate_task", "sched:sched_process_exec",
    "sched:sched_process_exit",
};

int sched_record(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    static const char *const FIRST[] = {"-a", "-R", "-m", "1024", "-c", "1", NULL};
    struct forward words;
    struct err err = ERR_INIT;
    forward_record_begin(&words, FIRST);
    bool ok = true;
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS && ok; i++) {
        struct err absent = ERR_INIT;
        ok = forward_event(&words, EVENTS[i], i ? &absent : &err) || i;
    }
    struct err absent = ERR_INIT;
    if (ok && !forward_event(&words, "sched:sched_waking", &absent)) {
        forward_add(&words, "-e");
        forward_add(&words, "sched:sched_wakeup");
    }
    if (common->verbose)
        forward_add(&words, "-v");
    return forward_record_run(env, &words, ok, &err, argc, argv);
}
