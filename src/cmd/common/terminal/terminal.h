/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal, for full-screen views: what was drawn on a surface goes there, keys and clicks come from it.
 * It is given back as it was: at the end, when the program is stopped (^Z), ended by a signal, or crashes.
 */
#ifndef SONDE_CMD_COMMON_TERMINAL_H
#define SONDE_CMD_COMMON_TERMINAL_H

#include "view/tui/keys.h"
#include "view/tui/surface.h"

struct terminal;

/* Whether this build has it, and standard input and output are terminals that can do it. NULL: yes; else why
 * not, in words that say what to do. */
const char *terminal_lacks(void);

/* Takes the terminal over; once at a time. NULL: *err says why; nothing was changed. */
struct terminal *terminal_open(struct err *err);
/* Gives it back. NULL is allowed. */
void terminal_close(struct terminal *t);

/* Gives the surface the terminal's size, and says what it can show. False: out of memory. */
bool terminal_fit(struct terminal *t, struct tui_surface *s, struct err *err);
void terminal_show(struct terminal *t, const struct tui_surface *s);
/* Waits for a key, at most this long (-1: for ever). TUI_KEY_NONE: none came, or a signal did. */
struct tui_press terminal_key(struct terminal *t, int timeout_ms);
/* Returns the signal that asks the program to end; 0: none. */
int terminal_ended(void);

#endif
