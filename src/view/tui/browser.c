/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/browser_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define HINT "Press '?' for help on key bindings"

void tui_say(struct tui_browser *b, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(b->message, sizeof b->message, fmt, args);
    va_end(args);
}

/* ---- what there is ---- */

static bool list_events(struct tui_browser *b, struct err *err) {
    vec_clear(&b->events);
    for (uint32_t i = 0; i < b->d.table_count; i++) {
        uint32_t *slot = vec_push(&b->events);
        if (!slot)
            return err_memory(err, "events");
        *slot = i;
    }
    for (uint32_t i = 0; !b->d.table_count && i < profile_event_count(b->d.profile); i++) {
        const struct profile_event *e = profile_event(b->d.profile, i);
        if (e->read <= e->dropped && !b->d.text->keep_empty)
            continue;
        uint32_t *slot = vec_push(&b->events);
        if (!slot)
            return err_memory(err, "events");
        *slot = i;
    }
    return true;
}

bool tui_open_event(struct tui_browser *b, size_t event, struct err *err) {
    b->event = event;
    b->filter_changed = true;
    if (!tui_table_open(&b->table, &b->d, b->events.items[event], &b->filter, err))
        return false;
    b->table.headers = b->headers;
    return true;
}

/* Takes a generation. */
static bool take(struct tui_browser *b, struct err *err) {
    b->generation = b->source->generation(b->source->ctx);
    b->d = b->source->data(b->source->ctx);
    if (!list_events(b, err))
        return false;
    if (!b->events.count) {
        if (!b->filter.ranged && !b->source->live)
            return err_set(err, ERR_ABSENT, NULL, "there are no samples");
        uint32_t *slot = vec_push(&b->events); /* its table is empty */
        if (!slot)
            return err_memory(err, "events");
        *slot = 0;
    }
    if (!tui_open_event(b, b->event < b->events.count ? b->event : 0, err))
        return false;
    if (b->source->live)
        tui_table_restore(&b->table, &b->kept);
    else if (b->selected.len)
        tui_table_find(&b->table, b->selected.buf, b->selected.len);
    return true;
}

bool tui_refilter(struct tui_browser *b) {
    struct err err = ERR_INIT;
    b->filter_changed = true;
    if (tui_table_filter(&b->table, &err))
        return true;
    tui_say(b, "%s", err.message);
    return false;
}

static void event_menu(struct tui_browser *b) {
    tui_popup_menu(&b->popup, "Available samples", TUI_FOR_EVENT);
    for (size_t i = 0; i < b->d.table_count; i++)
        tui_popup_item(&b->popup, (int)i, "%12llu %s", (unsigned long long)b->d.tables[i]->samples,
                       b->d.tables[i]->name);
    for (size_t i = 0; !b->d.table_count && i < b->events.count; i++) {
        const struct profile_event *e = profile_event(b->d.profile, b->events.items[i]);
        tui_popup_item(&b->popup, (int)i, "%12llu %s", (unsigned long long)e->total.samples, e->name);
    }
    b->popup.at = (int)b->event;
}

struct tui_browser *tui_browser_new(const struct tui_source *source, bool headers, struct err *err) {
    struct tui_browser *b = calloc(1, sizeof *b);
    if (!b) {
        err_memory(err, "browser");
        return NULL;
    }
    b->source = source;
    b->wish.group_index = -1;
    b->headers = headers;
    if (!out_init(&b->selected, NULL, NULL) || !tui_kept_init(&b->kept) || !take(b, err)) {
        tui_browser_free(b);
        return NULL;
    }
    b->filter.least_percent = b->d.text->percent_limit;
    tui_refilter(b);
    if (b->events.count > 1 && !source->live)
        event_menu(b);
    return b;
}

void tui_browser_free(struct tui_browser *b) {
    if (!b)
        return;
    tui_table_fini(&b->table);
    tui_flame_fini(&b->flame);
    tui_times_fini(&b->times);
    tui_filter_fini(&b->filter);
    tui_popup_close(&b->popup);
    vec_fini(&b->events);
    out_fini(&b->selected);
    tui_kept_fini(&b->kept);
    free(b);
}

/* ---- work ---- */

enum tui_state tui_want(struct tui_browser *b, enum tui_work work, const char *said) {
    b->work = work;
    tui_say(b, "%s", said);
    return TUI_WORK;
}

enum tui_state tui_change(struct tui_browser *b) {
    if (!b->source->change) {
        tui_say(b, "this is not to be had here");
        return TUI_GO_ON;
    }
    b->wish.ranged = b->filter.ranged;
    b->wish.from_ns = b->filter.from_ns;
    b->wish.to_ns = b->filter.to_ns;
    b->wish.verbose = b->verbose;
    return tui_want(b, TUI_WORK_CHANGE, "Reading the samples again...");
}

/* Returns the number that the stacks give the shown event; STACKS_NONE: it has no samples there. */
static uint32_t event_of(const struct tui_browser *b, const struct stacks *s) {
    const struct profile_event *e = profile_event(b->d.profile, b->events.items[b->event]);
    const char *name = b->d.text->events->list.items[e->event].name;
    for (uint32_t i = 0; i < s->events.count; i++)
        if (!strcmp(stacks_str(s, s->events.items[i].name), name))
            return i;
    return s->events.count ? 0 : STACKS_NONE;
}

