/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names come from files that anybody may have made. Where they are shown, what would change the page, the
 * terminal or the order of letters is made visible instead: "\u202e" for a mark that turns the text around,
 * "\x1b" for a control character, U+FFFD for bytes that are no UTF-8. Long ones are cut.
 */
#ifndef SONDE_VIEW_EXPORT_VISIBLE_TEXT_H
#define SONDE_VIEW_EXPORT_VISIBLE_TEXT_H

#include "base/text/out.h"

enum { VISIBLE_MAX = 4096 }; /* characters of a name that are shown */

/* Appends the text, which is valid UTF-8 then. */
void visible_plain(const char *text, struct out *out);
/* The same with the five characters escaped that mean something in XML and HTML. */
void visible_xml(const char *text, struct out *out);
/* The latter for the first `most` characters, ending in ".." if it is longer. */
void visible_xml_cut(const char *text, unsigned most, struct out *out);

/* Returns how many columns of a terminal a character takes: 1 or 2. 0: it would not be seen by itself, and is
 * shown by its number instead. */
unsigned visible_width(uint32_t c);
/* Appends a text of `n` bytes for a terminal, in at most `columns` columns, ending in an
 * ellipsis (without `utf8` "..") if it is longer. Without `utf8` other characters than ASCII are shown by
 * their numbers. Returns the columns that it takes.
 */
unsigned visible_terminal(const char *text, size_t n, unsigned columns, bool utf8, struct out *out);

#endif
