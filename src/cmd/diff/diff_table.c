/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_table.h"

#include <string.h>

#include "base/log.h"
#include "view/diff/diff_view.h"

/* Whether a file has branch records of an event; else reports that. */
static bool has_branches(const struct diff_file *f, const struct profile_event *e) {
    const struct perfdata_event *event = e ? &f->recording.events->list.items[e->event] : NULL;
    bool has = event && event->plan.sample_type & PERFDATA_SAMPLE_BRANCH_STACK &&
               !resolve_chain_has_calls(&event->attr);
    if (!has)
        log_line(LOG_WARN, "%s has no branch records of %s: record with -b", f->path, e ? e->name : "it");
    return has;
}

/* --stream: the hottest streams of the base and the second file. */
static bool print_streams(const struct diff_files *f, const char *event, struct out *out, struct err *err) {
    const struct profile *profiles[2];
    const struct profile_event *events[2];
    struct compare_streams streams = {0};
    for (uint32_t i = 0; i < 2; i++) {
        struct compare_side s = diff_files_side(f, i, event);
        profiles[i] = s.profile;
        events[i] = s.event;
        if (!has_branches(&f->list[i], s.event))
            return true;
    }
    bool ok = compare_streams_find(profiles, events, &streams, err);
    if (ok)
        streams_text_print(&streams, out);
    compare_streams_fini(&streams);
    return ok;
}

/* -c cycles */
static bool find_blocks(const struct diff_files *f, const struct compare *c, const struct compare_side *sides,
                        struct compare_blocks *out, struct err *err) {
    bool functions = false;
    for (size_t i = 0; i < c->keys.count; i++)
        functions |= c->keys.items[i]->key->id == PROFILE_SYMBOL;
    if (!functions)
        return err_set(err, ERR_USAGE, "-c cycles", "blocks are parts of functions: -s needs the key sym");
    for (uint32_t s = 0; s < c->sides; s++)
        if (sides[s].event)
            has_branches(&f->list[s], sides[s].event);
    return compare_blocks_find(c, sides, out, err);
}

/* `first`: nothing has been said of the files before. */
static bool print_event(const struct diff_files *f, const struct diff_options *o, const char *event,
                        bool first, struct out *out, struct err *err) {
    const struct report_text_options *text = report_session_parts(f->list[0].session).text;
    const char *names[DIFF_FILES_MAX];
    struct compare_side sides[DIFF_FILES_MAX];
    struct compare c = {0};
    struct compare_blocks blocks = {0};
    bool alone = true;
    for (uint32_t i = 0; i < f->count; i++) {
        names[i] = f->list[i].path;
        sides[i] = diff_files_side(f, i, event);
        alone &= !i || !sides[i].event;
        if (sides[i].event && strcmp(sides[i].event->name, event) != 0)
            log_line(LOG_WARN, "%s: compared with %s of %s", event, sides[i].event->name, names[i]);
    }
    if (alone)
        log_line(LOG_WARN, "%s: no other recording has the event: nothing to compare it with", event);
    struct diff_view v = {.files = names,
                          .how = o->how,
                          .baseline_only = o->baseline_only,
                          .periods = o->periods,
                          .formulas = o->formulas,
                          .quiet = o->report.quiet,
                          .verbose = o->report.verbose > 0,
                          .sides = o->callers ? sides : NULL,
                          .least_caller = DIFF_LEAST_CALLER,
                          .blocks = o->cycles ? &blocks : NULL,
                          .histogram = o->histogram,
                          .notes = true,
                          .separator = o->report.separator,
                          .only_comm = text->only_comm,
                          .only_dso = text->only_dso,
                          .only_symbol = text->only_symbol};
    uint32_t order = o->cycles ? 0 : (uint32_t)o->order; /* blocks are in the order of their functions */
    bool ok = compare_make(sides, f->count, &(struct compare_options){.fold = !o->exact}, &c, err) &&
              (!o->inlined || compare_inlined(&c, sides, err)) &&
              (!o->cycles || find_blocks(f, &c, sides, &blocks, err)) &&
              compare_sort(&c, &o->how, order, err) && diff_text_print(&c, event, &v, out, err);
    if (ok && first)
        diff_say_matches(&c, f);
    compare_blocks_fini(&blocks);
    compare_fini(&c);
    return ok;
}

bool diff_table_print(const struct diff_files *f, const struct diff_options *o, struct out *out,
                      struct err *err) {
    const struct profile *base = report_session_parts(f->list[0].session).profile;
    bool any = false, ok = true;
    for (uint32_t i = 0; ok && i < profile_event_count(base); i++) {
        const struct profile_event *e = profile_event(base, i);
        if (!e->read)
            continue;
        if (any)
            out_char(out, '\n');
        ok = o->streams ? print_streams(f, e->name, out, err) : print_event(f, o, e->name, !any, out, err);
        any = true;
    }
    if (!any && ok)
        log_line(LOG_WARN, "%s has no samples", f->list[0].path);
    return ok;
}
