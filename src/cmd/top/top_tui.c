/* SPDX-License-Identifier: Apache-2.0 */
/* `top` in the terminal browser: each new profile is a generation of its source. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/browse.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/common/terminal/terminal.h"
#include "cmd/report/report_annotate.h"
#include "cmd/top/top.h"
#include "view/tui/browser.h"

struct tui_face {
    struct top *top;
    struct terminal *terminal;
    struct tui_browser *browser; /* NULL until the first profile */
    struct tui_source source;
    struct tui_surface surface;
    enum tui_state state;
    struct stacks stacks;
    bool has_stacks;
    bool over; /* nothing more comes */
    char note[256];
};

bool top_tui_wanted(const struct top *t) {
    const struct report_options *o = &t->o->view;
    if (t->o->sym_annotate)
        return false;
    if (o->tui == REPORT_NO || (o->tui == REPORT_UNSAID && !perfconfig_bool(t->env->config, "tui.top", true)))
        return false;
    const char *lacks = terminal_lacks();
    if (lacks && o->tui == REPORT_YES)
        log_line(LOG_WARN, "--tui: %s", lacks);
    return !lacks;
}

/* ---- the source ---- */

static uint64_t generation(void *ctx) {
    const struct tui_face *f = ctx;
    return f->top->generation;
}

/* What is to be known at any time, so short that it is seen on 80 columns. */
static void make_note(struct tui_face *f) {
    const struct top *t = f->top;
    char rate[32] = "", cut[80];
    top_text_cut(&t->counts, cut, sizeof cut);
    if (t->source.freq_hz)
        snprintf(rate, sizeof rate, "%llu Hz, ", (unsigned long long)t->source.freq_hz);
    snprintf(f->note, sizeof f->note, "%slost: %llu/%llu, sonde: %.1f%% CPU%s%s%s%s", rate,
             (unsigned long long)t->counts.lost, (unsigned long long)t->counts.lost_ever, 100 * t->counts.own,
             *cut ? ", " : "", cut, t->o->zero ? ", from zero" : "",
             f->over     ? ", ENDED"
             : t->frozen ? ", FROZEN"
                         : "");
}

static struct tui_data data(void *ctx) {
    struct tui_face *f = ctx;
    struct report_session_parts parts = report_session_parts(top_shown(f->top));
    return (struct tui_data){parts.profile, parts.text, f->note};
}

static bool change(void *ctx, const struct tui_wish *w, struct err *err) {
    struct tui_face *f = ctx;
    return top_again(f->top,
                     &(struct report_again){.verbose = w->verbose, .group_sort_index = w->group_index}, err);
}

/* Of the profile that is shown. */
static const struct stacks *stacks(void *ctx, struct err *err) {
    struct tui_face *f = ctx;
    struct report_session_parts parts = report_session_parts(top_shown(f->top));
    if (f->has_stacks)
        stacks_fini(&f->stacks);
    f->has_stacks = stacks_init(&f->stacks, err) && profile_stacks(parts.profile, 0, &f->stacks, err) &&
                    stacks_finish(&f->stacks, err);
    if (f->has_stacks)
        return &f->stacks;
    stacks_fini(&f->stacks);
    return NULL;
}

/* Of the moment: of the samples that came since the last profile. They count in the next one, too. */
static bool annotate(void *ctx, const char *function, const char *dso, uint32_t event, struct out *out,
                     uint64_t *line, struct err *err) {
    struct tui_face *f = ctx;
    struct recording_live *l = f->top->live;
    const struct report_annotate_wish wish = {.session = f->top->session,
                                              .recording = &l->recording,
                                              .options = &f->top->o->view,
                                              .live = l,
                                              .function = function,
                                              .dso = dso,
                                              .event = event};
    return recording_live_settle(l, err) && recording_live_take(l, err) &&
           report_annotate(&wish, out, line, err);
}

