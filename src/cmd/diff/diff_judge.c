/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "os/affinity.h"

struct judge_run {
    const struct diff_files *f;
    const struct diff_options *o;
    bool is_new[DIFF_FILES_MAX];
    double requests[DIFF_FILES_MAX];
    struct pool *pool;
    double level; /* of each event, so that those of all hold together */
    diff_judged_fn *told;
    void *ctx;
};

enum judge_by diff_judge_by(const struct diff_options *o) {
    return o->per        ? JUDGE_BY_REQUESTS
           : o->by_event ? JUDGE_BY_EVENT
           : o->by_time  ? JUDGE_BY_TIME
                         : JUDGE_BY_SAMPLES;
}

static bool judge_event(struct judge_run *x, const char *event, struct err *err) {
    struct compare_side sides[DIFF_FILES_MAX];
    struct compare c = {0};
    struct judgement j = {0};
    for (uint32_t i = 0; i < x->f->count; i++)
        sides[i] = diff_files_side(x->f, i, event);
    struct judge_options how = {.by = diff_judge_by(x->o),
                                .event = x->o->by_event,
                                .requests = x->requests,
                                .is_new = x->is_new,
                                .level = x->level,
                                .pool = x->pool};
    bool ok = compare_make(sides, x->f->count,
                           &(struct compare_options){.fold = !x->o->exact, .functions = x->o->functions}, &c,
                           err) &&
              (!x->o->inlined || compare_inlined(&c, sides, err)) &&
              compare_judge(&c, sides, &how, &j, err) &&
              x->told(x->ctx, &(struct diff_judged){sides, &c, &j, x->level}, err);
    judgement_fini(&j);
    compare_fini(&c);
    return ok;
}

/* Whether all files have samples of the event. */
static bool all_have(const struct diff_files *f, const char *event) {
    for (uint32_t i = 0; i < f->count; i++) {
        struct compare_side s = diff_files_side(f, i, event);
        if (!s.event || s.event->read == s.event->dropped)
            return false;
    }
    return true;
}

static bool judge_events(struct judge_run *x, struct err *err) {
    const struct profile *base = report_session_parts(x->f->list[0].session).profile;
    uint32_t common = 0;
    for (uint32_t i = 0; i < profile_event_count(base); i++) {
        const char *name = profile_event(base, i)->name;
        bool counted =
            x->o->by_event && strcmp(name, x->o->by_event) == 0; /* it is what others are counted by */
        if (!counted)
            common += all_have(x->f, name);
        if (!counted && profile_event(base, i)->read && !all_have(x->f, name))
            log_line(LOG_WARN, "%s: not all recordings have it: not judged", name);
    }
    if (!common)
        return err_set(err, ERR_ABSENT, NULL, "there is no event of which all recordings have samples");
    x->level = 1 - (1 - x->o->level) / common;
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile_event_count(base); i++) {
        const char *name = profile_event(base, i)->name;
        if ((x->o->by_event && strcmp(name, x->o->by_event) == 0) || !all_have(x->f, name))
            continue;
        ok = judge_event(x, name, err);
    }
    return ok;
}

/* Parses --per: one number for all recordings, or one for each. */
static bool take_requests(struct judge_run *x, struct err *err) {
    const char *at = x->o->per;
    for (uint32_t i = 0; at && i < x->f->count; i++) {
        char *end;
        x->requests[i] = strtod(at, &end);
        bool last = i + 1 == x->f->count, single = !i && !*end;
        if (end == at || !(x->requests[i] > 0) || (!single && (last ? *end : *end != ',')))
            return err_set(err, ERR_USAGE, "--per", "\"%s\": use one number, or one for each recording",
                           x->o->per);
        at = single ? x->o->per : end + 1;
        if (single)
            for (; i < x->f->count; i++)
                x->requests[i] = x->requests[0];
    }
    return true;
}

bool diff_judge(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                diff_judged_fn *told, void *ctx, struct err *err) {
    struct judge_run x = {.f = f, .o = o, .told = told, .ctx = ctx};
    for (uint32_t i = 0; i < f->count; i++)
        x.is_new[i] = i >= base_count;
    x.pool = pool_new(os_affinity_count());
    bool ok = take_requests(&x, err) && judge_events(&x, err);
    pool_free(x.pool);
    return ok;
}
