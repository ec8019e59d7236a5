/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kwork/kwork.h"

#define OWN struct kwork_common
static const struct option options[] = {
    OPTION_ABSENT_FLAG('b', "use-bpf", "Use BPF to measure task cpu usage"),
    OPTION_STRING('k', "kwork", OWN, classes, "kwork", "list of kwork to profile (irq, softirq, sched)"),
    OPTION_STRING('s', "sort", OWN, sort, "key[,key2...]", "sort by key(s): rate, runtime, tid"),
    KWORK_COMMON_OPTIONS(OWN, ),
    OPTION_END,
};

static const char *const usage[] = {"kwork top [<options>]", NULL};

static int show(struct command_env *env, const struct kwork_common *c, const struct kwork_choice *choice,
                bool by_tid) {
    struct event_view view = kwork_view(env, c);
    struct states states;
    struct kwork_top top = {.choice = choice, .states = &states};
    struct kwork k;
    struct err err = ERR_INIT;
    states_init(&states, kwork_top_interval, &top);
    kwork_init(&k, kwork_top_run, &top);
    bool ok = event_view_open(&view, &err) && kwork_read(&view, &k, &states, &err);
    if (ok) {
        const struct kwork_text text = {.out = &view.out, .only = c->name};
        kwork_top_finish(&top, by_tid);
        if (c->json)
            kwork_json_top(&text, &top);
        else
            kwork_text_top(&text, &top);
    }
    int status = event_view_close(&view, ok, &err);
    kwork_top_fini(&top);
    kwork_fini(&k);
    states_fini(&states);
    return status;
}

/* Rates are times over one window, so both sort alike. False: *bad is no key. */
static bool parse_order(const char *text, bool *by_tid, struct bytes *bad) {
    bool any = false;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ", ");
        *bad = (struct bytes){(const uint8_t *)at, n};
        bool tid = n == 3 && memcmp(at, "tid", 3) == 0;
        if (n && !tid && !(n == 4 && memcmp(at, "rate", 4) == 0) &&
            !(n == 7 && memcmp(at, "runtime", 7) == 0))
            return false;
        if (n && !any)
            *by_tid = tid;
        any |= n > 0;
        at += n + (at[n] != 0);
    }
    return true;
}

int kwork_top(struct command_env *env, const struct kwork_common *common, int argc, char **argv) {
    struct kwork_common c = *common;
    struct kwork_wish wish = {.choice = {0}};
    struct err err = ERR_INIT;
    struct bytes bad;
    bool by_tid = false;
    int status;
    if (!command_verb_options(env, options, usage, &c, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (c.sort && !parse_order(c.sort, &by_tid, &bad))
        return command_usage(env, "Unknown --sort key: `%.*s'", (int)bad.size, (const char *)bad.data);
    command_log(env, c.verbose, false);
    status = kwork_wish_parse(&c, &wish, &err) ? show(env, &c, &wish.choice, by_tid) : command_fail(&err);
    kwork_wish_fini(&wish);
    return status;
}
