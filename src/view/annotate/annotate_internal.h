/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef SONDE_VIEW_ANNOTATE_ANNOTATE_INTERNAL_H
#define SONDE_VIEW_ANNOTATE_ANNOTATE_INTERNAL_H

#include "view/annotate/annotate_text.h"

#define ANNOTATE_COLOR_END "\033[m"

struct annotate_printer {
    const struct annotate_listing *l;
    const struct annotate_text_options *o;
    struct out *out;
    unsigned digits; /* of addresses */
    uint32_t *shown; /* by file of the listing: the last line shown so far */
    uint64_t line;   /* of text, the next one, from 0 */
};

/* Whether an event (of the listing) has columns. */
bool annotate_is_shown(const struct annotate_printer *p, uint32_t event);
/* How many have. */
uint32_t annotate_shown(const struct annotate_printer *p);
/* What is shown of sums of an event (of the listing). */
double annotate_share(const struct annotate_printer *p, const struct annotate_sums *s, uint32_t event);
uint32_t annotate_column_width(const struct annotate_printer *p);
/* The escape sequence for a percentage; NULL: none. */
const char *annotate_heat(const struct annotate_printer *p, double percent);

void annotate_put_percent(const struct annotate_printer *p, double percent);
void annotate_put_sums(const struct annotate_printer *p, const struct annotate_sums *sums);
void annotate_put_number(const struct annotate_printer *p, uint32_t number);
void annotate_put_source(struct out *out, struct bytes text);
void annotate_put_row(struct annotate_printer *p, uint32_t row);
/* A file of the listing, as it is shown. */
const char *annotate_file(const struct annotate_printer *p, uint32_t file);

/* The lines that were hit, most first. False: out of memory, as below. */
bool annotate_put_line_summary(struct annotate_printer *p);
/* The inlined calls that were hit, most first. */
bool annotate_put_scope_summary(struct annotate_printer *p);
/* Which calls begin between two rows. */
void annotate_put_scopes(struct annotate_printer *p, uint32_t from, uint32_t to);
/* The function's lines, those with most samples first. */
bool annotate_put_hottest(struct annotate_printer *p);

#endif
