/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "view/diff/diff_rows.h"

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

/* One event of all files, compared. */
struct compared {
    const char *event, *names[DIFF_FILES_MAX];
    struct compare_side sides[DIFF_FILES_MAX];
    struct compare c;
    struct compare_blocks blocks;
    struct diff_view v; /* of these */
    struct diff_rows rows;
};

static void fini_compared(struct compared *x) {
    diff_rows_fini(&x->rows);
    compare_blocks_fini(&x->blocks);
    compare_fini(&x->c);
}

static struct diff_view view_of(const struct diff_files *f, const struct diff_options *o,
                                const struct compared *x) {
    const struct report_text_options *text = report_session_parts(f->list[0].session).text;
    return (struct diff_view){.files = x->names,
                              .how = o->how,
                              .baseline_only = o->baseline_only,
                              .periods = o->periods,
                              .formulas = o->formulas,
                              .quiet = o->report.quiet,
                              .verbose = o->report.verbose > 0,
                              .sides = o->callers ? x->sides : NULL,
                              .least_caller = DIFF_LEAST_CALLER,
                              .blocks = o->cycles ? &x->blocks : NULL,
                              .histogram = o->histogram,
                              .notes = true,
                              .separator = o->report.separator,
                              .only_comm = text->only_comm,
                              .only_dso = text->only_dso,
                              .only_symbol = text->only_symbol};
}

/* Compares an event in `x` (zeroed; not to be moved; fini_compared in any case). `first`: nothing has been
 * said of the files before. */
static bool compare_event(const struct diff_files *f, const struct diff_options *o, const char *event,
                          bool first, struct compared *x, struct err *err) {
    bool alone = true;
    x->event = event;
    for (uint32_t i = 0; i < f->count; i++) {
        x->names[i] = f->list[i].path;
        x->sides[i] = diff_files_side(f, i, event);
        alone &= !i || !x->sides[i].event;
        if (x->sides[i].event && strcmp(x->sides[i].event->name, event) != 0)
            log_line(LOG_WARN, "%s: compared with %s of %s", event, x->sides[i].event->name, x->names[i]);
    }
    if (alone)
        log_line(LOG_WARN, "%s: no other recording has the event: nothing to compare it with", event);
    x->v = view_of(f, o, x);
    uint32_t order = o->cycles ? 0 : (uint32_t)o->order; /* blocks are in the order of their functions */
    bool ok = compare_make(x->sides, f->count, &(struct compare_options){.fold = !o->exact}, &x->c, err) &&
              (!o->inlined || compare_inlined(&x->c, x->sides, err)) &&
              (!o->cycles || find_blocks(f, &x->c, x->sides, &x->blocks, err)) &&
              compare_sort(&x->c, &o->how, order, err);
    if (ok && first)
        diff_say_matches(&x->c, f);
    x->v.programs = ok ? compare_programs_text(&x->c) : NULL;
    return ok;
}

static bool print_event(const struct diff_files *f, const struct diff_options *o, const char *event,
                        bool first, struct out *out, struct err *err) {
    struct compared x = {0};
    bool ok = compare_event(f, o, event, first, &x, err) && diff_text_print(&x.c, event, &x.v, out, err);
    fini_compared(&x);
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

bool diff_table_browse(const struct diff_files *f, const struct diff_options *o, diff_browse_fn *show,
                       void *ctx, struct err *err) {
    const struct profile *base = report_session_parts(f->list[0].session).profile;
    uint32_t most = profile_event_count(base), count = 0;
    struct compared *list = calloc(most + 1, sizeof *list);
    const struct tui_rows **tables = calloc(most + 1, sizeof *tables);
    bool ok = (list && tables) || err_memory(err, "comparison");
    for (uint32_t i = 0; ok && i < most; i++) {
        const struct profile_event *e = profile_event(base, i);
        if (!e->read)
            continue;
        struct compared *x = &list[count++];
        ok = compare_event(f, o, e->name, count == 1, x, err) &&
             diff_rows_make(&x->rows, &x->c, x->event, &x->v, err);
        tables[count - 1] = &x->rows.rows;
    }
    ok = ok && (count || err_set(err, ERR_ABSENT, NULL, "there are no samples")) &&
         show(ctx, tables, count, err);
    while (count)
        fini_compared(&list[--count]);
    free(list);
    free(tables);
    return ok;
}
