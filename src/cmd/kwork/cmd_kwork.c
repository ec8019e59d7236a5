/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/common/forward.h"
#include "cmd/kwork/kwork.h"

#define OWN struct kwork_common
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_STRING('k', "kwork", OWN, classes, "kwork",
                  "list of kwork to profile (irq, softirq, workqueue, sched, etc)"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    EVENT_VIEW_DUMP_OPTION(OWN, dump),
    OPTION_END,
};

static const struct verb {
    const char *name;
    kwork_verb_fn *run;
} verbs[] = {
    {"latency", kwork_latency},   {"record", kwork_record}, {"report", kwork_report},
    {"timehist", kwork_timehist}, {"top", kwork_top},
};

static int run(struct command_env *env, int argc, char **argv) {
    struct kwork_common c = {0};
    int status;
    if (!command_options(env, &c, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    if (!argc)
        return command_usage(env, NULL);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        /* As in perf, the beginnings of some words are enough. */
        size_t n = strlen(argv[0]);
        bool begins = n >= 3 && strncmp(verbs[i].name, argv[0], n) == 0;
        if (begins)
            return verbs[i].run(env, &c, argc, argv);
    }
    return command_usage(env, "unknown command: %s", argv[0]);
}

/* ---- record: other commands with what is needed ---- */

static const struct {
    int class;
    const char *event;
} EVENTS[] = {
    {KWORK_IRQ, "irq:irq_handler_entry"},
    {KWORK_IRQ, "irq:irq_handler_exit"},
    {KWORK_SOFTIRQ, "irq:softirq_raise"},
    {KWORK_SOFTIRQ, "irq:softirq_entry"},
    {KWORK_SOFTIRQ, "irq:softirq_exit"},
    {KWORK_WORKQUEUE, "workqueue:workqueue_activate_work"},
    {KWORK_WORKQUEUE, "workqueue:workqueue_execute_start"},
    {KWORK_WORKQUEUE, "workqueue:workqueue_execute_end"},
    {KWORK_SCHED, "sched:sched_switch"},
};

int kwork_record(struct command_env *env, const struct kwork_common *c, int argc, char **argv) {
    static const char *const FIRST[] = {"-a", "-R", "-m", "1024", "-c", "1", NULL};
    bool classes[KWORK_CLASSES + 1];
    struct forward words;
    struct err err = ERR_INIT;
    if (!kwork_parse_classes(c->classes, classes, &err))
        return command_fail(&err);
    if (!c->classes)
        classes[KWORK_SCHED] = true;
    forward_record_begin(&words, FIRST);
    bool ok = true;
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS && ok; i++)
        if (classes[EVENTS[i].class])
            ok = forward_event(&words, EVENTS[i].event, &err);
    if (c->verbose)
        forward_add(&words, "-v");
    return forward_record_run(env, &words, ok, &err, argc, argv);
}

const struct command cmd_kwork = {
    .name = "kwork",
    .summary = "Analyse interrupts and workqueues",
    .usage =
        (const char *const[]){"kwork [<options>] {record|report|latency|timehist|top} [<options>]", NULL},
    .options = options,
    .run = run,
};
