/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kwork/kwork.h"

bool kwork_parse_classes(const char *text, bool classes[KWORK_CLASSES + 1], struct err *err) {
    static const char *const NAMES[KWORK_CLASSES + 1] = {[KWORK_IRQ] = "irq",
                                                         [KWORK_SOFTIRQ] = "softirq",
                                                         [KWORK_WORKQUEUE] = "workqueue",
                                                         [KWORK_SCHED] = "sched"};
    for (size_t i = 0; i <= KWORK_CLASSES; i++)
        classes[i] = !text && i < KWORK_CLASSES;
    for (const char *at = text ? text : ""; *at;) {
        size_t n = strcspn(at, ", "), i = 0;
        while (i <= KWORK_CLASSES && (strlen(NAMES[i]) != n || memcmp(NAMES[i], at, n) != 0))
            i++;
        if (n && i > KWORK_CLASSES)
            return err_set(err, ERR_USAGE, NULL, "Unknown --event key: `%.*s'", (int)n, at);
        if (n)
            classes[i] = true;
        at += n + (at[n] != 0);
    }
    return true;
}

bool kwork_wish_parse(const struct kwork_common *c, struct kwork_wish *w, struct err *err) {
    bool classes[KWORK_CLASSES + 1];
    *w = (struct kwork_wish){.choice = {0}};
    if (c->json && c->dump)
        return err_set(err, ERR_USAGE, NULL, "use only one of --json and -D");
    if (c->times && time_ranges_relative(c->times))
        return err_set(err, ERR_USAGE, "--time", "%s: give seconds: start,stop", c->times);
    if (!kwork_parse_classes(c->classes, classes, err) ||
        (c->cpus && !filter_ranges_parse("--cpu", c->cpus, &w->cpus, err)) ||
        (c->times && !time_ranges_parse(c->times, 0, 0, &w->times, err)))
        return false;
    w->choice.cpus = &w->cpus;
    w->choice.times = &w->times;
    memcpy(w->choice.classes, classes, sizeof w->choice.classes);
    return true;
}

void kwork_wish_fini(struct kwork_wish *w) {
    filter_ranges_fini(&w->cpus);
    time_ranges_fini(&w->times);
}

struct event_view kwork_view(struct command_env *env, const struct kwork_common *c) {
    return (struct event_view){.env = env, .input = c->input, .force = c->force, .dump = c->dump};
}

/* ---- reading ---- */

struct reading {
    struct kwork_events events;
    struct sched_events sched;
    struct kwork *k;
    struct states *states; /* NULL: nobody asks */
    bool failed;           /* memory */
};

static bool update(struct reading *x, struct err *err) {
    return kwork_events_update(&x->events, err) && (!x->states || sched_events_update(&x->sched, err));
}

/* In a pipe events are described before the first of their samples, not from the beginning. */
static bool want(void *ctx, const struct stream_record *r) {
    struct reading *x = ctx;
    if (r->raw.type == PERFDATA_RECORD_SAMPLE && r->event >= x->events.tracepoints.list.count &&
        !update(x, &(struct err){0}))
        x->failed = true;
    return kwork_events_want(&x->events, r) || (x->states && sched_events_want(&x->sched, r));
}

static bool take(void *ctx, const struct stream_record *r, struct err *err) {
    struct reading *x = ctx;
    if (x->failed)
        return err_memory(err, "events of the recording");
    return kwork_events_apply(&x->events, x->k, r, err) &&
           (!x->states || sched_events_apply(&x->sched, x->states, r, err));
}

static bool has_any(const struct reading *x) {
    return kwork_events_any(&x->events) || (x->states && sched_events_any(&x->sched));
}

static bool read_events(struct event_view *v, struct reading *x, struct err *err) {
    bool pipe = stream_is_pipe(v->recording.stream) && !v->symbols;
    if (!pipe && !update(x, err))
        return false;
    if ((pipe || has_any(x)) && !event_view_read(v, want, take, x, err))
        return false;
    if (!has_any(x))
        return err_set(err, ERR_ABSENT, stream_path(v->recording.stream),
                       "nothing about the kernel's work was recorded: use 'sonde kwork record'");
    kwork_finish(x->k);
    return !x->states || states_finish(x->states) || err_memory(err, "states of threads");
}

bool kwork_read(struct event_view *v, struct kwork *k, struct states *states, struct err *err) {
    struct reading x = {.k = k, .states = states};
    kwork_events_init(&x.events, v->recording.stream, &v->recording.namer);
    sched_events_init(&x.sched, v->recording.stream, &v->recording.namer);
    bool ok = read_events(v, &x, err);
    kwork_events_fini(&x.events);
    sched_events_fini(&x.sched);
    if (ok)
        event_view_warn_late(v, k->faults.backwards);
    return ok;
}