/* Makes the flame graph or the time axis, if it is not of what is shown now. */
static bool open_stacks(struct tui_browser *b, struct err *err) {
    const struct stacks *s = b->source->stacks(b->source->ctx, err);
    uint32_t event = s ? event_of(b, s) : STACKS_NONE;
    if (event == STACKS_NONE)
        return s ? err_set(err, ERR_ABSENT, NULL, "there are no samples") : false;
    bool ok = tui_flame_open(&b->flame, s, event, &b->filter, err) &&
              tui_times_open(&b->times, s, event, &b->filter, err);
    b->filter_changed &= !ok;
    return ok;
}

/* The function under the cursor, owned, and its object, "" where it is not shown. NULL: there is none. */
static char *function_here(struct tui_browser *b, char *dso, size_t size) {
    size_t n = 0, m = 0;
    *dso = '\0';
    if (b->screen == TUI_FLAME_SCREEN) {
        const struct stacks_frame *frame = tui_flame_frame(&b->flame);
        const char *name = frame ? stacks_frame_name(b->flame.s, frame) : NULL;
        snprintf(dso, size, "%s", frame ? stacks_frame_dso(b->flame.s, frame) : "");
        return name ? strdup(name) : NULL;
    }
    const char *object = b->table.at.line ? NULL : tui_table_key_text(&b->table, tui_dso_keys, &m);
    snprintf(dso, size, "%.*s", object ? (int)m : 0, object ? object : "");
    const char *name = tui_table_function(&b->table, &n);
    return name ? strndup(name, n) : NULL;
}

static void show_why(struct tui_browser *b) {
    struct err err = ERR_INIT;
    struct out text;
    char dso[512], title[160];
    if (!out_init(&text, NULL, NULL))
        return;
    char *function = function_here(b, dso, sizeof dso);
    if (!function)
        tui_say(b, "there is no function here");
    else if (!b->source->why(b->source->ctx, function, *dso ? dso : NULL, &text, &err))
        tui_say(b, "%s", err.message);
    else {
        snprintf(title, sizeof title, "Why it is called %.120s", function);
        tui_popup_text(&b->popup, title, text.buf, text.len);
    }
    free(function);
    out_fini(&text);
}

static void show_annotated(struct tui_browser *b) {
    struct err err = ERR_INIT;
    struct out text;
    char dso[512], title[160];
    uint64_t line = 0;
    if (!out_init(&text, NULL, NULL))
        return;
    char *function = function_here(b, dso, sizeof dso);
    uint32_t event = profile_event(b->d.profile, b->events.items[b->event])->event;
    if (!function)
        tui_say(b, "there is no function here");
    else if (!b->source->annotate(b->source->ctx, function, *dso ? dso : NULL, event, &text, &line, &err))
        tui_say(b, "%s%s%s", err.where, *err.where ? ": " : "", err.message);
    else {
        snprintf(title, sizeof title, "%.150s", function);
        if (tui_popup_text(&b->popup, title, text.buf, text.len))
            tui_popup_center(&b->popup, (size_t)line);
    }
    free(function);
    out_fini(&text);
}

void tui_select_in_flame(struct tui_browser *b) {
    size_t n = 0;
    const char *name = b->select && b->flame.s ? tui_table_function(&b->table, &n) : NULL;
    if (name)
        tui_flame_find(&b->flame, name, n);
    b->select = false;
}

bool tui_browser_work(struct tui_browser *b, struct err *err) {
    enum tui_work work = b->work;
    struct err failed = ERR_INIT;
    bool ok = true;
    int height = b->table.height;
    b->work = TUI_NO_WORK;
    *b->message = '\0';
    switch (work) {
    case TUI_WORK_CHANGE:
        tui_table_fini(&b->table); /* of the data that go */
        b->table.height = height;
        if (!b->source->change(b->source->ctx, &b->wish, err) || !take(b, err))
            return false;
        if (b->screen != TUI_TABLE)
            ok = open_stacks(b, &failed);
        break;
    case TUI_WORK_FLAME:
    case TUI_WORK_TIMES:
        ok = open_stacks(b, &failed);
        tui_select_in_flame(b);
        break;
    case TUI_WORK_WHY:
        show_why(b);
        break;
    case TUI_WORK_ANNOTATE:
        show_annotated(b);
        break;
    case TUI_NO_WORK:
        break;
    }
    if (!ok) {
        b->screen = TUI_TABLE;
        tui_say(b, "%s", failed.message);
    }
    return true;
}

/* ---- keys ---- */

/* False: the source is not live. */
static bool live_wish(struct tui_browser *b, enum tui_live_wish wish) {
    if (b->source->live)
        b->source->live(b->source->ctx, wish, "", b->message, sizeof b->message);
    return b->source->live;
}

