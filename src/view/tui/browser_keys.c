/* SPDX-License-Identifier: Apache-2.0 */
/* The table's keys. */
#include <stdio.h>
#include <stdlib.h>

#include "view/tui/browser_internal.h"

enum { WHEEL = 3 };

/* ---- the table's keys ---- */

static void show_header(struct tui_browser *b) {
    struct err err = ERR_INIT;
    struct out text;
    if (b->table.own) {
        const char *about = b->table.own->about;
        tui_popup_text(&b->popup, "What is compared", about, strlen(about));
        return;
    }
    if (!b->source->header || !out_init(&text, NULL, NULL)) {
        tui_say(b, "there is no header here");
        return;
    }
    if (b->source->header(b->source->ctx, &text, &err))
        tui_popup_text(&b->popup, "Header information", text.buf, text.len);
    else
        tui_say(b, "%s", err.message);
    out_fini(&text);
}

static void save(struct tui_browser *b) {
    struct err err = ERR_INIT;
    struct out text;
    char name[64];
    if (!b->source->save || !out_init(&text, NULL, NULL)) {
        tui_say(b, "there is nowhere to print to here");
        return;
    }
    tui_table_print(&b->table, &text);
    if (b->source->save(b->source->ctx, text.buf, text.len, name, sizeof name, &err))
        tui_say(b, "%s written!", name);
    else
        tui_say(b, "%s: %s", err.where, err.message);
    out_fini(&text);
}

static void fold(struct tui_browser *b, enum tui_fold how) {
    struct err err = ERR_INIT;
    if (tui_table_fold(&b->table, how, &err))
        return;
    if (*err.message)
        tui_say(b, "%s", err.message);
    else if (b->table.own && !b->table.own->below)
        tui_say(b, "%s", b->table.own->no_below);
    else if (!b->table.own && b->d.text->chain_mode == PROFILE_CHAIN_NONE && !b->d.text->hierarchy)
        tui_say(b, "there are no callchains: record with -g");
    else
        tui_say(b, "there is nothing to expand or collapse here");
}

static enum tui_state sort_by_member(struct tui_browser *b, int index) {
    if (!b->table.e || b->table.e->members < 2) {
        tui_say(b, "this is no group of events");
        return TUI_GO_ON;
    }
    if (index >= (int)b->table.e->members) {
        tui_say(b, "the group has only %d events", (int)b->table.e->members);
        return TUI_GO_ON;
    }
    b->wish.group_index = index;
    return tui_change(b);
}

static void move_columns(struct tui_browser *b, int by) {
    struct tui_table *t = &b->table;
    if ((by < 0 && t->left_out) || (by > 0 && t->left_out + 1 < t->columns.count))
        t->left_out += (unsigned)by;
}

/* Keys that move. False: it is another one. */
static bool move_key(struct tui_browser *b, struct tui_press press) {
    struct tui_table *t = &b->table;
    int page = t->height > 1 ? t->height - 1 : 1;
    switch (press.key) {
    case TUI_KEY_UP:
        tui_table_move(t, -1);
        return true;
    case TUI_KEY_DOWN:
        tui_table_move(t, 1);
        return true;
    case TUI_KEY_PAGE_UP:
        tui_table_move(t, -page);
        return true;
    case TUI_KEY_PAGE_DOWN:
    case ' ':
        tui_table_move(t, page);
        return true;
    case TUI_KEY_WHEEL_UP:
    case TUI_KEY_WHEEL_DOWN:
        tui_table_move(t, press.key == TUI_KEY_WHEEL_UP ? -WHEEL : WHEEL);
        return true;
    case TUI_KEY_HOME:
    case TUI_KEY_END:
        tui_table_end(t, press.key == TUI_KEY_END);
        return true;
    case TUI_KEY_LEFT:
    case TUI_KEY_RIGHT:
        move_columns(b, press.key == TUI_KEY_LEFT ? -1 : 1);
        return true;
    case TUI_KEY_CLICK:
    case TUI_KEY_DOUBLE_CLICK:
        tui_table_click(t, press.y);
        if (press.key == TUI_KEY_DOUBLE_CLICK || press.x < 2)
            fold(b, TUI_TOGGLE_LEVEL);
        return true;
    default:
        return false;
    }
}

