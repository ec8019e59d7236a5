/* SPDX-License-Identifier: Apache-2.0 */
/* `timechart record`: record, with the events that a chart is made of. */
#include <stdio.h>

#include "cmd/common/forward.h"
#include "cmd/timechart/timechart.h"

struct record_options {
    bool power, tasks, io, callchain;
    const char *output;
};

#define OWN struct record_options
static const struct option options[] = {
    OPTION_BOOL('P', "power-only", OWN, power, "record power events only"),
    OPTION_BOOL('T', "tasks-only", OWN, tasks, "record events of the scheduler only"),
    OPTION_BOOL('I', "io-only", OWN, io, "record system calls of input and output only"),
    OPTION_BOOL('g', "callchain", OWN, callchain, "record callchains"),
    OPTION_STRING('o', "output", OWN, output, "file", "output file name"),
    OPTION_END,
};
static const char *const usage[] = {"timechart record [<options>] [<command>]", NULL};

/* Adds those that this kernel has; whether there is any. */
static bool add_events(struct forward *f, const char *const *events, struct err *err) {
    bool any = false;
    for (size_t i = 0; events[i]; i++) {
        struct err absent = ERR_INIT;
        any = forward_event(f, events[i], i ? &absent : err) || any;
    }
    return any;
}

/* Those that this kernel has of the calls that a chart of input and output is made of, as one word: filters
 * are for the last -e only. What record itself writes is not what one wants to see. */
static bool add_io_events(struct forward *f, struct out *word, struct err *err) {
    static const char *const SIDES[] = {"sys_enter_", "sys_exit_"};
    for (size_t i = 0; i < io_calls_count(); i++)
        for (size_t side = 0; side < sizeof SIDES / sizeof *SIDES; side++) {
            char event[64];
            struct err absent = ERR_INIT;
            snprintf(event, sizeof event, "syscalls:%s%s", SIDES[side], io_call(i)->name);
            /* Every kernel that has any has the first one. */
            if (forward_has(f, event, i ? &absent : err))
                out_printf(word, "%s%s", word->len ? "," : "", event);
            else if (!i)
                return false;
        }
    forward_add(f, "-e");
    forward_add(f, out_text(word));
    forward_add(f, "--exclude-perf");
    return true;
}

/* How many words an option of the chart has, by its letter or name, with its value; 0: it is none. */
static int words_of(const char *word) {
    if (word[0] != '-' || !word[1])
        return 0;
    if (word[1] != '-')
        return strchr("PTIgh", word[1]) && !word[2] ? 1 : word[1] != 'o' ? 0 : word[2] ? 1 : 2;
    for (const struct option *row = options; row->name; row++) {
        size_t n = strlen(row->name);
        if (!strncmp(word + 2, row->name, n) && (!word[2 + n] || (row->arg && word[2 + n] == '=')))
            return row->arg && !word[2 + n] ? 2 : 1;
    }
    return 0;
}

/* The options of the chart end where those of record begin. */
static int own_words(int argc, char **argv) {
    int i = 1;
    for (int n; i < argc && (n = words_of(argv[i])) > 0; i += n)
        ;
    return i < argc ? i : argc;
}

/* Adds what the chart is made of. `word` owns what the words borrow. */
static bool add_words(struct forward *f, const struct record_options *r, struct out *word, struct err *err) {
    static const char *const TASKS[] = {"sched:sched_switch",       "sched:sched_waking",
                                        "sched:sched_wakeup_new",   "sched:sched_migrate_task",
                                        "sched:sched_process_fork", "sched:sched_process_exec",
                                        "sched:sched_process_exit", NULL};
    static const char *const POWER[] = {"power:cpu_idle", "power:cpu_frequency", NULL};
    struct err absent = ERR_INIT;
    if (r->io)
        return add_io_events(f, word, err);
    if (!r->power && !add_events(f, TASKS, err))
        return false;
    /* Machines without idle states or speeds have no such events: a chart of tasks needs none. */
    return r->tasks || add_events(f, POWER, r->power ? err : &absent) || !r->power;
}

int timechart_record(struct command_env *env, const struct timechart_options *o, int argc, char **argv) {
    static const char *const FIRST[] = {"-a", "-R", "-m", "1024", "-c", "1", NULL};
    struct record_options r = {
        .power = o->power_only, .tasks = o->tasks_only, .io = o->io_only, .callchain = o->callchain};
    struct forward words;
    struct err err = ERR_INIT;
    struct out word;
    int own = own_words(argc, argv), count = own, status;
    char *kept = argv[own], **mine = argv;
    argv[own] = NULL; /* the options' end */
    bool parsed = command_verb_options(env, options, usage, &r, &count, &mine, &status);
    argv[own] = kept;
    if (!parsed)
        return status;
    if (r.io && (r.power || r.tasks))
        return command_usage(env, IO_ALONE);
    forward_record_begin(&words, FIRST);
    bool ok = out_init(&word, NULL, NULL) ? add_words(&words, &r, &word, &err) : err_memory(&err, "events");
    if (ok && word.failed)
        ok = err_memory(&err, "events");
    if (r.callchain)
        forward_add(&words, "-g");
    if (r.output) {
        forward_add(&words, "-o");
        forward_add(&words, r.output);
    }
    status = forward_record_run(env, &words, ok, &err, argc - own + 1, argv + own - 1);
    out_fini(&word);
    return status;
}
