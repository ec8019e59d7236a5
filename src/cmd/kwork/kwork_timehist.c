/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kwork/kwork.h"

struct timehist_options {
    struct kwork_common c;
    bool graph;
    int max_stack;
};

#define OWN struct timehist_options
static const struct option options[] = {
    OPTION_BOOL('g', "call-graph", OWN, graph, "Display call chains if present"),
    OPTION_STRING(0, "kwork", OWN, c.classes, "kwork", "list of kwork to profile (irq, softirq, workqueue)"),
    EVENT_VIEW_SYMBOL_OPTIONS(OWN, c.symbols, max_stack),
    KWORK_COMMON_OPTIONS(OWN, c.),
    OPTION_END,
};

static const char *const usage[] = {"kwork timehist [<options>]", NULL};

static int show(struct command_env *env, const struct timehist_options *o,
                const struct kwork_choice *choice) {
    struct event_view view = kwork_view(env, &o->c);
    struct stack_text stacks = {&view.stacks, (unsigned)o->max_stack + 2, NULL, false};
    struct kwork_text text = {.out = &view.out,
                              .function = event_view_function,
                              .ctx = &view,
                              .only = o->c.name,
                              .choice = choice,
                              .stacks = o->graph && o->max_stack ? &stacks : NULL};
    struct kwork k;
    struct err err = ERR_INIT;
    view.symbols = &o->c.symbols;
    view.names_addresses = true;
    struct kwork_json json = {.text = &text, .json = {.out = &view.out}};
    kwork_init(&k, o->c.json ? kwork_json_run : kwork_text_run, o->c.json ? (void *)&json : (void *)&text);
    bool ok = event_view_open(&view, &err);
    if (ok && o->c.json)
        kwork_json_begin(&json);
    ok = ok && kwork_read(&view, &k, NULL, &err);
    if (ok && o->c.json) {
        kwork_json_end(&json, &k);
    } else if (ok) {
        kwork_text_head(&text);
        kwork_text_faults(&k, false, &view.out);
    }
    int status = event_view_close(&view, ok, &err);
    kwork_fini(&k);
    return status;
}

int kwork_timehist(struct command_env *env, const struct kwork_common *common, int argc, char **argv) {
    struct timehist_options o = {.c = *common, .max_stack = 5};
    struct kwork_wish wish = {.choice = {0}};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.max_stack < 0)
        return command_usage(env, "--max-stack: a number from 0 on");
    command_log(env, o.c.verbose, false);
    status = kwork_wish_parse(&o.c, &wish, &err) ? show(env, &o, &wish.choice) : command_fail(&err);
    kwork_wish_fini(&wish);
    return status;
}
