/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sonde kwork` share. */
#ifndef SONDE_CMD_KWORK_KWORK_H
#define SONDE_CMD_KWORK_KWORK_H

#include "cmd/common/event_view.h"
#include "states/kwork/kwork_events.h"
#include "states/kwork/kwork_top.h"
#include "states/sched_events.h"
#include "view/kwork/kwork_json.h"

/* The options that all verbs have, before or after the verb, and what to show. */
struct kwork_common {
    const char *input, *classes, *cpus, *times, *name, *sort;
    bool force, json, dump, use_bpf;
    int verbose;
    struct symbol_options symbols;
};

/* `at`: where in the type they are, as "c."; may be empty. */
#define KWORK_COMMON_OPTIONS(type, at)                                                          \
    OPTION_STRING('C', "cpu", type, at cpus, "cpu", "list of cpus to profile"),                 \
        INPUT_OPTION(type, at input), INPUT_FORCE_OPTION(type, at force),                       \
        OPTION_BOOL(0, "json", type, at json, "show it as JSON"),                               \
        OPTION_STRING('n', "name", type, at name, "name", "event name to profile"),             \
        OPTION_STRING(0, "time", type, at times, "str", "Time span for analysis (start,stop)"), \
        OPTION_COUNT('v', "verbose", type, at verbose, "be more verbose"),                      \
        EVENT_VIEW_DUMP_OPTION(type, at dump)

/* A verb: argv[0] is its name. Returns the exit status. */
typedef int kwork_verb_fn(struct command_env *env, const struct kwork_common *common, int argc, char **argv);
kwork_verb_fn kwork_latency;
kwork_verb_fn kwork_record;
kwork_verb_fn kwork_report;
kwork_verb_fn kwork_timehist;
kwork_verb_fn kwork_top;

enum { KWORK_SCHED = KWORK_CLASSES };

/* Reads "irq,softirq,workqueue,sched"; NULL: all but sched. False: usage, *err says which word. */
bool kwork_parse_classes(const char *text, bool classes[KWORK_CLASSES + 1], struct err *err);

/* What the user wants to see, parsed. */
struct kwork_wish {
    struct filter_ranges cpus;
    struct time_ranges times;
    struct kwork_choice choice; /* borrows from here */
};
bool kwork_wish_parse(const struct kwork_common *c, struct kwork_wish *w, struct err *err);
void kwork_wish_fini(struct kwork_wish *w);

/* A view of the recording that the options name, to be opened. */
struct event_view kwork_view(struct command_env *env, const struct kwork_common *c);

/* Gives what an opened recording says of the kernel's work to `k` and, unless it is NULL, of scheduling to
 * `states`; ends both. False with *err. */
bool kwork_read(struct event_view *v, struct kwork *k, struct states *states, struct err *err);

#endif
