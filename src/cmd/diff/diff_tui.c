/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_tui.h"

#include <signal.h>

#include "cmd/common/browse.h"
#include "cmd/diff/diff_table.h"
#include "cmd/diff/diff_verdict.h"

bool diff_tui_wanted(const struct diff_options *o) {
    /* What cannot be browsed, and what is asked for to be read by programs. */
    bool text =
        o->report.tui != REPORT_YES || o->dump || o->streams || o->json || o->gate || o->report.separator;
    return !text && browse_possible(true);
}

/* The source: nothing in it changes. */
struct shown {
    const struct diff_options *o;
    struct command_env *env;
    struct tui_data data;
    int ended;
};

static uint64_t generation(void *ctx) {
    (void)ctx;
    return 1;
}

static struct tui_data data(void *ctx) {
    const struct shown *s = ctx;
    return s->data;
}

static bool show(void *ctx, const struct tui_rows *const *tables, uint32_t count, struct err *err) {
    struct shown *s = ctx;
    const struct tui_source source = {.ctx = s, .generation = generation, .data = data, .save = browse_save};
    const struct report_options *o = &s->o->report;
    s->data.tables = tables;
    s->data.table_count = count;
    return browse(&(struct browse_wish){&source, o->verbose, o->quiet}, s->env, &s->ended, err);
}

bool diff_tui_show(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                   struct command_env *env, int *status) {
    struct err err = ERR_INIT;
    struct report_session_parts base = report_session_parts(f->list[0].session);
    struct shown s = {.o = o, .env = env, .data = {.profile = base.profile, .text = base.text}};
    bool ok = diff_judges(o) ? diff_verdict_browse(f, base_count, o, show, &s, &err)
                             : diff_table_browse(f, o, show, &s, &err);
    *status = diff_files_status(f);
    if (!ok && err.code == ERR_ABSENT && diff_judges(o)) /* no text either, and what it warns of was said */
        *status = command_fail(&err);
    else if (!browse_settle(ok, &err, status))
        return false;
    if (s.ended)
        raise(s.ended); /* as if it had not been waited with */
    return true;
}