/* + - e c E C. False: it is another one. */
static bool fold_key(struct tui_browser *b, uint32_t key) {
    static const struct {
        char key;
        enum tui_fold how;
    } keys[] = {{'+', TUI_TOGGLE_LEVEL}, {'-', TUI_CLOSE_LEVEL}, {'e', TUI_TOGGLE_ROW},
                {'c', TUI_CLOSE_ROW},    {'E', TUI_OPEN_ALL},    {'C', TUI_CLOSE_ALL}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key == (uint32_t)keys[i].key) {
            fold(b, keys[i].how);
            return true;
        }
    return false;
}

static enum tui_state escape(struct tui_browser *b) {
    enum tui_state state;
    if (tui_zoom_out(b, &state))
        return state;
    tui_say(b, "there is no filter to take away: q quits");
    return TUI_GO_ON;
}

static enum tui_state other_table_key(struct tui_browser *b, uint32_t key) {
    switch (key) {
    case 'L':
        tui_popup_input(&b->popup, "Percent Limit",
                        "Please enter the value you want to hide entries under that percent.", TUI_FOR_LIMIT);
        break;
    case '/':
        tui_popup_input(&b->popup, "Symbol to show",
                        "The name of the symbol you want to see; none: all of them.", TUI_FOR_SYMBOL);
        break;
    case 'a':
        return tui_want_annotate(b);
    case 'r':
        tui_say(b, "scripts cannot be run from here yet: use `script -s`");
        break;
    case 's':
        tui_say(b, "another file cannot be chosen here yet: use -i");
        break;
    case 'g':
        if (b->source->live)
            return tui_go(b, TUI_FLAME_SCREEN);
        tui_say(b, "'g' key not associated, use 'h'/'?'/F1 to see actions!");
        break;
    default:
        if (key >= '0' && key <= '9')
            return sort_by_member(b, (int)(key - '0'));
        if (key > ' ' && key < 0x7f)
            tui_say(b, "'%c' key not associated, use 'h'/'?'/F1 to see actions!", (char)key);
        break;
    }
    return TUI_GO_ON;
}

enum tui_state tui_table_key(struct tui_browser *b, struct tui_press press) {
    if (move_key(b, press) || fold_key(b, press.key))
        return TUI_GO_ON;
    switch (press.key) {
    case 'q':
        return TUI_QUIT;
    case TUI_KEY_ESC:
    case TUI_KEY_BACKSPACE:
        return escape(b);
    case TUI_KEY_ENTER:
        if (b->table.own && b->table.own->below) {
            fold(b, TUI_TOGGLE_LEVEL);
            break;
        }
        tui_row_menu(b);
        break;
    case 'm':
        tui_row_menu(b);
        break;
    case 'd':
        tui_zoom(b, TUI_BY_DSO);
        break;
    case 't':
        tui_zoom(b, TUI_BY_THREAD);
        break;
    case 'S':
        tui_zoom(b, TUI_BY_SOCKET);
        break;
    case 'k':
        tui_zoom_kernel(b);
        break;
    case 'F':
        if (b->table.own) {
            tui_say(b, "percentages are those of the comparison: use --percentage");
            break;
        }
        b->filter.relative = !b->filter.relative;
        tui_say(b, "percentages are of %s", b->filter.relative ? "what the filters leave" : "all samples");
        break;
    case 'H':
        b->table.headers = b->headers = !b->headers;
        break;
    case 'V':
        b->verbose = !b->verbose;
        return tui_change(b);
    case 'i':
        show_header(b);
        break;
    case 'P':
        save(b);
        break;
    case 'w':
        return tui_want_why(b);
    default:
        return other_table_key(b, press.key);
    }
    return TUI_GO_ON;
}
