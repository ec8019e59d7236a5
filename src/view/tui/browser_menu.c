/* SPDX-License-Identifier: Apache-2.0 */
/* Going from screen to screen, zooming, and what menus and typed lines lead to. */
#include <stdio.h>
#include <stdlib.h>

#include "view/tui/browser_internal.h"

/* Actions of the menu of a row. */
enum { DO_ANNOTATE, DO_THREAD, DO_DSO, DO_EXPAND, DO_SOCKET, DO_WHY, DO_FLAME, DO_TIMES, DO_ALL, DO_EXIT };

/* ---- going elsewhere ---- */

enum tui_state tui_go(struct tui_browser *b, enum tui_screen screen) {
    if (screen == TUI_TABLE) {
        if (b->screen == TUI_FLAME_SCREEN) {
            const char *name = tui_flame_name(&b->flame);
            tui_table_find(&b->table, name, strlen(name));
        }
        b->screen = screen;
        return TUI_GO_ON;
    }
    if (!b->source->stacks) {
        tui_say(b, "there are no whole stacks here");
        return TUI_GO_ON;
    }
    b->select = b->screen == TUI_TABLE && screen == TUI_FLAME_SCREEN;
    b->screen = screen;
    if (!b->flame.s || b->filter_changed)
        return tui_want(b, screen == TUI_TIMES ? TUI_WORK_TIMES : TUI_WORK_FLAME, "Reading the stacks...");
    tui_select_in_flame(b);
    return TUI_GO_ON;
}

/* ---- filters ---- */

void tui_zoom(struct tui_browser *b, enum tui_filter_kind kind) {
    static const char *const *const keys[TUI_FILTERS] = {
        [TUI_BY_THREAD] = tui_thread_keys, [TUI_BY_DSO] = tui_dso_keys, [TUI_BY_SOCKET] = tui_socket_keys};
    static const char *const missing[TUI_FILTERS] = {[TUI_BY_THREAD] = "--sort has no comm, pid or tid",
                                                     [TUI_BY_DSO] = "--sort has no dso",
                                                     [TUI_BY_SOCKET] = "--sort has no socket"};
    size_t n = 0;
    if (b->filter.text[kind]) {
        tui_filter_set(&b->filter, kind, NULL, 0);
    } else {
        const char *text = tui_table_key_text(&b->table, keys[kind], &n);
        if (!text) {
            tui_say(b, "%s", b->table.shown.count ? missing[kind] : "there is no row");
            return;
        }
        if (!tui_filter_set(&b->filter, kind, text, n))
            tui_say(b, "out of memory");
    }
    tui_refilter(b);
}

void tui_zoom_kernel(struct tui_browser *b) {
    bool was = b->filter.kernel;
    tui_filter_set(&b->filter, TUI_BY_DSO, was ? NULL : "[kernel]", 8);
    b->filter.kernel = !was;
    tui_refilter(b);
}

/* Takes the last filter, or else the range of time, away. False: there is none. */
bool tui_zoom_out(struct tui_browser *b, enum tui_state *state) {
    *state = TUI_GO_ON;
    if (tui_filter_pop(&b->filter))
        return tui_refilter(b) || true;
    if (!b->filter.ranged)
        return false;
    b->filter.ranged = false;
    b->filter_changed = true;
    *state = tui_change(b);
    return true;
}

/* ---- the row's menu ---- */

void tui_row_menu(struct tui_browser *b) {
    struct tui_popup *p = &b->popup;
    size_t n = 0;
    bool zoomed = b->filter.text[TUI_BY_THREAD];
    tui_popup_menu(p, "", TUI_FOR_ROW);
    const char *name = tui_table_function(&b->table, &n);
    if (name)
        snprintf(p->title, sizeof p->title, "%.*s", n < 120 ? (int)n : 120, name);
    if (name && !b->table.own)
        tui_popup_item(p, DO_ANNOTATE, "Annotate %.*s (same as 'a' hotkey)", (int)n, name);
    name = tui_table_key_text(&b->table, tui_thread_keys, &n);
    if (name)
        tui_popup_item(p, DO_THREAD, zoomed ? "Zoom out of %.*s thread" : "Zoom into %.*s thread", (int)n,
                       name);
    name = tui_table_key_text(&b->table, tui_dso_keys, &n);
    if (name)
        tui_popup_item(p, DO_DSO,
                       b->filter.text[TUI_BY_DSO]
                           ? "Zoom out of %.*s DSO"
                           : "Zoom into %.*s DSO (use the 'k' hotkey to zoom directly into the kernel)",
                       (int)n, name);
    name = tui_table_function(&b->table, &n);
    bool opens = b->table.own ? b->table.own->below != NULL : b->d.text->chain_mode != PROFILE_CHAIN_NONE;
    if (opens && name)
        tui_popup_item(p, DO_EXPAND, "Expand or collapse [%.*s] callchain (one level, same as '+' hotkey)",
                       (int)n, name);
    if (tui_table_key_text(&b->table, tui_socket_keys, &n))
        tui_popup_item(p, DO_SOCKET, "Zoom into Processor Socket");
    name = tui_table_function(&b->table, &n);
    if (name && !b->table.own)
        tui_popup_item(p, DO_WHY, "Why it is called %.*s: the evidence (same as 'w' hotkey)", (int)n, name);
    if (!b->table.own)
        tui_popup_item(p, DO_FLAME, "Flame graph (same as '%c' hotkey)", b->source->live ? 'g' : 'f');
    if (!b->source->live && !b->table.own)
        tui_popup_item(p, DO_TIMES, "Threads over time (same as 'T' hotkey)");
    if (b->filter.count)
        tui_popup_item(p, DO_ALL, "Take all filters away");
    tui_popup_item(p, DO_EXIT, "Exit");
}

