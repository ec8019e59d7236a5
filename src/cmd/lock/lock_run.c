/* SPDX-License-Identifier: Apache-2.0 */
/* `lock record` and `lock script`: other commands, with what locks need. */
#include "cmd/common/forward.h"
#include "cmd/lock/lock.h"

int lock_script(struct command_env *env, const struct lock_common *common, int argc, char **argv) {
    return forward_script(env, common->input, common->force, common->dump, argc, argv);
}

int lock_record(struct command_env *env, const struct lock_common *common, int argc, char **argv) {
    /* Kernels with lockdep tell all that happens to locks, others who waits. Callers are those of who begins
     * to wait; perf wants them at the end, too. */
    static const char *const LOCKDEP[] = {"lock:lock_acquire", "lock:lock_acquired", "lock:lock_contended",
                                          "lock:lock_release"};
    static const char *const FIRST[] = {"-R", "-m", "1024", "-c", "1", "--synth", "task,cgroup", NULL};
    struct forward words;
    struct err err = ERR_INIT, absent = ERR_INIT;
    forward_record_begin(&words, FIRST);
    bool ok = true;
    if (forward_event(&words, LOCKDEP[0], &absent)) {
        for (size_t i = 1; i < sizeof LOCKDEP / sizeof *LOCKDEP && ok; i++)
            ok = forward_event(&words, LOCKDEP[i], &err);
    } else {
        ok = forward_event(&words, "lock:contention_begin/call-graph=fp,max-stack=16/", &err) &&
             forward_event(&words, "lock:contention_end/call-graph=fp,max-stack=16/", &err);
    }
    if (common->verbose)
        forward_add(&words, "-v");
    if (common->output) {
        forward_add(&words, "-o");
        forward_add(&words, common->output);
    }
    return forward_record_run(env, &words, ok, &err, argc, argv);
}
