/* SPDX-License-Identifier: Apache-2.0 */
/* `sched record` and `sched script`: other commands, with what scheduling needs. */
#include <stdlib.h>

#include "cmd/sched/sched.h"
#include "events/tracepoint.h"

enum { WORDS_MAX = 64 }; /* those that are put before the user's */

struct words {
    char *list[WORDS_MAX];
    size_t count;
};

static void add(struct words *w, const char *word) {
    if (w->count < WORDS_MAX)
        w->list[w->count++] = (char *)word;
}

/* Runs a command with these words before the user's, of which argv[0] is the verb. */
static int run_command(struct command_env *env, const struct command *command, const struct words *w,
                       int argc, char **argv) {
    char **line = calloc(w->count + (size_t)argc + 1, sizeof *line);
    if (!line)
        return command_fail(&(struct err){.code = ERR_MEMORY, .message = "out of memory"});
    memcpy(line, w->list, w->count * sizeof *line);
    for (int i = 1; i < argc; i++)
        line[w->count + (size_t)i - 1] = argv[i];
    env->command = command;
    int status = command->run(env, (int)w->count + argc - 1, line);
    free(line);
    return status;
}

int sched_script(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct words w = {0};
    add(&w, "script");
    if (common->input) {
        add(&w, "-i");
        add(&w, common->input);
    }
    if (common->force)
        add(&w, "-f");
    return run_command(env, &cmd_script, &w, argc, argv);
}

/* perf's events, and the two that tell of programs that begin and threads that end. What a kernel does not
 * have is left out, but for the first one. */
static const char *const EVENTS[] = {
    "sched:sched_switch",       "sched:sched_stat_wait",    "sched:sched_stat_sleep",
    "sched:sched_stat_iowait",  "sched:sched_stat_runtime", "sched:sched_process_fork",
    "sched:sched_wakeup_new",   "sched:sched_migrate_task", "sched:sched_process_exec",
    "sched:sched_process_exit",
};

static bool has_event(struct tracepoint_set *set, const char *name, struct err *err) {
    uint64_t id = 0;
    return tracepoint_id(set, "sched", strchr(name, ':') + 1, &id, err);
}

int sched_record(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    static const char *const FIRST[] = {"record", "-a", "-R", "-m", "1024", "-c", "1"};
    struct tracepoint_set set;
    struct words w = {0};
    struct err err = ERR_INIT;
    tracepoint_set_init(&set, &sysfs_system);
    set.mounts = true;
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++)
        add(&w, FIRST[i]);
    bool ok = true;
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS && ok; i++) {
        struct err absent = ERR_INIT;
        bool has = has_event(&set, EVENTS[i], i ? &absent : &err);
        ok = has || i;
        if (has) {
            add(&w, "-e");
            add(&w, EVENTS[i]);
        }
    }
    if (ok) {
        struct err absent = ERR_INIT;
        add(&w, "-e");
        add(&w, has_event(&set, "sched:sched_waking", &absent) ? "sched:sched_waking" : "sched:sched_wakeup");
    }
    if (common->verbose)
        add(&w, "-v");
    tracepoint_set_fini(&set);
    return ok ? run_command(env, &cmd_record, &w, argc, argv) : command_fail(&err);
}