enum tui_state tui_want_why(struct tui_browser *b) {
    if (!b->source->why) {
        tui_say(b, "the evidence is not to be had here");
        return TUI_GO_ON;
    }
    return tui_want(b, TUI_WORK_WHY, "Looking for the evidence...");
}

enum tui_state tui_want_annotate(struct tui_browser *b) {
    if (!b->source->annotate) {
        tui_say(b, "instructions are not to be had here");
        return TUI_GO_ON;
    }
    return tui_want(b, TUI_WORK_ANNOTATE, "Reading the function's samples...");
}

static enum tui_state do_action(struct tui_browser *b, int action) {
    struct err err = ERR_INIT;
    switch (action) {
    case DO_ANNOTATE:
        return tui_want_annotate(b);
    case DO_THREAD:
        tui_zoom(b, TUI_BY_THREAD);
        return TUI_GO_ON;
    case DO_DSO:
        tui_zoom(b, TUI_BY_DSO);
        return TUI_GO_ON;
    case DO_SOCKET:
        tui_zoom(b, TUI_BY_SOCKET);
        return TUI_GO_ON;
    case DO_EXPAND:
        tui_table_fold(&b->table, TUI_TOGGLE_LEVEL, &err);
        return TUI_GO_ON;
    case DO_WHY:
        return tui_want_why(b);
    case DO_FLAME:
        return tui_go(b, TUI_FLAME_SCREEN);
    case DO_TIMES:
        return tui_go(b, TUI_TIMES);
    case DO_ALL:
        while (tui_filter_pop(&b->filter))
            ;
        tui_refilter(b);
        return TUI_GO_ON;
    default:
        return TUI_QUIT;
    }
}

/* ---- answers ---- */

static void set_limit(struct tui_browser *b, const char *text) {
    char *end;
    double percent = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100)) {
        tui_say(b, "Invalid percent: %.100s", text);
        return;
    }
    b->filter.least_percent = percent;
    tui_refilter(b);
}

static void search_flame(struct tui_browser *b, const char *text) {
    struct err err = ERR_INIT;
    if (!tui_flame_search(&b->flame, text, &err))
        tui_say(b, "%s", err.message);
    else if (*text && !(b->flame.found && b->flame.found[b->flame.at]) && !tui_flame_next(&b->flame, true))
        tui_say(b, "no frame matches %.100s", text);
}

enum tui_state tui_answered(struct tui_browser *b) {
    struct err err = ERR_INIT;
    struct tui_popup *p = &b->popup;
    enum tui_state state = TUI_GO_ON;
    char line[sizeof p->input];
    int action = p->kind == TUI_MENU ? p->items.items[p->at].action : 0, purpose = p->purpose;
    size_t length = p->length;
    memcpy(line, p->input, sizeof line);
    tui_popup_close(p);
    switch (purpose) {
    case TUI_FOR_EVENT:
        if (!tui_open_event(b, (size_t)action, &err))
            tui_say(b, "%s", err.message);
        break;
    case TUI_FOR_ROW:
        state = do_action(b, action);
        break;
    case TUI_FOR_SYMBOL:
        if (!tui_filter_set(&b->filter, TUI_BY_SYMBOL, length ? line : NULL, length))
            tui_say(b, "out of memory");
        tui_refilter(b);
        break;
    case TUI_FOR_LIMIT:
        set_limit(b, line);
        break;
    case TUI_FOR_DELAY:
        b->source->live(b->source->ctx, TUI_LIVE_DELAY, line, b->message, sizeof b->message);
        break;
    case TUI_FOR_SEARCH:
        search_flame(b, line);
        break;
    default:
        break;
    }
    return state;
}
