/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kwork/kwork_live.h"

#define OWN struct kwork_common
static const struct option options[] = {
    OPTION_BOOL('b', "use-bpf", OWN, use_bpf, "Use BPF to measure task cpu usage"),
    OPTION_STRING('k', "kwork", OWN, classes, "kwork", "list of kwork to profile (irq, softirq, sched)"),
    OPTION_STRING('s', "sort", OWN, sort, "key[,key2...]", "sort by key(s): rate, runtime, tid"),
    KWORK_COMMON_OPTIONS(OWN, ),
    OPTION_END,
};

static const char *const usage[] = {"kwork top [<options>]", "kwork top -b [<options>] [<command>]", NULL};

static void put(const struct kwork_common *c, const struct kwork_text *text, const struct kwork_top *top) {
    if (c->json)
        kwork_json_top(text, top);
    else
        kwork_text_top(text, top);
}

static int show_live(struct command_env *env, const struct kwork_common *c, const struct kwork_choice *choice,
                     bool by_tid, char **command) {
    struct kwork_live l = {
        .bpf = &os_bpf_system, .choice = choice, .threads = true, .verbose = c->verbose, .command = command};
    struct kwork_top top = {.choice = choice};
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    if (!kwork_live_measure(&l, &err) || !kwork_live_top(&l, &top, &err)) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        const struct kwork_text text = {.out = &out, .only = c->name};
        kwork_top_finish(&top, by_tid);
        put(c, &text, &top);
        status = command_finish(env, &out, l.status);
    }
    kwork_live_close(&l);
    kwork_top_fini(&top);
    return status;
}

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
        put(c, &text, &top);
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
    const char *wrong = kwork_live_wrong(&c, argc > 0);
    if (wrong)
        return command_usage(env, "%s", wrong);
    if (c.sort && !parse_order(c.sort, &by_tid, &bad))
        return command_usage(env, "Unknown --sort key: `%.*s'", (int)bad.size, (const char *)bad.data);
    command_log(env, c.verbose, false);
    if (!kwork_wish_parse(&c, &wish, &err))
        status = command_fail(&err);
    else if (c.use_bpf)
        status = show_live(env, &c, &wish.choice, by_tid, argc ? argv : NULL);
    else
        status = show(env, &c, &wish.choice, by_tid);
    kwork_wish_fini(&wish);
    return status;
}