static void live(void *ctx, enum tui_live_wish wish, const char *text, char *said, size_t size) {
    struct tui_face *f = ctx;
    struct top *t = f->top;
    switch (wish) {
    case TUI_LIVE_FREEZE:
        t->frozen = !t->frozen;
        snprintf(said, size, "%s",
                 t->frozen ? "frozen: samples are left out until f is pressed again" : "going on");
        break;
    case TUI_LIVE_ZERO:
        t->o->zero = !t->o->zero;
        snprintf(said, size, "%s", t->o->zero ? "each screen begins from nothing" : "older samples fade");
        break;
    case TUI_LIVE_DELAY:
        if (top_delay_parse(text, &t->o->delay_ms))
            snprintf(said, size, "a screen every %g s", (double)t->o->delay_ms / 1000);
        else
            snprintf(said, size, "\"%s\" is no number of seconds", text);
        break;
    }
    top_show_soon(t);
}

/* ---- the screen ---- */

static bool draw(struct tui_face *f, struct err *err) {
    make_note(f); /* the title has it as it is now, also while frozen */
    bool ok = terminal_fit(f->terminal, &f->surface, err) && tui_browser_draw(f->browser, &f->surface, err);
    if (ok)
        terminal_show(f->terminal, &f->surface);
    return ok;
}

static bool press(struct tui_face *f, struct tui_press key, struct err *err) {
    f->state = tui_browser_key(f->browser, key);
    bool ok = draw(f, err);
    if (ok && f->state == TUI_WORK) {
        ok = tui_browser_work(f->browser, err) && draw(f, err);
        f->state = TUI_GO_ON;
    }
    return ok;
}

static bool take_keys(void *ctx, struct top *t, struct err *err) {
    struct tui_face *f = ctx;
    struct tui_press key;
    while (!t->stop && (key = terminal_key(f->terminal, 0)).key != TUI_KEY_NONE) {
        /* A profile may have been made since it was drawn; the keys are about what is there. */
        if (f->browser && (!draw(f, err) || !press(f, key, err)))
            return false;
        t->stop |= f->state == TUI_QUIT || (!f->browser && (key.key == 'q' || key.key == TUI_KEY_CTRL_C));
    }
    return true;
}

static bool show(void *ctx, struct top *t, struct err *err) {
    struct tui_face *f = ctx;
    bool headers = perfconfig_bool(t->env->config, "ui.show-headers", true);
    if (!f->browser)
        f->browser = tui_browser_new(&f->source, headers, err);
    return f->browser && draw(f, err);
}

static bool busy(void *ctx) {
    struct tui_face *f = ctx;
    return f->browser && tui_browser_busy(f->browser);
}

/* ---- all ---- */

/* Nothing more comes: what there is can still be looked at. */
static bool browse_rest(struct tui_face *f, struct err *err) {
    f->over = true;
    bool ok = draw(f, err);
    while (ok && f->state != TUI_QUIT && !terminal_ended()) {
        struct tui_press key = terminal_key(f->terminal, -1);
        if (key.key != TUI_KEY_NONE)
            ok = press(f, key, err);
    }
    return ok;
}

bool top_tui(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
             char *const *argv, struct err *err) {
    struct tui_face f = {.top = t};
    struct held_log held;
    f.source = (struct tui_source){.ctx = &f,
                                   .generation = generation,
                                   .data = data,
                                   .change = change,
                                   .stacks = stacks,
                                   .annotate = annotate,
                                   .save = browse_save,
                                   .live = live};
    const struct top_face face = {.fd = STDIN_FILENO, .show = show, .keys = take_keys, .busy = busy};
    t->face = &face;
    t->face_ctx = &f;
    t->o->view.stacks = true;
    f.terminal = terminal_open(err);
    held_log_begin(&held, f.terminal);
    bool ok = f.terminal && top_run(t, src, events, argv, err);
    if (ok && !t->stop && !t->signalled && f.browser)
        ok = browse_rest(&f, err);
    tui_surface_fini(&f.surface);
    terminal_close(f.terminal);
    command_log(t->env, t->o->verbose, false);
    held_log_say(&held);
    tui_browser_free(f.browser);
    if (f.has_stacks)
        stacks_fini(&f.stacks);
    return ok;
}