bool tui_common_key(struct tui_browser *b, uint32_t key, enum tui_state *state) {
    *state = TUI_GO_ON;
    switch (key) {
    case 'h':
        if (b->screen == TUI_FLAME_SCREEN)
            return false; /* to the left */
        tui_popup_help(&b->popup);
        return true;
    case '?':
    case TUI_KEY_F1:
        tui_popup_help(&b->popup);
        return true;
    case TUI_KEY_CTRL_C:
        *state = TUI_QUIT;
        return true;
    case 'z':
        return live_wish(b, TUI_LIVE_ZERO);
    case 'D':
        if (!b->source->live)
            return false;
        tui_popup_input(&b->popup, "Delay", "The seconds between two screens, such as 2 or 0.5.",
                        TUI_FOR_DELAY);
        return true;
    case 'f':
        if (live_wish(b, TUI_LIVE_FREEZE))
            return true;
        *state = tui_go(b, b->screen == TUI_FLAME_SCREEN ? TUI_TABLE : TUI_FLAME_SCREEN);
        return true;
    case 'T':
        if (b->source->live) {
            tui_say(b, "single samples are not kept: for threads over time use record and report");
            return true;
        }
        *state = tui_go(b, b->screen == TUI_TIMES ? TUI_TABLE : TUI_TIMES);
        return true;
    case TUI_KEY_TAB:
    case TUI_KEY_UNTAB: {
        struct err err = ERR_INIT;
        size_t n = b->events.count;
        if (n > 1 && !tui_open_event(b, (b->event + (key == TUI_KEY_TAB ? 1 : n - 1)) % n, &err))
            tui_say(b, "%s", err.message);
        else if (n < 2)
            tui_say(b, "there is only one event");
        else if (b->screen != TUI_TABLE)
            *state = tui_want(b, TUI_WORK_FLAME, "Reading the stacks...");
        return true;
    }
    case TUI_KEY_RESIZE:
    case TUI_KEY_CTRL_L:
    case TUI_KEY_NONE:
        return true;
    default:
        return false;
    }
}

enum tui_state tui_browser_key(struct tui_browser *b, struct tui_press press) {
    enum tui_state state;
    *b->message = '\0';
    if (b->popup.kind != TUI_NO_POPUP) {
        enum tui_answer answer = tui_popup_key(&b->popup, press, b->rows);
        state = answer == TUI_ANSWERED ? tui_answered(b) : TUI_GO_ON;
        bool events = b->popup.purpose == TUI_FOR_EVENT && b->popup.kind == TUI_MENU;
        if (answer == TUI_CLOSED)
            tui_popup_close(&b->popup);
        return answer == TUI_CLOSED && events ? TUI_QUIT : state;
    }
    if (tui_common_key(b, press.key, &state))
        return state;
    switch (b->screen) {
    case TUI_FLAME_SCREEN:
        return tui_flame_key(b, press);
    case TUI_TIMES:
        return tui_times_key(b, press);
    case TUI_TABLE:
        break;
    }
    if (press.key == TUI_KEY_ESC && !b->filter.count && !b->filter.ranged && b->events.count > 1) {
        event_menu(b);
        return TUI_GO_ON;
    }
    return tui_table_key(b, press);
}

/* ---- drawing ---- */

/* Keeps the name under the cursor: the data may be others when it is drawn again. */
static void remember(struct tui_browser *b) {
    size_t n = 0;
    const char *name = tui_table_function(&b->table, &n);
    b->selected.len = 0;
    out_mem(&b->selected, name ? name : "", name ? n : 0);
    if (b->source->live)
        tui_table_keep(&b->table, &b->kept);
}

/* Takes a generation that came by itself. */
static bool take_new(struct tui_browser *b, struct err *err) {
    struct err failed = ERR_INIT;
    if (!take(b, err))
        return false;
    if (b->screen == TUI_FLAME_SCREEN && b->source->live) {
        size_t n = strlen(tui_flame_name(&b->flame));
        char *name = strdup(tui_flame_name(&b->flame));
        if (!open_stacks(b, &failed)) {
            b->screen = TUI_TABLE;
            tui_say(b, "%s", failed.message);
        } else if (name) {
            tui_flame_find(&b->flame, name, n);
        }
        free(name);
    }
    return true;
}

bool tui_browser_busy(const struct tui_browser *b) {
    return b->popup.kind != TUI_NO_POPUP;
}

bool tui_browser_draw(struct tui_browser *b, struct tui_surface *s, struct err *err) {
    b->rows = s->rows;
    if (b->generation != b->source->generation(b->source->ctx) && !take_new(b, err))
        return false;
    tui_clear(s);
    if (b->screen == TUI_TABLE || !b->flame.s) {
        tui_table_draw(&b->table, s, 1);
        remember(b);
    } else if (b->screen == TUI_FLAME_SCREEN) {
        tui_flame_draw(&b->flame, s, 0, 1);
    } else {
        tui_times_draw(&b->times, s, 0, 1, &b->filter);
    }
    if (b->rows > 1)
        tui_str(s, s->rows - 1, 0, s->cols, tui_style(TUI_NORMAL), *b->message ? b->message : HINT);
    tui_popup_draw(&b->popup, s);
    return true;
}
