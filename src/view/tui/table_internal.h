/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the table share. */
#ifndef SONDE_VIEW_TUI_TABLE_INTERNAL_H
#define SONDE_VIEW_TUI_TABLE_INTERNAL_H

#include "view/tui/table.h"

/* Forgets open rows: all, or those that would open again as they are. */
void tui_table_forget(struct tui_table *t, bool all);
/* Opens a row as the user did before. */
void tui_table_reopen(struct tui_table *t, uint32_t entry, bool whole, bool closed);
/* Whether an entry can be opened. */
bool tui_table_opens(const struct tui_table *t, uint32_t entry);
/* Goes to the next or the previous line. False: there is none. */
bool tui_table_step(struct tui_table *t, struct tui_place *p, bool down);
/* Scrolls as little as needed to have the cursor on the screen. */
void tui_table_follow(struct tui_table *t);

#endif
