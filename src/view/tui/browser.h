/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal browser: three screens (table, flame graph, threads over time) that share the event, the
 * filter, the range of time and the selected function. It knows no terminal:
 *
 *   tui_browser_new(source) -> { tui_browser_draw(surface), tui_browser_key(press) ... } -> tui_browser_free
 */
#ifndef SONDE_VIEW_TUI_BROWSER_H
#define SONDE_VIEW_TUI_BROWSER_H

#include "view/tui/keys.h"
#include "view/tui/source.h"
#include "view/tui/surface.h"

struct tui_browser;

/* `source` is borrowed. `headers`: column headers are shown. NULL: *err says why; ERR_ABSENT: there are no
 * samples. */
struct tui_browser *tui_browser_new(const struct tui_source *source, bool headers, struct err *err);
void tui_browser_free(struct tui_browser *b); /* NULL is allowed */

/* TUI_WORK: draw, which says what is being done, then call tui_browser_work. */
enum tui_state { TUI_GO_ON, TUI_WORK, TUI_QUIT };
enum tui_state tui_browser_key(struct tui_browser *b, struct tui_press press);
/* False: *err says why nothing can be shown any more. */
bool tui_browser_work(struct tui_browser *b, struct err *err);

/* Draws all of it, after it took what the source has anew. False: as tui_browser_work. */
bool tui_browser_draw(struct tui_browser *b, struct tui_surface *s, struct err *err);

/* Whether a menu or question is open, under which rows should not change. */
bool tui_browser_busy(const struct tui_browser *b);

#endif
