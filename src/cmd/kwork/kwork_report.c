/* SPDX-License-Identifier: Apache-2.0 */
/* `kwork report` and `kwork latency`: sums by work. */
#include "cmd/kwork/kwork_live.h"

struct report_options {
    struct kwork_common c;
    bool summary;
};

#define OWN struct report_options
#define OPTION_KWORK \
    OPTION_STRING('k', "kwork", OWN, c.classes, "kwork", "list of kwork to profile (irq, softirq, workqueue)")
#define OPTION_SORT(keys) OPTION_STRING('s', "sort", OWN, c.sort, "key[,key2...]", "sort by key(s): " keys)

static const struct option report_rows[] = {
    OPTION_BOOL('b', "use-bpf", OWN, c.use_bpf, "Use BPF to measure kwork runtime"),
    OPTION_KWORK,
    OPTION_SORT("runtime, max, count"),
    OPTION_BOOL('S', "with-summary", OWN, summary, "Show summary with statistics"),
    KWORK_COMMON_OPTIONS(OWN, c.),
    OPTION_END,
};

static const struct option latency_rows[] = {
    OPTION_BOOL('b', "use-bpf", OWN, c.use_bpf, "Use BPF to measure kwork latency"),
    OPTION_KWORK,
    OPTION_SORT("avg, max, count"),
    KWORK_COMMON_OPTIONS(OWN, c.),
    OPTION_END,
};

static const char *const report_usage[] = {"kwork report [<options>]",
                                           "kwork report -b [<options>] [<command>]", NULL};
static const char *const latency_usage[] = {"kwork latency [<options>]",
                                            "kwork latency -b [<options>] [<command>]", NULL};

static void put(const struct report_options *o, const struct kwork_order *order,
                const struct kwork_text *text, const struct kwork *k, struct kwork_sums *sums) {
    kwork_sums_finish(sums, k, order);
    if (o->c.json)
        kwork_json_sums(text, k, sums);
    else if (order->delays)
        kwork_text_latency(text, k, sums);
    else
        kwork_text_report(text, k, sums, o->summary);
}

static int show_live(struct command_env *env, const struct report_options *o, const struct kwork_order *order,
                     const struct kwork_choice *choice, char **command) {
    struct kwork_live l = {
        .bpf = &os_bpf_system, .choice = choice, .verbose = o->c.verbose, .command = command};
    struct kwork_sums sums = {.choice = choice};
    struct kwork k;
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    kwork_init(&k, kwork_sums_add, &sums);
    if (!kwork_live_measure(&l, &err) || !kwork_live_sums(&l, &k, &sums, &err)) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        const struct kwork_text text = {
            .out = &out, .function = kwork_live_function, .ctx = &l, .only = o->c.name};
        put(o, order, &text, &k, &sums);
        status = command_finish(env, &out, l.status);
    }
    kwork_live_close(&l);
    kwork_sums_fini(&sums);
    kwork_fini(&k);
    return status;
}

static int show(struct command_env *env, const struct report_options *o, const struct kwork_order *order,
                const struct kwork_choice *choice) {
    struct event_view view = kwork_view(env, &o->c);
    struct kwork_sums sums = {.choice = choice};
    struct kwork k;
    struct err err = ERR_INIT;
    view.symbols = &o->c.symbols;
    view.names_addresses = true; /* of work items' functions */
    kwork_init(&k, kwork_sums_add, &sums);
    bool ok = event_view_open(&view, &err) && kwork_read(&view, &k, NULL, &err);
    if (ok) {
        const struct kwork_text text = {
            .out = &view.out, .function = event_view_function, .ctx = &view, .only = o->c.name};
        put(o, order, &text, &k, &sums);
    }
    int status = event_view_close(&view, ok, &err);
    kwork_sums_fini(&sums);
    kwork_fini(&k);
    return status;
}

static int run(struct command_env *env, const struct kwork_common *common, bool delays, int argc,
               char **argv) {
    struct report_options o = {.c = *common};
    struct kwork_order order = {.delays = delays};
    struct kwork_wish wish = {.choice = {0}};
    struct err err = ERR_INIT;
    struct bytes bad;
    int status;
    if (!command_verb_options(env, delays ? latency_rows : report_rows, delays ? latency_usage : report_usage,
                              &o, &argc, &argv, &status))
        return status;
    const char *wrong = kwork_live_wrong(&o.c, argc > 0);
    if (wrong)
        return command_usage(env, "%s", wrong);
    const char *usual = delays ? "avg,max,count" : "runtime,max,count";
    if (!kwork_order_parse(o.c.sort ? o.c.sort : usual, &order, &bad))
        return command_usage(env, "Unknown --sort key: `%.*s'", (int)bad.size, (const char *)bad.data);
    command_log(env, o.c.verbose, false);
    if (!kwork_wish_parse(&o.c, &wish, &err))
        status = command_fail(&err);
    else if (o.c.use_bpf)
        status = show_live(env, &o, &order, &wish.choice, argc ? argv : NULL);
    else
        status = show(env, &o, &order, &wish.choice);
    kwork_wish_fini(&wish);
    return status;
}

int kwork_report(struct command_env *env, const struct kwork_common *common, int argc, char **argv) {
    return run(env, common, false, argc, argv);
}

int kwork_latency(struct command_env *env, const struct kwork_common *common, int argc, char **argv) {
    return run(env, common, true, argc, argv);
}
