/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_tui.h"

#include <stdlib.h>

#include "cmd/common/browse.h"
#include "cmd/common/input.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/report/report_annotate.h"
#include "cmd/why/why_find.h"

bool report_tui_wanted(const struct command_env *env, const struct report_options *o) {
    /* What cannot be browsed, and what is asked for to be read by programs. */
    bool text = o->tui == REPORT_NO || o->json || o->separator || o->threads || o->total_cycles || o->header;
    if (text || (o->tui == REPORT_UNSAID && !perfconfig_bool(env->config, "tui.report", true)))
        return false;
    return browse_possible(o->tui == REPORT_YES);
}

/* ---- the source ---- */

struct source {
    struct report_session *session;
    struct recording *recording;
    const struct report_options *o;
    uint64_t generation;
    struct stacks stacks;
    bool has_stacks;
};

static uint64_t generation(void *ctx) {
    const struct source *s = ctx;
    return s->generation;
}

static struct tui_data data(void *ctx) {
    const struct source *s = ctx;
    struct report_session_parts parts = report_session_parts(s->session);
    return (struct tui_data){parts.profile, parts.text};
}

static bool change(void *ctx, const struct tui_wish *w, struct err *err) {
    struct source *s = ctx;
    s->generation++;
    return report_session_again(s->session,
                                &(struct report_again){.ranged = w->ranged,
                                                       .from_ns = w->from_ns,
                                                       .to_ns = w->to_ns,
                                                       .verbose = w->verbose,
                                                       .group_sort_index = w->group_index},
                                err);
}

static const struct stacks *stacks(void *ctx, struct err *err) {
    struct source *s = ctx;
    if (s->has_stacks)
        return &s->stacks;
    struct report_session_parts parts = report_session_parts(s->session);
    if (stacks_init(&s->stacks, err) && profile_stacks(parts.profile, 0, &s->stacks, err) &&
        stacks_finish(&s->stacks, err)) {
        s->has_stacks = true;
        return &s->stacks;
    }
    stacks_fini(&s->stacks);
    return NULL;
}

static bool why(void *ctx, const char *function, const char *dso, struct out *out, struct err *err) {
    struct source *s = ctx;
    struct report_session_parts parts = report_session_parts(s->session);
    struct why_finder f;
    struct err absent = ERR_INIT;
    char path[WHY_PATH_ROOM];
    why_finder_init(&f, s->recording, parts.model, parts.naming);
    bool ok = why_finder_symbol(&f, function, dso, err);
    if (ok) {
        why_finder_source(&f);
        why_finder_identities(&f, s->o->symbol.symfs, path, sizeof path, &absent);
        why_print_text(&f.why, out);
    }
    why_finder_fini(&f);
    stream_rewind(s->recording->stream);
    return ok;
}

static bool annotate(void *ctx, const char *function, const char *dso, uint32_t event, struct out *out,
                     uint64_t *line, struct err *err) {
    struct source *s = ctx;
    const struct report_annotate_wish wish = {.session = s->session,
                                              .recording = s->recording,
                                              .options = s->o,
                                              .function = function,
                                              .dso = dso,
                                              .event = event};
    bool ok = report_annotate(&wish, out, line, err);
    stream_rewind(s->recording->stream);
    return ok;
}

static bool header(void *ctx, struct out *out, struct err *err) {
    struct source *s = ctx;
    const struct header_text_options text = input_header_options(s->recording, true);
    (void)err;
    header_text_write(stream_header(s->recording->stream), &s->recording->namer, &text, out);
    return true;
}

bool report_tui_run(struct report_session *session, struct recording *r, struct command_env *env,
                    const struct report_options *o, int *ended, struct err *err) {
    struct source s = {.session = session, .recording = r, .o = o};
    const struct tui_source source = {&s,  generation, data,   change,     stacks,
                                      why, annotate,   header, browse_save};
    bool ok = browse(&(struct browse_wish){&source, o->verbose, o->quiet}, env, ended, err);
    if (s.has_stacks)
        stacks_fini(&s.stacks);
    return ok;
}
